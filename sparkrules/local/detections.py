"""What patterns have found in the rows of a table, as an Arrow table.

| column | type | content |
|---|---|---|
| `pattern` | string | the id of the pattern |
| `kind` | string | its kind, or `suppressed` for detections that were only counted |
| `key` | map<string, string> | the values of the columns `by` |
| `start`, `end` | that of the time column | from when to when |
| `count` | int64 | of how many rows it is made, or how many detections were suppressed |
| `rows` | list<struct<step: int32, time, id: string>> | these rows |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from sparkrules.local.detection_chart import detection_chart
from sparkrules.local.drawing import Drawing
from sparkrules.local.pattern_states import Found
from sparkrules.patterns import Pattern


class Detection(NamedTuple):
    """One row of the answer."""

    pattern: Pattern
    kind: str
    key: tuple[str, ...]
    found: Found

    @property
    def place(self) -> tuple[Any, ...]:
        """By what detections are ordered: first by their end."""
        ids = [(step, event.time, event.id or "") for step, event in self.found.rows]
        return self.found.end, self.pattern.id, self.key, self.kind, self.found.start, ids


@dataclass(frozen=True, eq=False)
class Detections:
    """The answer of `RuleSet.detect`. `table` has one row for each detection, ordered by `end`, with the columns
    `pattern`, `kind`, `key`, `start`, `end`, `count` and `rows`.

    `skipped` maps the ids of patterns that only Spark can detect to the reason. pandas, polars and others read this
    object as a table.
    """

    table: pa.Table
    skipped: Mapping[str, str]

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.to_pylist())

    def __repr__(self) -> str:
        left_out = f", {len(self.skipped)} patterns left out" if self.skipped else ""
        return f"Detections({len(self):,}{left_out})"

    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows as dictionaries; a key is one as well."""
        return [{**row, "key": dict(row["key"])} for row in self.table.to_pylist()]

    def draw(self, key: Mapping[str, str] | None = None) -> Drawing:
        """A picture of the detections over time; with `key`, `{"user": "ann"}`, only of those with these values."""
        wanted = dict(key or {})
        shown = [own for own in self if wanted.items() <= own["key"].items()]
        return detection_chart(shown, ", ".join(wanted.values()) or "all keys")

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    @staticmethod
    def of(found: Iterable[Detection], time: pa.DataType, skipped: Mapping[str, str]) -> Detections:
        """A table of detections; `time` is the type of their times."""
        rows = [
            {
                "pattern": own.pattern.id,
                "kind": own.kind,
                "key": list(zip(own.pattern.by, own.key, strict=True)),
                "start": own.found.start,
                "end": own.found.end,
                "count": own.found.count,
                "rows": [{"step": step, "time": event.time, "id": event.id} for step, event in own.found.rows],
            }
            for own in sorted(found, key=lambda own: own.place)
        ]
        return Detections(pa.Table.from_pylist(rows, detection_schema(time)), skipped)


def detection_schema(time: pa.DataType) -> pa.Schema:
    """The columns of the answer; `time` is the type of the time column."""
    row = pa.struct([("step", pa.int32()), ("time", time), ("id", pa.string())])
    return pa.schema(
        [
            ("pattern", pa.string()),
            ("kind", pa.string()),
            ("key", pa.map_(pa.string(), pa.string())),
            ("start", time),
            ("end", time),
            ("count", pa.int64()),
            ("rows", pa.list_(row)),
        ]
    )
