"""Texts of different shapes, compiled by what they share: their predicates.

The skeleton of each text is cut into predicates and an outline (`sparkrules.sql.outline`). Predicates that differ only
in their constants share a template, rare ones are parsed by themselves, and outlines join the nodes of predicates.

>>> from sparkrules.sql import DEFAULT_POLICY
>>> from sparkrules.sql.template import lift
>>> texts = OutlinedTexts(DEFAULT_POLICY, Numbered())
>>> for number in range(100):
...     text = f"NOT (a < {number} OR {'(' * (number % 20)}b = {number}{')' * (number % 20)})"
...     skeleton, literals = lift(text if number else "a < 5 AND")
...     texts.read(number, skeleton, [texts.numbered[literal] for literal in literals])
>>> texts.compile()
>>> texts.forest, texts.left
(Forest(99 rules, 198 predicates, 297 nodes), [(0, 'a < 5 AND')])
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from sparkrules.index.csr import Csr, Ints
from sparkrules.index.forest import AND, OR, Forest
from sparkrules.index.grown_forest import GrownForest
from sparkrules.index.merge_forests import merge_forests
from sparkrules.rules.alike import Numbered
from sparkrules.rules.cut_predicates import CutPredicates
from sparkrules.sql import Policy
from sparkrules.sql.outline import PLACE, Outline, cut, read_outline
from sparkrules.sql.template import SEPARATOR, joined

# Below this, parsing each text costs less.
_FEWEST = 64
# Of four predicates of a text, one may be rare; otherwise parsing the whole text costs less.
_RARE = 4
_OPERATORS = {"and": AND, "or": OR}


class OutlinedTexts:
    """Texts in Spark SQL, by number, which must not contain `SEPARATOR` or `PLACE`. Literals are those of `numbered`.

    After `compile`, root i of `forest` is that of text `members[i]`, `functions` are those that these texts call, and
    `left` has the other texts, which are not necessarily correct.
    """

    def __init__(self, policy: Policy, numbered: Numbered) -> None:
        self.policy = policy
        self.numbered = numbered
        self.numbers = array("i")
        self.skeletons: list[str] = []
        self.literals = array("i")  # of all texts, concatenated
        self.outlines = Numbered()
        self.outline_of = array("i")
        self.predicates = Numbered()  # their skeletons
        self.predicates_of = array("i")  # of all texts, concatenated
        self.forest = merge_forests([])
        self.members: Ints = np.empty(0, np.int32)
        self.functions: frozenset[str] = frozenset()
        self.left: list[tuple[int, str]] = []

    def read(self, number: int, skeleton: str, literals: Iterable[int]) -> None:
        """Cut a text."""
        outline, predicates = cut(skeleton)
        self.numbers.append(number)
        self.skeletons.append(skeleton)
        self.literals.extend(literals)
        self.outline_of.append(self.outlines[outline])
        self.predicates_of.extend(map(self.predicates.__getitem__, predicates))

    def compile(self) -> None:
        """Compile what was read."""
        numbers, outline_of = np.frombuffer(self.numbers, np.int32), np.frombuffer(self.outline_of, np.int32)
        literals = self._literals()
        outlines = self._read_outlines()
        is_open = np.array([outline is not None for outline in outlines], bool)[outline_of]
        if len(numbers) >= _FEWEST and is_open.any():
            texts = np.flatnonzero(is_open)
            sizes = np.array([outline.count(PLACE) for outline in self.outlines], np.int64)
            skeletons = Csr.from_lengths(sizes[outline_of], np.frombuffer(self.predicates_of, np.int32)).take(texts)
            cuts = CutPredicates(self.policy, self.numbered, list(self.predicates))
            predicates = cuts.read(skeletons, literals.take(texts))
            compiled = self._compile([outlines[number] for number in outline_of[texts].tolist()], predicates, cuts)
            self.members = numbers[texts[compiled]]
            is_open[texts[~compiled]] = False
        else:
            is_open[:] = False
        known = list(self.numbered)
        for text in np.flatnonzero(~is_open).tolist():
            own = [known[literal] for literal in literals.row(text).tolist()]
            self.left.append((int(numbers[text]), joined(self.skeletons[text], own)))
        self.skeletons.clear()

    def _literals(self) -> Csr:
        """The literals of each text."""
        lengths = np.fromiter((skeleton.count(SEPARATOR) for skeleton in self.skeletons), np.int64, len(self.skeletons))
        return Csr.from_lengths(lengths, np.frombuffer(self.literals, np.int32))

    def _read_outlines(self) -> list[Outline | None]:
        depth, xors = self.policy.max_depth, self.policy.max_xors
        return [read_outline(outline, max_depth=depth, max_xors=xors) for outline in self.outlines]

    def _compile(self, outlines: Sequence[Outline | None], of_text: Csr, cuts: CutPredicates) -> NDArray[np.bool_]:
        """Compile texts with these outlines and predicates. Which of them could be."""
        needed = np.frombuffer(b"".join([outline.sides for outline in outlines if outline is not None]), np.uint8)
        cuts.compile_alike(of_text.values, needed)
        is_rare = cuts.are_missing(of_text.values, needed)
        is_open = _count(of_text, is_rare) * _RARE <= of_text.lengths
        is_rare &= np.repeat(is_open, of_text.lengths)
        cuts.parse(of_text.values[is_rare], needed[is_rare])
        is_open &= _count(of_text, cuts.are_missing(of_text.values, needed)) == 0
        texts = np.flatnonzero(is_open)
        self.forest = _grown([outlines[text] for text in texts.tolist()], of_text.take(texts), cuts)
        chosen = np.repeat(is_open, of_text.lengths)
        self.functions = cuts.functions_of(of_text.values[chosen], needed[chosen])
        return is_open


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
            if len(parts) == 2:
                nodes.append(grown.pair(_OPERATORS[operator], nodes[parts[0]], nodes[parts[1]]))
            else:
                nodes.append(grown.junction(_OPERATORS[operator], {nodes[part] for part in parts}))
        roots.append(nodes[outline.root])
    return grown.forest(roots)
