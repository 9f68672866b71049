"""Texts of different shapes, compiled by what they share: their predicates.

Each text is cut into predicates and an outline (`sparkrules.sql.outline`). Predicates that differ only in their
constants share a template, rare ones are parsed by themselves, and outlines join the nodes of their predicates.

>>> from sparkrules.sql import DEFAULT_POLICY
>>> texts = OutlinedTexts(DEFAULT_POLICY)
>>> for number in range(100):
...     texts.read(number, f"NOT (a < {number} OR {'(' * (number % 20)}b = {number}{')' * (number % 20)})")
>>> texts.read(100, "a < 5 AND")
>>> texts.compile()
>>> texts.forest, texts.left
(Forest(100 rules, 200 predicates, 300 nodes), [(100, 'a < 5 AND')])
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sparkrules.index.csr import Csr, Ints
from sparkrules.index.forest import AND, OR, Forest
from sparkrules.index.grown_forest import GrownForest
from sparkrules.index.merge_forests import merge_forests
from sparkrules.rules.alike import Numbered
from sparkrules.rules.cut_predicates import CutPredicates, Sides
from sparkrules.sql import Policy
from sparkrules.sql.outline import Outline, cut, read_outline
from sparkrules.sql.template import SEPARATOR

# Of four predicates of a text, one may be rare; otherwise parsing the whole text costs less.
_RARE = 4
_OPERATORS = {"and": AND, "or": OR}


class OutlinedTexts:
    """Texts in Spark SQL, by number, which must contain no `SEPARATOR`.

    After `compile`, root i of `forest` is that of text `members[i]`, `functions` are those that these texts call, and
    `left` has the other texts, which are not necessarily correct.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.numbers = array("i")
        self.texts: list[str] = []
        self.outlines = Numbered()
        self.outline_of = array("i")
        self.predicates = Numbered()
        self.predicates_of = array("i")
        self.forest = merge_forests([])
        self.members: Ints = np.empty(0, np.int32)
        self.functions: frozenset[str] = frozenset()
        self.left: list[tuple[int, str]] = []

    def __len__(self) -> int:
        return len(self.texts)

    def read(self, number: int, sql: str) -> None:
        """Cut a text."""
        outline, predicates = cut(sql)
        self.numbers.append(number)
        self.texts.append(sql)
        self.outline_of.append(self.outlines[outline])
        self.predicates_of.extend(map(self.predicates.__getitem__, predicates))

    def compile(self) -> None:
        outlines = self._read_outlines()
        outline_of = np.frombuffer(self.outline_of, np.int32)
        sizes = np.array([outline.count(SEPARATOR) for outline in self.outlines], np.int64)
        of_text = Csr.from_lengths(sizes[outline_of], np.frombuffer(self.predicates_of, np.int32))
        needed = _needed(outlines, sizes, outline_of)
        predicates = CutPredicates(self.policy, list(self.predicates))
        predicates.compile_alike(of_text.values, needed)
        is_rare = predicates.are_missing(of_text.values, needed)
        is_open = np.array([outline is not None for outline in outlines], bool)[outline_of]
        is_open &= _count(of_text, is_rare) * _RARE <= of_text.lengths
        is_rare &= np.repeat(is_open, of_text.lengths)
        predicates.parse(of_text.values[is_rare], needed[is_rare])
        is_open &= _count(of_text, predicates.are_missing(of_text.values, needed)) == 0
        texts = np.flatnonzero(is_open)
        self.forest = _grown([outlines[number] for number in outline_of[texts].tolist()], of_text.take(texts), predicates)
        chosen = np.repeat(is_open, of_text.lengths)
        self.functions = predicates.functions_of(of_text.values[chosen], needed[chosen])
        numbers = np.frombuffer(self.numbers, np.int32)
        self.members = numbers[texts]
        self.left = [(int(numbers[text]), self.texts[text]) for text in np.flatnonzero(~is_open).tolist()]
        self.texts.clear()

    def _read_outlines(self) -> list[Outline | None]:
        depth, xors = self.policy.max_depth, self.policy.max_xors
        return [
            read_outline(outline, outline.count(SEPARATOR), max_depth=depth, max_xors=xors) for outline in self.outlines
        ]


def _needed(outlines: Sequence[Outline | None], sizes: NDArray[np.int64], outline_of: Ints) -> Sides:
    """For each predicate of each text, the sides that are needed of it; none where the outline could not be read."""
    sides = [bytes(size) if outline is None else outline.sides for outline, size in zip(outlines, sizes, strict=True)]
    return np.frombuffer(b"".join(map(sides.__getitem__, outline_of.tolist())), np.uint8)


def _count(of_text: Csr, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many of the chosen predicates each text has."""
    counted: NDArray[np.int64] = np.bincount(of_text.row_numbers()[chosen], minlength=len(of_text))
    return counted


def _grown(outlines: Sequence[Outline | None], of_text: Csr, predicates: CutPredicates) -> Forest:
    """The forest of texts with these outlines and predicates."""
    grown = GrownForest(predicates.merged())
    trues, falses = predicates.nodes[0::2][of_text.values].tolist(), predicates.nodes[1::2][of_text.values].tolist()
    ends = of_text.offsets.tolist()
    roots: list[int] = []
    for outline, start, end in zip(outlines, ends, ends[1:], strict=False):
        assert outline is not None
        nodes = trues[start:end] + falses[start:end]
        for operator, parts in outline.junctions:
            nodes.append(grown.junction(_OPERATORS[operator], {nodes[part] for part in parts}))
        roots.append(nodes[outline.root])
    return grown.forest(roots)
