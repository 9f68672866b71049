"""Which nodes of a forest can be true in a box: all of them at once, by arrays.

Contract: a *box* gives some attributes a set of codes each; others can have any. For every node, `Boxes.overlap` says
`no` (it is true for no codes in the box), `yes` (it is), or neither, where the search of `satisfiable` must decide.

A predicate can be true if one of its codes is in the box. An OR can be true if one child can. An AND can if all
children can, provided that no attribute occurs in two of them: then they choose their codes independently. Predicates
of an AND that compare one attribute, `price > 5 AND price < 10`, count as one, if each is an interval: what they leave
is an interval, too. Such nodes are *plain*, and for them the answer is exact. For others, only `no` is.

>>> from sparkrules.index.builder import trees_forest
>>> from sparkrules.sql import parse_rule
>>> from sparkrules.sql.tree import distinct_predicates
>>> texts = "a > 5 AND a < 9 AND b = 1", "a < 5 OR b = 2", "a <> 7 AND a <> 8 AND b = 1"
>>> forest = trees_forest({text: parse_rule(text) for text in texts})
>>> box = parse_rule("a > 6 AND b < 2")
>>> regions = Regions([*forest.all_predicates(), *distinct_predicates(box)])
>>> found = Boxes(forest, regions).overlap(box)
>>> [(bool(found.yes[node]), bool(found.no[node])) for node in forest.roots]
[(True, False), (False, True), (False, False)]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparkrules.index.csr import Csr
from sparkrules.index.forest import AND, PREDICATE, Forest
from sparkrules.logic.codes import ERROR, Codes
from sparkrules.logic.regions import Regions
from sparkrules.logic.satisfiable import Restriction, Search, certain_code, formula
from sparkrules.sql.tree import Node

Mask = NDArray[np.bool_]
Ints = NDArray[np.int32]
# A condition with more ways to be true is decided by search.
_BRANCHES = 64
_LIMIT = 2_000
# Attributes beyond these share a bit. Nodes with two of them then count as not plain, which is always correct.
_MOST_BITS = 256


class Overlap(NamedTuple):
    """For each node whether it can be true together with a condition, or cannot. `certain`: some row fulfils both."""

    yes: Mask
    no: Mask
    certain: Mask


@dataclass(frozen=True, eq=False)
class _Intervals:
    """Intervals of codes on one attribute. The `owner` of some can be true where one of them is."""

    owner: Ints
    low: Ints
    high: Ints

    def touching(self, codes: Codes, last: int, truth: Mask) -> None:
        """Set the truth of the owners: whether they have one of the codes."""
        truth[self.owner] = False
        allowed = np.zeros(last - ERROR + 2, np.int32)  # starts one before ERROR, at an unused code
        for start, end in codes.intervals:
            allowed[start - ERROR + 1 : end - ERROR + 2] = 1
        before = np.cumsum(allowed)
        touched = (self.low <= self.high) & (before[self.high - ERROR + 1] > before[self.low - ERROR])
        truth[self.owner[touched]] = True


class _Level(NamedTuple):
    """The inner nodes of one level, and their children."""

    nodes: NDArray[np.int64]
    children: Csr
    is_all: Mask


class Boxes:
    """The nodes of a forest, over regions that include its predicates. See the module."""

    def __init__(self, forest: Forest, regions: Regions) -> None:
        self.regions = regions
        self._operator, self._predicate = forest.nodes.operator, forest.nodes.predicate
        self._is_leaf = forest.nodes.operator == PREDICATE
        self._levels = list(_levels(forest))
        self._names = forest.attributes.tolist()
        self._attribute = forest.predicates.attribute
        extents = [regions.extent(predicate) for predicate in forest.all_predicates()]
        lengths = [len(extent.possible.intervals) for extent in extents]
        ends = np.array([pair for extent in extents for pair in extent.possible.intervals], np.int32).reshape(-1, 2)
        owner = np.repeat(np.arange(len(extents), dtype=np.int32), lengths)
        self._is_decided = np.array([extent.atom is None for extent in extents], bool)
        self._is_possible = np.array(lengths, np.int64) > 0
        self._low, self._high = np.full(len(extents), 1, np.int32), np.zeros(len(extents), np.int32)
        self._low[owner], self._high[owner] = ends[:, 0], ends[:, 1]
        self._is_interval = self._is_decided & (np.array(lengths, np.int64) == 1)
        self._by_attribute = _by_attribute(self._attribute[owner], owner, ends[:, 0], ends[:, 1])
        self._mark_plain()

    def overlap(self, tree: Node) -> Overlap:
        """Which nodes can be true where a condition is."""
        size = len(self._operator)
        found = Overlap(np.zeros(size, bool), np.ones(size, bool), np.zeros(size, bool))
        search = Search([formula(tree, self.regions)], _LIMIT)
        branches = list(islice(search.branches(self.regions), _BRANCHES + 1))
        if len(branches) > _BRANCHES or search.is_exhausted:
            found.no[:] = False
            return found
        for branch in branches:
            self._join(found, branch.restrictions)
        return found

    def _join(self, found: Overlap, box: Mapping[str, Restriction]) -> None:
        """Add what can be true in one more box."""
        true = self._true({name: own.codes for name, own in box.items()})
        # A box is exact for an attribute whose predicates are not all decided by codes, as long as nobody else asks.
        undecided = self._bits([name for name, own in box.items() if own.extents])
        yes = true & self._plain & ~(self._mask & undecided).any(axis=1)
        found.yes[:] |= yes
        found.no[:] &= ~true
        regions = self.regions
        is_certain = regions.independent(box) and all(
            certain_code(own, regions.attributes[name]) is not None for name, own in box.items()
        )
        if is_certain and not found.certain[yes].all():
            inhabited = {name: own.codes & regions.attributes[name].inhabited for name, own in box.items()}
            others = set(self._names) - set(inhabited)
            inhabited |= {name: regions.attributes[name].inhabited for name in others if name in regions.attributes}
            joined = self._bits(_joined(regions))
            found.certain[:] |= self._true(inhabited) & yes & ~(self._mask & joined).any(axis=1)

    def _true(self, box: Mapping[str, Codes]) -> Mask:
        """The nodes that can be true in a box; if they are plain, exactly those."""
        leaves, merged = self._is_possible.copy(), self._merged_low <= self._merged_high
        for place, name in enumerate(self._names):
            if name not in box:
                continue
            last = self.regions.attributes[name].last
            if place in self._by_attribute:
                self._by_attribute[place].touching(box[name], last, leaves)
            if place in self._merged:
                self._merged[place].touching(box[name], last, merged)
        true = np.zeros(len(self._operator), bool)
        true[self._is_leaf] = leaves[self._predicate[self._is_leaf]]
        blocked = np.zeros(len(true), bool)
        blocked[self._merged_node[~merged]] = True
        for nodes, children, is_all in self._levels:
            count = _sums(children, true[children.values])
            true[nodes] = np.where(is_all, count == children.lengths, count > 0) & ~blocked[nodes]
        return true

    def _mark_plain(self) -> None:
        bits = min(-(-max(len(self._names), 1) // 64) * 64, _MOST_BITS)
        size = len(self._operator)
        self._bit_of = np.arange(len(self._names)) % bits
        self._mask = np.zeros((size, bits // 64), np.uint64)
        self._plain = np.zeros(size, bool)
        leaf = np.flatnonzero(self._is_leaf)
        bit = self._bit_of[self._attribute[self._predicate[leaf]]]
        self._mask[leaf, bit // 64] = np.left_shift(np.uint64(1), (bit % 64).astype(np.uint64))
        self._plain[leaf] = self._is_decided[self._predicate[leaf]]
        merged: list[NDArray[np.int64]] = []
        for nodes, children, is_all in self._levels:
            rows = children.row_numbers()
            mask = np.zeros((len(nodes), self._mask.shape[1]), np.uint64)
            starts = np.flatnonzero(children.lengths)
            if len(starts):
                own = self._mask[children.values]
                mask[starts] = np.bitwise_or.reduceat(own, children.offsets[:-1][starts], axis=0)
            self._mask[nodes] = mask
            plain = _sums(children, self._plain[children.values]) == children.lengths
            # How many attributes the children have in all, those of predicates on the same one counted once.
            inner = ~self._is_leaf[children.values]
            total = np.bincount(rows[inner], _counts(self._mask[children.values[inner]]), minlength=len(nodes))
            leaves = np.flatnonzero(~inner & is_all[rows])
            groups = self._merge(rows[leaves], self._predicate[children.values[leaves]])
            total += np.bincount(groups.row, minlength=len(nodes))
            plain &= ~is_all | (total == _counts(mask))
            plain[groups.row[~groups.is_interval]] = False
            several = groups.is_interval & (groups.size > 1)
            columns = nodes[groups.row], groups.attribute, groups.low, groups.high
            merged.append(np.stack([column[several].astype(np.int64) for column in columns]))
            self._plain[nodes] = plain
        joined = np.concatenate([np.empty((4, 0), np.int64), *merged], axis=1)
        self._merged_node, attribute, low, high = joined
        self._merged_low, self._merged_high = low.astype(np.int32), high.astype(np.int32)
        numbers = np.arange(joined.shape[1], dtype=np.int32)
        self._merged = _by_attribute(attribute, numbers, self._merged_low, self._merged_high)

    def _merge(self, row: Ints, predicate: Ints) -> _Groups:
        """The predicates of each row by attribute, and what those of a group leave together."""
        attribute = self._attribute[predicate]
        order = np.lexsort((attribute, row))
        row, attribute, predicate = row[order], attribute[order], predicate[order]
        starts = np.flatnonzero((np.diff(row, prepend=-1) != 0) | (np.diff(attribute, prepend=-1) != 0))
        if not len(starts):
            none = np.empty(0, np.int32)
            return _Groups(none, none, none, none, none, np.empty(0, bool))
        size = np.diff(np.append(starts, len(row)))
        is_interval = np.logical_and.reduceat(self._is_interval[predicate], starts) | (size == 1)
        low = np.maximum.reduceat(self._low[predicate], starts)
        high = np.minimum.reduceat(self._high[predicate], starts)
        return _Groups(row[starts], attribute[starts], low, high, size.astype(np.int32), is_interval)

    def _bits(self, names: list[str]) -> NDArray[np.uint64]:
        """The bits of some attributes, as in the masks of nodes."""
        found = np.zeros(self._mask.shape[1], np.uint64)
        wanted = set(names)
        for place, name in enumerate(self._names):
            if name in wanted:
                at = int(self._bit_of[place])
                found[at // 64] |= np.uint64(1 << at % 64)
        return found


class _Groups(NamedTuple):
    row: Ints
    attribute: Ints
    low: Ints
    high: Ints
    size: Ints
    is_interval: Mask


def _levels(forest: Forest) -> list[_Level]:
    nodes = forest.nodes
    inner = np.flatnonzero(nodes.operator != PREDICATE)
    found = []
    for number in np.unique(nodes.level[inner]).tolist():
        at = inner[nodes.level[inner] == number]
        found.append(_Level(at, nodes.children.take(at), nodes.operator[at] == AND))
    return found


def _by_attribute(
    attribute: NDArray[np.integer], owner: Ints, low: NDArray[np.integer], high: NDArray[np.integer]
) -> dict[int, _Intervals]:
    order = np.argsort(attribute, kind="stable")
    places, starts = np.unique(attribute[order], return_index=True)
    parts = np.split(order, starts[1:]) if len(places) else []
    return {
        int(place): _Intervals(owner[part], low[part].astype(np.int32), high[part].astype(np.int32))
        for place, part in zip(places.tolist(), parts, strict=True)
    }


def _sums(rows: Csr, values: Mask) -> NDArray[np.int64]:
    """How many values of each row are true."""
    before = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=before[1:])
    return before[rows.offsets[1:]] - before[rows.offsets[:-1]]


def _counts(masks: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How many bits each row of words has."""
    if not len(masks):
        return np.zeros(0, np.int64)
    counted: NDArray[np.int64] = np.unpackbits(masks.view(np.uint8), axis=1).sum(axis=1, dtype=np.int64)
    return counted


def _joined(regions: Regions) -> list[str]:
    """The attributes that may not have any value together with others: derived ones, and fields of one column."""
    columns: dict[str | None, list[str]] = {}
    for name, own in regions.attributes.items():
        columns.setdefault(own.column, []).append(name)
    return [name for column, names in columns.items() if column is None or len(names) > 1 for name in names]
