"""Find which rules of a large set cover others, without comparing every pair.

Contract: `Coverings(trees).pairs()` yields pairs (a, b) where rule a is proved to cover rule b. For every rule that
`relations.covers` finds to be covered, at least one pair is found, unless a limit is reached (then `is_bounded`). Rules
that are never true neither cover others nor are covered.

A rule that covers b is true for every row of b, and so for every *witness* of b. A witness is a row of codes: codes for
the attributes that b names, NULL for the others, and a string with the pieces that b requires. The steps:

1. Compute a few witnesses per rule: the lowest and highest codes of up to four ways to fulfil it.
2. Match each rule against the witnesses of all others, like rows: its most selective predicate first, through the
   sorted codes of the attribute, and the other predicates only on what is left.
3. A rule that is true for all witnesses of b is a candidate, and the exact test decides.

With witnesses at the edges of a rule's regions, few candidates fail. A rule known to be covered is not checked again.
So the work grows with the number of rules, not of pairs.

>>> from sparkrules.sql import parse_rule
>>> texts = "a > 5 AND b = 1", "a > 3", "contains(c, 'abc') OR a = 9 AND b = 1", "contains(c, 'b')", "a > 3 OR c = 'x'"
>>> found = Coverings([parse_rule(text) for text in texts])
>>> sorted(found.pairs(each=9))
[(1, 0), (4, 0), (4, 1)]
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkrules.index.distinct import distinct
from sparkrules.logic.atom import Atom
from sparkrules.logic.attribute_type import Types
from sparkrules.logic.codes import ERROR, NULL, Codes
from sparkrules.logic.regions import AttributeRegions, Extent, Regions
from sparkrules.logic.satisfiable import Branch, Formula, Restriction, Search, formula, impossible
from sparkrules.sql.tree import Node, distinct_predicates

Numbers = NDArray[np.int64]
_BRANCHES = 4
_SEARCH_LIMIT = 2_000
_GRAM = 3
# A tree that shares parts (a chain of XORs) is longer to walk than to store. Larger trees are skipped.
_LARGEST = 5_000
# The codes of all witnesses are kept for each attribute, up to so many: 100 MB.
_MOST_CODES = 12_500_000
# Separates the pieces that a witness string joins. No real pattern contains it.
_GAP = "\ue000"


class Coverings:
    """The coverings among some rules. See the module."""

    def __init__(
        self,
        trees: Sequence[Node],
        types: Types | pa.Schema | None = None,
        regions: Regions | None = None,
        formulas: Sequence[Formula] | None = None,
    ) -> None:
        self.trees = trees
        self.regions = regions or Regions((p for tree in trees for p in distinct_predicates(tree)), types)
        self.is_bounded = False
        self.checked = 0
        self._formulas = formulas or [formula(tree, self.regions) for tree in trees]
        # The first witness of each rule is checked first and separately: it refutes most candidates.
        self._first, self._more = _Witnesses(self.regions), _Witnesses(self.regions)
        self._is_possible = np.zeros(len(trees), bool)
        for number, condition in enumerate(self._formulas):
            for at, (branch, highest) in enumerate(_edges(condition, self.regions)):
                (self._more if at else self._first).add(number, branch, highest)
                self._is_possible[number] = True
        self._first.freeze()
        self._more.freeze()
        self._more_starts = np.searchsorted(self._more.owner, np.arange(len(trees) + 1))

    def pairs(self, each: int = 1, max_checks: int | None = None) -> Iterator[tuple[int, int]]:
        """Pairs (a, b) where a covers b: at most `each` pairs per b, after at most `max_checks` exact tests."""
        wanted = np.where(self._is_possible, each, 0)
        settled = 0
        for number, condition in enumerate(self._formulas):
            if not self._is_possible[number]:
                continue
            if _size(condition, _LARGEST) >= _LARGEST:
                self.is_bounded = True
                continue
            candidates = self._candidates(number, condition, wanted)
            not_true = formula(self.trees[number], self.regions, is_true=False) if candidates else condition
            for other in candidates:
                if max_checks is not None and self.checked >= max_checks:
                    self.is_bounded = True
                    return
                self.checked += 1
                if impossible([self._formulas[other], not_true], self.regions):
                    wanted[other] -= 1
                    settled += wanted[other] == 0
                    yield number, other
            if 2 * settled > len(self._first.alive):
                self._first.forget(wanted == 0)
                settled = 0

    def may_cover(self, a: int, b: int) -> bool:
        """False if rule a certainly does not cover rule b, because it is not true for a witness of b."""
        if self._first.refutes(self._formulas[a], b):
            return False
        return all(
            len(witnesses.matching(self._formulas[a], own)) == len(own)
            for witnesses in (self._first, self._more)
            if len(own := witnesses.of(b))
        )

    def _candidates(self, number: int, condition: Formula, wanted: NDArray[np.int64]) -> list[int]:
        owners = self._first.owner[self._first.matching(condition)]
        owners = owners[(wanted[owners] > 0) & (owners != number)]
        if not len(owners):
            return []
        starts, ends = self._more_starts[owners], self._more_starts[owners + 1]
        lengths = ends - starts
        among = np.arange(lengths.sum()) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
        held = self._more.owner[self._more.matching(condition, among)] if len(among) else among
        found, hits = np.unique(held, return_counts=True)
        counts = np.zeros(len(owners), np.int64)
        counts[np.searchsorted(owners, found)] = hits
        return [int(other) for other in owners[counts == lengths]]


def _edges(condition: Formula, regions: Regions) -> Iterator[tuple[Branch, bool]]:
    """The branches of a formula that become witnesses, each at its lowest and highest codes."""
    for number, branch in enumerate(Search([condition], _SEARCH_LIMIT).branches(regions)):
        if number == _BRANCHES:
            return
        yield branch, True
        yield branch, False


@dataclass
class _Column:
    """The witnesses that name an attribute, ascending, with their codes and strings."""

    default: int
    owners: list[int] = field(default_factory=list)
    raw_codes: list[int] = field(default_factory=list)
    texts: list[str | None] = field(default_factory=list)
    claims: dict[tuple[object, ...], dict[str, set[int]]] = field(default_factory=dict)
    witnesses: Numbers = field(default_factory=lambda: np.empty(0, np.int64))
    codes: Numbers = field(default_factory=lambda: np.empty(0, np.int64))
    all_codes: Numbers | None = None  # of every witness, unless there are too many attributes for that
    order: Numbers = field(default_factory=lambda: np.empty(0, np.int64))
    sorted_codes: Numbers = field(default_factory=lambda: np.empty(0, np.int64))
    matched: dict[Atom, Numbers] = field(default_factory=dict)

    def freeze(self, count: int | None) -> None:
        """Prepare for questions; `count` is the number of all witnesses, if the codes of all are to be kept."""
        self.witnesses = np.array(self.owners, np.int64)
        self.codes = np.array(self.raw_codes, np.int64)
        if count is not None:
            self.all_codes = np.full(count, self.default, np.int64)
            self.all_codes[self.witnesses] = self.codes
        self.order = np.argsort(self.codes, kind="stable")
        self.sorted_codes = self.codes[self.order]

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Stop finding the other witnesses by code. They may still be found by string, and are removed later."""
        self.order = self.order[kept[self.witnesses[self.order]]]
        self.sorted_codes = self.codes[self.order]

    def codes_at(self, witnesses: Numbers) -> Numbers:
        if self.all_codes is not None:
            return self.all_codes[witnesses]
        codes = np.full(len(witnesses), self.default, np.int64)
        at = np.searchsorted(self.witnesses, witnesses)
        at[at == len(self.witnesses)] = 0
        if len(self.witnesses):
            named = self.witnesses[at] == witnesses
            codes[named] = self.codes[at[named]]
        return codes

    # Made when a pattern is first looked for: most attributes have none.

    @cached_property
    def text_at(self) -> dict[int, str]:
        """The strings of witnesses."""
        own = zip(self.owners, self.texts, strict=True)
        return {witness: text for witness, text in own if text is not None}

    @cached_property
    def by_gram(self) -> dict[str, set[int]]:
        """The witnesses whose string contains a gram."""
        found: dict[str, set[int]] = {}
        for witness, text in self.text_at.items():
            for gram in _grams(text):
                found.setdefault(gram, set()).add(witness)
        return found

    def claiming(self, atom: Atom) -> Numbers:
        """The witnesses for which an atom is true."""
        known = self.matched.get(atom)
        if known is None:
            said = self.claims.get((atom.operator, atom.constants), {})
            found = set(said.get("true", ()))
            if atom.is_two_valued:
                found |= said.get("not false", set())
            if atom.pattern is not None:
                found |= {w for w in self._likely(atom) if atom.pattern.matches(self.text_at[w])}
            elif atom.operator in ("like", "ilike"):
                found |= {w for w, text in self.text_at.items() if atom.truth(text)}
            known = self.matched[atom] = np.array(sorted(found), np.int64)
        return known

    def denying(self, atom: Atom) -> Numbers:
        """The witnesses for which an atom that may be unknown is false."""
        return np.array(sorted(self.claims.get((atom.operator, atom.constants), {}).get("false", ())), np.int64)

    def _likely(self, atom: Atom) -> set[int] | dict[int, str]:
        """Witnesses whose string may match: those that contain the rarest gram of the longest piece."""
        pieces = atom.pattern.pieces if atom.pattern else ()
        longest = max(pieces, key=len, default="")
        if len(longest) < _GRAM:
            return self.text_at
        return min((self.by_gram.get(gram, set()) for gram in _grams(longest)), key=len)


