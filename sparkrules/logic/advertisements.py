"""Boolean advertisements (Bittner and Hinze 2006, section 4): which registered expressions overlap a given one.

An *advertisement* describes the rows that a source will send; a *subscription* describes the rows that somebody wants.
Both are Boolean expressions, and overlap is symmetric. So one index serves both directions: register the advertisements
and query with a subscription, or register the subscriptions and query with an advertisement.

Contract: every overlapping expression is found. Others may be found too, because predicates are checked one by one;
`exact=True` decides those with `exact_overlap` and keeps only expressions that may overlap.

The algorithm, in the paper's terms, for registered S and a given A:

- *Violating predicates* P_vio(n) of a predicate n of A: the predicates of registered expressions on the same attribute
  that no value fulfils together with n. This follows the definition in 4.2: the sets of codes are disjoint. (Table 1
  departs from it: EQUALS o violates `> o` as well as `> o + 1`, and NOTEQUALS violates no NOTEQUALS at all.)
- Inner nodes have a *set of sets* P'_vio(n). OR has the sets of its children; AND has every union of one set from each
  child. A set that contains another is redundant and is dropped. If more than `max_sets` would arise, sets are replaced
  by their intersection. That means fewer violations, so nothing is missed (`is_bounded`). A predicate that is never
  true has no set.
- *Candidates* for each set: |P(S)| >= |P_vio(S)| + |P_min(S)|, where P_min(S) is the least number of predicates that
  make S true. Each predicate counts once in S; where branches of an AND share some, P_min takes the larger branch.
- The trees of the candidates are then *evaluated* with violating predicates false and all others true. Without any
  violating predicate there is nothing to evaluate.

Scenario *First*: does any overlap? `first` stops at one. Scenario *All*: `all`.

>>> from sparkrules.index.builder import build_segment
>>> from sparkrules.index.rule import Rule
>>> from sparkrules.sql import parse_rule
>>> texts = {"cheap": "price < 10", "dear new": "price > 50 AND state = 'new'", "used": "state = 'used'"}
>>> index = OverlapIndex(build_segment(Rule(id, text, parse_rule(text)) for id, text in texts.items()))
>>> index.all(parse_rule("state = 'used' AND price > 20 OR price > 90"))
['dear new', 'used']
>>> index.first(parse_rule("price = 10 AND state IS NULL")) is None
True
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkrules.index.csr import Csr, Ints
from sparkrules.index.distinct import distinct
from sparkrules.index.forest import AND, PREDICATE, rules_using
from sparkrules.index.segment import Segment
from sparkrules.logic.atom import conflict, folded
from sparkrules.logic.attribute_type import Types
from sparkrules.logic.codes import ERROR, constant_code
from sparkrules.logic.exact_overlap import overlap
from sparkrules.logic.regions import AttributeRegions, Extent, Regions
from sparkrules.logic.satisfiable import wanted
from sparkrules.sql.tree import Node, Predicate

Mask = NDArray[np.bool_]
MAX_SETS = 64
_FIRST_CHUNK = 256
_FEW_INTERVALS = 8
_GIVEN = ("=", "<=>", "in")


@dataclass(frozen=True)
class ViolatingSets:
    """P'_vio of a tree: sets of registered predicates, each as a mask. `is_bounded`: some sets were merged."""

    sets: tuple[Mask, ...]
    is_bounded: bool = False


@dataclass(frozen=True, eq=False)
class _OneAttribute:
    """The registered predicates of an attribute: their intervals of codes, one row each, and their atoms."""

    numbers: Ints  # the predicate of each interval
    low: Ints
    high: Ints
    everyone: Ints  # all predicates of the attribute
    by_atom: dict[tuple[object, ...], list[tuple[int, Extent]]]


