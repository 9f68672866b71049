"""Codes: integers that represent the values of an attribute. The plugin uses the same codes (`value/Keys.scala`).

The constants c0 < c1 < ... < c(k-1) that rules compare an attribute with divide its values into ranges. Each constant
has a code, and so does each range between two constants:

    cannot be computed   NULL   v < c0   c0   c0 < v < c1   c1   ...   c(k-1)   c(k-1) < v
    -1                   0      1        2    3             4          2k       2k + 1

So constant i has the code 2i + 2, the last code is 2k + 1, and every comparison is an interval of codes:

    = ci  [2i + 2, 2i + 2]      < ci  [1, 2i + 1]      > ci  [2i + 3, 2k + 1]      is null  [0, 0]

A derived attribute that cannot be computed for a row has the code -1: no predicate on it is true, not even `is null`.

`Codes` is a set of codes: sorted, disjoint, non-adjacent intervals of integers, with both ends included. So equal sets
are equal objects, and the size of a set depends on its predicate, not on the number of constants of the attribute.

>>> low, high = Codes.of((0, 4)), Codes.of((3, 9))
>>> low & high, low | high, high - low
(Codes(3..4), Codes(0..9), Codes(5..9))
>>> Codes.of((1, 1), (2, 2), (7, 7)), bool(low & Codes.of((5, 5)))
(Codes(1..2, 7), False)
>>> constant_code(0), constant_code(1), last_code(2), [is_constant(code) for code in (ERROR, NULL, 1, 2)]
(2, 4, 5, [False, False, False, True])
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

ERROR = -1
NULL = 0
LOWEST = 1  # the lowest code of a value

Interval = tuple[int, int]
_MANY = 16  # with this many times more intervals, binary search beats walking over all of them
_ENDLESS = 2**63


def constant_code(number: int) -> int:
    """The code of constant number `number`."""
    return 2 * number + 2


def last_code(constants: int) -> int:
    """The highest code for this number of constants: values above all of them."""
    return 2 * constants + 1


def is_constant(code: int) -> bool:
    """Whether a code represents a constant, rather than a range, NULL or an error."""
    return code > NULL and code % 2 == 0


@dataclass(frozen=True, slots=True, repr=False)
class Codes:
    """A set of codes; see the module. Create it with `Codes.of`, which sorts and joins the intervals."""

    intervals: tuple[Interval, ...] = ()

    @staticmethod
    def of(*intervals: Interval) -> Codes:
        """The union of some intervals. An interval that ends before its start is empty."""
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
                # Start from the last interval that begins at or before this one.
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
        theirs, place = other.intervals, 0
        for start, end in self.intervals:
            # Both are in order: what ends before this one ends before the next.
            while place < len(theirs) and theirs[place][1] < start:
                place += 1
            at = place
            while at < len(theirs) and theirs[at][0] <= end:
                low, high = theirs[at]
                if low > start:
                    left.append((start, low - 1))
                start = high + 1
                at += 1
            if start <= end:
                left.append((start, end))
        return Codes(tuple(left))

    def __le__(self, other: Codes) -> bool:
        return not self - other


EMPTY = Codes()