class _Witnesses:
    """The witnesses of all rules: the table that rules are matched against."""

    def __init__(self, regions: Regions) -> None:
        self.regions = regions
        self.owners: list[int] = []
        self.owner: Numbers = np.empty(0, np.int64)
        self.alive: Numbers = np.empty(0, np.int64)
        self._costs: dict[int, int] = {}  # keyed by identity: the rules keep their formulas alive
        self.columns = {name: _Column(_default(own)) for name, own in regions.attributes.items()}

    def add(self, rule: int, branch: Branch, highest: bool) -> None:
        """Add a witness of a rule: the lowest or the highest codes of a branch."""
        witness = len(self.owners)
        self.owners.append(rule)
        for attribute, restriction in branch.restrictions.items():
            own, column = self.regions.attributes[attribute], self.columns[attribute]
            code = _edge(restriction, highest)
            if restriction.code is not None:
                code = restriction.code
            column.owners.append(witness)
            column.raw_codes.append(code)
            column.texts.append(_text(own, restriction, code))
            for extent in restriction.extents:
                if extent.atom is not None and code not in extent.sure:
                    said = column.claims.setdefault((extent.atom.operator, extent.atom.constants), defaultdict(set))
                    said[extent.claim].add(witness)

    def freeze(self) -> None:
        self.owner = np.array(self.owners, np.int64)
        is_small = len(self.owners) * len(self.columns) <= _MOST_CODES
        for column in self.columns.values():
            column.freeze(len(self.owners) if is_small else None)
        self.alive = np.arange(len(self.owners))

    def forget(self, rules: NDArray[np.bool_]) -> None:
        """Drop the witnesses of some rules."""
        self.alive = self.alive[~rules[self.owner[self.alive]]]
        self._costs.clear()
        kept = np.zeros(len(self.owner), bool)
        kept[self.alive] = True
        for column in self.columns.values():
            column.keep(kept)

    def of(self, rule: int) -> Numbers:
        """The witnesses of a rule, including dropped ones."""
        low, high = np.searchsorted(self.owner, [rule, rule + 1])
        return np.arange(low, high)

    def refutes(self, condition: Formula, rule: int) -> bool:
        """Whether codes alone tell that a formula is not true for the first witness of a rule: without arrays."""
        at = int(np.searchsorted(self.owner, rule))
        return at < len(self.owner) and self.owner[at] == rule and not self._may_hold(condition, at)

    def _may_hold(self, condition: Formula, witness: int) -> bool:
        if isinstance(condition, Extent):
            codes = self.columns[condition.attribute].all_codes
            return codes is None or int(codes[witness]) in condition.possible
        found = (self._may_hold(child, witness) for child in condition.children)
        return any(found) if condition.operator == "or" else all(found)

    # Matching

    def matching(self, condition: Formula, among: Numbers | None = None) -> Numbers:
        """The witnesses for which a formula is true, ascending. Searches only `among`, if given."""
        if isinstance(condition, Extent):
            return self._matching_leaf(condition, among)
        if condition.operator == "or":
            parts = [self.matching(child, among) for child in condition.children]
            return distinct(np.concatenate(parts)) if parts else np.empty(0, np.int64)
        for child in sorted(condition.children, key=self._cost):
            among = self.matching(child, among)
            if not len(among):
                break
        return self.alive if among is None else among

    def _cost(self, condition: Formula) -> int:
        """An upper bound on the number of witnesses for which a formula is true."""
        known = self._costs.get(id(condition))
        if known is None:
            known = self._costs[id(condition)] = self._counted(condition)
        return known

    def _counted(self, condition: Formula) -> int:
        if isinstance(condition, Extent):
            column = self.columns[condition.attribute]
            if column.default in condition.possible:
                return len(self.alive)
            if condition.atom is not None and condition.claim == "true" and not condition.sure:
                return len(column.claiming(condition.atom))
            return sum(high - low for low, high in self._spans(column, condition.possible))
        costs = [self._cost(child) for child in condition.children]
        return sum(costs) if condition.operator == "or" else min(costs, default=len(self.alive))

    def _matching_leaf(self, extent: Extent, among: Numbers | None) -> Numbers:
        column = self.columns[extent.attribute]
        if among is None:
            if column.default in extent.possible:
                among = self.alive
            elif extent.atom is not None and extent.claim == "true" and not extent.sure:
                among = column.claiming(extent.atom)
            else:
                parts = [column.order[low:high] for low, high in self._spans(column, extent.possible)]
                among = np.sort(column.witnesses[np.concatenate(parts)]) if parts else np.empty(0, np.int64)
                if extent.sure == extent.possible:
                    return among
        codes = column.codes_at(among)
        true = _within(codes, extent.sure)
        if extent.atom is not None and extent.sure != extent.possible:
            true |= _within(codes, extent.possible) & _atom_holds(column, extent, extent.atom, among)
        return among[true]

    def _spans(self, column: _Column, codes: Codes) -> list[tuple[int, int]]:
        return [
            (
                int(np.searchsorted(column.sorted_codes, low, "left")),
                int(np.searchsorted(column.sorted_codes, high, "right")),
            )
            for low, high in codes.intervals
        ]


