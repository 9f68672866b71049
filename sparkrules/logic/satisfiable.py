"""Decide whether a Boolean tree can be true, by a bounded search over the regions of its attributes.

Contract: `satisfiable` searches for a code for each attribute under which the tree is true.

| answer | `holds` | `certain` |
|---|---|---|
| no row makes it true | False | True |
| a row does, and `witness` has its codes | True | True |
| codes exist, but perhaps no row has them: undecided predicates, derived attributes, unknown types | True | False |
| the search stopped after `limit` steps | True | False, and `is_exhausted` |

"No" is always right; "yes" is right if it is `certain`. Predicates on one attribute under an AND are intersected. The
operands of an OR are tried one by one, those with the fewest choices first. If all types are declared and codes decide
every predicate, the answer is exact.

A `Formula` is a tree over extents. The negation "is not true" of a tree is again a tree (De Morgan). The complement of
an extent is where the predicate is false or unknown.

>>> from sparkrules.sql import parse_rule
>>> tree = parse_rule("price > 5 AND price < 10 AND (price > 12 OR price < 3)")
>>> satisfiable([formula(tree, regions := Regions.of_trees(tree))], regions).holds
False
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from sparkrules.logic.atom import conflict
from sparkrules.logic.codes import LOWEST, Codes
from sparkrules.logic.regions import AttributeRegions, Extent, Regions
from sparkrules.sql.tree import Node, Predicate

LIMIT = 20_000
# How many more steps to look for a certain witness after finding an uncertain one.
_PATIENCE = 20
# How many codes of an attribute are tried one by one if codes do not decide its predicates.
_TRIED_CODES = 500


@dataclass(frozen=True, slots=True, eq=False)
class Gate:
    """AND or OR over formulas."""

    operator: Literal["and", "or"]
    children: tuple[Formula, ...]


Formula = Extent | Gate


@dataclass(frozen=True)
class Satisfiability:
    """See the module."""

    holds: bool
    certain: bool
    witness: dict[str, int] = field(default_factory=dict)
    is_exhausted: bool = False


def formula(tree: Node, regions: Regions, *, is_true: bool = True) -> Formula:
    """The formula "the tree is true" or "the tree is not true". Shared parts stay shared."""
    leaf_of = regions.extent if is_true else regions.complement
    if isinstance(tree, Predicate):
        return leaf_of(tree)
    made: dict[int, Formula] = {}
    stack: list[Node] = [tree]
    while stack:
        node = stack[-1]
        if id(node) in made:
            stack.pop()
        elif isinstance(node, Predicate):
            made[id(node)] = leaf_of(node)
            stack.pop()
        else:
            missing = [child for child in node.children if id(child) not in made]
            if missing:
                stack.extend(missing)
                continue
            operator: Literal["and", "or"] = "and" if (node.operator == "and") == is_true else "or"
            made[id(node)] = Gate(operator, tuple(made[id(child)] for child in node.children))
    return made[id(tree)]


def satisfiable(formulas: Sequence[Formula], regions: Regions, limit: int = LIMIT) -> Satisfiability:
    """Whether all formulas can be true together."""
    uncertain: Satisfiability | None = None
    search = Search(formulas, limit)
    for branch in search.branches(regions):
        found = branch.witness(regions)
        if found.certain:
            return found
        if uncertain is None:
            uncertain = found
            search.limit = min(limit, search.steps + _PATIENCE)
    if uncertain is None and search.is_exhausted:
        return Satisfiability(holds=True, certain=False, is_exhausted=True)
    return uncertain or Satisfiability(holds=False, certain=True)


def impossible(formulas: Sequence[Formula], regions: Regions, limit: int = LIMIT) -> bool:
    """Whether it is proved that the formulas cannot all be true together: `satisfiable` when only "no" matters."""
    search = Search(formulas, limit)
    return next(search.branches(regions), None) is None and not search.is_exhausted


class Search:
    """The branches in which all formulas are true, found one by one. `is_exhausted`: there may be more."""

    def __init__(self, formulas: Sequence[Formula], limit: int = LIMIT) -> None:
        self.limit = limit
        self.steps = 0
        self.is_exhausted = False
        self._stack = [Branch(list(formulas), [], {})]

    def branches(self, regions: Regions) -> Iterator[Branch]:
        """Each branch is a conjunction of codes that makes the formulas true. Together they cover all solutions."""
        while self._stack:
            self.steps += 1
            if self.steps > self.limit:
                self.is_exhausted = True
                return
            branch = self._stack.pop()
            if not branch.propagate(regions):
                continue
            if branch.choices:
                self._stack.extend(branch.split())
            else:
                yield branch


class Restriction(NamedTuple):
    """What is left of an attribute: its codes, its extents with atoms, and a code that fulfils these."""

    codes: Codes
    extents: tuple[Extent, ...] = ()
    code: int | None = None


class Branch:
    """A partial choice: formulas that must be true, ORs still open, and what both leave of each attribute."""

    __slots__ = ("choices", "required", "restrictions")

    def __init__(
        self, required: list[Formula], choices: list[tuple[Formula, ...]], restrictions: dict[str, Restriction]
    ) -> None:
        self.required = required
        self.choices = choices
        self.restrictions = restrictions

    def propagate(self, regions: Regions) -> bool:
        """Apply what must be true until nothing more follows. False if it is impossible."""
        while True:
            while self.required:
                part = self.required.pop()
                if isinstance(part, Extent):
                    restricted = self._restricted(part, regions)
                    if restricted is None:
                        return False
                    self.restrictions[part.attribute] = restricted
                elif part.operator == "and":
                    self.required.extend(part.children)
                else:
                    self.choices.append(part.children)
            kept: list[tuple[Formula, ...]] = []
            for choice in self.choices:
                left = self._open(choice, regions)
                if left is None:
                    continue
                if len(left) == 1:
                    self.required.append(left[0])
                elif not left:
                    return False
                else:
                    kept.append(left)
            self.choices = kept
            if not self.required:
                return True

    def split(self) -> list[Branch]:
        """One branch for each operand of the smallest OR. The last is tried first, so the simplest come last."""
        smallest = min(range(len(self.choices)), key=lambda number: len(self.choices[number]))
        rest = self.choices[:smallest] + self.choices[smallest + 1 :]
        operands = sorted(self.choices[smallest], key=lambda operand: isinstance(operand, Extent))
        return [Branch([operand], list(rest), dict(self.restrictions)) for operand in operands]

    def witness(self, regions: Regions) -> Satisfiability:
        """A code for each restricted attribute."""
        chosen, certain = {}, regions.independent(self.restrictions)
        for attribute, restriction in self.restrictions.items():
            own = regions.attributes[attribute]
            code = certain_code(restriction, own) if certain else None
            certain = code is not None
            chosen[attribute] = any_code(restriction) if code is None else code
        return Satisfiability(holds=True, certain=certain, witness=chosen)

    def _restricted(self, extent: Extent, regions: Regions) -> Restriction | None:
        before = self.restrictions.get(extent.attribute)
        codes = extent.possible if before is None else before.codes & extent.possible
        if not codes:
            return None
        extents = before.extents if before else ()
        if extent.atom is None and not extents:
            return Restriction(codes)
        own = regions.attributes[extent.attribute]
        code = before.code if before else None
        after = extents if extent.atom is None else (*extents, extent)
        # Hundreds of patterns on one string are common. A code that fulfils the others usually fulfils one more.
        if code is not None and code in codes and (extent.atom is None or _joins(extent, extents, code, own)):
            return Restriction(codes, after, code)
        code = _possible_code(codes, after, own)
        return None if code is None else Restriction(codes, after, code)

    def _open(self, choice: tuple[Formula, ...], regions: Regions) -> tuple[Formula, ...] | None:
        """The operands of an OR that can still be true. None if one is already true."""
        left: list[Formula] = []
        for operand in choice:
            if isinstance(operand, Extent):
                before = self.restrictions.get(operand.attribute)
                if before is not None and before.codes <= operand.sure:
                    return None
                if self._restricted(operand, regions) is None:
                    continue
            elif not operand.children:
                if operand.operator == "and":
                    return None
                continue
            left.append(operand)
        return tuple(left)


def any_code(restriction: Restriction) -> int:
    """Any remaining code; a value's code in preference to NULL."""
    if restriction.code is not None:
        return restriction.code
    first = restriction.codes.intervals[0][0]
    if first >= LOWEST:
        return first
    return next((max(start, LOWEST) for start, end in restriction.codes.intervals if end >= LOWEST), first)


