"""The overlap sets of a row: which matching subscriptions share a subexpression that is true in this row.

Contract, and the definition that the whole project uses (the kernel in Scala is tested against this function). For a
row,

- a node counts if it is true for the row; leaves are subexpressions too;
- `group(n)` = the *matched* subscriptions whose tree contains the node n;
- the overlap sets are the distinct groups with two or more members;
- inside a group, and among groups: output order, that is priority descending, then id ascending. Groups come by size
  descending, then by the places of their members in the output order, compared member by member;
- a group is explained by its largest shared subexpression: among the nodes with that group the one with the most
  predicates beneath it (each counted once), then the smallest number.

Brute force on purpose: a dictionary from node to group, built by walking every matched tree.

>>> from sparkrules.index.builder import build_segment
>>> from sparkrules.index.rule import Rule
>>> from sparkrules.sql.tree import Junction, Predicate
>>> a, b, c = (Predicate(name, "is true") for name in "abc")
>>> segment = build_segment([
...     Rule("1", "a AND b", Junction("and", (a, b))),
...     Rule("2", "a AND b OR c", Junction("or", (Junction("and", (a, b)), c))),
...     Rule("3", "b", b),
... ])
>>> true = [str(segment.forest.tree(node)) not in ("c is true",) for node in range(len(segment.forest.nodes))]
>>> for overlap in overlap_sets(segment, true, range(3)):
...     print(overlap.ids, "share", segment.forest.tree(overlap.node))
('1', '2', '3') share b is true
('1', '2') share a is true and b is true
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparkrules.index.forest import PREDICATE
from sparkrules.index.segment import Segment


@dataclass(frozen=True, slots=True)
class OverlapSet:
    """Matched subscriptions (by id, and by number) and the node of their largest shared subexpression."""

    ids: tuple[str, ...]
    subscriptions: tuple[int, ...]
    node: int


def overlap_sets(
    segment: Segment, true_nodes: Sequence[bool] | NDArray[np.bool_], matched: Iterable[int]
) -> list[OverlapSet]:
    """The overlap sets of one row, given the truth of every node and the numbers of the matched subscriptions."""
    in_order = sorted(matched, key=segment.rules.output_rank.__getitem__)
    group_of: dict[int, list[int]] = {}
    for subscription in in_order:
        for node in segment.forest.descendants(int(segment.forest.roots[subscription])):
            if true_nodes[node]:
                group_of.setdefault(node, []).append(subscription)

    largest: dict[tuple[int, ...], tuple[int, int]] = {}
    for node, group in group_of.items():
        if len(group) > 1:
            # The smallest key is the most predicates, then the smallest node.
            key = (-_predicates_beneath(segment, node), node)
            largest[tuple(group)] = min(key, largest.get(tuple(group), key))

    def place(group: tuple[int, ...]) -> tuple[int, list[int]]:
        return -len(group), [int(segment.rules.output_rank[subscription]) for subscription in group]

    return [
        OverlapSet(tuple(segment.rules.id[subscription] for subscription in group), group, largest[group][1])
        for group in sorted(largest, key=place)
    ]


def _predicates_beneath(segment: Segment, node: int) -> int:
    return sum(segment.forest.nodes.operator[below] == PREDICATE for below in segment.forest.descendants(node))
