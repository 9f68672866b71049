"""The profile tree of Hinze and Bittner, "Efficient Distribution-Based Event Filtering" (2002): a specification.

Contract: a level of the tree is an attribute, an edge a range of its values; an event follows one path, or is rejected
where no edge fits. The answer is the same for every order of values and attributes; what differs is the number of
comparisons, the paper's measure. Users reach the measures as `sparkrules.local.distribution`; the plugin has no
profile tree.

An attribute's domain is a list of elementary values with their probabilities P_e. A profile names values of some
attributes. In a node, neighbours that lead to the same profiles are one edge. If profiles do not care about the
attribute, there is a last edge (*) for all other values.

| order of the edges | by |
|---|---|
| natural | value, ascending |
| V1, V2, V3 | P_e, P_p, P_e * P_p, descending |
| binary | a balanced search tree over the natural order |

| search | comparisons |
|---|---|
| linear, found | the edge's place |
| linear, rejected | up to the first edge that comes after the value in the order (4.2, "early stop"), at most all |
| binary, found | the depth of the edge |
| binary, not among the ranges | the height |

(*) has the place that its probability gives it under V1, as in example 4 of the paper, and is last under the others.

>>> temperature = Attribute([0.02, 0.17, 0.01, 0.80])
>>> profiles = [{0: {3}}, {0: {2, 3}}, {0: {0}}]
>>> tree = ProfileTree([temperature], profiles, values="V1")
>>> tree.count([3]), tree.count([1])
(Count(comparisons=1, matched=(0, 1)), Count(comparisons=2, matched=()))
>>> round(sum(tree.expected().response), 2)
1.21
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from typing import Literal, NamedTuple

ValueOrder = Literal["natural", "V1", "V2", "V3", "binary"]
VALUE_ORDERS: tuple[ValueOrder, ...] = ("natural", "V1", "V2", "V3", "binary")
Profile = Mapping[int, Collection[int]]
"""The values that a profile names, by attribute. It does not care about the others."""


@dataclass(frozen=True)
class Attribute:
    """P_e of each elementary value, and its size in any unit (1 if none are given)."""

    events: Sequence[float]
    sizes: Sequence[float] | None = None

    def size(self, value: int) -> float:
        return 1.0 if self.sizes is None else self.sizes[value]


# Example 1 over its elementary ranges: temperature -30..-20..30..35..50, humidity 0..5..80..90..100 and radiation
# 0..35..40..50..100, with the probabilities of examples 2 and 3.
TEMPERATURE = Attribute([0.02, 0.17, 0.01, 0.80], [10, 50, 5, 15])
HUMIDITY = Attribute([0.05, 0.60, 0.25, 0.10], [5, 75, 10, 10])
RADIATION = Attribute([0.90, 0.05, 0.02, 0.03], [35, 5, 10, 50])
ATTRIBUTES = [TEMPERATURE, HUMIDITY, RADIATION]
PROFILES: list[Profile] = [
    {0: {3}, 1: {3}},
    {0: {2, 3}, 1: {3}},
    {0: {2, 3}, 1: {3}, 2: {1, 2}},
    {0: {0}, 1: {0}, 2: {2, 3}},
    {0: {2, 3}, 1: {2, 3}},
]


class Count(NamedTuple):
    """What one event costs, and which profiles it matches."""

    comparisons: int
    matched: tuple[int, ...]


@dataclass
class Expected:
    """By level: E(X), the comparisons for values that are found; and R0, those for values that are rejected."""

    found: list[float]
    rejected: list[float]

    @property
    def response(self) -> list[float]:
        """R = E(X) + R0 (equation 2)."""
        return [own + other for own, other in zip(self.found, self.rejected, strict=True)]


@dataclass
class _Edge:
    values: frozenset[int]
    child: _Node
    key: float
    """Edges are tried by ascending key."""
    place: int = 0


@dataclass
class _Node:
    level: int
    matched: tuple[int, ...]
    edges: list[_Edge] = field(default_factory=list)
    edge_of: dict[int, _Edge] = field(default_factory=dict)
    cost_of_rejection: dict[int, int] = field(default_factory=dict)
    """By value, for those that no edge fits."""


class ProfileTree:
    """The tree of some profiles, for one order of attributes and one of values."""

    def __init__(
        self,
        attributes: Sequence[Attribute],
        profiles: Sequence[Profile],
        values: ValueOrder = "natural",
        order: Sequence[int] | None = None,
    ) -> None:
        self.attributes, self.profiles, self.values = attributes, profiles, values
        self.order = tuple(order if order is not None else range(len(attributes)))
        self._root = self._node(0, tuple(range(len(profiles))))

    def count(self, event: Sequence[int]) -> Count:
        """Follow the path of an event, given the number of its elementary value for each attribute."""
        node, comparisons = self._root, 0
        while node.level < len(self.order):
            value = event[self.order[node.level]]
            edge = node.edge_of.get(value)
            if edge is None:
                return Count(comparisons + node.cost_of_rejection[value], ())
            comparisons += edge.place
            node = edge.child
        return Count(comparisons, node.matched)

    def expected(self) -> Expected:
        """E(X) and R0 of each level for independent attributes."""
        found = Expected([0.0] * len(self.order), [0.0] * len(self.order))

        def add(node: _Node, reached: float) -> None:
            if node.level == len(self.order):
                return
            events = self.attributes[self.order[node.level]].events
            for value, cost in node.cost_of_rejection.items():
                found.rejected[node.level] += reached * events[value] * cost
            for edge in node.edges:
                share = reached * sum(events[value] for value in edge.values)
                found.found[node.level] += share * edge.place
                add(edge.child, share)

        add(self._root, 1.0)
        return found

    def rejected_by_level(self) -> list[float]:
        """The expected share of events that are rejected at each level."""
        rejected = [0.0] * len(self.order)

        def add(node: _Node, reached: float) -> None:
            if node.level < len(self.order):
                events = self.attributes[self.order[node.level]].events
                rejected[node.level] += reached * sum(events[value] for value in node.cost_of_rejection)
                for edge in node.edges:
                    add(edge.child, reached * sum(events[value] for value in edge.values))

        add(self._root, 1.0)
        return rejected

    @cached_property
    def _popularity(self) -> list[list[int]]:
        """By attribute and value: how many profiles name it, which is P_p but for a factor."""
        named = [[0] * len(attribute.events) for attribute in self.attributes]
        for profile in self.profiles:
            for attribute, values in profile.items():
                for value in values:
                    named[attribute][value] += 1
        return named

    def _measure(self, attribute: int, value: int) -> float:
        """V1, V2 or V3 of a value."""
        events, profiles = self.attributes[attribute].events[value], self._popularity[attribute][value]
        return {"V1": events, "V2": float(profiles), "V3": events * profiles}[self.values]

    def _node(self, level: int, profiles: tuple[int, ...]) -> _Node:
        if level == len(self.order):
            return _Node(level, profiles)
        node = _Node(level, ())
        attribute = self.order[level]
        domain = range(len(self.attributes[attribute].events))
        carefree = {own for own in profiles if attribute not in self.profiles[own]}
        wanting: dict[int, list[int]] = {}
        for own in profiles:
            for value in self.profiles[own].get(attribute, ()):
                wanting.setdefault(value, []).append(own)
        last: tuple[int, ...] | None = None
        ranges: list[tuple[list[int], tuple[int, ...]]] = []
        for value in domain:
            left = tuple(sorted(carefree.union(wanting[value]))) if value in wanting else None
            if left is not None and left == last:
                ranges[-1][0].append(value)
            elif left is not None:
                ranges.append(([value], left))
            last = left
        for values, left in ranges:
            node.edges.append(_Edge(frozenset(values), self._node(level + 1, left), self._key(attribute, values)))
        others = [value for value in domain if value not in wanting]
        rest = None
        if carefree and others:
            key = self._key(attribute, others) if self.values == "V1" else math.inf
            rest = _Edge(frozenset(others), self._node(level + 1, tuple(sorted(carefree))), key)
        self._give_places(node, rest)
        node.edge_of = {value: edge for edge in node.edges for value in edge.values}
        if rest is None:
            keys = [edge.key for edge in node.edges]
            for value in others:
                node.cost_of_rejection[value] = self._rejection(keys, self._key(attribute, [value]))
        return node

    def _key(self, attribute: int, values: Sequence[int]) -> float:
        if self.values in ("natural", "binary"):
            return values[0]
        return -sum(self._measure(attribute, value) for value in values)

    def _give_places(self, node: _Node, rest: _Edge | None) -> None:
        if self.values == "binary":
            for edge, depth in zip(node.edges, _depths(len(node.edges)), strict=True):
                edge.place = depth
            if rest is not None:
                rest.place = max(1, _height(len(node.edges)))
                node.edges.append(rest)
            return
        if rest is not None:
            node.edges.append(rest)
        node.edges.sort(key=lambda edge: edge.key)
        for place, edge in enumerate(node.edges, start=1):
            edge.place = place

    def _rejection(self, keys: Sequence[float], key: float) -> int:
        if self.values == "binary":
            return _height(len(keys))
        return min(1 + bisect_left(keys, key), len(keys))


def _height(count: int) -> int:
    return math.ceil(math.log2(count + 1))


def _depths(count: int) -> list[int]:
    """The depth of each of some sorted entries in a balanced search tree.

    >>> _depths(3), _depths(6)
    ([2, 1, 2], [3, 2, 3, 1, 3, 2])
    """
    if count == 0:
        return []
    middle = count // 2
    return [own + 1 for own in _depths(middle)] + [1] + [own + 1 for own in _depths(count - middle - 1)]


def zero_subdomain(attribute: int, attributes: Sequence[Attribute], profiles: Sequence[Profile]) -> set[int]:
    """D0: the values that no profile names. It is empty if a profile does not care about the attribute."""
    if any(attribute not in profile for profile in profiles):
        return set()
    named = {value for profile in profiles for value in profile[attribute]}
    return set(range(len(attributes[attribute].events))) - named


def a1(attribute: int, attributes: Sequence[Attribute], profiles: Sequence[Profile]) -> float:
    """Measure A1: d0 / d."""
    own = attributes[attribute]
    whole = sum(own.size(value) for value in range(len(own.events)))
    return sum(own.size(value) for value in zero_subdomain(attribute, attributes, profiles)) / whole


def a2(attribute: int, attributes: Sequence[Attribute], profiles: Sequence[Profile]) -> float:
    """Measure A2: d0 * P_e(D0) / d."""
    empty = zero_subdomain(attribute, attributes, profiles)
    return a1(attribute, attributes, profiles) * sum(attributes[attribute].events[value] for value in empty)


def a3_order(attributes: Sequence[Attribute], profiles: Sequence[Profile]) -> tuple[int, ...]:
    """Measure A3: of all orders of the attributes, the one whose zero-subdomains reject events earliest.

    The paper asks for the largest sum of the zero-subdomains, given what lies above them, and has no formula. With
    independent attributes the events that are rejected are the same for every order, so we sum, over the levels, the
    share of events that have been rejected by then. It builds n! trees: n is at most 7.
    """
    if len(attributes) > 7:
        raise ValueError(f"measure A3 tries all orders of the attributes, and {len(attributes)} are more than 7")

    def earliness(order: tuple[int, ...]) -> float:
        rejected = ProfileTree(attributes, profiles, order=order).rejected_by_level()
        return sum(share * (len(order) - level) for level, share in enumerate(rejected))

    return max(permutations(range(len(attributes))), key=lambda order: (round(earliness(order), 12), order))


def early_stop(table: Sequence[str], node: Sequence[str], wanted: str) -> tuple[bool, int]:
    """Example 5: a linear search in a node whose values are in the order of a table, and the comparisons it takes.

    >>> early_stop("fcabed", "fcbed", "a")
    (False, 3)
    """
    position = {value: place for place, value in enumerate(table)}
    for comparisons, value in enumerate(node, start=1):
        if value == wanted:
            return True, comparisons
        if position[value] > position[wanted]:
            return False, comparisons
    return False, len(node)