def certain_code(restriction: Restriction, own: AttributeRegions) -> int | None:
    """A code that certainly has a value, at which all predicates certainly are as required."""
    sure = restriction.codes & own.inhabited
    if not restriction.extents or not sure:
        return any_code(Restriction(sure)) if sure else None
    for code in _candidates(sure, restriction.extents)[0]:
        point = own.point(code)
        needed = [extent for extent in restriction.extents if code not in extent.sure]
        if all(extent.atom is not None and extent.atom.truth(point) is wanted(extent) for extent in needed):
            return code
    return None


def _possible_code(codes: Codes, extents: tuple[Extent, ...], own: AttributeRegions) -> int | None:
    """A code at which the predicates are not known to exclude each other."""
    known: dict[tuple[bool, ...], bool] = {}
    candidates, is_complete = _candidates(codes, extents)
    for code in candidates:
        needed = tuple(code not in extent.sure for extent in extents)
        if needed not in known:
            pairs = zip(extents, needed, strict=True)
            facts = [extent for extent, is_needed in pairs if _is_fact(extent, is_needed, code)]
            known[needed] = not conflict((extent.atom, extent.claim) for extent in facts if extent.atom)
        if known[needed] and all(_at_point(extent, code, own) for extent in extents):
            return code
    return None if is_complete else codes.intervals[0][0]


