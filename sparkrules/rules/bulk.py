"""From rows to a segment: check the fields, compile the texts together, reject the invalid ones.

>>> rows = [RuleRow("hot", "temperature > 30"), RuleRow("broken", "temperature >"), RuleRow("hot", "temperature > 40")]
>>> done = compile_rows(rows, "alerts")
>>> done.segment, [(place, rejected.id, rejected.reason[:16]) for place, rejected in done.rejected]
(Segment(1 rules, 1 predicates, 1 nodes), [(1, 'broken', 'expected a value'), (2, 'hot', "rule set 'alerts")])
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np

from sparkrules.errors import DuplicateId, RuleSetError
from sparkrules.index.builder import build_segment
from sparkrules.index.forest import strings
from sparkrules.index.merge import merge_segments
from sparkrules.index.rule import Rule
from sparkrules.index.rule_columns import RuleColumns, instants, metadata_json, statuses, tag_lists
from sparkrules.index.segment import Segment
from sparkrules.rules.compile import compile_texts
from sparkrules.rules.exemptions import check_exemptions, exempted_rule
from sparkrules.rules.fields import check_id, check_metadata, check_priority, check_status, check_tags, check_where
from sparkrules.rules.pattern_rows import PlacedPattern, placed_pattern, rejected_row
from sparkrules.rules.sources import FileRow, NoRule, PatternRow, RuleRow
from sparkrules.rules.validity import check_validity
from sparkrules.sql import DEFAULT_POLICY, Policy, RuleError
from sparkrules.sql.called_functions import called_functions
from sparkrules.sql.exemption import Exemption
from sparkrules.sql.rejected import Rejected, Source
from sparkrules.sql.rule import in_spark_dialect, read_rule


@dataclass(frozen=True)
class CompiledRows:
    """The accepted rules, their ids in the order of the rows, and the rejected ones with their place among the rows.

    `patterns` are those of the rows, and of the rules that are accepted.
    """

    segment: Segment
    ids: list[str]
    rejected: list[tuple[int, Rejected]]
    patterns: list[PlacedPattern] = field(default_factory=list)


class CheckedRow(NamedTuple):
    """A row with valid fields; its text has not been parsed yet."""

    id: str
    where: str
    priority: int
    metadata: dict[str, object] | None
    valid_from: datetime | None
    valid_until: datetime | None
    status: str
    tags: tuple[str, ...]
    exemptions: tuple[Exemption, ...] = ()


def check_row(row: RuleRow, default_validity: timedelta | None = None) -> CheckedRow:
    """The fields of a row; `RuleSetError` if one of them is invalid."""
    id, where, priority, metadata, valid_from, valid_until, status, tags, exemptions = row
    if isinstance(id, NoRule):
        raise RuleSetError(id.reason)
    if valid_from is not None or valid_until is not None or default_validity is not None:
        valid_from, valid_until = check_validity(valid_from, valid_until, default_validity)
    return CheckedRow(
        check_id(id),
        check_where(where),
        check_priority(priority),
        check_metadata(metadata),
        valid_from,
        valid_until,
        check_status(status),
        check_tags(tags),
        check_exemptions(exemptions),
    )


@contextmanager
def no_collection() -> Iterator[None]:
    """Switch off the search for reference cycles, while millions of small objects are made, and none in a cycle."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@no_collection()
def compile_rows(
    rows: Iterable[RuleRow],
    rule_set: str,
    *,
    dialect: str = "spark",
    policy: Policy = DEFAULT_POLICY,
    default_validity: timedelta | None = None,
    taken: Callable[[list[str]], Collection[str]] = lambda _: (),
    progress: Callable[[list[str]], Iterable[str]] = iter,
) -> CompiledRows:
    """Compile rows. `taken` returns which ids are taken. Of rules with the same id, the first accepted one is kept.

    `progress` receives the texts and returns them one by one as they are compiled.
    """
    rejected: list[tuple[int, Rejected]] = []
    open_rows: list[tuple[int, CheckedRow]] = []
    sources: dict[int, Source] = {}
    patterns: dict[int, PlacedPattern] = {}
    for place, read in enumerate(rows):
        if isinstance(read, FileRow):
            sources[place] = read.source
        elif isinstance(read, PatternRow):
            if read.source is not None:
                sources[place] = read.source
            try:
                found = placed_pattern(read.fields, place, read.source, dialect, policy)
            except (RuleSetError, RuleError) as error:
                rejected.append((place, rejected_row(read, error)))
                continue
            if found is not None:
                patterns[place] = found
            if not PatternRow.is_rule(read.fields):
                continue
        try:
            open_rows.append((place, check_row(read, default_validity)))
        except RuleSetError as error:
            rejected.append((place, Rejected.of(read.id, read.where, error, sources.get(place))))
            patterns.pop(place, None)
    refused = set(taken([row.id for _, row in open_rows]))
    segments: list[Segment] = []
    ids: list[str] = []
    while open_rows:
        chosen: dict[str, tuple[int, CheckedRow]] = {}
        later: list[tuple[int, CheckedRow]] = []
        for place, row in open_rows:
            if row.id in refused:
                rejected.append(
                    (place, Rejected.of(row.id, row.where, duplicate(rule_set, row.id), sources.get(place)))
                )
                patterns.pop(place, None)
            elif row.id in chosen:
                later.append((place, row))
            else:
                chosen[row.id] = (place, row)
        segment, errors = _compiled([row for _, row in chosen.values()], dialect, policy, progress)
        for number, (place, row) in enumerate(chosen.values()):
            if number in errors:
                rejected.append((place, Rejected.of(row.id, row.where, errors[number], sources.get(place))))
                patterns.pop(place, None)
            else:
                ids.append(row.id)
        segments.append(segment)
        if not later:
            break
        refused.update(segment.rules.id.tolist())
        open_rows = later
    none = np.empty(0, np.int32)
    whole = segments[0] if len(segments) == 1 else merge_segments([(segment, none) for segment in segments])
    return CompiledRows(whole, ids, sorted(rejected, key=_place), list(patterns.values()))


