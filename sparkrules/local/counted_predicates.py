"""What the statistics of a rule set say about predicates, without a table to bind them to.

Contract: `RuleSet.analyze` has stored the slot of every predicate, and the positions where it is true. So a predicate
that was there is exact. One that is new has no positions, but its constants lie somewhere among the counted ranges:
the ranges that are certainly inside, and those that it may touch, bound its share. That takes an attribute that
is itself a slot, and a type and constants that Spark compares without rounding; `placed_constants` has the list. Of any
other predicate nothing is known, and its share is a guess between 0 and 1.

The plugin does the same for the catalog (`CountedPredicates.scala`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sparkrules.index.forest import Forest
from sparkrules.local.placed_constants import CountedSlot
from sparkrules.logic.forest_selectivity import Estimates, PredicateEstimates
from sparkrules.logic.range_sets import RangeSets
from sparkrules.logic.selectivity import guess
from sparkrules.sql.tree import OPERATORS, Constant, Predicate

Intervals = list[tuple[int, int]]


class BoundPredicate(NamedTuple):
    """A predicate as Spark has bound it: the slot, its type and how many positions it has, and where it is true."""

    predicate: Predicate
    slot: str
    type: str
    positions: int
    intervals: Intervals


def predicate_table(bound: Iterable[BoundPredicate], schema: pa.Schema) -> pa.Table:
    """Bound predicates as the store keeps them."""
    rows = [
        (
            own.predicate.attribute,
            own.predicate.operator,
            constants_text(own.predicate.constants),
            *(own.slot, own.type, own.positions),
            [first for first, _ in own.intervals],
            [last for _, last in own.intervals],
        )
        for own in bound
    ]
    columns: Sequence[Sequence[object]] = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)


def constants_text(constants: Iterable[Constant]) -> str:
    """Constants as one string, different for different constants.

    >>> print(constants_text([Constant("integer", "5"), Constant("string", "it's")]))
    integer '5', string 'it\\'s'
    """
    return ", ".join([f"{constant.kind} {Constant('string', constant.text)}" for constant in constants])


class CountedPredicates:
    """The statistics of a rule set: its ranges, and where its predicates were true."""

    def __init__(self, ranges: pa.Table, predicates: pa.Table) -> None:
        self.rows: int = ranges["total"][0].as_py() if ranges.num_rows else 0
        self._slots: dict[str, int] = {}
        self._counted: list[CountedSlot] = []
        self._known: dict[tuple[str, str, str], tuple[int, Intervals]] = {}
        self._of_attribute: dict[str, int] = {}
        columns = (predicates[name].to_pylist() for name in predicates.schema.names)
        for attribute, operator, constants, slot, type_, positions, first, last in zip(*columns, strict=True):
            number = self._slots.setdefault(slot, len(self._slots))
            if number == len(self._counted):
                self._counted.append(CountedSlot(type_, positions))
            intervals = list(zip(first, last, strict=True))
            self._known[attribute, operator, constants] = number, intervals
            if attribute.lower() == slot.lower():
                self._of_attribute[attribute] = number
        columns = (ranges[name].to_pylist() for name in ("attribute", "position", "lower", "upper", "rows"))
        for attribute, position, lower, upper, rows in zip(*columns, strict=True):
            number = self._slots.get(attribute, -1)
            if number >= 0:
                self._counted[number].add(position, lower, upper, rows)

    def estimates(self, forest: Forest) -> PredicateEstimates:
        """What is known of each predicate of a forest."""
        if not self.rows:
            return guesses(forest)
        starts = np.concatenate([[0], np.cumsum([slot.positions for slot in self._counted])]).tolist()
        slots: list[int] = []
        inside: list[Intervals] = []
        touched: list[Intervals] = []
        for predicate in forest.all_predicates():
            found = self._of(predicate)
            slots.append(-1 if found is None else found[0])
            for sets, own in zip((inside, touched), ([], []) if found is None else found[1:], strict=True):
                start = starts[slots[-1]]
                sets.append([(first + start, last + start) for first, last in own] if start else own)
        counts = [slot.counts for slot in self._counted]
        below = np.concatenate([[0.0], np.cumsum(np.concatenate([np.zeros(0), *counts]))])
        guessed = _guessed(forest, float(self.rows))
        number = np.array(slots, np.int32)
        return PredicateEstimates.in_ranges(guessed, number, RangeSets.of(inside), RangeSets.of(touched), below)

    def _of(self, predicate: Predicate) -> tuple[int, Intervals, Intervals] | None:
        """The slot of a predicate, and the positions where it is true for certain, and where it may be."""
        known = self._known.get((predicate.attribute, predicate.operator, constants_text(predicate.constants)))
        if known is not None:
            return known[0], known[1], known[1]
        number = self._of_attribute.get(predicate.attribute)
        placed = None if number is None else self._counted[number].placed(predicate.operator, predicate.constants)
        return None if placed is None or number is None else (number, *placed)


def guesses(forest: Forest) -> PredicateEstimates:
    """The estimates of predicates without statistics."""
    return PredicateEstimates.without_ranges(_guessed(forest, 1.0))


def _guessed(forest: Forest, rows: float) -> Estimates:
    lengths = forest.predicates.constants.lengths
    share = np.zeros(len(lengths))
    for number, operator in enumerate(OPERATORS):
        own = forest.predicates.operator == number
        for length in np.unique(lengths[own]).tolist():
            share[own & (lengths == length)] = guess(operator, length).avg
    return Estimates(np.zeros(len(share)), share, np.full(len(share), rows), rows)
