"""Merge segments into one: drop removed and expired rules, and share equal nodes.

Contract: the result equals the segment built from the remaining rules together. Nodes used only by dropped rules are
gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone

import numpy as np
from numpy.typing import NDArray

from sparkrules.errors import DuplicateId
from sparkrules.index.forest import Forest
from sparkrules.index.merge_forests import merge_forests, only_rules
from sparkrules.index.rule_columns import RuleColumns
from sparkrules.index.segment import Segment


def merge_segments(
    parts: Sequence[tuple[Segment, NDArray[np.int32]]],
    drop_expired_at: datetime | None = None,
) -> Segment:
    """The segment of all rules of the parts, without the removed rows of each part.

    >>> from sparkrules.index.builder import build_segment
    >>> from sparkrules.index.rule import Rule
    >>> from sparkrules.sql import Junction, Predicate
    >>> a, b, c = (Predicate(name, "is true") for name in "abc")
    >>> old = build_segment([Rule("1", "a AND b", Junction("and", (a, b))), Rule("2", "c", c)])
    >>> new = build_segment([Rule("3", "b AND a", Junction("and", (b, a)))])
    >>> merged = merge_segments([(old, np.array([1], np.int32)), (new, np.array([], np.int32))])
    >>> merged, merged.rules.id.tolist()
    (Segment(2 rules, 2 predicates, 3 nodes), ['1', '3'])
    """
    keeps = [_kept(segment, removed, drop_expired_at) for segment, removed in parts]
    both = [(segment, keep) for (segment, _), keep in zip(parts, keeps, strict=True)]
    rules = RuleColumns.concatenated([segment.rules.take(np.flatnonzero(keep)) for segment, keep in both])
    ids = rules.id.tolist()
    if len(set(ids)) < len(ids):
        id, _ = Counter(ids).most_common(1)[0]
        raise DuplicateId(f"two segments have a subscription {id!r}: ids are unique within a rule set")
    forest = merge_forests([only_rules(segment.forest, keep) for segment, keep in both])
    named = frozenset[str]().union(*(segment.functions for segment, keep in both if keep.any()))
    return Segment.of(forest, rules, _still_called(named, forest))


def _still_called(functions: frozenset[str], forest: Forest) -> Iterator[str]:
    """The functions whose names still occur. A name inside a string keeps its function: an extra one is harmless."""
    if not functions:
        return
    texts = [*forest.attributes.tolist(), *(constant.text for constant in forest.constants if constant.kind == "sql")]
    calls = "\n".join(text for text in texts if "(" in text).lower()
    yield from (name for name in functions if name.rpartition(".")[2] in calls)


def _kept(segment: Segment, removed: NDArray[np.int32], drop_expired_at: datetime | None) -> NDArray[np.bool_]:
    keep = np.ones(len(segment.rules.priority), bool)
    keep[removed] = False
    if drop_expired_at is not None:
        instant = np.datetime64(drop_expired_at.astimezone(timezone.utc).replace(tzinfo=None), "us")
        keep &= ~(segment.rules.valid_until <= instant)  # NaT means no end, and compares false
    return keep