def without_taken(done: CompiledRows, rule_set: str, taken: Collection[str]) -> CompiledRows:
    """The same, but rules whose id is taken are rejected, after those that already were."""
    if not taken:
        return done
    segment = done.segment
    rows = np.flatnonzero(np.isin(segment.rules.id, list(taken)))
    late = [
        (row, Rejected.of(id, segment.rules.where[row], duplicate(rule_set, id)))
        for row, id in zip(rows.tolist(), segment.rules.id[rows].tolist(), strict=True)
    ]
    return _without(done, taken, [*done.rejected, *late])


def accepted_patterns(done: CompiledRows, check_free: Callable[[str], None]) -> CompiledRows:
    """The same, but patterns whose id is taken are rejected, and with them the rules whose options they are.

    `check_free` raises `DuplicateId`.
    """
    kept: dict[str, PlacedPattern] = {}
    rejected, refused = list(done.rejected), set()
    for own in done.patterns:
        try:
            check_free(own.id)
            if own.id in kept:
                raise DuplicateId(f"pattern {own.id!r} is defined twice")
            kept[own.id] = own
        except DuplicateId as error:
            rejected.append((own.place, own.rejected(error)))
            refused.update([own.id] if own.is_option else [])
    done = _without(done, refused, rejected) if refused else replace(done, rejected=rejected)
    return replace(done, rejected=sorted(rejected, key=_place), patterns=list(kept.values()))


def _without(done: CompiledRows, ids: Collection[str], rejected: list[tuple[int, Rejected]]) -> CompiledRows:
    """The same without some rules and their options."""
    rows = np.flatnonzero(np.isin(done.segment.rules.id, list(ids)))
    return CompiledRows(
        merge_segments([(done.segment, rows.astype(np.int32))]),
        [id for id in done.ids if id not in ids],
        rejected,
        [own for own in done.patterns if not (own.is_option and own.id in ids)],
    )


def _place(found: tuple[int, Rejected]) -> int:
    return found[0]


def duplicate(rule_set: str, id: str) -> DuplicateId:
    return DuplicateId(f"rule set {rule_set!r} already has a rule {id!r}; unsubscribe it first")


def _compiled(
    rows: Sequence[CheckedRow], dialect: str, policy: Policy, progress: Callable[[list[str]], Iterable[str]]
) -> tuple[Segment, dict[int, RuleError]]:
    """The segment of rows with distinct ids, and the errors of the invalid ones by number."""
    exempted = [number for number, row in enumerate(rows) if row.exemptions]
    if not exempted:
        return _compiled_alike(rows, dialect, policy, progress)
    others = [number for number, row in enumerate(rows) if not row.exemptions]
    segment, found = _compiled_alike([rows[number] for number in others], dialect, policy, progress)
    errors = {others[number]: error for number, error in found.items()}
    rules: list[Rule] = []
    for number in exempted:
        try:
            rules.append(rule_of(rows[number], dialect, policy))
        except RuleError as error:
            errors[number] = error
    functions = frozenset[str]().union(*(called_functions(rule.tree) for rule in rules))
    none = np.empty(0, np.int32)
    return merge_segments([(segment, none), (build_segment(rules, functions), none)]), errors


def rule_of(row: CheckedRow, dialect: str, policy: Policy) -> Rule:
    """One rule, compiled alone. `RuleError` has its id."""
    try:
        tree, sql = read_rule(row.where, dialect=dialect, policy=policy)
        stored = None
        if row.exemptions:
            text = in_spark_dialect(row.where, dialect, policy)
            tree, sql, stored = exempted_rule(text, row.exemptions, dialect, policy)
    except RuleError as error:
        error.id = row.id
        raise
    fields = row.priority, row.metadata, sql, row.valid_from, row.valid_until, None, row.status, row.tags
    return Rule(row.id, row.where, tree, *fields, stored)


def _compiled_alike(
    rows: Sequence[CheckedRow], dialect: str, policy: Policy, progress: Callable[[list[str]], Iterable[str]]
) -> tuple[Segment, dict[int, RuleError]]:
    done = compile_texts(progress([row.where for row in rows]), dialect=dialect, policy=policy)
    accepted = done.accepted.tolist()
    own = [rows[number] for number in accepted]
    subscriptions = columns_of(own, [done.translated.get(number) for number in accepted])
    return Segment.of(done.forest, subscriptions, done.functions), done.errors


def columns_of(rows: Sequence[CheckedRow], translated: Sequence[str | None]) -> RuleColumns:
    """What a segment keeps about rows besides their trees; `translated` are texts in Spark SQL where they differ."""
    return RuleColumns(
        strings(row.id for row in rows),
        np.array([row.priority for row in rows], np.int32),
        strings(row.where for row in rows),
        strings(metadata_json(row.metadata) for row in rows),
        strings(translated),
        instants(row.valid_from for row in rows),
        instants(row.valid_until for row in rows),
        strings(None for _ in rows),
        statuses(row.status for row in rows),
        tag_lists(row.tags for row in rows),
        strings(None for _ in rows),
    )
