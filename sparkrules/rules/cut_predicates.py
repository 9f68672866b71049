"""The distinct predicates that were cut from texts, compiled: alike ones together, rare ones by themselves."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from sparkrules.index.builder import trees_forest
from sparkrules.index.csr import Csr, Ints
from sparkrules.index.distinct import distinct
from sparkrules.index.forest import PREDICATE, Forest
from sparkrules.index.merge_forests import distinct_rows, merge_forests
from sparkrules.rules.alike import AlikeTexts, Numbered
from sparkrules.sql import Node, Policy, RuleError, called_functions
from sparkrules.sql.outline import COMPARISON, FALSE_SIDE, TRUE_SIDE, PredicateForms
from sparkrules.sql.rule import read_spark_sql
from sparkrules.sql.template import SEPARATOR, joined

Sides = NDArray[np.uint8]

# Below this, parsing the predicates costs less than making and checking a template.
_FEWEST_ALIKE = 32
_NOT = "NOT "


class CutPredicates:
    """Predicates by number, which differ in their skeleton or literals. Their sides are numbered, too: 2i is where
    predicate i is true, 2i + 1 where it is false.

    After `merged`, `nodes` has the node of each side in the merged forest, -1 if it is missing.
    """

    def __init__(self, policy: Policy, numbered: Numbered, skeletons: Sequence[str]) -> None:
        self.policy = policy
        self.numbered = numbered
        self.skeletons = skeletons
        self.forms = PredicateForms(policy)
        self.groups: list[tuple[str, int, Ints]] = []  # a skeleton, the first number, a row of literals for each
        self.firsts: list[int] = []
        self.functions: list[frozenset[str]] = []
        self.forests: list[Forest] = []
        self.members: list[Ints] = []

    def read(self, skeletons: Csr, literals: Csr) -> Csr:
        """The numbers of the predicates of each text, given their skeletons and all literals of the text."""
        sizes = np.array([skeleton.count(SEPARATOR) for skeleton in self.skeletons], np.int64)
        ends = np.cumsum(sizes[skeletons.values])
        numbers = np.empty(len(ends), np.int32)
        count = 0
        order = np.argsort(skeletons.values, kind="stable")
        for places in np.split(order, np.flatnonzero(np.diff(skeletons.values[order])) + 1):
            skeleton = int(skeletons.values[places[0]])
            rows = literals.values[ends[places][:, None] + np.arange(-sizes[skeleton], 0)]
            distinct, which = distinct_rows(rows)
            numbers[places] = count + which
            self.groups.append((self.skeletons[skeleton], count, distinct.astype(np.int32)))
            self.firsts.append(count)
            count += len(distinct)
        self.is_comparison = np.zeros(count, bool)
        self.calls = np.full(2 * count, -1, np.int32)  # for each side, which of the `functions` it calls
        self.nodes = np.full(2 * count, -1, np.int32)
        return Csr(skeletons.offsets, numbers)

    def compile_alike(self, used: Ints, needed: Sides) -> None:
        """Compile the predicates that are like enough others, given each use and the sides that it needs."""
        uses = np.bincount(used, minlength=len(self.is_comparison))
        all_sides = np.zeros(len(self.is_comparison), np.uint8)
        for side in (TRUE_SIDE, FALSE_SIDE):
            all_sides[used[needed & side > 0]] |= side

        def is_worth(sides: Ints, text: str) -> bool:
            if uses[sides >> 1].sum() < _FEWEST_ALIKE:
                return False
            form = self.forms.form(text.removeprefix(_NOT) if sides[0] & 1 else text)
            self.is_comparison[sides >> 1] = form == "comparison"
            return form is not None

        alike = AlikeTexts(self.policy, is_worth, self.numbered)
        for skeleton, first, literals in self.groups:
            own = all_sides[first : first + len(literals)]
            for side, prefix in ((TRUE_SIDE, ""), (FALSE_SIDE, _NOT)):
                rows = np.flatnonzero(own & side)
                if len(rows):
                    sides = (2 * (first + rows) + (side == FALSE_SIDE)).astype(np.int32)
                    alike.compile_alike(prefix + skeleton, sides, literals[rows])
        alike.finish()
        for members, functions in alike.functions:
            self.calls[members] = len(self.functions)
            self.functions.append(functions)
        for forest, members in zip(alike.forests, alike.members, strict=True):
            if _has_constants(forest):
                self.calls[members] = -1
            else:
                self._add(forest, members)

    def parse(self, used: Ints, needed: Sides) -> None:
        """Parse predicates one by one. Those that are rejected stay missing."""
        trees: dict[int, Node] = {}
        known = list(self.numbered)
        for number, sides in set(zip(used.tolist(), needed.tolist(), strict=True)):
            skeleton, first, literals = self.groups[bisect_right(self.firsts, number) - 1]
            text = joined(skeleton, [known[literal] for literal in literals[number - first].tolist()])
            form = self.forms.form(text)
            self.is_comparison[number] = form == "comparison"
            for side, prefix in ((TRUE_SIDE, ""), (FALSE_SIDE, _NOT)):
                own = 2 * number + (side == FALSE_SIDE)
                if form is not None and sides & side and self.calls[own] < 0:
                    with suppress(RuleError):
                        trees[own] = read_spark_sql(prefix + text, self.policy).tree
        trees = {own: tree for own, tree in trees.items() if not _has_constants(trees_forest({"": tree}))}
        if trees:
            self._add(trees_forest({str(own): tree for own, tree in trees.items()}), np.array(list(trees), np.int32))
        for own, tree in trees.items():
            self.calls[own] = len(self.functions)
            self.functions.append(called_functions(tree))

    def _add(self, forest: Forest, members: Ints) -> None:
        self.forests.append(forest)
        self.members.append(members)

    def are_missing(self, used: Ints, needed: Sides) -> NDArray[np.bool_]:
        """Whether something that a use needs is not there."""
        missing: NDArray[np.bool_] = (
            ((needed & TRUE_SIDE > 0) & (self.calls[2 * used] < 0))
            | ((needed & FALSE_SIDE > 0) & (self.calls[2 * used + 1] < 0))
            | ((needed & COMPARISON > 0) & ~self.is_comparison[used])
        )
        return missing

    def merged(self) -> Forest:
        """The forest of all sides."""
        forest = merge_forests(self.forests)
        self.nodes[np.concatenate([np.empty(0, np.int32), *self.members])] = forest.roots
        return forest

    def functions_of(self, used: Ints, needed: Sides) -> frozenset[str]:
        """The functions that these uses call."""
        called = [self.calls[2 * used[needed & TRUE_SIDE > 0]], self.calls[2 * used[needed & FALSE_SIDE > 0] + 1]]
        numbers = distinct(np.concatenate(called)).tolist()
        return frozenset().union(*(self.functions[number] for number in numbers))


def _has_constants(forest: Forest) -> bool:
    """Whether a node is always or never true. Such a node vanishes when an exclusive or is expanded."""
    return bool(((forest.nodes.children.lengths == 0) & (forest.nodes.operator != PREDICATE)).any())
