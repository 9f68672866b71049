"""Prune Boolean trees: remove children of ANDs, one at a time, those that do the least harm first.

Contract: removing a child of an AND makes a tree more general, and no other removal does (Bittner and Hinze 2005,
section 3.2). An OR that is a child of an AND goes as a whole. The last part of a tree is never removed. So a pruned
tree is true wherever the original is.

The harm of a pruning is its *degradation*: how far it changes the estimate of the whole tree, which has a minimum, an
average and a maximum. The two papers estimate different things (`Measure`): the share of rows for which a subscription
is true, and the rank by which an advertisement excludes subscriptions.

Both keep the best pruning of each tree in a priority queue. They take the first, prune its tree, and put the next best
pruning of that tree back. A pruning does not change the estimates of other trees. So the prunings of each tree follow
each other in a fixed order, and the queue takes a pruning as soon as no other tree has a better one: when its turn in
its own tree has come, and its degradation is the least. That is the order of the *running maximum* of the degradations
within each tree. `Prunings` computes all trees at once, one pruning each per pass, and then sorts.

Trees share nodes in a forest, but are pruned separately. So each tree gets nodes of its own, its *places*: all roots,
then all their children, and so on. The children of a place are adjacent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sparkrules.index.csr import Ints
from sparkrules.index.forest import AND, PREDICATE, Forest
from sparkrules.sql.tree import ALWAYS, Junction, Node, Predicate

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Mask = NDArray[np.bool_]

# Trees that share parts are larger when written out (a chain of XORs doubles with each). Larger ones are not pruned.
LARGEST = 5_000
_CHUNK = 1_000_000  # places that are computed together
_DIGITS = 12  # what is equal but for rounding is equal


class Triples(NamedTuple):
    """Minimum, average and maximum, one of each per place."""

    min: Floats
    avg: Floats
    max: Floats

    def at(self, places: Places | Mask | slice) -> Triples:
        """The estimates of some places."""
        return Triples(*(values[places] for values in self))

    def where(self, is_first: Mask, other: Triples) -> Triples:
        """These values where the mask is set, otherwise those of the other."""
        return Triples(*(np.where(is_first, a, b) for a, b in zip(self, other, strict=True)))

    @staticmethod
    def zeros(count: int) -> Triples:
        return Triples(np.zeros(count), np.zeros(count), np.zeros(count))


class Measure(Protocol):
    """The formulas of a paper: for two operands, and for the operands of many junctions at once."""

    def both(self, a: Triples, b: Triples) -> Triples:
        """The estimate of `a AND b`."""

    def either(self, a: Triples, b: Triples) -> Triples:
        """The estimate of `a OR b`."""

    def all_of(self, operands: Operands) -> Triples:
        """The estimate of the AND of each junction's operands."""

    def any_of(self, operands: Operands) -> Triples:
        """The estimate of the OR of each junction's operands."""

    def all_others(self, operands: Operands) -> Triples:
        """For each operand, the estimate of the AND of all others."""

    def any_others(self, operands: Operands) -> Triples:
        """For each operand, the estimate of the OR of all others."""

    def degradation(self, before: Triples, after: Triples) -> Floats:
        """How much worse a tree is after a pruning."""


