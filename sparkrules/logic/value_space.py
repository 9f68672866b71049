"""The possible values of an attribute: whether any lie between two constants, and an example.

Contract: `at(value)` and `between(low, high)` (both ends excluded, None for no end) say whether a value exists: yes,
no, or `None` if that depends on an unknown type. "No" is never wrong.

| type of the attribute | space | values | `between(5, 6)` |
|---|---|---|---|
| integer, Boolean, date, timestamp, decimal | `Grid` | multiples of a step, within bounds | no, if the step is 1 |
| double, float | `Floating` | floating point numbers; NaN is the greatest | yes |
| string | `Strings` | strings; nothing lies between `a` and `a\\0`, or below the empty string | |
| a number of unknown type | `Number` | integers certainly, others perhaps | depends |

>>> integers, some_number = Grid(Decimal(1)), Number()
>>> integers.between(5, 6), some_number.between(5, 6), some_number.between(5, 7), Strings().between(None, "")
(False, None, True, False)
>>> integers.sample(5, 9), Strings().sample("a", "b")
(6, 'a\\x00')
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

import numpy as np

from sparkrules.logic.comparison import ColumnType

# ruff: noqa: ARG002  # all spaces share one signature
# Wide enough for every Spark decimal, so nothing is ever rounded here.
_EXACT = Context(prec=400)


@dataclass(frozen=True)
class Number:
    """A number of unknown type: only integers are certainly possible."""

    def at(self, value: Any) -> bool | None:
        return True if value == _floor(value) else None

    def between(self, low: Any, high: Any) -> bool | None:
        if low is not None and high is not None and not low < high:
            return False
        return True if low is None or high is None or _floor(low) + 1 < high else None

    def sample(self, low: Any, high: Any) -> Any:
        if low is None:
            return 0 if high is None else _floor(high) - 1
        if high is None or _floor(low) + 1 < high:
            return _floor(low) + 1
        return _EXACT.divide(_EXACT.add(Decimal(low), Decimal(high)), 2)


@dataclass(frozen=True)
class Grid:
    """The multiples of a step, within bounds if given."""

    step: Decimal
    low: Decimal | None = None
    high: Decimal | None = None

    def at(self, value: Any) -> bool | None:
        outside = (self.low is not None and value < self.low) or (self.high is not None and value > self.high)
        return not outside and _EXACT.remainder(Decimal(value), self.step) == 0

    def between(self, low: Any, high: Any) -> bool | None:
        first = self._after(low)
        if first is None:
            return self.low is None or high is None or self.low < high
        return (high is None or first < high) and (self.high is None or first <= self.high)

    def sample(self, low: Any, high: Any) -> Any:
        first = self._after(low)
        if first is None:
            first = self._below(high)
        return int(first) if self.step == 1 else first

    def _after(self, low: Any) -> Decimal | None:
        """The first value above `low`, or the lowest of all. None if there is no lowest."""
        if low is None:
            return self.low
        following = _EXACT.multiply(_EXACT.add(_floor(_EXACT.divide(Decimal(low), self.step)), 1), self.step)
        return following if self.low is None else max(following, self.low)

    def _below(self, high: Any) -> Decimal:
        if high is None:
            return Decimal(0)
        ceiling = -_floor(_EXACT.divide(-Decimal(high), self.step))
        return _EXACT.multiply(Decimal(ceiling - 1), self.step)


@dataclass(frozen=True)
class Floating:
    """64-bit floating point numbers, or 32-bit ones as 64 bits."""

    narrow: bool = False

    def at(self, value: Any) -> bool | None:
        return not self.narrow or float(np.float32(value)) == value

    def between(self, low: Any, high: Any) -> bool | None:
        if high is None:
            return True  # at least NaN
        return bool(self._after(low) < high)

    def sample(self, low: Any, high: Any) -> Any:
        if low is None and high is None:
            return 0.0
        return self._after(low) if low is not None else self._step(high, -math.inf)

    def _after(self, low: Any) -> float:
        return -math.inf if low is None else self._step(low, math.inf)

    def _step(self, value: float, towards: float) -> float:
        if not self.narrow:
            return math.nextafter(value, towards) if value != towards else math.nan
        with np.errstate(over="ignore"):
            nearest = np.float32(value)
            beyond = nearest > value if towards > 0 else nearest < value
            return float(nearest if beyond else np.nextafter(nearest, np.float32(towards)))


@dataclass(frozen=True)
class Strings:
    """Strings ordered by code points, which is the order of their UTF-8 bytes."""

    def at(self, value: Any) -> bool | None:
        return True

    def between(self, low: Any, high: Any) -> bool | None:
        if high is None:
            return True
        return bool(high != "") if low is None else bool(low < high and high != low + "\0")

    def sample(self, low: Any, high: Any) -> Any:
        return "" if low is None else low + "\0"


@dataclass(frozen=True)
class Anything:
    """Values that cannot be compared, or not in a known way."""

    def at(self, value: Any) -> bool | None:
        return None

    def between(self, low: Any, high: Any) -> bool | None:
        return None

    def sample(self, low: Any, high: Any) -> Any:
        return None


@dataclass(frozen=True)
class Nothing(Anything):
    """A column that is always NULL."""

    def between(self, low: Any, high: Any) -> bool | None:
        return False


ValueSpace = Number | Grid | Floating | Strings | Anything


def value_space(column: ColumnType) -> ValueSpace:
    """The values of a column.

    >>> import pyarrow as pa
    >>> from sparkrules.logic.comparison import column_type
    >>> value_space(column_type(pa.int8()))
    Grid(step=Decimal('1'), low=Decimal('-128'), high=Decimal('127'))
    """
    if column.family == "integer":
        half = 2 ** (column.arrow.bit_width - 1)
        return Grid(Decimal(1), Decimal(-half), Decimal(half - 1))
    if column.family == "decimal":
        largest = Decimal((0, (9,) * column.arrow.precision, -column.arrow.scale))
        return Grid(Decimal((0, (1,), -column.arrow.scale)), -largest, largest)
    others: dict[str, ValueSpace] = {
        "boolean": Grid(Decimal(1), Decimal(0), Decimal(1)),
        "date": Grid(Decimal(1)),
        "timestamp": Grid(Decimal(1)),
        "float": Floating(narrow=True),
        "double": Floating(),
        "string": Strings(),
        "void": Nothing(),
    }
    return others.get(column.family, Anything())


def _floor(value: Any) -> int:
    floor: int = math.floor(value)
    return floor
