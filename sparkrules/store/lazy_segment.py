"""A segment that is read only as far as needed.

Reading and checking a segment of a million rules takes seconds. Adding or removing one rule needs only the ids. They
stay in the mapped file, because `subscriptions` is sorted by id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sparkrules.errors import CorruptStore
from sparkrules.index.arrow_arrays import numpy_of, texts_to_arrow
from sparkrules.index.rule import Rule
from sparkrules.index.segment import Segment
from sparkrules.index.segment_rules import rule_at
from sparkrules.index.tables import OPTIONAL, SCHEMAS, CorruptSegment, rule_column, to_tables
from sparkrules.sql.tree import NEWER_OPERATORS, OPERATORS
from sparkrules.store.arrow_file import PUBLISH_AGAIN, map_arrow
from sparkrules.store.checksum import FileSum
from sparkrules.store.place import Place
from sparkrules.store.segment_files import load_segment, read_segment
from sparkrules.store.stored_rule import stored_rule

Sums = Mapping[str, FileSum]  # by table name

_NEWER = np.isin(OPERATORS, sorted(NEWER_OPERATORS))
_START_COST = 2_000  # cost of starting to build a hash table, in rows that could be looked up meanwhile
_SEARCH_COST = 400  # a binary search costs about as much as looking up this many rows in a hash table


class LazySegment:
    """A segment in memory or in a directory of the store. Its files must match the `published` checksums.

    >>> from sparkrules.index import Rule, build_segment
    >>> from sparkrules.sql.tree import Predicate
    >>> sold = Predicate("sold", "is true")
    >>> lazy = LazySegment.of(build_segment([Rule("a", "sold", sold), Rule("b", "sold", sold)]))
    >>> lazy.rows, lazy.find(["b", "c"]).tolist(), lazy.rule(0).id
    (2, [1, -1], 'a')
    """

    def __init__(self, segment: Segment | None, directory: Place | None, published: Sums | None = None) -> None:
        self._given = segment
        self._directory = directory
        self._published = published
        self._columns: dict[str, Any] = {}

    @staticmethod
    def of(segment: Segment) -> LazySegment:
        return LazySegment(segment, None)

    @staticmethod
    def stored(directory: Place, published: Sums | None = None) -> LazySegment:
        return LazySegment(None, directory, published)

    @property
    def in_memory(self) -> Segment | None:
        """The segment, if it is not that of a directory."""
        return self._given

    @cached_property
    def rows(self) -> int:
        """The number of rules, including removed ones."""
        return len(self._given.rules.priority) if self._given is not None else int(self._subscriptions.num_rows)

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """The number of predicates and of nodes."""
        if self._given is not None:
            return len(self._given.forest.predicates.operator), len(self._given.forest.nodes.operator)
        return self._map("predicates").num_rows, self._map("nodes").num_rows

    @cached_property
    def is_extended(self) -> bool:
        """Whether its files have columns or operators that older versions of sparkrules do not know."""
        if any(self.column(name).null_count < self.rows for name in OPTIONAL["subscriptions"]):
            return True
        if self._given is not None:
            return bool(_NEWER[self._given.forest.predicates.operator].any())
        operators = self._map("predicates").column("operator")
        return bool(pc.any(pc.is_in(operators, value_set=pa.array(sorted(NEWER_OPERATORS)))).as_py())

    @cached_property
    def segment(self) -> Segment:
        """The whole segment, checked."""
        if self._given is not None:
            return self._given
        assert self._directory is not None
        return load_segment(self._directory, self.tables)

    @cached_property
    def tables(self) -> dict[str, pa.Table]:
        """The tables, each validated separately."""
        if self._given is not None:
            return to_tables(self._given)
        assert self._directory is not None
        return read_segment(self._directory, self._published)

    def release(self) -> None:
        """Drop the tables of a segment in memory; they take as much space as the segment."""
        if self._given is not None:
            self.__dict__.pop("tables", None)

    def column(self, name: str) -> Any:
        """A column of the rules, as one Arrow array."""
        if name not in self._columns:
            if self._given is not None:
                self._columns[name] = rule_column(self._given, name)
            else:
                chunks = self._subscriptions.column(name)
                try:
                    chunks.validate(full=True)
                except pa.ArrowException as error:
                    raise CorruptStore(
                        f"{self._file('subscriptions')} is damaged ({error}): {PUBLISH_AGAIN}"
                    ) from error
                self._columns[name] = _single(chunks)
        return self._columns[name]

    @cached_property
    def ids(self) -> Any:
        """The ids, ascending."""
        ids = self.column("id")
        each_is_less = pc.less(ids.slice(0, max(len(ids) - 1, 0)), ids.slice(1))
        if ids.null_count or not numpy_of(each_is_less).all():
            raise CorruptStore(f"{self._file('subscriptions')} is damaged (its ids do not ascend): {PUBLISH_AGAIN}")
        return ids

    def find(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """The row of each id, or -1 if there is none. The ids must be distinct."""
        if len(ids) * _SEARCH_COST < self.rows + _START_COST:
            return np.array([self._search(id) for id in ids], np.int64)
        # Swapping the arguments would build a hash table of all rows.
        places = numpy_of(pc.index_in(self.ids, value_set=texts_to_arrow(ids)), null=-1)
        found = np.flatnonzero(places >= 0)
        rows = np.full(len(ids), -1, np.int64)
        rows[places[found]] = found
        return rows

    def rule(self, row: int) -> Rule:
        """Return one rule. If the segment has not been read yet, this reads only what belongs to the rule."""
        try:
            if self._given is not None or "segment" in self.__dict__:
                return rule_at(self.segment, row)
            return stored_rule(self.tables, row)
        except CorruptSegment as error:
            raise CorruptStore(f"{self._file(error.table)} is damaged ({error}): {PUBLISH_AGAIN}") from error

    @cached_property
    def _subscriptions(self) -> pa.Table:
        # Keep the files open: a version in use can still be changed after its files have been collected.
        return self._map("subscriptions")

    def _search(self, id: str) -> int:
        ids = self.ids
        low, high = 0, len(ids)
        while low < high:
            middle = (low + high) // 2
            # Python compares str by code point, which is the order of UTF-8 bytes.
            if ids[middle].as_py() < id:
                low = middle + 1
            else:
                high = middle
        return low if low < len(ids) and ids[low].as_py() == id else -1

    def _map(self, table: str) -> pa.Table:
        return map_arrow(
            self._file(table),
            SCHEMAS[table],
            published=(self._published or {}).get(table),
            optional=OPTIONAL.get(table, ()),
        )

    def _file(self, table: str) -> Place:
        return (self._directory or Path("memory")) / f"{table}.arrow"


def _single(chunks: pa.ChunkedArray) -> Any:
    if chunks.num_chunks == 1:
        return chunks.chunk(0)
    return pa.concat_arrays([*chunks.chunks, pa.nulls(0, chunks.type)])