class OverlapIndex:
    """The registered expressions of a segment. See the module."""

    def __init__(self, segment: Segment, types: Types | pa.Schema | None = None, max_sets: int = MAX_SETS) -> None:
        self.segment = segment
        self.types = types
        self.max_sets = max_sets
        self.regions = Regions(segment.forest.all_predicates(), types)
        self._attributes, self._never = _by_attribute(segment, self.regions)

    # Queries

    def all(self, tree: Node, *, exact: bool = False) -> list[str]:
        """Scenario All: the ids of every registered expression that may overlap, in output order."""
        numbers = self.numbers(tree)
        if exact and len(numbers):
            numbers = numbers[[self._overlaps(number, tree) for number in numbers.tolist()]]
        ids: list[str] = self.segment.rules.id[numbers].tolist()
        return ids

    def numbers(self, tree: Node) -> Ints:
        """`all` as rule numbers in the segment."""
        found = np.zeros(len(self.segment.rules.id), bool)
        for violating in self.violating_sets(tree).sets:
            count = self.violation_count(violating)
            found |= self._unviolated(count)
            left = self._candidates(count)
            left = left[~found[left]]
            found[left[self._evaluated(left, violating)]] = True
        return self.segment.rules.output_order[found[self.segment.rules.output_order]]

    def first(self, tree: Node, *, exact: bool = False) -> str | None:
        """Scenario First: the id of one registered expression that may overlap, or None."""
        for number in self.in_turn(tree):
            if not exact or self._overlaps(number, tree):
                return str(self.segment.rules.id[number])
        return None

    def in_turn(self, tree: Node) -> Iterator[int]:
        """The numbers of the registered expressions that may overlap, as they are found. Some may come twice."""
        for violating in self.violating_sets(tree).sets:
            yield from self._overlapping(violating)

    def _overlapping(self, violating: Mask) -> Iterator[int]:
        """The registered expressions that overlap under one violating set; those without violations come first."""
        count = self.violation_count(violating)
        unviolated = self._unviolated(count)
        yield from map(int, np.flatnonzero(unviolated))
        candidates = self._candidates(count)
        candidates = candidates[~unviolated[candidates]]
        start, size = 0, _FIRST_CHUNK
        while start < len(candidates):
            chunk = candidates[start : start + size]
            yield from chunk[self._evaluated(chunk, violating)].tolist()
            start, size = start + size, 2 * size

    def _overlaps(self, number: int, tree: Node) -> bool:
        registered = self.segment.forest.tree(int(self.segment.forest.roots[number]))
        return overlap(registered, tree, self.types).overlaps

    # Violating predicates (4.2 and 4.3)

    def violating(self, predicate: Predicate) -> Mask:
        """P_vio of a predicate: the registered predicates that cannot be true together with it."""
        found = np.zeros(len(self.segment.forest.predicates.operator), bool)
        own = self._attributes.get(predicate.attribute)
        if own is None:
            return found
        extent = self.regions.extent(predicate)
        found[own.everyone] = True
        found[own.numbers[self._touched(extent, own)]] = False
        self._deny_at_points(predicate, own, found)
        if extent.atom is not None:
            for number, other in own.by_atom.get((extent.atom.operator, extent.atom.constants), ()):
                shared = extent.possible & other.possible
                undecided = shared - extent.sure - other.sure
                if undecided == shared and conflict([(extent.atom, extent.claim), (extent.atom, other.claim)]):
                    found[number] = True
        return found

    def _touched(self, extent: Extent, own: _OneAttribute) -> Mask:
        """Which registered intervals share a code with an extent."""
        regions = self.regions.attributes[extent.attribute]
        denied = _denied_points(extent, regions)
        if not denied and len(extent.possible.intervals) <= _FEW_INTERVALS:
            touched = np.zeros(len(own.low), bool)
            for start, end in extent.possible.intervals:
                touched |= (own.low <= end) & (own.high >= start)
            return touched
        allowed = np.zeros(regions.last - ERROR + 2, np.int64)  # starts one before ERROR, at an unused code
        for start, end in extent.possible.intervals:
            allowed[start - ERROR + 1 : end - ERROR + 2] = 1
        allowed[np.array(denied, np.int64) - ERROR + 1] = 0
        before = np.cumsum(allowed)
        is_any: Mask = before[own.high - ERROR + 1] > before[own.low - ERROR]
        return is_any

    def _deny_at_points(self, predicate: Predicate, own: _OneAttribute, found: Mask) -> None:
        """`title = 'X'` excludes `contains(title, 'Y')`: for a single value, a pattern can be decided."""
        constants = [folded(constant) for constant in predicate.constants if constant.kind != "null"]
        if predicate.operator not in _GIVEN or any(constant.kind != "string" for constant in constants):
            return
        values = [constant.text for constant in constants][:_FEW_INTERVALS]
        if len(values) < len(constants):
            return
        for registered in own.by_atom.values():
            for number, other in registered:
                if other.atom is not None and other.atom.is_two_valued:
                    truths = [other.atom.truth(value) for value in values]
                    found[number] |= all(truth is not None and truth is not wanted(other) for truth in truths)

    def violating_sets(self, tree: Node) -> ViolatingSets:
        """P'_vio of a tree."""
        collected = _SetOfSets(self.max_sets)
        made: dict[int, list[int]] = {}
        stack = [tree]
        while stack:
            node = stack[-1]
            if id(node) in made:
                stack.pop()
            elif isinstance(node, Predicate):
                made[id(node)] = self._leaf_sets(node)
            elif missing := [child for child in node.children if id(child) not in made]:
                stack.extend(missing)
            else:
                join = collected.conjunction if node.operator == "and" else collected.disjunction
                made[id(node)] = join([made[id(child)] for child in node.children])
        length = len(self.segment.forest.predicates.operator)
        sets = tuple(_mask(bits, length) | self._never for bits in made[id(tree)])
        return ViolatingSets(sets, collected.is_bounded)

    def _leaf_sets(self, predicate: Predicate) -> list[int]:
        if predicate.attribute not in self.regions.attributes:
            own = Regions([predicate], self.types).extent(predicate)
            return [0] if own.possible else []
        if not self.regions.extent(predicate).possible:
            return []
        return [_bits(self.violating(predicate))]

    # Candidates (4.3 and 4.4)

    @cached_property
    def associations(self) -> Csr:
        """The predicate subscription association table: for each predicate, the expressions that contain it."""
        return self.segment.forest.users.take(self.segment.forest.node_of_predicate)

    @cached_property
    def predicate_count(self) -> Ints:
        """|P(S)|: the number of distinct predicates in each registered expression."""
        counted = np.bincount(self.associations.values, minlength=len(self.segment.rules.id))
        return counted.astype(np.int32)

    @cached_property
    def minimum_count(self) -> Ints:
        """|P_min(S)|: the least number of predicates that make each registered expression true."""
        return _minimum_counts(self.segment)[self.segment.forest.roots]

    def violation_count(self, violating: Mask) -> Ints:
        """|P_vio(S)|, the hit vector: the number of violating predicates in each registered expression."""
        hit = self.associations.take(np.flatnonzero(violating)).values
        return np.bincount(hit, minlength=len(self.segment.rules.id)).astype(np.int32)

    def candidates(self, violating: Mask) -> Ints:
        """The registered expressions with enough predicates left."""
        return self._candidates(self.violation_count(violating))

    def _candidates(self, count: Ints) -> Ints:
        return np.flatnonzero(self.predicate_count >= count + self.minimum_count).astype(np.int32)

    def _unviolated(self, count: Ints) -> Mask:
        """The expressions without a violating predicate. They need no evaluation."""
        unviolated: Mask = (count == 0) & self._can_be_true
        return unviolated

    @cached_property
    def _can_be_true(self) -> Mask:
        everything = np.ones(len(self.segment.forest.predicates.operator), bool)
        return evaluate(self.segment, self.segment.forest.roots, everything)

    def _evaluated(self, subscriptions: Ints, violating: Mask) -> Mask:
        """Whether the tree of each subscription is true when the violating predicates are false."""
        return evaluate(self.segment, self.segment.forest.roots[subscriptions], ~violating)


