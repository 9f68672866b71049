"""Matches as Arrow arrays: the ids of each row, its overlap sets, and its matches one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkrules.index.csr import Csr
from sparkrules.index.segment import Segment
from sparkrules.local.overlap_groups import Group


class Answer:
    """Turns rule numbers of one segment into arrays of ids. `fields` are values per rule, which each match has as well.

    >>> from sparkrules.index.builder import build_segment
    >>> from sparkrules.index.rule import Rule
    >>> from sparkrules.sql.tree import Predicate
    >>> answer = Answer(build_segment([Rule(id, id, Predicate(id, "is true"), 5) for id in "abc"]))
    >>> answer.ids(Csr.from_rows([[0, 2], []])).to_pylist()
    [['a', 'c'], []]
    >>> answer.overlaps([[(0, 1), (1, 2)], []]).to_pylist()
    [[['a', 'b'], ['b', 'c']], []]
    >>> answer.matches(Csr.from_rows([[0, 1, 2]]), [[(0, 1), (1, 2)]]).to_pylist()[0][2]
    {'subscription_id': 'c', 'priority': 5, 'overlap': ['b']}
    """

    def __init__(self, segment: Segment, fields: Mapping[str, pa.Array] | None = None) -> None:
        self._ids = pa.array(segment.rules.id, pa.string())
        self._priority = segment.rules.priority
        self._fields = fields or {}
        self._order, self._rank = segment.rules.output_order, segment.rules.output_rank

    def names(self, numbers: NDArray[np.integer]) -> Any:
        """The ids of some numbers."""
        return self._ids.take(pa.array(numbers))

    def ids(self, matched: Csr) -> Any:
        """The ids of each row: `list<string>`."""
        return _lists(matched.lengths, self.names(matched.values))

    def overlaps(self, groups: Iterable[Sequence[Group]]) -> Any:
        """The overlap sets of each row: `list<list<string>>`."""
        rows = list(groups)
        flat = [group for row in rows for group in row]
        members = np.fromiter(chain.from_iterable(flat), np.int32)
        names = self.names(self._order[members])
        return _lists([len(row) for row in rows], _lists([len(group) for group in flat], names))

    def fields(self, numbers: NDArray[np.integer]) -> dict[str, Any]:
        """The fields of some rules."""
        return {name: values.take(pa.array(numbers)) for name, values in self._fields.items()}

    def named(self, matched: Csr) -> Any:
        """Each row's matches with the fields of their rules: `list<struct<subscription_id, ...>>`."""
        columns = {"subscription_id": self.names(matched.values), **self.fields(matched.values)}
        return _lists(matched.lengths, pa.StructArray.from_arrays([*columns.values()], [*columns]))

    def matches(self, matched: Csr, groups: Iterable[Sequence[Group]]) -> Any:
        """Each row's matches: `list<struct<subscription_id, priority, overlap>>`. The overlap is the other matches that
        share a set with it."""
        others: list[list[int]] = []
        ranks = Csr(matched.offsets, self._rank[matched.values])
        for row, own in enumerate(groups):
            met: dict[int, set[int]] = {}
            for group in own:
                for place in group:
                    met.setdefault(place, set()).update(group)
            others += [sorted(met[place] - {place}) if place in met else [] for place in ranks.row(row).tolist()]
        members = np.fromiter(chain.from_iterable(others), np.int32)
        overlap = _lists([len(own) for own in others], self.names(self._order[members]))
        columns = {
            "subscription_id": self.names(matched.values),
            "priority": pa.array(self._priority[matched.values], pa.int32()),
            "overlap": overlap,
            **self.fields(matched.values),
        }
        return _lists(matched.lengths, pa.StructArray.from_arrays([*columns.values()], [*columns]))


def _lists(lengths: Sequence[int] | NDArray[np.integer], values: Any) -> Any:
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), values)
