"""The distinct predicates that were cut from texts, compiled: alike ones together, rare ones by themselves."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from sparkrules.index.builder import trees_forest
from sparkrules.index.csr import Ints
from sparkrules.index.forest import PREDICATE, Forest
from sparkrules.index.merge_forests import merge_forests
from sparkrules.rules.alike import AlikeTexts
from sparkrules.sql import Node, Policy, RuleError, called_functions
from sparkrules.sql.outline import COMPARISON, FALSE_SIDE, TRUE_SIDE, PredicateForms
from sparkrules.sql.rule import read_spark_sql
from sparkrules.sql.template import SEPARATOR, lift

Sides = NDArray[np.uint8]

# Below this, parsing the predicates costs less than making and checking a template.
_FEWEST_ALIKE = 32
_NOT = "NOT "
_DIGITS = 18  # longer numbers may be no plain literals


class CutPredicates:
    """Predicates by number. Their sides are numbered, too: 2i is where predicate i is true, 2i + 1 where it is false.

    After `merged`, `nodes` has the node of each side in the merged forest, -1 if it is missing.
    """

    def __init__(self, policy: Policy, texts: list[str]) -> None:
        self.policy = policy
        self.texts = texts
        self.forms = PredicateForms(policy)
        self.is_comparison = np.zeros(len(texts), bool)
        self.calls = np.full(2 * len(texts), -1, np.int32)  # for each side, which of the `functions` it calls
        self.functions: list[frozenset[str]] = []
        self.forests: list[Forest] = []
        self.members: list[Ints] = []
        self.nodes = np.full(2 * len(texts), -1, np.int32)

    def compile_alike(self, used: Ints, needed: Sides) -> None:
        """Compile the predicates that are like enough others, given each use and the sides that it needs."""
        uses = np.bincount(used[needed > 0], minlength=len(self.texts))

        def is_worth(sides: Ints, text: str) -> bool:
            if uses[sides >> 1].sum() < _FEWEST_ALIKE:
                return False
            form = self.forms.form(text.removeprefix(_NOT) if sides[0] & 1 else text)
            self.is_comparison[sides >> 1] = form == "comparison"
            return form is not None

        alike = AlikeTexts(self.policy, is_worth)
        sides = np.zeros(len(self.texts), np.uint8)
        np.bitwise_or.at(sides, used, needed)
        heads = _Heads()
        for number, own in enumerate(sides.tolist()):
            if own:
                skeleton, texts = heads.lift(self.texts[number])
                literals = [alike.numbered[text] for text in texts]
                if own & TRUE_SIDE:
                    alike.add(2 * number, skeleton, literals)
                if own & FALSE_SIDE:
                    alike.add(2 * number + 1, _NOT + skeleton, literals)
        alike.compile()
        for forest, members, functions in zip(alike.forests, alike.members, alike.functions, strict=True):
            if not _has_constants(forest):
                self._add(forest, members)
                self.calls[members] = len(self.functions)
                self.functions.append(functions)

    def parse(self, used: Ints, needed: Sides) -> None:
        """Parse predicates one by one. Those that are rejected stay missing."""
        trees: dict[int, Node] = {}
        for number, sides in set(zip(used.tolist(), needed.tolist(), strict=True)):
            form = self.forms.form(self.texts[number])
            self.is_comparison[number] = form == "comparison"
            for side, prefix in ((TRUE_SIDE, ""), (FALSE_SIDE, _NOT)):
                own = 2 * number + (side == FALSE_SIDE)
                if form is not None and sides & side and self.calls[own] < 0:
                    with suppress(RuleError):
                        trees[own] = read_spark_sql(prefix + self.texts[number], self.policy).tree
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
        numbers = np.unique(np.concatenate(called)).tolist()
        return frozenset().union(*(self.functions[number] for number in numbers))


class _Heads(dict[str, str | None]):
    """The skeletons of texts that end with a space and a number, by what precedes these; None if that has literals."""

    def __missing__(self, head: str) -> str | None:
        skeleton, literals = lift(head + " ")
        self[head] = found = None if literals else skeleton + SEPARATOR
        return found

    def lift(self, text: str) -> tuple[str, list[str]]:
        """`template.lift`, in a third of the time for most predicates."""
        head, _, last = text.rpartition(" ")
        if last.isdecimal() and last.isascii() and len(last) < _DIGITS:
            skeleton = self[head]
            if skeleton is not None:
                return skeleton, [last]
        return lift(text)


def _has_constants(forest: Forest) -> bool:
    """Whether a node is always or never true. Such a node vanishes when an exclusive or is expanded."""
    return bool(((forest.nodes.children.lengths == 0) & (forest.nodes.operator != PREDICATE)).any())
