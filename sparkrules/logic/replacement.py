"""Replace predicates by others that cover them (Bittner and Hinze 2005, sections 3.3 and 5.4).

`price < 15` may stand for `price < 10`: rules become more general, and there is one predicate less to look for. That
saves something only if no rule needs the narrow one any more, so all its users are served at once. Rules keep their
size: what they gain is fewer distinct predicates.

A priority queue has an entry for each predicate and the narrowest one that covers it. Its value is the degradation of
the replacement, summed over the rules that use the predicate. A replacement gives the wider predicate more users, and
changes what their other replacements are worth. So an entry may be *stale* when it comes: it is computed again, and put
back unless it is still the first.

Only predicates whose codes say all are replaced (`regions`). A pair of predicates covers on columns whose types fit
the constants, or on those of the schema.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkrules.index.forest import Forest
from sparkrules.logic.attribute_type import Types
from sparkrules.logic.pruning import LARGEST, Measure, PlacedTrees, Triples, placed, tree_estimates, tree_sizes
from sparkrules.logic.regions import Regions
from sparkrules.sql.tree import Junction, Node, Predicate

Numbers = NDArray[np.int64]
_DIGITS = 12


class Replacements:
    """The replacements of a forest's predicates, one after the other. `now` is what stands for each predicate."""

    def __init__(
        self,
        forest: Forest,
        leaves: Triples,
        measure: Measure,
        types: Types | pa.Schema | None = None,
        largest: int = LARGEST,
    ) -> None:
        self.forest = forest
        self.measure = measure
        self.leaves = leaves
        self.now = np.arange(len(forest.predicates))
        sizes = tree_sizes(forest)[forest.roots]
        users = forest.users.take(forest.node_of_predicate)
        # What a tree too large to be estimated uses stays.
        is_fixed = np.zeros(len(self.now), bool)
        rows = users.row_numbers()
        is_fixed[rows[sizes[users.values] > largest]] = True
        self._users: dict[int, Numbers] = {
            number: users.row(number).astype(np.int64) for number in np.flatnonzero(~is_fixed).tolist()
        }
        self._wider = _narrowest_cover(forest, types)

    def until(self, distinct: int) -> None:
        """Replace until at most so many distinct predicates are left, or none can be replaced."""
        targets = ((narrow, self._target(narrow)) for narrow in self._users)
        queue = [(self._cost(narrow, wide), narrow, wide) for narrow, wide in targets if wide is not None]
        heapq.heapify(queue)
        left = len(np.unique(self.now))
        while queue and left > distinct:
            value, narrow, wide = heapq.heappop(queue)
            if narrow not in self._users:
                continue
            target = self._target(narrow)
            if target is None:
                continue
            current = self._cost(narrow, target)
            if current > value or target != wide:
                heapq.heappush(queue, (current, narrow, target))  # stale
                continue
            self._replace(narrow, target)
            left -= 1

    def _target(self, narrow: int) -> int | None:
        """The narrowest predicate that covers it and is still used."""
        wide = self._wider.get(narrow)
        while wide is not None and self.now[wide] != wide:
            wide = int(self.now[wide])
        return wide if wide is not None and wide in self._users else None

    def _cost(self, narrow: int, wide: int) -> float:
        """The degradations of all users together."""
        users = self._users[narrow]
        trees = PlacedTrees.of(self.forest, self.forest.roots[users])
        changed = self.now.copy()
        changed[changed == narrow] = wide
        before = tree_estimates(trees, placed(self.leaves.at(self.now), trees), self.measure)
        after = tree_estimates(trees, placed(self.leaves.at(changed), trees), self.measure)
        return round(float(self.measure.degradation(before, after).sum()), _DIGITS)

    def _replace(self, narrow: int, wide: int) -> None:
        self._users[wide] = np.union1d(self._users[wide], self._users.pop(narrow))
        self.now[self.now == narrow] = wide

    def trees(self) -> Iterator[tuple[int, Node]]:
        """The trees that change, with their numbers."""
        changed = np.flatnonzero(self.now != np.arange(len(self.now)))
        now = {
            self.forest.predicate(number): self.forest.predicate(int(self.now[number])) for number in changed.tolist()
        }
        users = self.forest.users.take(self.forest.node_of_predicate[changed])
        for number in np.unique(users.values).tolist():
            yield number, replaced(self.forest.tree(int(self.forest.roots[number])), now)


def _narrowest_cover(forest: Forest, types: Types | pa.Schema | None) -> dict[int, int]:
    """For each predicate the narrowest other one on its attribute that is true wherever it is."""
    predicates = list(forest.all_predicates())
    regions = Regions(predicates, types)
    by_attribute: dict[str, list[int]] = {}
    for number, predicate in enumerate(predicates):
        extent = regions.extent(predicate)
        if extent.atom is None and extent.possible:
            by_attribute.setdefault(predicate.attribute, []).append(number)
    found: dict[int, int] = {}
    for numbers in by_attribute.values():
        codes = [regions.extent(predicates[number]).sure for number in numbers]
        sizes = np.array([len(own) for own in codes])
        first = np.array([own.intervals[0][0] for own in codes])
        last = np.array([own.intervals[-1][1] for own in codes])
        order = np.argsort(sizes, kind="stable")
        for at, number in enumerate(numbers):
            likely = order[(sizes[order] > sizes[at]) & (first[order] <= first[at]) & (last[order] >= last[at])]
            cover = next((other for other in likely.tolist() if codes[at] <= codes[other]), None)
            if cover is not None:
                found[number] = numbers[cover]
    return found


def replaced(tree: Node, now: Mapping[Predicate, Predicate]) -> Node:
    """The tree with other predicates. `A OR A -> A`."""
    if isinstance(tree, Predicate):
        return now.get(tree, tree)
    parts: dict[Node, None] = {}
    for child in tree.children:
        own = replaced(child, now)
        if isinstance(own, Junction) and own.operator == tree.operator:
            parts.update(dict.fromkeys(own.children))
        else:
            parts[own] = None
    return next(iter(parts)) if len(parts) == 1 else Junction(tree.operator, tuple(parts))