def _joins(extent: Extent, extents: tuple[Extent, ...], code: int, own: AttributeRegions) -> bool:
    """Whether one more predicate is possible at a code at which the others are."""
    if extent.atom is None or not _is_fact(extent, code not in extent.sure, code):
        return True
    if not _at_point(extent, code, own):
        return False
    mine = extent.atom, extent.claim
    return not any(
        conflict([mine, (other.atom, other.claim)])
        for other in extents
        if other.atom is not None and _is_fact(other, code not in other.sure, code)
    )


def _is_fact(extent: Extent, is_needed: bool, code: int) -> bool:
    """Whether a predicate restricts the value: its atom decides, or it is true by its codes (`startswith 'ab'`)."""
    return is_needed or (extent.claim == "true" and code >= LOWEST)


def _at_point(extent: Extent, code: int, own: AttributeRegions) -> bool:
    """Whether a single value can satisfy a predicate's requirement."""
    if extent.atom is None or code in extent.sure:
        return True
    truth = extent.atom.truth(own.point(code))
    return truth is None or truth is wanted(extent)


def wanted(extent: Extent) -> bool:
    """The truth that an extent requires of its atom, given that the atom is true or false."""
    return extent.claim in ("true", "not false")


def _candidates(codes: Codes, extents: tuple[Extent, ...]) -> tuple[list[int], bool]:
    """Codes to try, and whether they are complete: whether one of them works if any code does."""
    if len(codes) <= _TRIED_CODES:
        return list(codes), True
    # Predicates are constant between the ends of all intervals, except at constants that a pattern matches.
    ends = {end + step for _, end in codes.intervals[:_TRIED_CODES] for step in (0, -1)}
    ends |= {start + step for start, _ in codes.intervals[:_TRIED_CODES] for step in (0, 1)}
    for extent in extents:
        for own in (extent.sure, extent.possible):
            ends |= {at + step for pair in own.intervals[:_TRIED_CODES] for at in pair for step in (-1, 0, 1)}
    return sorted(code for code in ends if code in codes), False
