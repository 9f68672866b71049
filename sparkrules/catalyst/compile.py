"""Compiles rules from a DataFrame in its partitions: each task builds a segment, and the driver merges them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sparkrules.index import from_tables, to_tables
from sparkrules.index.tables import SCHEMAS
from sparkrules.rules.bulk import CompiledRows
from sparkrules.rules.pattern_rows import PlacedPattern
from sparkrules.rules.sources import FIELDS, PATTERN_FIELDS, RuleRow, check_columns, table_rows
from sparkrules.sql.predicate_sql import quoted
from sparkrules.sql.rejected import Rejected

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Compiling fewer rules takes less time than starting a Python worker.
FEW = 5_000
_REJECTED = pa.schema(
    {
        name: pa.utf8() if name in ("id", "where", "reason", "source", "remedy") else pa.int64()
        for name in ("place", *Rejected.__match_args__)
    }
)
_PATTERNS = pa.schema([("place", pa.int64()), ("fields", pa.utf8())])
_EXTRA = 2  # tables of a task beside those of its segment
_ANSWER = "table string, content binary"


def compile_dataframe(
    df: DataFrame,
    compile: Callable[[Iterable[RuleRow]], CompiledRows],
    define: Callable[[Mapping[str, Any], int], PlacedPattern | None],
) -> list[CompiledRows]:
    """Apply `compile` to the rows of each partition; if there are only a few rows, to all of them in this process.

    `define` makes the patterns of rows, which tasks return as their fields.

    The workers need sparkrules, like the driver. If they do not have it, this process compiles the rules.
    """
    check_columns(df.columns, "the DataFrame")
    read = {*FIELDS, *PATTERN_FIELDS}
    rules = df.select(*[quoted(name) for name in df.columns if name.strip().lower() in read])
    first = rules.limit(FEW + 1).toArrow()
    if first.num_rows <= FEW:
        return [compile(table_rows(first))]
    try:
        found = rules.mapInArrow(_Task(compile), _ANSWER).toArrow()
    except Exception as error:
        if "No module named 'sparkrules'" not in str(error):
            raise
        return [compile(table_rows(rules.toArrow()))]
    return list(_read(found, define))


class _Task:
    """The work of one partition: reads rows and returns the tables of their segment, as Arrow files."""

    def __init__(self, compile: Callable[[Iterable[RuleRow]], CompiledRows]) -> None:
        self.compile = compile

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        done = self.compile(row for batch in batches for row in table_rows(pa.Table.from_batches([batch])))
        rejected = [{"place": place, **vars(found)} for place, found in done.rejected]
        patterns = [{"place": own.place, "fields": json.dumps(own.fields, default=str)} for own in done.patterns]
        tables = {
            **to_tables(done.segment),
            "rejected": pa.Table.from_pylist(rejected, _REJECTED),
            "patterns": pa.Table.from_pylist(patterns, _PATTERNS),
        }
        for name, table in tables.items():
            yield pa.RecordBatch.from_pydict({"table": [name], "content": [_written(table)]})


def _read(answer: pa.Table, define: Callable[[Mapping[str, Any], int], PlacedPattern | None]) -> Iterator[CompiledRows]:
    """Read the tasks' answers. The tables of each task are contiguous."""
    names = answer["table"].to_pylist()
    tables = [pa.ipc.open_stream(content.as_buffer()).read_all() for content in answer["content"]]
    for start in range(0, len(names), len(SCHEMAS) + _EXTRA):
        own = dict(zip(names[start:], tables[start : start + len(SCHEMAS) + _EXTRA], strict=False))
        rejected = [(row.pop("place"), Rejected(**row)) for row in own.pop("rejected").to_pylist()]
        written = own.pop("patterns").to_pylist()
        patterns = [define(json.loads(row["fields"]), row["place"]) for row in written]
        segment = from_tables(own)
        yield CompiledRows(segment, segment.rules.id.tolist(), rejected, [own for own in patterns if own is not None])


def _written(table: pa.Table) -> Any:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()
