"""Sets of codes: the elementary ranges of an attribute in which a test is true.

Contract: a set is sorted, disjoint, never touching intervals of integers, both ends included. So equal sets are equal
objects, and a set is as large as the test that it stands for, however many constants the attribute has.

>>> low, high = Codes.of((0, 4)), Codes.of((3, 9))
>>> low & high, low | high, high - low
(Codes(3..4), Codes(0..9), Codes(5..9))
>>> Codes.of((1, 1), (2, 2), (7, 7)), bool(low & Codes.of((5, 5)))
(Codes(1..2, 7), False)
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

Interval = tuple[int, int]
_MANY = 16  # times as many intervals: then finding the place of one is faster than walking over all
_ENDLESS = 2**63


@dataclass(frozen=True, slots=True, repr=False)
class Codes:
    """A set of codes; see the module. Make one with `Codes.of`, which sorts and joins the intervals."""

    intervals: tuple[Interval, ...] = ()

    @staticmethod
    def of(*intervals: Interval) -> Codes:
        """The union of some intervals; one whose end is before its start is empty."""
        joined: list[Interval] = []
        for start, end in sorted(intervals):
            if start > end:
                continue
            if joined and start <= joined[-1][1] + 1:
                joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
            else:
                joined.append((start, end))
        return Codes(tuple(joined))

    def __repr__(self) -> str:
        return f"Codes({', '.join(str(a) if a == b else f'{a}..{b}' for a, b in self.intervals)})"

    def __bool__(self) -> bool:
        return bool(self.intervals)

    def __contains__(self, code: int) -> bool:
        return any(start <= code <= end for start, end in self.intervals)

    def __iter__(self) -> Iterator[int]:
        for start, end in self.intervals:
            yield from range(start, end + 1)

    def __len__(self) -> int:
        return sum(end - start + 1 for start, end in self.intervals)

    def __and__(self, other: Codes) -> Codes:
        mine, theirs = self.intervals, other.intervals
        if len(mine) == 1 and len(theirs) == 1:
            start, end = max(mine[0][0], theirs[0][0]), min(mine[0][1], theirs[0][1])
            return Codes(((start, end),)) if start <= end else EMPTY
        if len(mine) > len(theirs):
            mine, theirs = theirs, mine
        found: list[Interval] = []
        if len(theirs) > _MANY * len(mine):
            for first, last in mine:
                # From the last interval that begins at or before this one.
                place = max(bisect_right(theirs, (first, _ENDLESS)) - 1, 0)
                while place < len(theirs) and theirs[place][0] <= last:
                    start, end = theirs[place]
                    if end >= first:
                        found.append((max(start, first), min(end, last)))
                    place += 1
            return Codes(tuple(found))
        i = j = 0
        while i < len(mine) and j < len(theirs):
            start, end = max(mine[i][0], theirs[j][0]), min(mine[i][1], theirs[j][1])
            if start <= end:
                found.append((start, end))
            if mine[i][1] < theirs[j][1]:
                i += 1
            else:
                j += 1
        return Codes(tuple(found))

    def __or__(self, other: Codes) -> Codes:
        return Codes.of(*self.intervals, *other.intervals)

    def __sub__(self, other: Codes) -> Codes:
        left: list[Interval] = []
        for start, end in self.intervals:
            for low, high in other.intervals:
                if high < start:
                    continue
                if low > end:
                    break
                if low > start:
                    left.append((start, low - 1))
                start = high + 1
            if start <= end:
                left.append((start, end))
        return Codes(tuple(left))

    def __le__(self, other: Codes) -> bool:
        return not self - other


EMPTY = Codes()
