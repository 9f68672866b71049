"""Texts that differ only in their constants: grouped by skeleton, and compiled with one template for each group.

>>> from sparkrules.sql import DEFAULT_POLICY
>>> from sparkrules.sql.template import lift
>>> alike = AlikeTexts(DEFAULT_POLICY, lambda texts, _: len(texts) > 1)
>>> for number, text in enumerate(["a < 5", "b = 1", "a < 7"]):
...     skeleton, literals = lift(text)
...     _ = alike.read(number, skeleton, map(alike.numbered.__getitem__, literals))
>>> alike.compile()
>>> alike.forests, [members.tolist() for members in alike.members]
([Forest(2 rules, 2 predicates, 2 nodes)], [[0, 2]])
>>> [alike.text(skeleton, literals[0]) for skeleton, _, literals in alike.left]
['b = 1']
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sparkrules.index.builder import trees_forest
from sparkrules.index.csr import Ints
from sparkrules.index.distinct import distinct
from sparkrules.index.forest import KINDS, Forest
from sparkrules.index.instances import ConstantTable, Instances, instances_forest, predicates_forest
from sparkrules.index.merge_forests import distinct_rows
from sparkrules.sql import Policy, called_functions
from sparkrules.sql.rule import read_spark_sql
from sparkrules.sql.template import Hole, Template, is_network_literal, joined, make_template
from sparkrules.sql.tree import Predicate

_INTEGER = KINDS.index("integer")


@dataclass
class _Alike:
    """The texts with one skeleton: their numbers, and the numbers of their literals, text by text."""

    texts: array[int] = field(default_factory=lambda: array("i"))
    literals: array[int] = field(default_factory=lambda: array("i"))


class Numbered(dict[str, int]):
    """Strings by number, in order of first appearance."""

    def __missing__(self, text: str) -> int:
        self[text] = number = len(self)
        return number


class AlikeTexts:
    """Texts in Spark SQL, by number. `is_worth` decides whether to make a template, given the numbers of alike texts
    and the first of them.

    After `compile`, the rules of `forests[i]` are the texts `members[i]`; `functions` says which texts call which, and
    `translated` has the Spark SQL of texts with row functions. `left` has the other texts, which are not necessarily
    correct: their skeleton, their numbers, and a row of literals for each.
    """

    def __init__(self, policy: Policy, is_worth: Callable[[Ints, str], bool], numbered: Numbered | None = None) -> None:
        self.policy = policy
        self.is_worth = is_worth
        self.alike: dict[str, _Alike] = {}
        self.numbered = Numbered() if numbered is None else numbered
        self.table = ConstantTable()
        self.constant_numbers: dict[tuple[bool, bool], Ints] = {}  # of the literals, by the kind of hole
        self.forests: list[Forest] = []
        self.members: list[Ints] = []
        self.predicates: list[tuple[Instances, Ints]] = []
        self.functions: list[tuple[Ints, frozenset[str]]] = []
        self.translated: dict[int, str] = {}
        self.left: list[tuple[str, Ints, Ints]] = []

    def read(self, number: int, skeleton: str, literals: Iterable[int]) -> int:
        """Group a text with those that have the same skeleton; how many these are. Literals are those of `numbered`."""
        alike = self.alike.get(skeleton)
        if alike is None:
            alike = self.alike[skeleton] = _Alike()
        alike.texts.append(number)
        alike.literals.extend(literals)
        return len(alike.texts)

    def compile(self) -> None:
        """Compile what was read."""
        for skeleton, alike in self.alike.items():
            texts = np.frombuffer(alike.texts, np.int32)
            self.compile_alike(skeleton, texts, np.frombuffer(alike.literals, np.int32).reshape(len(texts), -1))
        self.alike.clear()
        self.finish()

    def finish(self) -> None:
        """Make one forest of all texts that are one predicate. To be called after the last `compile_alike`."""
        if self.predicates:
            self.forests.append(predicates_forest([instances for instances, _ in self.predicates], self.table))
            self.members.append(np.concatenate([texts for _, texts in self.predicates]))
            self.predicates.clear()

    @cached_property
    def literals(self) -> list[str]:
        return list(self.numbered)

    @cached_property
    def classes(self) -> Ints:
        """A number for the class of each literal; a few characters tell, see `literal_class`."""
        first = [0 if literal[0] == "'" else 2 if "." in literal else 1 for literal in self.literals]
        return np.array(first, np.int32)

    def compile_alike(self, skeleton: str, texts: Ints, literals: Ints) -> None:
        """Texts with one skeleton. Those with the same pinned literals, and the same classes of the others, share
        one template; making it shows which literals are pinned."""
        is_worth = self.is_worth(texts, self.text(skeleton, literals[0]))
        template = self._template(skeleton, literals[0]) if is_worth else None
        if template is None:
            self.left.append((skeleton, texts, literals))
            return
        decisive = np.concatenate([literals[:, list(template.pinned)], self.classes[literals]], axis=1)
        is_like_first = (decisive == decisive[0]).all(axis=1)
        self._instantiate(skeleton, template, texts[is_like_first], literals[is_like_first])
        if not is_like_first.all():
            others = ~is_like_first
            _, group = distinct_rows(decisive[others])
            for number in range(int(group.max()) + 1):
                self.compile_alike(skeleton, texts[others][group == number], literals[others][group == number])

    def _template(self, skeleton: str, literals: Ints) -> Template | None:
        """The template, if instantiating it gives the same tree as parsing."""
        own = [self.literals[number] for number in literals.tolist()]
        template = make_template(skeleton, own, self.policy)
        if template is None:
            return None
        parsed = read_spark_sql(self.text(skeleton, literals), self.policy).tree
        roots = trees_forest({"parsed": parsed, "instantiated": template.tree_of(own)}).roots
        return template if roots[0] == roots[1] else None

    def _instantiate(self, skeleton: str, template: Template, texts: Ints, literals: Ints) -> None:
        if template.networks:
            fit = self._are_networks(literals[:, list(template.networks)]).all(axis=1)
            if not fit.all():
                self.left.append((skeleton, texts[~fit], literals[~fit]))
            texts, literals = texts[fit], literals[fit]
        columns = sorted(set(template.holes.values()))
        constants = np.empty((len(texts), len(columns)), np.int32)
        for column, hole in enumerate(columns):
            constants[:, column] = self._constant_numbers(literals[:, hole.number], hole)
        holes = {constant: columns.index(hole) for constant, hole in template.holes.items()}
        if template.sql is not None:
            for number, own in zip(texts.tolist(), literals, strict=True):
                filled = template.sql_of([self.literals[literal] for literal in own.tolist()])
                assert filled is not None
                self.translated[number] = filled
        instances, functions = Instances(template.tree, holes, constants), called_functions(template.tree)
        if isinstance(template.tree, Predicate):
            self.predicates.append((instances, texts))
            self.functions.append((texts, functions))
            return
        forest, usual = instances_forest(instances, self.table)
        self.forests.append(forest)
        self.members.append(texts[usual])
        self.functions.append((texts[usual], functions))
        if not usual.all():
            self.left.append((skeleton, texts[~usual], literals[~usual]))

    def _are_networks(self, literals: Ints) -> NDArray[np.bool_]:
        numbers, places = np.unique(literals, return_inverse=True)
        known = np.array([is_network_literal(self.literals[number]) for number in numbers.tolist()], bool)
        return known[places].reshape(literals.shape)

    def _constant_numbers(self, literals: Ints, hole: Hole) -> Ints:
        """The constants of literals; each literal is converted once."""
        kind = (hole.negative, hole.is_searched)
        known = self.constant_numbers.setdefault(kind, np.full(len(self.literals), -1, np.int32))
        new = distinct(literals[known[literals] < 0])
        texts = [self.literals[number] for number in new.tolist()]
        if kind == (False, False) and all(text[0] in "123456789" and text.isdigit() for text in texts):
            known[new] = self.table.numbers_of(_INTEGER, texts)  # each is the text of its constant
        else:
            known[new] = [self.table.number(hole.constant(text)) for text in texts]
        return known[literals]

    def text(self, skeleton: str, literals: Ints) -> str:
        """The text with this skeleton and these literals."""
        return joined(skeleton, [self.literals[number] for number in literals.tolist()])
