"""The events of patterns: the rows that fulfil a step, by key and in order.

The order is (time, id as string with NULL first, steps as a bit mask, distinct value as string). A row with a NULL in
the key, or without a time, takes no part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sparkrules.errors import RuleSetError
from sparkrules.local.key_text import Texts, key_texts
from sparkrules.logic.columns import NoSuchColumn, Unsupported, column_attribute, find_column
from sparkrules.patterns import Pattern

Masks = NDArray[np.int64]
Key = tuple[str, ...]


class Event(NamedTuple):
    """A row that fulfils steps: bit 0 of `steps` is the first. `time` is in microseconds."""

    time: int
    id: str | None
    steps: int
    value: str | None = None

    def fulfils(self, step: int) -> bool:
        """Whether it fulfils a step, counted from 0."""
        return bool(self.steps >> step & 1)


class EventTable:
    """The columns of a table that patterns read: the times of its rows, their ids, and keys.

    >>> table = pa.table({"at": pa.array([3, 1], pa.timestamp("us")), "user": ["ann", "ann"]})
    >>> steps = ((), ())
    >>> events = EventTable(table, "at", None)
    >>> events.last, events.texts("user").tolist()
    (3, ['ann', 'ann'])
    """

    def __init__(self, table: pa.Table, time: str, id: str | None) -> None:
        self.table = table
        self._texts: dict[str, Texts] = {}
        self._keys: dict[tuple[str, ...], tuple[NDArray[np.int64], list[Key]]] = {}
        values = self._required(time, "time")
        if not pa.types.is_timestamp(values.type):
            raise RuleSetError(f"the column {time!r} has type {values.type}; the time of a row is a timestamp")
        self.time_type = pa.timestamp("us", values.type.tz)
        self.has_time = values.is_valid().to_numpy(zero_copy_only=False)
        micros = values.cast(self.time_type, safe=False).cast(pa.int64())
        self.times: NDArray[np.int64] = micros.fill_null(0).to_numpy(zero_copy_only=False)
        self._ids: Texts | None = None
        if id is not None:
            try:
                self._ids = key_texts(self._required(id, "id"))
            except Unsupported as reason:
                raise RuleSetError(f"the column {id!r} cannot be the id of a row: {reason}") from None

    @property
    def last(self) -> int | None:
        """The greatest time; None if no row has one."""
        return int(self.times[self.has_time].max()) if self.has_time.any() else None

    def texts(self, name: str) -> Texts:
        """The values of a column as strings. Raises `Unsupported`."""
        if name not in self._texts:
            self._texts[name] = key_texts(self._column(name))
        return self._texts[name]

    def of(self, pattern: Pattern, steps: Masks) -> Iterator[tuple[Key, list[Event]]]:
        """The events of a pattern by key, in order; `steps` are those that each row fulfils."""
        numbers, keys = self._coded(pattern.by)
        chosen = (steps != 0) & self.has_time & (numbers >= 0)
        values = None if pattern.distinct is None else self.texts(pattern.distinct)
        if values is not None:
            chosen &= np.array([value is not None for value in values.tolist()], bool)
        rows = np.flatnonzero(chosen)
        ranks = (_ranks(own, rows) for own in (values, self._ids))
        value_rank, id_rank = ranks
        rows = rows[np.lexsort((value_rank, steps[rows], id_rank, self.times[rows], numbers[rows]))]
        ends = np.flatnonzero(np.diff(numbers[rows])) + 1
        for own in np.split(rows, ends) if len(rows) else ():
            yield keys[numbers[own[0]]], list(self._events(own, steps, values))

    def _events(self, rows: NDArray[np.int64], steps: Masks, values: Texts | None) -> Iterator[Event]:
        none = [None] * len(rows)
        ids = none if self._ids is None else self._ids[rows].tolist()
        own = none if values is None else values[rows].tolist()
        return map(Event, self.times[rows].tolist(), ids, steps[rows].tolist(), own)

    def _coded(self, by: tuple[str, ...]) -> tuple[NDArray[np.int64], list[Key]]:
        """The number of each row's key, -1 if it has a NULL, and the keys by number."""
        if by not in self._keys:
            columns = [self.texts(name).tolist() for name in by]
            known: dict[Key, int] = {}
            rows: Sequence[tuple[Any, ...]] = list(zip(*columns, strict=True)) if by else [()] * self.table.num_rows
            numbers = [-1 if None in key else known.setdefault(key, len(known)) for key in rows]
            self._keys[by] = np.array(numbers, np.int64), list(known)
        return self._keys[by]

    def _required(self, name: str, what: str) -> Any:
        try:
            return self._column(name)
        except Unsupported as reason:
            raise RuleSetError(f"{what}: {reason}") from None

    def _column(self, name: str) -> Any:
        try:
            found = find_column(column_attribute(name), self.table.schema)
        except NoSuchColumn:
            raise NoSuchColumn(f"there is no column {name!r}") from None
        values = self.table.column(found.path[0])
        values = pc.struct_field(values, list(found.path[1:])) if len(found.path) > 1 else values
        return pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)


def _ranks(texts: Texts | None, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers in the order of the strings of some rows, NULL first."""
    if texts is None:
        return np.zeros(len(rows), np.int64)
    own = texts[rows].tolist()
    rank = {text: number for number, text in enumerate(sorted({text for text in own if text is not None}), start=1)}
    return np.array([0 if text is None else rank[text] for text in own], np.int64)