def _atom_holds(column: _Column, extent: Extent, atom: Atom, among: Numbers) -> NDArray[np.bool_]:
    is_true = np.isin(among, column.claiming(atom))
    if extent.claim == "true":
        return is_true
    if extent.claim == "false":
        return ~is_true if atom.is_two_valued else np.isin(among, column.denying(atom))
    return ~is_true if extent.claim == "not true" else ~np.isin(among, column.denying(atom))


def _within(codes: Numbers, wanted: Codes) -> NDArray[np.bool_]:
    if len(wanted.intervals) > 8:
        starts = np.array([start for start, _ in wanted.intervals])
        ends = np.array([end for _, end in wanted.intervals])
        at = np.searchsorted(starts, codes, "right") - 1
        inside: NDArray[np.bool_] = (at >= 0) & (codes <= ends[at])
        return inside
    found = np.zeros(len(codes), bool)
    for start, end in wanted.intervals:
        found |= codes == start if start == end else (codes >= start) & (codes <= end)
    return found


def _default(own: AttributeRegions) -> int:
    """The code of an attribute that a rule does not name: one that makes as few predicates true as possible."""
    for code in (ERROR, NULL):
        if code in own.universe:
            return code
    return own.universe.intervals[0][0] if own.universe else NULL


def _edge(restriction: Restriction, highest: bool) -> int:
    return restriction.codes.intervals[-1][1] if highest else restriction.codes.intervals[0][0]


def _text(own: AttributeRegions, restriction: Restriction, code: int) -> str | None:
    """A string with exactly the pieces that the predicates of a branch require."""
    point: Any = own.point(code)
    if isinstance(point, str):
        return point
    asked = [own.atom.pattern for own in restriction.extents if own.claim == "true" and own.atom is not None]
    patterns = [pattern for pattern in asked if pattern is not None]
    if not patterns:
        return None
    first = max((p.pieces[0] for p in patterns if p.from_start), key=len, default="")
    last = max((p.pieces[-1] for p in patterns if p.to_end), key=len, default="")
    middle = [piece for p in patterns for piece in p.pieces[p.from_start : len(p.pieces) - p.to_end]]
    return _GAP.join([first, *middle, last])


def _grams(text: str) -> set[str]:
    return {text[at : at + _GRAM] for at in range(len(text) - _GRAM + 1)}


def _size(condition: Formula, at_most: int) -> int:
    """The number of parts visited in a walk through the formula."""
    count, stack = 0, [condition]
    while stack and count < at_most:
        part = stack.pop()
        count += 1
        if not isinstance(part, Extent):
            stack.extend(part.children)
    return count
