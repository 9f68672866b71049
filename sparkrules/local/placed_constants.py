"""Where constants lie among the counted ranges of a slot, if the analysis has not seen them.

Contract: `CountedSlot.placed` gives the positions where a predicate is true for certain, and those where it may be. A
range that a constant divides may be, on either side. None if Spark's comparison is not plainly that of the values:

| type of the slot | constants |
|---|---|
| an integer, DECIMAL with at most 20 digits | integers and decimals with at most 15 digits: no type rounds them |
| DOUBLE | the same, and doubles |
| STRING without a collation | strings |
| DATE | `DATE'2024-01-31'` |
| BOOLEAN | none: `is true` and similar operators |

Only ranges that contain rows were stored, so a constant between them divides no rows.

>>> slot = CountedSlot("INT", 6)  # positions of the constants 10 and 20
>>> slot.add(1, None, "10", rows=7)
>>> slot.add(5, "20", None, rows=3)
>>> slot.placed("<", [Constant("integer", "15")])
([(1, 4)], [(1, 4)])
>>> slot.placed(">=", [Constant("integer", "25")])
([], [(5, 5)])
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparkrules.sql.tree import Constant

Intervals = list[tuple[int, int]]

_EXACT_NUMBER = re.compile(r"TINYINT|SMALLINT|INT|BIGINT|DECIMAL\((1?[0-9]|20),\d+\)")
_MOST_DIGITS = 15
_DATE = re.compile(r"DATE ?'(\d{4}-\d\d-\d\d)'", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
# Positions of a Boolean, whose constants are false and true.
_TRUTHS: dict[str, Intervals] = {
    "is true": [(4, 4)],
    "is false": [(2, 2)],
    "is not true": [(0, 3), (5, 5)],
    "is not false": [(0, 1), (3, 5)],
}
_COMPARISONS = ("<", "<=", ">", ">=", "=", "<>", "<=>", "not <=>", "in", "not in")


class CountedSlot:
    """The counted ranges of a slot, whose type is Spark's name of it."""

    def __init__(self, type_: str, positions: int) -> None:
        self.positions = positions
        self._type = type_
        self._has_errors = False
        self._counts = np.zeros(positions)
        self._ranges: list[tuple[int, str | None, str | None]] = []
        self._edges: _Edges | None = None

    def add(self, position: int, lower: str | None, upper: str | None, rows: int) -> None:
        """A range that contains rows, after those of lower positions."""
        if position < 0:
            self._has_errors = True
        elif position < self.positions:
            self._counts[position] = rows
            self._ranges += [(position, lower, upper)] if position > 0 else []

    @property
    def counts(self) -> NDArray[np.float64]:
        """How many rows each position has."""
        return self._counts

    def placed(self, operator: str, constants: Sequence[Constant]) -> tuple[Intervals, Intervals] | None:
        """Where a predicate is true for certain, and where it may be; None if that cannot be said."""
        last = self.positions - 1
        if operator in ("is null", "is not null"):
            # Spark need not compute a value that is never NULL to know this, even if computing it would fail.
            own = [(0, 0)] if operator == "is null" else [(1, last)]
            return None if self._has_errors else (own, own)
        if operator in _TRUTHS:
            return (_TRUTHS[operator], _TRUTHS[operator]) if self._type == "BOOLEAN" else None
        values = [self._constant(constant) for constant in constants]
        edges = self._sorted_edges()
        if edges is None or not values or None in values or operator not in _COMPARISONS:
            return None
        return _positions(operator, [edges.place(value) for value in values], last)

    def _sorted_edges(self) -> _Edges | None:
        if self._edges is None:
            edges = _Edges([], [], [])
            for position, lower, upper in sorted(self._ranges):
                low = _BOTTOM if lower is None else self._value(lower)
                high = _TOP if upper is None else self._value(upper)
                if low is None or high is None:
                    return None
                is_constant = position % 2 == 0
                edges.positions.append(position)
                edges.lower.append((low, not is_constant))
                edges.upper.append((high, is_constant))
            self._edges = edges
        return self._edges

    def _constant(self, constant: Constant) -> Any:
        """A constant as a value that compares like the slot; None if Spark may compare it in another way."""
        kind, text = constant.kind, constant.text
        if kind in ("integer", "decimal") and sum(map(str.isdigit, text)) <= _MOST_DIGITS:
            return self._value(text) if self._is_number else None
        if (kind, self._type) in (("double", "DOUBLE"), ("string", "STRING")):
            return self._value(text)
        date = _DATE.fullmatch(text) if kind == "sql" and self._type == "DATE" else None
        return self._value(date[1]) if date else None

    @property
    def _is_number(self) -> bool:
        return self._type == "DOUBLE" or _EXACT_NUMBER.fullmatch(self._type) is not None

    def _value(self, text: str) -> Any:
        """A value of the slot, from its text; None if it cannot be compared."""
        if _EXACT_NUMBER.fullmatch(self._type):
            return 0, Decimal(text)
        if self._type == "DOUBLE":
            number = float(text)
            return (1, 0.0) if isnan(number) else (0, number)  # NaN is above all others
        if self._type == "STRING":
            return 0, text
        return (0, text) if self._type == "DATE" and _DAY.fullmatch(text) else None


_BOTTOM, _TOP = (-1, 0), (2, 0)


class _Place(NamedTuple):
    """What lies below position `first` is less than a constant, what lies above `last` is greater.

    If there is a range between, the constant divides it, or is it: then the place is `exact`.
    """

    first: int
    last: int
    exact: bool


@dataclass
class _Edges:
    """Ranges in order. An edge is a value, and what decides between a range and the constant that bounds it."""

    positions: list[int]
    lower: list[Any]
    upper: list[Any]

    def place(self, value: Any) -> _Place:
        start, end = bisect_left(self.upper, (value, True)), bisect_right(self.lower, (value, False))
        if start < end:
            position = self.positions[start]
            return _Place(position, position, position % 2 == 0)
        # The constant lies where no rows are.
        first = self.positions[end] if end < len(self.positions) else (self.positions[-1] + 1 if self.positions else 1)
        return _Place(first, first - 1, exact=False)


def _positions(operator: str, places: Sequence[_Place], last: int) -> tuple[Intervals, Intervals]:
    if operator in ("<", "<=", ">", ">="):
        first, end, exact = places[0]
        if operator in ("<", "<="):
            inside = end if exact and operator == "<=" else first - 1
            touched = first - 1 if exact and operator == "<" else end
            return _interval(1, inside), _interval(1, touched)
        inside = first if exact and operator == ">=" else end + 1
        touched = end + 1 if exact and operator == ">" else first
        return _interval(inside, last), _interval(touched, last)
    certain = sorted({(place.first, place.last) for place in places if place.exact})
    possible = sorted({(place.first, place.last) for place in places if place.first <= place.last})
    if operator in ("=", "<=>", "in"):
        return certain, possible
    start = 0 if operator == "not <=>" else 1
    return _without(start, last, possible), _without(start, last, certain)


def _interval(first: int, last: int) -> Intervals:
    return [(first, last)] if first <= last else []


def _without(first: int, last: int, excluded: Intervals) -> Intervals:
    kept: Intervals = []
    for start, end in excluded:
        kept += _interval(first, start - 1)
        first = end + 1
    return kept + _interval(first, last)