class Operands(NamedTuple):
    """The operands of some junctions, adjacent: those of junction i begin at `starts[i]`. Each has at least one."""

    values: Triples
    starts: Places
    owner: Places  # the junction of each operand

    def sum(self, values: Floats) -> Floats:
        """The sum for each junction."""
        return np.add.reduceat(values, self.starts)

    def product(self, values: Floats) -> Floats:
        """The product for each junction."""
        return np.multiply.reduceat(values, self.starts)

    def least(self, values: Floats) -> Floats:
        """The minimum for each junction."""
        return np.minimum.reduceat(values, self.starts)

    def greatest(self, values: Floats) -> Floats:
        """The maximum for each junction."""
        return -self.least(-values)

    def sum_of_others(self, values: Floats) -> Floats:
        """For each operand, the sum of the others."""
        return self.sum(values)[self.owner] - values

    def product_of_others(self, values: Floats) -> Floats:
        """For each operand, the product of the others. Zeros are counted: nothing is divided by them."""
        is_zero = values == 0.0
        zeros = self.sum(is_zero.astype(np.float64))[self.owner] - is_zero
        divisor = np.where(is_zero, 1.0, values)
        return np.where(zeros > 0, 0.0, self.product(divisor)[self.owner] / divisor)

    def least_of_others(self, values: Floats) -> Floats:
        """For each operand, the minimum of the others; infinity if there are none."""
        least = self.least(values)[self.owner]
        is_least = values == least
        several = self.sum(is_least.astype(np.float64))[self.owner] > 1
        return np.where(is_least & ~several, self.least(np.where(is_least, np.inf, values))[self.owner], least)

    def greatest_of_others(self, values: Floats) -> Floats:
        """For each operand, the maximum of the others; minus infinity if there are none."""
        return -self.least_of_others(-values)


@dataclass(frozen=True, eq=False)
class PlacedTrees:
    """The trees of some roots of a forest, with places of their own. `layers` are the ends of the levels."""

    forest: Forest
    node: Ints  # the node of the forest at each place
    parent: Places  # -1 for a root
    tree: Places  # the number of the tree, from 0
    first_child: Places
    children: Places
    layers: tuple[int, ...]

    @staticmethod
    def of(forest: Forest, roots: Ints) -> PlacedTrees:
        """Lay out the trees, level by level."""
        nodes: list[Ints] = [roots]
        parents: list[Places] = [np.full(len(roots), -1, np.int64)]
        trees: list[Places] = [np.arange(len(roots))]
        layers = [len(roots)]
        while len(nodes[-1]):
            below = forest.nodes.children.take(nodes[-1])
            rows = below.row_numbers().astype(np.int64)
            above = layers[-1] - len(nodes[-1])
            parents.append(rows + above)
            trees.append(trees[-1][rows])
            nodes.append(below.values)
            layers.append(layers[-1] + len(below.values))
        node = np.concatenate(nodes)
        children = forest.nodes.children.lengths[node]
        first = len(roots) + np.cumsum(children) - children
        return PlacedTrees(
            forest, node, np.concatenate(parents), np.concatenate(trees), first, children, tuple(layers[:-1])
        )

    def __len__(self) -> int:
        return len(self.node)

    @cached_property
    def operator(self) -> NDArray[np.uint8]:
        """What is at each place: a predicate, AND or OR."""
        return self.forest.nodes.operator[self.node]

    @cached_property
    def is_leaf(self) -> Mask:
        """Whether a place has a predicate, or an AND or OR without operands."""
        leaf: Mask = self.children == 0
        return leaf

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """Where each level begins and ends, from the roots down."""
        return list(zip((0, *self.layers[:-1]), self.layers, strict=True))

    def kept(self, alive: Mask) -> Places:
        """The places that are left: alive, as are all places above them."""
        whole = alive.copy()
        for start, end in self.spans[1:]:
            whole[start:end] &= whole[self.parent[start:end]]
        return np.flatnonzero(whole)

    def take(self, places: Places) -> PlacedTrees:
        """Only some places: with each, its parent, and trees keep their numbers."""
        position = np.full(len(self) + 1, -1, np.int64)
        position[places] = np.arange(len(places))
        parent = position[self.parent[places]]
        children = np.bincount(parent[parent >= 0], minlength=len(places))
        roots = int((parent < 0).sum())
        layers = np.searchsorted(places, np.array(self.layers)).tolist()
        ends = tuple(end for at, end in enumerate(layers) if at == 0 or end > layers[at - 1])
        first = roots + np.cumsum(children) - children
        return PlacedTrees(self.forest, self.node[places], parent, self.tree[places], first, children, ends)

    def predicates(self) -> Places:
        """How many predicates are at and below each place."""
        count: Places = (self.operator == PREDICATE).astype(np.int64)
        for (start, end), (above, _) in zip(reversed(self.spans[1:]), reversed(self.spans[:-1]), strict=True):
            below = np.bincount(self.parent[start:end] - above, count[start:end], minlength=start - above)
            count[above:start] += below.astype(np.int64)
        return count


