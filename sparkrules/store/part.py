"""A part of a rule set: a segment and its removed rows. Parts are immutable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sparkrules.index.arrow_arrays import instants_from_arrow
from sparkrules.index.merge import merge_segments
from sparkrules.index.rule import Rule
from sparkrules.index.segment import Segment
from sparkrules.store.lazy_segment import LazySegment


@dataclass(frozen=True, eq=False)
class Part:
    """A segment without its removed rows.

    >>> from sparkrules.index import Rule, build_segment
    >>> from sparkrules.sql.tree import Predicate
    >>> sold = Predicate("sold", "is true")
    >>> part = Part.of(build_segment([Rule("a", "sold", sold), Rule("b", "sold", sold)]))
    >>> part.live, part.without(part.find(["a"])).live, part.without(part.find(["a"])).find(["a", "b"]).tolist()
    (2, 1, [-1, 1])
    """

    body: LazySegment
    removed: NDArray[np.bool_]

    def __post_init__(self) -> None:
        self.removed.flags.writeable = False

    @staticmethod
    def of(segment: Segment) -> Part:
        """The whole segment."""
        return Part(LazySegment.of(segment), np.zeros(len(segment.rules.priority), bool))

    @cached_property
    def live(self) -> int:
        """The number of rules."""
        return self.body.rows - int(np.count_nonzero(self.removed))

    @property
    def live_rows(self) -> NDArray[np.int64]:
        return np.flatnonzero(~self.removed)

    def find(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """The row of each id, or -1 if the part does not have that rule."""
        if not self.live:
            return np.full(len(ids), -1, np.int64)
        rows = self.body.find(ids)
        known = rows >= 0
        rows[known] = np.where(self.removed[rows[known]], -1, rows[known])
        return rows

    def without(self, rows: NDArray[np.int64]) -> Part:
        """This part without the given rows, which must be distinct."""
        removed = self.removed.copy()
        removed[rows] = True
        less = Part(self.body, removed)
        # Counting a million bits for each removed rule would be most of the work.
        vars(less)["live"] = self.live - int(np.count_nonzero(~self.removed[rows]))
        return less

    def only(self, rows: NDArray[np.int64]) -> Part:
        """This part with only the given rows."""
        removed = np.ones(self.body.rows, bool)
        removed[rows] = False
        return Part(self.body, removed)

    def rules(self) -> Iterator[Rule]:
        """The rules, by id. Reads the whole segment."""
        _ = self.body.segment
        for row in self.live_rows.tolist():
            yield self.body.rule(row)

    def expired(self, at: datetime) -> int:
        """The number of rules that have expired at a given instant."""
        until = self.body.column("valid_until")
        if until.null_count == len(until):
            return 0
        instant = np.datetime64(at.astimezone(timezone.utc).replace(tzinfo=None), "us")
        return int(np.count_nonzero((instants_from_arrow(until) <= instant) & ~self.removed))


def merged(parts: Sequence[Part], drop_expired_at: datetime | None = None) -> Segment:
    """Merge the live rules of several parts into one segment."""
    return merge_segments(
        [(part.body.segment, np.flatnonzero(part.removed).astype(np.int32)) for part in parts],
        drop_expired_at,
    )
