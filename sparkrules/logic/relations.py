"""How conditions relate: covering, equivalence, disjointness. Also one condition: never true, always true, redundant.

Contract: E(s) is the set of rows for which s is *true*; unknown is not true. Every answer is "yes", "no" or "unknown".
"Yes" and "no" are always right; "unknown" means that codes do not decide (see `exact_overlap`).

| question | meaning | looks for a row |
|---|---|---|
| `covers(a, b)` | E(a) contains E(b) | with b true and a not true |
| `equivalent(a, b)` | E(a) = E(b) | as for `covers`, in both directions |
| `disjoint(a, b)` | E(a) and E(b) have no row in common | with both true |
| `contradiction(a)` | E(a) is empty | with a true |
| `tautology(a)` | E(a) is every row | with a not true |

NULL makes a comparison unknown, so `a > 5 OR a <= 5` is not a tautology unless `a` is declared never NULL.

>>> from sparkrules.sql import parse_rule
>>> rule = parse_rule
>>> covers(rule("a > 3"), rule("a > 5 AND b")), covers(rule("a > 5"), rule("a > 3"))
('yes', 'no')
>>> covers(rule("a = 'x'"), rule("lower(a) = 'x'"))
'unknown'
>>> equivalent(rule("a IN (1, 2)"), rule("NOT (a <> 1 AND a <> 2)")), disjoint(rule("a > 3"), rule("a IS NULL"))
('yes', 'yes')
>>> contradiction(rule("a > 5 AND a < 3")), tautology(rule("a > 5 OR a <= 5"))
('yes', 'no')
>>> [str(part) for part in redundancies(rule("a > 5 AND a > 3 AND (b = 1 OR b IN (1, 2) OR a < 4)"))]
['a > 3 AND: follows from the rest', 'b = 1 OR: covered by the rest', 'a < 4 OR: never true here']
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from sparkrules.logic.attribute_type import Types
from sparkrules.logic.regions import Extent, Regions
from sparkrules.logic.satisfiable import LIMIT, Formula, Gate, formula, impossible, satisfiable
from sparkrules.sql.tree import Junction, JunctionOperator, Node, Predicate, predicates

Answer = Literal["yes", "no", "unknown"]
# The rest of a junction is checked together if it has at most this many parts, else part by part: hundreds of
# patterns on one string would otherwise be compared with each other for each of them.
_TOGETHER = 24


def covers(a: Node, b: Node, types: Types | pa.Schema | None = None, limit: int = LIMIT) -> Answer:
    """Whether a is true for every row for which b is."""
    return covers_in(Regions.of_trees(a, b, types=types), a, b, limit)


def equivalent(a: Node, b: Node, types: Types | pa.Schema | None = None, limit: int = LIMIT) -> Answer:
    """Whether both are true for the same rows."""
    regions = Regions.of_trees(a, b, types=types)
    answers = covers_in(regions, a, b, limit), covers_in(regions, b, a, limit)
    if "no" in answers:
        return "no"
    return "yes" if answers == ("yes", "yes") else "unknown"


def disjoint(a: Node, b: Node, types: Types | pa.Schema | None = None, limit: int = LIMIT) -> Answer:
    """Whether no row makes both true."""
    regions = Regions.of_trees(a, b, types=types)
    return _impossible([formula(a, regions), formula(b, regions)], regions, limit)


def contradiction(a: Node, types: Types | pa.Schema | None = None, limit: int = LIMIT) -> Answer:
    """Whether it is true for no row."""
    return contradiction_in(Regions.of_trees(a, types=types), a, limit)


def tautology(a: Node, types: Types | pa.Schema | None = None, limit: int = LIMIT) -> Answer:
    """Whether it is true for every row."""
    return tautology_in(Regions.of_trees(a, types=types), a, limit)


def covers_in(regions: Regions, a: Node, b: Node, limit: int = LIMIT) -> Answer:
    """`covers`, within regions that include further expressions."""
    return _impossible([formula(b, regions), formula(a, regions, is_true=False)], regions, limit)


def contradiction_in(regions: Regions, a: Node, limit: int = LIMIT) -> Answer:
    """`contradiction`, within regions that include further expressions."""
    return _impossible([formula(a, regions)], regions, limit)


def tautology_in(regions: Regions, a: Node, limit: int = LIMIT) -> Answer:
    """`tautology`, within regions that include further expressions."""
    return _impossible([formula(a, regions, is_true=False)], regions, limit)


def _impossible(formulas: Sequence[Formula], regions: Regions, limit: int) -> Answer:
    found = satisfiable(formulas, regions, limit)
    if not found.holds:
        return "yes"
    return "no" if found.certain else "unknown"


@dataclass(frozen=True)
class Redundancy:
    """A part of a rule that can be removed without changing what the rule matches."""

    part: Node
    inside: JunctionOperator
    reason: str

    def __str__(self) -> str:
        return f"{self.part} {self.inside.upper()}: {self.reason}"


def redundancies(tree: Node, types: Types | pa.Schema | None = None, limit: int = LIMIT) -> list[Redundancy]:
    """The parts of a tree that can all be removed together. See `redundancies_in`."""
    return redundancies_in(Regions.of_trees(tree, types=types), tree, limit)


def redundancies_in(regions: Regions, tree: Node, limit: int = LIMIT) -> list[Redundancy]:
    """The parts of a tree that can all be removed together.

    | in | a part can be removed if | given what the ANDs above require |
    |---|---|---|
    | AND | it follows from the other parts | yes |
    | OR | it implies the other parts, or is never true | yes |
    """
    if not _may_repeat(tree, regions):
        return []
    return list(_Redundancies(regions, limit).within(tree, []))


class _Redundancies:
    def __init__(self, regions: Regions, limit: int) -> None:
        self.regions = regions
        self.limit = limit
        # Keyed by the identity of the tree's nodes, which stay alive. Each is needed once per sibling.
        self._formulas: dict[tuple[int, bool], Formula] = {}
        self._attributes: dict[int, frozenset[str]] = {}

    def within(self, node: Node, context: list[Formula]) -> Iterator[Redundancy]:
        if isinstance(node, Predicate):
            return
        parts = list(node.children)
        for part in node.children:
            rest = [other for other in parts if other is not part]
            reason = self._reason(node.operator, part, rest, context) if rest else None
            if reason:
                parts = rest
                yield Redundancy(part, node.operator, reason)
        for part in parts:
            if isinstance(part, Junction):
                others = [self._formula(other) for other in parts if other is not part]
                yield from self.within(part, context + others if node.operator == "and" else context)

    def _reason(self, operator: JunctionOperator, part: Node, rest: list[Node], context: list[Formula]) -> str | None:
        if operator == "and":
            without = self._formula(part, is_true=False)
            others = [self._formula(other) for other in rest]
            is_redundant = self._is_impossible(without, others, context)
            return "follows from the rest" if is_redundant else None
        own = self._formula(part)
        if self._is_impossible(own, [], context):
            return "never true here"
        others = [self._formula(other, is_true=False) for other in rest]
        return "covered by the rest" if self._is_impossible(own, others, context) else None

    def _is_impossible(self, part: Formula, others: list[Formula], context: list[Formula]) -> bool:
        own = self._attributes_of(part)
        related = [other for other in (*others, *context) if _related(own, self._attributes_of(other))]
        if isinstance(part, Extent) and part.atom is None and all(_is_plain(other) for other in related):
            return not part.possible or _exclude_each_other(part, related)
        if len(related) <= _TOGETHER:
            return impossible([part, *related], self.regions, self.limit)
        return any(impossible([part, other], self.regions, self.limit) for other in related)

    def _formula(self, part: Node, *, is_true: bool = True) -> Formula:
        key = id(part), is_true
        if key not in self._formulas:
            self._formulas[key] = formula(part, self.regions, is_true=is_true)
        return self._formulas[key]

    def _attributes_of(self, part: Formula) -> frozenset[str]:
        if isinstance(part, Extent):
            return frozenset((part.attribute,))
        found = self._attributes.get(id(part))
        if found is None:
            found = self._attributes[id(part)] = frozenset(_gate_attributes(part))
        return found


def _related(own: frozenset[str], others: frozenset[str]) -> bool:
    """Whether they share an attribute, or the other has none and so is always or never true."""
    return not others or not own.isdisjoint(others)


def _is_plain(part: Formula) -> bool:
    """Whether codes alone decide it."""
    return isinstance(part, Extent) and part.atom is None


def _exclude_each_other(part: Extent, others: Sequence[Formula]) -> bool:
    """Whether predicates on one attribute have no possible code in common. The search would find that too, but
    slowly."""
    left = part.possible
    for other in others:
        assert isinstance(other, Extent)
        left = left & other.possible
    return not left


def _gate_attributes(gate: Gate) -> set[str]:
    found: set[str] = set()
    seen: set[int] = set()
    stack: list[Formula] = [gate]
    while stack:
        part = stack.pop()
        if isinstance(part, Extent):
            found.add(part.attribute)
        elif id(part) not in seen:
            seen.add(id(part))
            stack.extend(part.children)
    return found


def _may_repeat(tree: Node, regions: Regions) -> bool:
    """Whether a part can be redundant: an attribute occurs twice, or a predicate is always or never true."""
    seen: set[str] = set()
    for predicate in predicates(tree):
        extent = regions.extent(predicate)
        if predicate.attribute in seen or not extent.possible or extent.sure == extent.universe:
            return True
        seen.add(predicate.attribute)
    return any(isinstance(node, Junction) and not node.children for node in _junctions(tree))


def _junctions(tree: Node) -> Iterator[Junction]:
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, Junction):
            yield node
            stack.extend(node.children)
