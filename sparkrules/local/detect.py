"""Find patterns in an Arrow table without Spark.

The rules and the conditions that patterns name are matched by numpy (`matcher`); the rows that fulfil a step are
ordered by key and time (`pattern_events`), and a state machine goes through them (`pattern_states`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkrules.index.segment import Segment
from sparkrules.local.detections import Detection, Detections
from sparkrules.local.matcher import NeedsSpark, UnknownColumn, match
from sparkrules.local.pattern_events import EventTable, Masks
from sparkrules.local.pattern_states import found_in
from sparkrules.logic.columns import NoSuchColumn, Unsupported
from sparkrules.patterns import Pattern, Term


def detect(
    patterns: Sequence[Pattern],
    rules: Segment,
    conditions: Segment,
    table: pa.Table,
    *,
    time: str,
    id: str | None = None,
    unsupported: Literal["error", "skip"] = "error",
    at: datetime | None = None,
    schema: pa.Schema | None = None,
    most_rows: int = 10_000,
) -> Detections:
    """What the patterns find in the rows of a table.

    `rules` has the rules that patterns name, `conditions` those that they have of their own. A pattern with a rule that
    only Spark can match is an error, or is skipped.

    >>> from sparkrules.index.builder import build_segment
    >>> from sparkrules.index.rule import Rule
    >>> from sparkrules.sql.tree import Predicate
    >>> rules = build_segment([Rule("hot", "hot", Predicate("hot", "is true"))])
    >>> pattern = Pattern("twice", "count", ((Term("hot"),),), within=5, at_least=2)
    >>> table = pa.table({"at": pa.array([1, 4, 6], pa.timestamp("us")), "hot": [True, False, True]})
    >>> detect([pattern], rules, build_segment([]), table, time="at")
    Detections(1)
    """
    events = EventTable(table, time, id)
    matched = _Matched(table, at, schema)
    matched.add(rules, "rule")
    matched.add(conditions, "condition")
    reasons = {own.id: reason for own in patterns if (reason := _reason(own, matched, events)) is not None}
    if reasons and unsupported != "skip":
        missing = {own: str(reason) for own, reason in reasons.items() if isinstance(reason, NoSuchColumn)}
        if missing:
            raise UnknownColumn(missing, "patterns")
        raise NeedsSpark({own: str(reason) for own, reason in reasons.items()}, "only Spark can detect", "patterns")
    last = events.last
    found: Iterator[Detection] = (
        Detection(own, kind, key, found)
        for own in patterns
        if own.id not in reasons and last is not None
        for key, ordered in events.of(own, matched.steps(own))
        for kind, found in found_in(own, ordered, last, most_rows)
    )
    return Detections.of(found, events.time_type, {own: str(reason) for own, reason in reasons.items()})


class _Matched:
    """Which rows of a table match which rules and conditions."""

    def __init__(self, table: pa.Table, at: datetime | None, schema: pa.Schema | None) -> None:
        self.table = table
        self.at = at
        self.schema = schema
        self.rows: dict[tuple[str, str], NDArray[np.int64]] = {}
        self.unsupported: dict[tuple[str, str], Unsupported] = {}

    def add(self, segment: Segment, kind: str) -> None:
        found = match(segment, self.table, unsupported="skip", at=self.at, schema=self.schema)
        self.unsupported |= {(kind, id): reason for id, reason in found.reasons.items()}
        numbers, rows = found.subscriptions.values, found.subscriptions.row_numbers().astype(np.int64)
        order = np.argsort(numbers, kind="stable")
        ends = np.searchsorted(numbers[order], np.arange(len(segment.rules.id) + 1))
        for number, id in enumerate(segment.rules.id.tolist()):
            self.rows[kind, id] = rows[order[ends[number] : ends[number + 1]]]

    def steps(self, pattern: Pattern) -> Masks:
        """The steps that each row fulfils, as a bit mask. A rule that does not exist is never matched."""
        masks = np.zeros(self.table.num_rows, np.int64)
        for number, step in enumerate(pattern.steps):
            for term in step:
                masks[self.rows.get(_name(term), [])] |= 1 << number
        return masks


def _name(term: Term) -> tuple[str, str]:
    return ("condition", term.condition or "") if term.rule is None else ("rule", term.rule)


def _reason(pattern: Pattern, matched: _Matched, events: EventTable) -> Unsupported | None:
    """Why a pattern cannot be detected here."""
    for term in pattern.terms:
        reason = matched.unsupported.get(_name(term))
        if reason is not None:
            return type(reason)(f"{term}: {reason}")
    for name in (*pattern.by, *([] if pattern.distinct is None else [pattern.distinct])):
        try:
            events.texts(name)
        except Unsupported as reason:
            return reason
    return None
