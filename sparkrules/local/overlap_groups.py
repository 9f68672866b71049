"""Compute the overlap sets of many rows at once.

A group is the set of matched rules whose trees contain one true node. The overlap sets are the distinct groups of two
or more. `tests/specification/overlap.py` defines the same by walking every tree.

A node used by a single rule forms no group, so only the other nodes are considered. All pairs (row, node) of a block
are sorted once. Adjacent equal pairs form a group, with its members in output order.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sparkrules.index.csr import Csr
from sparkrules.index.segment import Segment
from sparkrules.local.truth import Truth

Group = tuple[int, ...]  # positions in the output order, ascending


class OverlapGroups:
    """The overlap sets of rows matched against one segment, as positions of rules in output order.

    >>> from sparkrules.index.builder import build_segment
    >>> from sparkrules.index.rule import Rule
    >>> from sparkrules.sql.tree import Junction, Predicate
    >>> a, b = (Predicate(name, "is true") for name in "ab")
    >>> segment = build_segment([Rule("1", "a AND b", Junction("and", (a, b))), Rule("2", "a", a), Rule("3", "b", b)])
    >>> true = Truth.of(np.ones((len(segment.forest.nodes.level), 1), bool))
    >>> list(OverlapGroups(segment).of_rows(true, Csr.from_rows([[0, 1, 2]])))
    [[(0, 1), (0, 2)]]
    """

    def __init__(self, segment: Segment) -> None:
        self._rank = segment.rules.output_rank
        users = segment.forest.users
        several = np.where(users.lengths > 1, users.lengths, 0)
        kept = np.repeat(users.lengths > 1, users.lengths)
        # For each rule, its nodes that other rules also use.
        self._meetings = Csr.from_lengths(several, users.values[kept]).transposed(len(segment.rules.id))
        self._nodes = max(len(segment.forest.nodes.level), 1)

    def of_rows(self, truth: Truth, matched: Csr) -> Iterator[list[Group]]:
        """The groups of each row, larger ones first. `matched` has its rules in output order."""
        meetings = self._meetings.take(matched.values)
        lengths = meetings.lengths
        rows = np.repeat(matched.row_numbers(), lengths)
        true = truth.at(meetings.values, rows)
        rows = rows[true].astype(np.int64)
        members = np.repeat(self._rank[matched.values], lengths)[true]
        places = rows * self._nodes + meetings.values[true]
        order = np.argsort(places, kind="stable")  # stable: members stay in output order
        places, rows, members = places[order], rows[order], members[order]
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        ends = np.append(starts[1:], len(places))
        several = ends - starts > 1
        found: list[set[Group]] = [set() for _ in range(len(matched))]
        listed = members.tolist()
        for row, start, end in zip(
            rows[starts[several]].tolist(), starts[several].tolist(), ends[several].tolist(), strict=True
        ):
            found[row].add(tuple(listed[start:end]))
        for groups in found:
            yield sorted(groups, key=_order) if len(groups) > 1 else list(groups)


def _order(group: Group) -> tuple[int, Group]:
    return -len(group), group
