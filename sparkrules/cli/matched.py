"""Rows with the rules that match them, and how they are written: one row per row, or per match."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrules.errors import SparkRulesError
from sparkrules.index import Segment

Per = Literal["row", "match"]


@dataclass(frozen=True)
class Matched:
    """Some rows: the number of their file, their number in it, the wanted columns, and the ids that match."""

    file: pa.Array
    row: pa.Array
    data: pa.Table
    ids: pa.ListArray

    def __len__(self) -> int:
        return len(self.row)

    def take(self, count: int) -> Matched:
        """The first rows."""
        return Matched(self.file[:count], self.row[:count], self.data[:count], self.ids[:count])


@dataclass(frozen=True)
class Shape:
    """How matched rows become a table; with the names of the files if there are several, and fields of the rules."""

    per: Per
    segment: Segment
    files: list[str] | None
    fields: Mapping[str, pa.Array] = field(default_factory=dict)

    def names(self) -> list[str]:
        """The columns that are added to those of the data."""
        added = ["ids"] if self.per == "row" else ["subscription_id", "priority", *self.fields]
        return [*([] if self.files is None else ["file"]), "row", *added]

    def check(self, columns: list[str]) -> None:
        """Raise if a column of the data has the name of one that is added."""
        clash = [name for name in columns if name in self.names()]
        if clash:
            raise SparkRulesError(
                f"the data has a column {clash[0]!r}, and so do the matches: choose other columns with --columns a,b"
            )

    def table(self, rows: Matched) -> pa.Table:
        """The rows as they are written."""
        columns = [] if self.files is None else [pa.array(self.files, pa.string()).take(rows.file)]
        columns += [rows.row, *rows.data.columns]
        names = ["file"] * (self.files is not None) + ["row", *rows.data.column_names]
        if self.per == "row":
            return pa.table([*columns, rows.ids], names=[*names, "ids"])
        parents = pc.list_parent_indices(rows.ids)
        ids = pc.list_flatten(rows.ids)
        known = pa.array(self.segment.rules.id, pa.string())
        rules = pc.index_in(ids, value_set=known)
        own = {"subscription_id": ids, "priority": pa.array(self.segment.rules.priority, pa.int32()).take(rules)}
        own |= {name: values.take(rules) for name, values in self.fields.items()}
        repeated = [column.take(parents) for column in columns]
        return pa.table([*repeated, *own.values()], names=[*names, *own])


def numbered(start: int, count: int) -> pa.Array:
    """Row numbers."""
    return pa.array(np.arange(start, start + count), pa.int64())