def _denied_points(extent: Extent, regions: AttributeRegions) -> list[int]:
    """The constants of the attribute at which a pattern contradicts the extent."""
    if extent.atom is None or not extent.atom.is_two_valued or extent.sure == extent.possible:
        return []
    required, atom = wanted(extent), extent.atom
    truths = ((constant_code(at), atom.truth(value)) for at, value in enumerate(regions.constants))
    return [code for code, truth in truths if truth is not None and truth is not required and code not in extent.sure]


def evaluate(segment: Segment, roots: Ints, predicate_truth: Mask) -> Mask:
    """The truth of some nodes, given the truth of every predicate. Visits only the nodes beneath them."""
    size = len(segment.forest.nodes.operator)
    found = [_distinct(roots, size)]
    while len(found[-1]):
        found.append(_distinct(segment.forest.nodes.children.take(found[-1]).values, size))
    nodes = _distinct(np.concatenate(found), size)
    position = np.empty(size, np.int32)  # undefined for other nodes, and never read there
    position[nodes] = np.arange(len(nodes))
    operator, level = segment.forest.nodes.operator[nodes], segment.forest.nodes.level[nodes]
    truth = np.zeros(len(nodes), bool)
    is_leaf = operator == PREDICATE
    truth[is_leaf] = predicate_truth[segment.forest.nodes.predicate[nodes[is_leaf]]]
    for number in np.unique(level[~is_leaf]):
        at = np.flatnonzero((level == number) & ~is_leaf)
        below = segment.forest.nodes.children.take(nodes[at])
        true = np.bincount(below.row_numbers(), truth[position[below.values]], minlength=len(at))
        truth[at] = np.where(operator[at] == AND, true == below.lengths, true > 0)
    return truth[position[roots]]


