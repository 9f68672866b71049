"""A forest to which junctions are added one by one.

Contract: as in `builder`, two junctions become one node exactly when they are equal after flattening and without
repeats. The rules of the first forest only name nodes; the rules of the grown one are given at the end.

>>> from sparkrules.index.builder import trees_forest
>>> from sparkrules.sql.tree import Predicate
>>> grown = GrownForest(trees_forest({name: Predicate(name, "is true") for name in "abc"}))
>>> a, b, c = grown.first.roots.tolist()
>>> both = grown.junction(AND, {a, b})
>>> roots = [grown.junction(AND, {b, a}), grown.junction(OR, {both, b}), grown.junction(AND, {both, a})]
>>> roots, [str(tree) for tree in map(grown.forest(roots).tree, (1, 2, 3))]
([3, 4, 3], ['b is true', 'a is true and b is true', 'b is true or (a is true and b is true)'])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from sparkrules.index.csr import Csr, Ints
from sparkrules.index.forest import AND, OR, PREDICATE, Forest, Nodes, use_counts
from sparkrules.index.merge_forests import without_unused


class GrownForest:
    """See the module."""

    def __init__(self, first: Forest) -> None:
        self.first = first
        self.count = len(first.nodes)
        self.made: list[tuple[int, ...]] = []  # the children of each new junction
        self.operators: list[int] = []
        self.known: dict[int, dict[tuple[int, ...], int]] = {AND: {}, OR: {}}  # children to node
        self.children: dict[int, dict[int, tuple[int, ...]]] = {AND: {}, OR: {}}  # node to children
        for node in np.flatnonzero(first.nodes.operator != PREDICATE).tolist():
            operator, children = int(first.nodes.operator[node]), tuple(first.nodes.children.row(node).tolist())
            self.known[operator][children] = node
            self.children[operator][node] = children

    def pair(self, operator: int, a: int, b: int) -> int:
        """The node that joins two nodes: `junction`, in half of the time."""
        same = self.children[operator]
        if a == b or a in same or b in same:
            return self.junction(operator, {a, b})
        children = (a, b) if a < b else (b, a)
        number = self.known[operator].setdefault(children, self.count)
        if number == self.count:
            self._add(operator, children)
        return number

    def junction(self, operator: int, numbers: set[int]) -> int:
        """The node that joins these nodes."""
        same = self.children[operator]
        if not same.keys().isdisjoint(numbers):
            numbers = {part for number in numbers for part in same.get(number, (number,))}
        if len(numbers) == 1:
            return next(iter(numbers))
        children = tuple(sorted(numbers))
        number = self.known[operator].setdefault(children, self.count)
        if number == self.count:
            self._add(operator, children)
        return number

    def _add(self, operator: int, children: tuple[int, ...]) -> None:
        self.children[operator][self.count] = children
        self.count += 1
        self.made.append(children)
        self.operators.append(operator)

    def forest(self, roots: Sequence[int]) -> Forest:
        """The forest of the rules with these roots."""
        first = self.first.nodes
        lengths = np.fromiter(map(len, self.made), np.int64, len(self.made))
        values = np.fromiter(chain.from_iterable(self.made), np.int32, int(lengths.sum()))
        children = Csr.concatenated([first.children, Csr.from_lengths(lengths, values)])
        own = np.array(roots, np.int32)
        level = np.concatenate([first.level, _levels(Csr.from_lengths(lengths, values), first.level)])
        nodes = Nodes(
            np.concatenate([first.operator, np.array(self.operators, np.uint8)]),
            np.concatenate([first.predicate, np.full(len(self.made), -1, np.int32)]),
            children,
            level,
            use_counts(children, level, own),
        )
        return without_unused(replace(self.first, nodes=nodes, roots=own))


def _levels(children: Csr, first: Ints) -> Ints:
    """1 + the highest level of a child, for junctions that are numbered after the nodes with the levels `first`."""
    level = np.concatenate([first, np.zeros(len(children), np.int32)])
    if not len(children):
        return level[:0]
    while True:
        raised = 1 + np.maximum.reduceat(level[children.values], children.offsets[:-1])
        if (raised == level[len(first) :]).all():
            return raised.astype(np.int32)
        level[len(first) :] = raised