class Pruned(NamedTuple):
    """Prunings of some trees: the tree, the place that goes, how harmful that is, how many predicates it frees."""

    tree: Places
    place: Places
    degradation: Floats
    predicates: Places

    def take(self, rows: Places) -> Pruned:
        """Some of them, in the given order."""
        return Pruned(self.tree[rows], self.place[rows], self.degradation[rows], self.predicates[rows])


def best_prunings(trees: PlacedTrees, leaves: Triples, measure: Measure) -> Pruned:
    """All prunings of each tree, in the order in which they are best. `leaves` has an estimate for each place.

    Where two prunings of a tree are equally harmful, the one that frees more predicates comes first.
    """
    steps: list[Pruned] = []
    left, places = trees, np.arange(len(trees))
    while len(left):
        found = _one_step(left, leaves, measure)
        if not len(found.tree):
            break
        steps.append(found._replace(place=places[found.place]))
        is_pruned = np.zeros(int(trees.tree.max()) + 1, bool)
        is_pruned[found.tree] = True
        alive = is_pruned[left.tree]
        alive[found.place] = False
        keep = left.kept(alive)
        left, places, leaves = left.take(keep), places[keep], leaves.at(keep)
    found = concatenated(steps)
    return found.take(np.argsort(found.tree, kind="stable"))


def concatenated(parts: Sequence[Pruned]) -> Pruned:
    """All prunings of the parts."""
    none = np.empty(0, np.int64)
    return Pruned(
        np.concatenate([none, *(own.tree for own in parts)]),
        np.concatenate([none, *(own.place for own in parts)]),
        np.concatenate([np.empty(0), *(own.degradation for own in parts)]),
        np.concatenate([none, *(own.predicates for own in parts)]),
    )


def tree_estimates(trees: PlacedTrees, leaves: Triples, measure: Measure) -> Triples:
    """The estimate of each tree."""
    values, _ = _evaluated(trees, leaves, measure)
    return values.at(slice(0, trees.layers[0]))


def _evaluated(trees: PlacedTrees, leaves: Triples, measure: Measure) -> tuple[Triples, Triples]:
    """The estimate of every place, and of its siblings together: what is left of the parent without it."""
    values = Triples(*(column.copy() for column in leaves))
    rest = Triples.zeros(len(trees))
    for (start, end), (above, _) in zip(reversed(trees.spans[1:]), reversed(trees.spans[:-1]), strict=True):
        inner = np.flatnonzero(~trees.is_leaf[above:start]) + above
        owner = np.repeat(np.arange(len(inner)), trees.children[inner])
        operands = Operands(values.at(slice(start, end)), trees.first_child[inner] - start, owner)
        is_all = trees.operator[inner] == AND
        whole = measure.all_of(operands).where(is_all, measure.any_of(operands))
        others = measure.all_others(operands).where(is_all[owner], measure.any_others(operands))
        for column, own, sibling, siblings in zip(values, whole, rest, others, strict=True):
            column[inner] = own
            sibling[start:end] = siblings
    return values, rest


def _one_step(trees: PlacedTrees, leaves: Triples, measure: Measure) -> Pruned:
    """The best pruning of each tree that has one."""
    found = possible_prunings(trees, leaves, measure)
    order = np.lexsort((found.place, -found.predicates, found.degradation, found.tree))
    tree = found.tree[order]
    is_first = np.ones(len(order), bool)
    is_first[1:] = tree[1:] != tree[:-1]
    return found.take(order[is_first])


