"""Several segments, less what was removed from them, as one.

Contract: the merged segment is the one that `build_segment` makes of all live rules at once, functions included, but
for the order in which attributes, constants, predicates and the nodes of a level are numbered. So nodes, predicates,
attributes and constants that only removed rules used are gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timezone

import numpy as np
from numpy.typing import NDArray

from sparkrules.index.builder import build_segment
from sparkrules.index.rule import Rule
from sparkrules.index.segment import KINDS, Segment
from sparkrules.index.segment_rules import rule_at
from sparkrules.sql.called import functions_in

_SQL = KINDS.index("sql")


def merge_segments(
    parts: Sequence[tuple[Segment, NDArray[np.int32]]], drop_expired_at: datetime | None = None
) -> Segment:
    """One segment of what is live in some: of each, all rows but the removed ones.

    With `drop_expired_at`, an instant with a time zone, rules whose `valid_until` is not after it are left out too.

    >>> from sparkrules.sql.tree import Predicate
    >>> sold, new = Predicate("sold", "is true"), Predicate("new", "is true")
    >>> first = build_segment([Rule("a", "sold", sold), Rule("b", "new", new)])
    >>> merged = merge_segments([(first, np.array([1], np.int32)), (build_segment([Rule("c", "sold", sold)]), [])])
    >>> merged, merged.subscription_id.tolist()
    (Segment(2 subscriptions, 1 predicates, 1 nodes), ['a', 'c'])
    """
    merged = build_segment(rule for segment, removed in parts for rule in _live(segment, removed, drop_expired_at))
    functions = frozenset[str]().union(
        *map(functions_in, merged.attributes.tolist()),
        *map(functions_in, merged.constant_text[merged.constant_kind == _SQL].tolist()),
    )
    return replace(merged, functions=tuple(sorted(functions)))


def _live(segment: Segment, removed: NDArray[np.int32], drop_expired_at: datetime | None) -> Iterator[Rule]:
    live = np.ones(len(segment.priority), bool)
    live[np.asarray(removed, np.int64)] = False
    if drop_expired_at is not None:
        instant = np.datetime64(drop_expired_at.astimezone(timezone.utc).replace(tzinfo=None), "us")
        live &= ~(segment.valid_until <= instant)
    for row in np.flatnonzero(live).tolist():
        yield rule_at(segment, row)
