"""Which rules could match rows of which advertisements: `OverlapIndex` and the exact test, for a segment."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkrules.index import Rule, Segment, build_segment
from sparkrules.index.forest import AND, PREDICATE
from sparkrules.logic.advertisements import OverlapIndex
from sparkrules.logic.boxes import Boxes, Overlap
from sparkrules.logic.regions import Regions
from sparkrules.logic.satisfiable import Formula, Gate, Satisfiability, formula, satisfiable
from sparkrules.rules.advertised import Advertisement
from sparkrules.sql import Node, Predicate
from sparkrules.sql.tree import distinct_predicates
from sparkrules.store import Pairs


class OverlappingPair(NamedTuple):
    """A rule that could match rows of an advertisement. `certain`: some row fulfils both."""

    advertisement: str
    subscription: str
    certain: bool


class OverlapQuestions:
    """Which rules of a segment overlap a condition. Rules with the same tree are decided once.

    >>> from sparkrules.sql import parse_rule
    >>> texts = {"a": "price < 10", "b": "10 > price", "c": "price > 7 AND price < 9"}
    >>> segment = build_segment(Rule(id, text, parse_rule(text)) for id, text in texts.items())
    >>> OverlapQuestions(segment, None).ids(parse_rule("price > 9 AND price < 9.5"))
    ['a', 'b']
    """

    def __init__(self, segment: Segment, schema: pa.Schema | None) -> None:
        self.segment = segment
        self.schema = schema
        self._regions: Regions | None = None
        self._boxes: Boxes | None = None
        self._known: set[Predicate] = set()
        self._formulas: dict[int, Formula] = {}  # by node: advertisements share them

    @cached_property
    def index(self) -> OverlapIndex:
        """Made when first asked: without an advertisement, nobody asks."""
        return OverlapIndex(self.segment, self.schema)

    def prepare(self, trees: Iterable[Node]) -> None:
        """Announce conditions: what they need is then prepared once."""
        given = list(trees)
        asked = {predicate for tree in given for predicate in distinct_predicates(tree)}
        if given and (self._regions is None or not asked <= self._known):
            # A column has one type: if none is declared, it follows from the constants of all conditions.
            self._known = asked.union(self.segment.forest.all_predicates())
            self._regions = Regions(self._known, self.schema)
            self._boxes = None
            self._formulas.clear()

    def ids(self, tree: Node, *, exact: bool = True) -> list[str]:
        """The ids of rules that may overlap, in output order. Without `exact`, predicates are considered one by one."""
        numbers = self.numbers(tree, exact=exact)
        found: list[str] = self.segment.rules.id[numbers].tolist()
        return found

    def numbers(self, tree: Node, *, exact: bool = True) -> NDArray[np.int32]:
        """The same as numbers of rules."""
        if not exact:
            return self.index.numbers(tree)
        overlap = self._overlap(tree)
        found = overlap.yes[self.segment.forest.roots]
        for number, own in self._searched(tree, overlap, overlap.yes):
            found[number] = own.holds
        order = self.segment.rules.output_order
        return order[found[order]]

    def any(self, tree: Node, *, exact: bool = True) -> bool:
        """Whether any rule may overlap. Ends at the first."""
        found = self.index.in_turn(tree)
        if not exact:
            return next(found, None) is not None
        self.prepare([tree])
        assert self._regions is not None
        given = formula(tree, self._regions)
        excluded: set[int] = set()
        for number in found:
            node = int(self.segment.forest.roots[number])
            if node in excluded:
                continue
            if satisfiable([self._formula(node, self._regions), given], self._regions).holds:
                return True
            excluded.add(node)
        return False

    def pairs(self, advertisements: Collection[Advertisement]) -> Iterator[OverlappingPair]:
        """The rules that may overlap each advertisement, in output order."""
        self.prepare(own.tree for own in advertisements)
        for advertisement in advertisements:
            for number, certain in self._decided(advertisement.tree):
                certain = certain and not advertisement.is_pruned
                yield OverlappingPair(advertisement.id, self.segment.rules.id[number], certain)

    def rows(self, advertisements: Segment) -> Pairs:
        """The same as numbers, for the advertisements of a segment."""
        trees = [advertisements.forest.tree(node) for node in advertisements.forest.roots.tolist()]
        self.prepare(trees)
        found = [(own, number, certain) for own, tree in enumerate(trees) for number, certain in self._decided(tree)]
        if not found:
            return Pairs.none()
        columns = zip(*found, strict=True)
        return Pairs(np.array(next(columns)), np.array(next(columns)), np.array(next(columns)))

    def _decided(self, tree: Node) -> Iterator[tuple[int, bool]]:
        """The numbers of rules that may overlap, in output order, and whether that is certain."""
        roots, order = self.segment.forest.roots, self.segment.rules.output_order
        overlap = self._overlap(tree)
        found, certain = overlap.yes[roots], overlap.certain[roots]
        for number, own in self._searched(tree, overlap, overlap.certain):
            found[number], certain[number] = own.holds, own.certain
        order = order[found[order]]
        return zip(order.tolist(), certain[order].tolist(), strict=True)

    def _overlap(self, tree: Node) -> Overlap:
        self.prepare([tree])
        assert self._regions is not None
        if self._boxes is None:
            self._boxes = Boxes(self.segment.forest, self._regions)
        return self._boxes.overlap(tree)

    def _searched(self, tree: Node, overlap: Overlap, known: NDArray[np.bool_]) -> Iterator[tuple[int, Satisfiability]]:
        """The rules that may overlap and whose nodes are not `known`, decided by search. Those with one tree, once."""
        regions, roots = self._regions, self.segment.forest.roots
        assert regions is not None
        is_open = (~known & ~overlap.no)[roots]
        if (is_open & ~overlap.yes[roots]).any():
            # Most rules that codes do not exclude are excluded by their predicates, one by one.
            may_overlap = np.zeros(len(roots), bool)
            may_overlap[self.index.numbers(tree)] = True
            is_open &= may_overlap
        given = formula(tree, regions)
        found: dict[int, Satisfiability] = {}
        for number, node in zip(np.flatnonzero(is_open).tolist(), roots[is_open].tolist(), strict=True):
            if node not in found:
                found[node] = satisfiable([self._formula(node, regions), given], regions)
            yield number, found[node]

    def _formula(self, node: int, regions: Regions) -> Formula:
        segment, made = self.segment, self._formulas
        stack = [node]
        while stack:
            number = stack[-1]
            if number in made:
                stack.pop()
            elif segment.forest.nodes.operator[number] == PREDICATE:
                made[number] = regions.extent(segment.forest.predicate(int(segment.forest.nodes.predicate[number])))
            else:
                children = segment.forest.nodes.children.row(number).tolist()
                missing = [child for child in children if child not in made]
                stack.extend(missing)
                if not missing:
                    is_all = segment.forest.nodes.operator[number] == AND
                    made[number] = Gate("and" if is_all else "or", tuple([made[child] for child in children]))
        return made[node]


def decided(rules: Segment, advertisements: Segment, types: pa.Schema | None) -> Pairs:
    """Which of the rules and advertisements of two segments may overlap, for a store."""
    return OverlapQuestions(rules, types).rows(advertisements)


def advertising(
    advertisements: Mapping[str, Advertisement], tree: Node, schema: pa.Schema | None = None
) -> Iterator[str]:
    """The ids of the advertisements that a condition may overlap, in their order."""
    found = set(OverlapQuestions(advertised_segment(advertisements), schema).ids(tree))
    return (id for id in advertisements if id in found)


def advertised_segment(advertisements: Mapping[str, Advertisement]) -> Segment:
    """An index of advertisements."""
    return build_segment(Rule(own.id, own.where, own.tree) for own in advertisements.values())


def texts_table(texts: Iterable[tuple[str | None, list[str] | None, str | None]], column: str) -> pa.Table:
    """What `Advertisements.overlapping_all` returns: the text, the ids of rules, or the error."""
    rows = [{"text": text, "subscriptions": ids, "error": error} for text, ids, error in texts]
    types = [("text", pa.string()), ("subscriptions", pa.list_(pa.string())), ("error", pa.string())]
    return pa.Table.from_pylist(rows, pa.schema(types)).rename_columns([column, "subscriptions", "error"])