def _distinct(numbers: NDArray[np.integer], size: int) -> NDArray[np.int64]:
    """The distinct numbers, all below `size`, ascending."""
    if 20 * len(numbers) < size:
        return distinct(numbers).astype(np.int64)
    seen = np.zeros(size, bool)
    seen[numbers] = True
    return np.flatnonzero(seen)


def _minimum_counts(segment: Segment) -> Ints:
    """The least number of distinct predicates that make each node true; a lower bound where branches share some."""
    nodes = np.arange(len(segment.forest.nodes.operator), dtype=np.int32)
    above = rules_using(segment.forest.nodes.children, segment.forest.nodes.level, nodes)
    different = np.bincount(above.take(segment.forest.node_of_predicate).values, minlength=len(nodes))
    least = np.ones(len(nodes), np.int64)
    inner = nodes[segment.forest.nodes.operator != PREDICATE]
    levels = segment.forest.nodes.level[inner]
    for level in np.unique(levels):
        at = inner[levels == level]
        below = segment.forest.nodes.children.take(at)
        rows, values = below.row_numbers(), least[below.values]
        total = np.bincount(rows, values, minlength=len(at)).astype(np.int64)
        apart = np.bincount(rows, different[below.values], minlength=len(at)) == different[at]
        largest = np.zeros(len(at), np.int64)
        np.maximum.at(largest, rows, values)
        smallest = np.full(len(at), np.iinfo(np.int32).max, np.int64)
        np.minimum.at(smallest, rows, values)
        smallest[below.lengths == 0] = 1  # an empty OR is never true: it needs more predicates than it has
        least[at] = np.where(segment.forest.nodes.operator[at] == AND, np.where(apart, total, largest), smallest)
    return least.astype(np.int32)


def _by_attribute(segment: Segment, regions: Regions) -> tuple[dict[str, _OneAttribute], Mask]:
    """The registered predicates of each attribute, and which predicates are never true."""
    intervals: dict[str, list[tuple[int, int, int]]] = {}
    everyone: dict[str, list[int]] = {}
    by_atom: dict[str, dict[tuple[object, ...], list[tuple[int, Extent]]]] = {}
    never = np.zeros(len(segment.forest.predicates.operator), bool)
    for number, predicate in enumerate(segment.forest.all_predicates()):
        extent = regions.extent(predicate)
        never[number] = not extent.possible
        everyone.setdefault(predicate.attribute, []).append(number)
        rows = intervals.setdefault(predicate.attribute, [])
        rows.extend((number, low, high) for low, high in extent.possible.intervals)
        if extent.atom is not None:
            atoms = by_atom.setdefault(predicate.attribute, {})
            atoms.setdefault((extent.atom.operator, extent.atom.constants), []).append((number, extent))
    found = {}
    for attribute, rows in intervals.items():
        columns = np.array(rows, np.int32).reshape(-1, 3).T
        numbers, low, high = columns
        listed = np.array(everyone[attribute], np.int32)
        found[attribute] = _OneAttribute(numbers, low, high, listed, by_atom.get(attribute, {}))
    return found, never


class _SetOfSets:
    """AND and OR of P'_vio. Each set is the bits of an integer; at most `limit` sets each."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.is_bounded = False

    def conjunction(self, children: list[list[int]]) -> list[int]:
        joined = [0]
        for child in sorted(children, key=len):
            options = child
            if len(joined) * len(options) > 4 * self.limit:
                options = [_common(options)]
                self.is_bounded = True
            joined = self._bounded(_minimal(a | b for a in joined for b in options))
        return joined

    def disjunction(self, children: list[list[int]]) -> list[int]:
        return self._bounded(_minimal(bits for child in children for bits in child))

    def _bounded(self, sets: list[int]) -> list[int]:
        if len(sets) <= self.limit:
            return sets
        self.is_bounded = True
        return _minimal([*sets[: self.limit - 1], _common(sets[self.limit - 1 :])])


def _common(sets: list[int]) -> int:
    common = sets[0]
    for bits in sets[1:]:
        common &= bits
    return common


def _minimal(sets: Iterator[int] | list[int]) -> list[int]:
    """Drop sets that contain another set: what overlaps under the larger set also overlaps under the smaller."""
    kept: list[int] = []
    for bits in sorted(dict.fromkeys(sets), key=int.bit_count):
        if not any(other & bits == other for other in kept):
            kept.append(bits)
    return kept


def _bits(mask: Mask) -> int:
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")


def _mask(bits: int, length: int) -> Mask:
    packed = np.frombuffer(bits.to_bytes((length + 7) // 8, "little"), np.uint8)
    return np.unpackbits(packed, count=length, bitorder="little").astype(bool)
