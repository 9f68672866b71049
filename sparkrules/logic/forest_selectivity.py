"""The selectivity of every node of a forest, level by level, each shared node once.

Contract: what is known of a predicate is how many of `rows` counted rows it is true for: at least, probably and at
most. For some predicates it is also known *where* they are true: in which elementary ranges of which slot, at least
(`inside`) and at most (`touched`). Predicates of one slot under one AND or OR are then one set of ranges, whose rows
are counted; the formulas of `selectivity` combine only what is left. So `a > 5 AND a < 3` has no row, which the
formulas alone cannot say.

Bounds are numbers of rows, which floats add exactly: no rounding puts a bound on the wrong side of what was counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sparkrules.index.csr import Csr, Ints
from sparkrules.index.forest import AND, PREDICATE, Forest
from sparkrules.logic.range_sets import Floats, RangeSets
from sparkrules.logic.selectivity import Selectivity


@dataclass(frozen=True, eq=False)
class Estimates:
    """An estimate per row of these arrays: the least and the most of `rows` rows, and the probable share of them."""

    least: Floats
    share: Floats
    most: Floats
    rows: float = 1.0

    def __len__(self) -> int:
        return len(self.share)

    def __getitem__(self, number: int) -> Selectivity:
        return Selectivity(
            float(self.least[number] / self.rows), float(self.share[number]), float(self.most[number] / self.rows)
        )

    @staticmethod
    def of(selectivities: Iterable[Selectivity]) -> Estimates:
        """Estimates that are shares already."""
        columns = np.array(list(selectivities), np.float64).reshape(-1, 3).T
        return Estimates(*columns)

    def take(self, numbers: NDArray[np.integer]) -> Estimates:
        """The chosen estimates, in the given order."""
        return replace(self, least=self.least[numbers], share=self.share[numbers], most=self.most[numbers])


@dataclass(frozen=True, eq=False)
class PredicateEstimates:
    """What is known of each predicate of a forest. `slot` is -1 where its ranges are not known.

    The codes of all slots are numbered one after the other; `below` has the rows below each code, and all rows last.
    """

    estimates: Estimates
    slot: Ints
    inside: RangeSets
    touched: RangeSets
    below: Floats

    @staticmethod
    def without_ranges(estimates: Estimates) -> PredicateEstimates:
        """Estimates of predicates whose ranges are not known, so that only the formulas count."""
        none = RangeSets.of([[] for _ in range(len(estimates))])
        return PredicateEstimates(estimates, np.full(len(estimates), -1, np.int32), none, none, np.zeros(1))

    @staticmethod
    def in_ranges(
        guessed: Estimates, slot: Ints, inside: RangeSets, touched: RangeSets, below: Floats
    ) -> PredicateEstimates:
        """Estimates of predicates by their ranges, as `guessed` where those are not known."""
        counted = _in_ranges(inside, touched, below, guessed.rows)
        known = slot >= 0
        estimates = Estimates(
            np.where(known, counted.least, guessed.least),
            np.where(known, counted.share, guessed.share),
            np.where(known, counted.most, guessed.most),
            guessed.rows,
        )
        return PredicateEstimates(estimates, slot, inside, touched, below)

    def by_formula(self) -> PredicateEstimates:
        """The same estimates without the ranges."""
        return PredicateEstimates.without_ranges(self.estimates)


def node_estimates(forest: Forest, predicates: PredicateEstimates) -> Estimates:
    """The estimate of each node of a forest, given those of its predicates."""
    return _Walk(forest, predicates).estimates


def _in_ranges(inside: RangeSets, touched: RangeSets, below: Floats, rows: float) -> Estimates:
    least, most = inside.rows_in(below), touched.rows_in(below)
    return Estimates(least, (least + most) / 2 / rows, most, rows)


class _Walk:
    """Estimates all nodes, children before parents. `_place` is where the ranges of a node are, if `_slot` >= 0."""

    def __init__(self, forest: Forest, predicates: PredicateEstimates) -> None:
        nodes, known = forest.nodes, predicates.estimates
        self._nodes, self._below, self._rows = nodes, predicates.below, known.rows
        self._inside, self._touched = predicates.inside, predicates.touched
        count = len(nodes)
        self._slot, self._place = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
        self.estimates = Estimates(np.zeros(count), np.zeros(count), np.zeros(count), known.rows)
        leaves = np.flatnonzero(nodes.operator == PREDICATE)
        self._slot[leaves] = predicates.slot[nodes.predicate[leaves]]
        self._place[leaves] = nodes.predicate[leaves]
        self._put(leaves, known.take(nodes.predicate[leaves]))
        empty = np.flatnonzero((nodes.operator == AND) & (nodes.children.lengths == 0))
        always = np.ones(len(empty))
        self._put(empty, Estimates(always * known.rows, always, always * known.rows, known.rows))
        junctions = np.flatnonzero(nodes.children.lengths > 0)
        levels = nodes.level[junctions]
        for level in np.unique(levels).tolist():
            self._estimate(junctions[levels == level])

    def _put(self, nodes: NDArray[np.integer], own: Estimates) -> None:
        self.estimates.least[nodes] = own.least
        self.estimates.share[nodes] = own.share
        self.estimates.most[nodes] = own.most

    def _estimate(self, nodes: NDArray[np.integer]) -> None:
        """Estimate junctions whose children are estimated."""
        children = self._nodes.children.take(nodes)
        parent, child = children.row_numbers().astype(np.int64), children.values.astype(np.int64)
        # A part is what the formulas combine: all children of one slot, or a child whose ranges are not known.
        slot = self._slot[child]
        loose = np.where(slot < 0, np.arange(len(child)) + self._slot.max(initial=0) + 1, slot)
        order = np.lexsort((loose, parent))
        parent, child, loose = parent[order], child[order], loose[order]
        is_new = np.concatenate([[True], (parent[1:] != parent[:-1]) | (loose[1:] != loose[:-1])])
        start = np.flatnonzero(is_new)
        size = np.diff(np.append(start, len(child)))
        parts = self.estimates.take(child[start])
        several = np.flatnonzero(size > 1)
        part_of_parent = parent[start]
        if len(several):
            members = Csr.from_lengths(size[several], child[np.repeat(size > 1, size)])
            owners = nodes[part_of_parent[several]]
            self._combine(parts, several, members, owners)
            pure = np.bincount(part_of_parent, minlength=len(nodes))[part_of_parent[several]] == 1
            self._slot[owners[pure]] = self._slot[child[start[several[pure]]]]
            self._place[owners[pure]] = len(self._inside) - len(several) + np.flatnonzero(pure)
        starts = np.flatnonzero(np.concatenate([[True], part_of_parent[1:] != part_of_parent[:-1]]))
        counts = np.diff(np.append(starts, len(part_of_parent)))
        self._put(nodes, self._by_formula(nodes, parts, starts, counts))

    def _combine(
        self, parts: Estimates, several: NDArray[np.integer], members: Csr, owners: NDArray[np.integer]
    ) -> None:
        """Count the rows of each part that is several nodes of one slot, and keep its ranges."""
        needed = np.where(self._nodes.operator[owners] == AND, members.lengths, 1)
        sets = Csr.from_lengths(members.lengths, self._place[members.values])
        inside, touched = self._inside.at_least(sets, needed), self._touched.at_least(sets, needed)
        counted = _in_ranges(inside, touched, self._below, self._rows)
        parts.least[several], parts.share[several], parts.most[several] = counted.least, counted.share, counted.most
        self._inside = RangeSets.concatenated([self._inside, inside])
        self._touched = RangeSets.concatenated([self._touched, touched])

    def _by_formula(
        self, nodes: NDArray[np.integer], parts: Estimates, starts: NDArray[np.integer], counts: NDArray[np.integer]
    ) -> Estimates:
        is_and = self._nodes.operator[nodes] == AND
        rows = self._rows
        least = np.where(
            is_and,
            np.maximum(0.0, np.add.reduceat(parts.least, starts) - (counts - 1) * rows),
            np.maximum.reduceat(parts.least, starts),
        )
        most = np.where(
            is_and,
            np.minimum.reduceat(parts.most, starts),
            np.minimum(rows, np.add.reduceat(parts.most, starts)),
        )
        share = np.where(
            is_and,
            np.multiply.reduceat(parts.share, starts),
            1.0 - np.multiply.reduceat(1.0 - parts.share, starts),
        )
        # Shares (rows = 1) are rounded.
        least = np.minimum(least, most)
        return Estimates(least, np.clip(share, least / rows, most / rows), most, rows)