def possible_prunings(trees: PlacedTrees, leaves: Triples, measure: Measure) -> Pruned:
    """Every child of an AND that may be removed next."""
    values, rest = _evaluated(trees, leaves, measure)
    parent = trees.parent
    several = trees.children > 1
    under = np.maximum(parent, 0)
    places = np.flatnonzero((parent >= 0) & (trees.operator[under] == AND) & several[under])
    # What the tree is worth without the place: of the parent its siblings are left, and so on upwards.
    without, at = rest.at(places), parent[places]
    root = np.empty(len(places), np.int64)
    result = Triples.zeros(len(places))
    walking = np.arange(len(places))
    while len(walking):
        is_root = parent[at] < 0
        done = walking[is_root]
        root[done] = at[is_root]
        for column, own in zip(result, without.at(is_root), strict=True):
            column[done] = own
        walking, at, without = walking[~is_root], at[~is_root], without.at(~is_root)
        siblings = rest.at(at)
        is_all = trees.operator[parent[at]] == AND
        alone = trees.children[parent[at]] == 1
        joined = measure.both(siblings, without).where(is_all, measure.either(siblings, without))
        without, at = without.where(alone, joined), parent[at]
    degradation = np.round(measure.degradation(values.at(root), result), _DIGITS)
    return Pruned(trees.tree[places], places, degradation, trees.predicates()[places])


@dataclass(frozen=True, eq=False)
class Prunings:
    """All prunings of the trees of a forest, in the order of the queue; see the module.

    `tree` is the number of the root. `degradation` may fall: a harmful pruning can be followed by harmless ones.
    """

    forest: Forest
    tree: Places
    degradation: Floats
    predicates: Places
    total: int  # the predicates of all trees before
    chunks: tuple[tuple[int, PlacedTrees], ...]  # each with the number of its first place
    place: Places

    @staticmethod
    def of(forest: Forest, leaves: Triples, measure: Measure, largest: int = LARGEST) -> Prunings:
        """`leaves` has an estimate for each predicate of the forest."""
        sizes = tree_sizes(forest)[forest.roots]
        numbers = np.flatnonzero(sizes <= largest)
        found: list[Pruned] = []
        chunks: list[tuple[int, PlacedTrees]] = []
        offset = 0
        for start, end in _chunks(sizes[numbers]):
            own = numbers[start:end]
            trees = PlacedTrees.of(forest, forest.roots[own])
            pruned = best_prunings(trees, placed(leaves, trees), measure)
            found.append(pruned._replace(tree=own[pruned.tree], place=pruned.place + offset))
            chunks.append((offset, replace(trees, tree=own[trees.tree])))
            offset += len(trees)
        joined = concatenated(found)
        joined = joined.take(queue_order(joined.tree, joined.degradation))
        total = sum(int((trees.operator == PREDICATE).sum()) for _, trees in chunks)
        return Prunings(forest, joined.tree, joined.degradation, joined.predicates, total, tuple(chunks), joined.place)

    def __len__(self) -> int:
        return len(self.tree)

    def until(self, keep: float | None = None, degradation: float | None = None, prunings: float | None = None) -> int:
        """How many prunings leave this share of the predicates, come before one that is more harmful, or are this
        share of all prunings; the least of these.
        """
        wanted = len(self) if prunings is None else round(prunings * len(self))
        if keep is not None:
            kept = self.total - np.cumsum(self.predicates)
            # The first pruning after which few enough are left is still performed.
            enough = int(np.searchsorted(-kept, -keep * self.total)) + 1 if keep < 1 else 0
            wanted = min(wanted, enough)
        if degradation is not None:
            above = np.flatnonzero(self.degradation > degradation)
            wanted = min(wanted, int(above[0]) if len(above) else wanted)
        return wanted

    def trees(self, count: int) -> Iterator[tuple[int, Node]]:
        """The trees that change, with their numbers, after so many prunings."""
        changed = np.unique(self.tree[:count])
        predicates = list(self.forest.all_predicates())
        removed = np.sort(self.place[:count])
        for offset, placed_trees in self.chunks:
            own = removed[np.searchsorted(removed, offset) : np.searchsorted(removed, offset + len(placed_trees))]
            alive = np.ones(len(placed_trees), bool)
            alive[own - offset] = False
            is_changed = np.isin(placed_trees.tree, changed)
            left = placed_trees.take(placed_trees.kept(alive & is_changed))
            yield from _rebuilt(left, predicates)


