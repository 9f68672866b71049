"""Ranges of attributes as SQL: a few disjuncts with a few values each.

Contract: the text is true for every row whose value lies in the ranges. It is true for no other, unless there are more
ranges or values than allowed: then the narrowest gaps between them are closed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from sparkrules.logic.codes import LOWEST, NULL, Codes, Interval, is_constant
from sparkrules.logic.regions import AttributeRegions
from sparkrules.sql.tree import Constant, Predicate
from sparkrules.sql.tree_sql import readable_constant, readable_predicate


@dataclass(frozen=True)
class ChosenRanges:
    """Ranges of an attribute as codes, and `loose` predicates beside them. `exact` says the same as the codes."""

    regions: AttributeRegions
    codes: Codes
    loose: tuple[Predicate, ...] = ()
    exact: Predicate | None = None

    def parts(self) -> Iterator[str]:
        """The disjuncts."""
        if self.exact is not None:
            yield readable_predicate(self.exact)
        elif self.codes:
            yield from _parts(self.regions, self.codes)
        yield from map(readable_predicate, self.loose)

    @property
    def values(self) -> int:
        """How many values its longest list has."""
        return sum(map(_is_point, self.codes.intervals))

    def closed(self, intervals: int) -> ChosenRanges:
        """At most so many ranges of values, the narrowest gaps closed."""
        null = Codes.of(*(own for own in self.codes.intervals if own[1] <= NULL))
        ranges = list((self.codes - null).intervals)
        gaps = sorted(range(len(ranges) - 1), key=lambda at: self._gap(ranges[at], ranges[at + 1]))
        filled = [(ranges[at][1], ranges[at + 1][0]) for at in gaps[: max(len(ranges) - intervals, 0)]]
        return replace(self, codes=Codes.of(*null.intervals, *ranges, *filled), exact=None)

    def _gap(self, below: Interval, above: Interval) -> float:
        low, high = self.regions.bounds(below[1])[1], self.regions.bounds(above[0])[0]
        if isinstance(low, (int, float, Decimal)) and isinstance(high, (int, float, Decimal)):
            return float(high) - float(low)
        return above[0] - below[1]


def disjunction(chosen: Iterable[ChosenRanges], disjuncts: int, values: int) -> tuple[list[str], bool] | None:
    """The disjuncts, and whether gaps had to be closed. None if there would be too many all the same."""
    wanted = list(chosen)
    fitting = [own.closed(1 if values < 2 else values) if own.values > values else own for own in wanted]
    if len(list(_all_parts(fitting))) > disjuncts:
        for most in (8, 4, 2, 1):
            fitting = [own if len(list(own.parts())) <= most else own.closed(most) for own in fitting]
            if len(list(_all_parts(fitting))) <= disjuncts:
                break
    parts = list(_all_parts(fitting))
    return (parts, fitting != wanted) if len(parts) <= disjuncts else None


def _all_parts(chosen: Iterable[ChosenRanges]) -> Iterator[str]:
    for own in chosen:
        yield from own.parts()


def _parts(own: AttributeRegions, codes: Codes) -> Iterator[str]:
    if NULL in codes:
        yield f"{own.name} IS NULL"
    present = Codes.of((LOWEST, own.last)) & own.universe
    codes = codes & present
    if own.type.column is not None and own.type.column.family == "boolean":
        yield from _boolean_parts(own, codes)
        return
    if codes and codes == present:
        yield f"{own.name} IS NOT NULL"
        return
    excluded = (Codes.of((LOWEST, own.last)) - codes).intervals
    if len(codes.intervals) > 1 and excluded and all(_is_point(interval) for interval in excluded):
        yield _listed(own, [start for start, _ in excluded], "<>", "NOT IN")
        return
    points = [start for start, end in codes.intervals if _is_point((start, end))]
    if points:
        yield _listed(own, points, "=", "IN")
    yield from (_range(own, start, end) for start, end in codes.intervals if not _is_point((start, end)))


def _boolean_parts(own: AttributeRegions, codes: Codes) -> Iterator[str]:
    truths = [name for value, name in ((0, "FALSE"), (1, "TRUE")) if own.encode(value) in codes]
    if len(truths) == 2:
        yield f"{own.name} IS NOT NULL"
    else:
        yield from (f"{own.name} = {name}" for name in truths)


def _is_point(interval: Interval) -> bool:
    return interval[0] == interval[1] and is_constant(interval[0])


def _listed(own: AttributeRegions, points: list[int], single: str, several: str) -> str:
    values = [_constant(own, own.point(code)) for code in points]
    return f"{own.name} {single} {values[0]}" if len(values) == 1 else f"{own.name} {several} ({', '.join(values)})"


def _range(own: AttributeRegions, start: int, end: int) -> str:
    low, high = own.bounds(start)[0], own.bounds(end)[1]
    if low is None and high is None:
        return f"{own.name} IS NOT NULL"
    if low is not None and high is not None and is_constant(start) and is_constant(end):
        return f"{own.name} BETWEEN {_constant(own, low)} AND {_constant(own, high)}"
    bounds = []
    if low is not None:
        bounds.append(f"{own.name} {'>=' if is_constant(start) else '>'} {_constant(own, low)}")
    if high is not None:
        bounds.append(f"{own.name} {'<=' if is_constant(end) else '<'} {_constant(own, high)}")
    return " AND ".join(bounds)


def _constant(own: AttributeRegions, value: Any) -> str:
    written = own.written.get(value)
    return readable_constant(Constant("string", value) if written is None else written)
