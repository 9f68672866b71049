"""A small condition that every rule implies, made of predicates that data sources understand.

Contract: F is true for every row for which some rule is true. The plugin finds such filters by codes of a table's
columns (`scan/`), and tests/spark/test_filters_of_both.py holds both to it. F is a disjunction, at most `disjuncts`
long, of

- ranges of columns and struct fields, the constants of one attribute united: `price < 20`, `city IN ('Oslo', 'Rome')`;
- single predicates that codes do not decide, as they are: `ts > TIMESTAMP '2024-01-01 12:00:00'`.

An AND implies F if one child does, an OR if all children do. So each rule becomes a list of *clauses*, sets of
predicates, and F is right if it covers a predicate of every clause:

    a AND (b OR c)      {a, b} {a, c}
    a OR b              {a} {b}

A predicate is covered by any that is wider: `price < 20` stands for `price < 7.4`. Functions, and what a source would
have to cast, are not offered. A clause without predicates makes F TRUE, and its rule is to blame.

The choice is greedy: the predicate with the smallest share of rows per clause that it newly covers. Then what has
become superfluous is dropped. If one attribute is in all clauses, its predicates alone are compared with that.
Long lists of values are closed into ranges at the gap that lets in the fewest rows.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkrules.index.csr import Csr, Ints
from sparkrules.index.forest import AND, PREDICATE, Forest
from sparkrules.logic.attribute_type import Types
from sparkrules.logic.codes import ERROR, NULL, Codes
from sparkrules.logic.columns import top_column
from sparkrules.logic.range_sql import ChosenRanges, disjunction
from sparkrules.logic.regions import AttributeRegions, Extent, Regions
from sparkrules.sql.tree import Predicate

Numbers = NDArray[np.int64]
Share = Callable[[int], float]

# The plugin's filters have the same bounds: ScanBounds.scala says why. Other systems may need smaller ones.
MOST_DISJUNCTS = 32
MOST_VALUES = 1_000  # in a list

_OFFERED = ("=", "<>", "<", "<=", ">", ">=", "<=>", "in", "is null", "is not null", "is true", "is false")
_PREFIXES = ("startswith", "like")
_TYPED = re.compile(r"(?:DATE|TIMESTAMP|TIMESTAMP_NTZ|TIMESTAMP_LTZ)\s*'[^'\\]*'", re.IGNORECASE)
_MOST_CLAUSES = 16  # of a rule: beyond, parts of it are not looked into
_MOST_WIDE = 64  # of an attribute: ranges that may stand for others
_MANY = 2_000  # of an attribute: beyond, a single value stands only for itself


@dataclass(frozen=True)
class ImpliedFilter:
    """See the module. `sql` is Spark SQL; `share` the estimated share of rows for which it is true.

    `blamed` are the numbers of the rules that offer nothing. If there are any, `sql` is TRUE.
    """

    disjuncts: tuple[str, ...]
    share: float
    blamed: tuple[int, ...] = ()

    @property
    def sql(self) -> str:
        """The condition as one text."""
        if self.blamed:
            return "TRUE"
        return " OR ".join(self.disjuncts) or "FALSE"


def implied_filter(
    forest: Forest,
    rules: Sequence[int],
    share: Share,
    types: Types | pa.Schema | None = None,
    *,
    disjuncts: int = MOST_DISJUNCTS,
    values: int = MOST_VALUES,
) -> ImpliedFilter:
    """The filter of some rules of a forest. `share` is the estimated share of rows of a predicate, by its number.

    >>> from sparkrules.index import Rule, build_segment
    >>> from sparkrules.sql import parse_rule
    >>> texts = "price < 7.4 AND used", "price < 20 AND lower(name) = 'x'", "city = 'Rome' OR city = 'Oslo' AND new"
    >>> forest = build_segment(Rule(text, text, parse_rule(text)) for text in texts).forest
    >>> implied_filter(forest, [0, 1, 2], lambda _: 0.1).sql
    "city IN ('Oslo', 'Rome') OR price < 20"
    """
    predicates = list(forest.all_predicates())
    regions = Regions(predicates, types)
    offers = _Offers(predicates, regions, share)
    clauses, blamed = _clauses(forest, rules, offers)
    if blamed:
        return ImpliedFilter((), 1.0, tuple(blamed))
    chosen = _Cover(offers, clauses).smallest()
    found = disjunction(_by_attribute(offers, chosen), disjuncts, values)
    if found is None:
        return ImpliedFilter(("TRUE",), 1.0)
    parts, is_closed = found
    return ImpliedFilter(tuple(parts), 1.0 if is_closed else _joint_share(offers, chosen))


def _by_attribute(offers: _Offers, chosen: Iterable[int]) -> Iterator[ChosenRanges]:
    """What was chosen of each attribute, by name."""
    grouped: dict[str, list[int]] = {}
    for number in chosen:
        grouped.setdefault(offers.attribute(number), []).append(number)
    for attribute in sorted(grouped):
        own = offers.regions.attributes[attribute]
        loose = [offers.predicates[number] for number in grouped[attribute] if offers.is_loose(number)]
        united = [number for number in grouped[attribute] if not offers.is_loose(number)]
        codes = Codes.of(*(interval for number in united for interval in offers.codes(number).intervals))
        exact = offers.predicates[united[0]] if len(united) == 1 and offers.is_exact(united[0]) else None
        yield ChosenRanges(own, codes, tuple(loose), exact)


class _Offers:
    """The predicates of a forest as what may be part of a filter."""

    def __init__(self, predicates: Sequence[Predicate], regions: Regions, share: Share) -> None:
        self.predicates = predicates
        self.regions = regions
        self.extents: dict[int, Extent] = {}
        self.is_never: set[int] = set()
        self.share = share
        for number, predicate in enumerate(predicates):
            extent = regions.extent(predicate)
            if not extent.possible:
                self.is_never.add(number)
            elif _is_offered(predicate, extent, regions.attributes[predicate.attribute]):
                self.extents[number] = extent

    def is_loose(self, number: int) -> bool:
        """Whether codes do not decide it, so that it can only stand for itself."""
        return self.extents[number].atom is not None and self.predicates[number].operator not in _PREFIXES

    def is_exact(self, number: int) -> bool:
        """Whether it is true wherever its codes are."""
        return self.extents[number].sure == self.extents[number].possible

    def attribute(self, number: int) -> str:
        return self.predicates[number].attribute

    def covers(self, wide: int, narrow: int) -> bool:
        """Whether a filter with the one need not have the other."""
        if wide == narrow:
            return True
        a, b = self.extents[wide], self.extents[narrow]
        return a.attribute == b.attribute and not self.is_loose(wide) and b.possible <= self.codes(wide)

    def codes(self, number: int) -> Codes:
        """Where a predicate that is not loose may be true."""
        return self.extents[number].possible


def _is_offered(predicate: Predicate, extent: Extent, own: AttributeRegions) -> bool:
    if top_column(predicate.attribute) is None:
        return False
    if predicate.operator in _PREFIXES:
        # `LIKE 'ab%z'` is true only within the strings from 'ab' to 'ac'.
        return own.type.column is not None and extent.possible != own.universe - Codes.of((ERROR, NULL))
    if predicate.operator not in _OFFERED:
        return extent.atom is None  # codes say all
    if any(constant.kind == "sql" and not _TYPED.fullmatch(constant.text) for constant in predicate.constants):
        return False
    # A comparison of a declared column that codes do not decide needs a cast, which may fail.
    return extent.atom is None or own.type.column is None


def _clauses(forest: Forest, rules: Sequence[int], offers: _Offers) -> tuple[Counter[frozenset[int]], list[int]]:
    """The clauses of all rules, and the rules with an empty one."""
    known: list[list[frozenset[int]]] = []
    found: Counter[frozenset[int]] = Counter()
    blamed = []
    numbers, children = forest.nodes.predicate.tolist(), forest.nodes.children.to_lists()
    for node, operator in enumerate(forest.nodes.operator.tolist()):  # children come before parents
        if operator == PREDICATE:
            known.append(_of_predicate(numbers[node], offers))
        else:
            below = [known[child] for child in children[node]]
            known.append(_of_all(below) if operator == AND else _of_any(below))
    for rule in rules:
        own = known[forest.roots[rule]]
        found.update(own)
        if frozenset() in own:
            blamed.append(rule)
    return found, blamed


def _of_predicate(number: int, offers: _Offers) -> list[frozenset[int]]:
    if number in offers.is_never:
        return []
    return [frozenset([number] if number in offers.extents else ())]


def _of_any(parts: list[list[frozenset[int]]]) -> list[frozenset[int]]:
    """All parts must imply the filter."""
    return list(dict.fromkeys(clause for part in parts for clause in part))


def _of_all(parts: list[list[frozenset[int]]]) -> list[frozenset[int]]:
    """One part must imply it. Parts with many clauses are left out if there would be too many combinations."""
    joined: list[frozenset[int]] = [frozenset()]
    for part in sorted(parts, key=len):
        if frozenset() in part:
            continue  # offers nothing
        if len(joined) * len(part) > _MOST_CLAUSES and joined != [frozenset()]:
            break
        joined = list(dict.fromkeys(a | b for a, b in product(joined, part)))
    return joined


class _Cover:
    """The choice of predicates that cover all clauses."""

    def __init__(self, offers: _Offers, clauses: Mapping[frozenset[int], int]) -> None:
        self.offers = offers
        self.weight = np.fromiter(clauses.values(), np.int64, len(clauses))
        self.rows = Csr.from_lengths([*map(len, clauses)], [number for clause in clauses for number in clause])
        self.users = self.rows.transposed(len(offers.predicates))
        self.named = np.flatnonzero(self.users.lengths).tolist()
        self.by_attribute: dict[str, list[int]] = {}
        for number in self.named:
            self.by_attribute.setdefault(offers.attribute(number), []).append(number)
        self._clauses: dict[int, Ints] = {}
        self._known_ends: dict[str, tuple[Numbers, Numbers, Numbers]] = {}

    def smallest(self) -> list[int]:
        """The better of the greedy choice and of each attribute that alone suffices."""
        if not len(self.weight):
            return []
        choices = [self._without_superfluous(self._greedy())]
        choices += [own for own in self.by_attribute.values() if self._covered(own).all()]
        return min(choices, key=self._total)

    def _total(self, chosen: list[int]) -> tuple[float, int]:
        return _joint_share(self.offers, chosen), len(chosen)

    def _greedy(self) -> list[int]:
        """Take the predicate with the least share per clause. What the queue says may be outdated: it is recomputed."""
        is_open = np.ones(len(self.weight), bool)
        queue = []
        for number in self._candidates():
            gain = int(self.weight[self._clauses_of(number)].sum())
            queue.append((self._cost(number) / gain, self._rarity(number), number, gain))
        heapq.heapify(queue)
        chosen = []
        while queue and is_open.any():
            *_, number, before = heapq.heappop(queue)
            own = self._clauses_of(number)
            gain = int(self.weight[own[is_open[own]]].sum())
            if not gain:
                continue
            if gain < before:
                heapq.heappush(queue, (self._cost(number) / gain, self._rarity(number), number, gain))
                continue
            chosen.append(number)
            is_open[own] = False
        return chosen + self._one_each(is_open)

    def _one_each(self, is_open: NDArray[np.bool_]) -> list[int]:
        """For clauses that no candidate covers, as many ranges lie apart: the cheapest predicate of each."""
        clauses = self.rows.take(np.flatnonzero(is_open)).to_lists()
        chosen = list(dict.fromkeys(min(clause, key=self._cost) for clause in clauses))
        for number in chosen:
            self._clauses[number] = self.users.take(np.array([number], np.int64)).values
        return chosen

    def _rarity(self, number: int) -> int:
        """Of equals, that on the attribute of the most predicates is taken: they may be united."""
        return -len(self.by_attribute[self.offers.attribute(number)])

    def _cost(self, number: int) -> float:
        return max(self.offers.share(number), 1e-9)

    def _without_superfluous(self, chosen: list[int]) -> list[int]:
        """Drop what the others cover, the widest first."""
        count = np.zeros(len(self.weight), np.int64)
        for number in chosen:
            count[self._clauses_of(number)] += 1
        kept = list(chosen)
        for number in sorted(chosen, key=self._cost, reverse=True):
            own = self._clauses_of(number)
            if (count[own] > 1).all():
                count[own] -= 1
                kept.remove(number)
        return kept

    def _covered(self, chosen: Iterable[int]) -> NDArray[np.bool_]:
        covered = np.zeros(len(self.weight), bool)
        covered[self.users.take(np.array(list(chosen), np.int64)).values] = True
        return covered

    def _candidates(self) -> Iterator[int]:
        """All predicates; of many ranges of an attribute only some, from the narrowest to the widest."""
        for numbers in self.by_attribute.values():
            wide = [number for number in numbers if not all(map(_is_point, self.offers.codes(number).intervals))]
            if len(wide) <= _MOST_WIDE:
                yield from numbers
                continue
            wide.sort(key=self._cost)
            yield from set(numbers) - set(wide)
            yield from (wide[at] for at in np.linspace(0, len(wide) - 1, _MOST_WIDE).astype(int).tolist())

    def _clauses_of(self, wide: int) -> Ints:
        """The clauses that a predicate covers."""
        known = self._clauses.get(wide)
        if known is None:
            covered = self.users.take(np.array(self._narrower(wide), np.int64)).values
            known = self._clauses[wide] = np.unique(covered)
        return known

    def _narrower(self, wide: int) -> list[int]:
        """The predicates that it stands for. Those with gaps are compared by their ends, which may miss some."""
        if self.offers.is_loose(wide):
            return [wide]
        others, first, last = self._ends(self.offers.attribute(wide))
        intervals = self.offers.codes(wide).intervals
        if len(others) > _MANY and all(map(_is_point, intervals)):
            return [wide]
        starts, ends = np.array(intervals, np.int64).T
        at = np.searchsorted(starts, first, "right") - 1
        inside = (at >= 0) & (last <= ends[np.maximum(at, 0)])
        found = others[inside].tolist()
        return found if wide in found else [*found, wide]

    def _ends(self, attribute: str) -> tuple[Numbers, Numbers, Numbers]:
        known = self._known_ends.get(attribute)
        if known is None:
            numbers = self.by_attribute[attribute]
            ends = [(codes.intervals[0][0], codes.intervals[-1][1]) for codes in map(self.offers.codes, numbers)]
            first, last = np.array(ends, np.int64).T
            known = self._known_ends[attribute] = np.array(numbers, np.int64), first, last
        return known


def _joint_share(offers: _Offers, chosen: Iterable[int]) -> float:
    """The share of rows for which one of them is true, if attributes are independent of each other."""
    by_attribute: dict[str, list[int]] = {}
    for number in chosen:
        by_attribute.setdefault(offers.attribute(number), []).append(number)
    none = 1.0
    for own in by_attribute.values():
        widest: list[int] = []
        total = 0.0
        for number in sorted(own, key=offers.share, reverse=True):
            if not any(offers.covers(wide, number) for wide in widest):
                total += offers.share(number)
                is_range = len(offers.codes(number).intervals) != 1 or not _is_point(offers.codes(number).intervals[0])
                if is_range and len(widest) < _MOST_WIDE:
                    widest.append(number)
        none *= 1.0 - min(total, 1.0)
    return 1.0 - none


def _is_point(interval: tuple[int, int]) -> bool:
    return interval[0] == interval[1]