def queue_order(tree: Places, degradation: Floats) -> Places:
    """The order in which a priority queue takes prunings that are given tree by tree, in the order of each tree."""
    worst = degradation.copy()
    starts = np.flatnonzero(np.concatenate([[True], tree[1:] != tree[:-1]])) if len(tree) else np.empty(0, np.int64)
    lengths = np.diff(np.append(starts, len(tree)))
    step = 1
    rank = np.arange(len(tree)) - np.repeat(starts, lengths)
    # The running maximum within each tree, by doubling.
    while len(lengths) and step < lengths.max():
        later = np.flatnonzero(rank >= step)
        worst[later] = np.maximum(worst[later], worst[later - step])
        step *= 2
    return np.lexsort((rank, tree, worst))


def placed(leaves: Triples, trees: PlacedTrees) -> Triples:
    """The estimates of predicates at their places. An AND without operands is always true, an OR never."""
    number = np.maximum(trees.forest.nodes.predicate[trees.node], 0)
    found = leaves.at(number) if len(leaves.min) else Triples.zeros(len(trees))
    constant = np.where(trees.operator == AND, 1.0, 0.0)
    return found.where(trees.operator == PREDICATE, Triples(constant, constant, constant))


def tree_sizes(forest: Forest) -> Places:
    """How many places the tree of each node has. Capped, since it can be exponential."""
    most = 2**31
    size = np.ones(len(forest.nodes), np.int64)
    inner = np.flatnonzero(forest.nodes.operator != PREDICATE)
    levels = forest.nodes.level[inner]
    for level in np.unique(levels):
        at = inner[levels == level]
        below = forest.nodes.children.take(at)
        size[at] += np.bincount(below.row_numbers(), size[below.values], minlength=len(at)).astype(np.int64)
        np.minimum(size, most, out=size)
    return size


def _chunks(sizes: Places) -> Iterator[tuple[int, int]]:
    ends = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = ends[start - 1] if start else 0
        end = max(int(np.searchsorted(ends, before + _CHUNK, "right")), start + 1)
        yield start, end
        start = end


def _rebuilt(trees: PlacedTrees, predicates: list[Predicate]) -> Iterator[tuple[int, Node]]:
    """`AND(A) -> A`, `OR(OR(A, B), A) -> OR(A, B)`."""
    number = trees.forest.nodes.predicate[trees.node].tolist()
    operator, first, count = trees.operator.tolist(), trees.first_child.tolist(), trees.children.tolist()
    made: list[Node] = [ALWAYS] * len(trees)
    for place in range(len(trees) - 1, -1, -1):
        if operator[place] == PREDICATE:
            made[place] = predicates[number[place]]
            continue
        own = "and" if operator[place] == AND else "or"
        parts: dict[Node, None] = {}
        for child in made[first[place] : first[place] + count[place]]:
            if isinstance(child, Junction) and child.operator == own:
                parts.update(dict.fromkeys(child.children))
            else:
                parts[child] = None
        made[place] = next(iter(parts)) if len(parts) == 1 else Junction(own, tuple(parts))  # type: ignore[arg-type]
    roots = trees.layers[0] if trees.layers else 0
    yield from zip(trees.tree[:roots].tolist(), made[:roots], strict=True)
