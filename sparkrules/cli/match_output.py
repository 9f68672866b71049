"""Where matched rows go: a table on the terminal, JSON lines, a file, or counts per rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrules.cli.json_text import json_text
from sparkrules.cli.matched import Matched, Shape
from sparkrules.cli.text_table import GAP, cell, counted, terminal_width, text_table
from sparkrules.cli.whole_file import whole_file
from sparkrules.errors import SparkRulesError, listed
from sparkrules.index import Segment

SUFFIXES = (".parquet", ".csv", ".jsonl")
_WIDEST_CELL = 30


class Totals:
    """Counts of what went by: matching rows, and matches."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.matching = 0
        self.matches = 0

    def counting(self, found: Iterable[Matched]) -> Iterator[Matched]:
        for rows in found:
            lengths = pc.list_value_length(rows.ids)
            self.matching += pc.sum(pc.greater(lengths, 0)).as_py() or 0
            self.matches += pc.sum(lengths).as_py() or 0
            yield rows

    def __str__(self) -> str:
        of = f"{self.matching:,} of {counted(self.rows, 'row')} match{'es' * (self.matching == 1)}"
        return f"{of}, {counted(self.matches, 'match')}"


def first_rows(found: Iterable[Matched], limit: int) -> Iterator[Matched]:
    """At most so many rows (0: all). The others are read as well, so that they are counted."""
    left = limit
    for rows in found:
        if not limit:
            yield rows
        elif left:
            yield rows.take(left)
            left -= min(left, len(rows))


def print_table(tables: Iterable[pa.Table], chosen: bool) -> int:
    """Print rows as a table, and return how many. Columns of the data that do not fit are dropped unless chosen."""
    lines: list[dict[str, object]] = []
    for table in tables:
        lines += table.to_pylist()
    if not lines:
        return 0
    names = list(lines[0])
    width = terminal_width()
    for line in lines:
        if "ids" in line:
            room = None if width is None else max(width // 2, _WIDEST_CELL)
            line["ids"] = first_ids(line["ids"], room)  # type: ignore[arg-type]
    own: list[str] = [name for name in ("file", "row", "ids", "subscription_id", "priority") if name in names]
    others = [name for name in names if name not in own]
    shown = [*own, *others]
    if width is not None and not chosen:
        shown = [*own, *_fitting(others, lines, width - _width(own, lines))]
    print(text_table(shown, ([line[name] for name in shown] for line in lines), width))
    if len(shown) < len(names):
        print(f"({counted(len(names) - len(shown), 'column')} more: name those you want with --columns)")
    return len(lines)


def first_ids(ids: Sequence[str], room: int | None) -> str:
    """The ids of a row: as many as fit into so many characters, and how many more there are.

    >>> first_ids(["hot", "dry", "windy"], None), first_ids([f"rule {number}" for number in range(50)], 30)
    ('hot, dry, windy', 'rule 0, rule 1 and 48 more')
    """
    whole = ", ".join(ids)
    if room is None or len(whole) <= room:
        return whole
    kept = len(ids) - 1
    while kept > 1 and len(listed(ids, kept)) > room:
        kept -= 1
    return listed(ids, kept)


def _fitting(names: list[str], lines: list[dict[str, object]], room: int) -> Iterator[str]:
    for name in names:
        room -= _width([name], lines)
        if room < 0:
            return
        yield name


def _width(names: list[str], lines: list[dict[str, object]]) -> int:
    widths = (max(len(name), *(len(cell(line[name])) for line in lines)) for name in names)
    return sum(min(width, _WIDEST_CELL) + len(GAP) for width in widths)


def print_json_lines(tables: Iterable[pa.Table]) -> None:
    """One JSON object per line."""
    for table in tables:
        for line in lines_of(table):
            print(json_text(line))


def lines_of(table: pa.Table) -> Iterator[dict[str, Any]]:
    """The rows of a table; a map is a dictionary."""
    maps = [field.name for field in table.schema if pa.types.is_map(field.type)]
    for line in table.to_pylist():
        yield {**line, **{name: dict(line[name]) for name in maps if line[name] is not None}}


def check_output(file: Path) -> None:
    """Raise if such a file cannot be written."""
    if file.suffix.lower() not in SUFFIXES:
        raise SparkRulesError(f"{file}: matches are written to {', '.join(SUFFIXES)} files")
    if not file.absolute().parent.is_dir():
        raise SparkRulesError(f"{file} cannot be written: there is no directory {file.absolute().parent}")


def write_tables(tables: Iterable[pa.Table], file: Path) -> int:
    """Write at least one table to a file, in the format of its suffix, and return the number of rows."""
    rows = 0
    try:
        pieces = iter(tables)
        first = next(pieces)
        with whole_file(file) as unfinished, closing(_Writer(unfinished, first.schema)) as writer:
            for table in chain([first], pieces):
                writer.write(table)
                rows += table.num_rows
    except (OSError, pa.ArrowException) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise SparkRulesError(f"{file} cannot be written: {reason}") from error
    return rows


class _Writer:
    """A file of one of the formats."""

    def __init__(self, file: Path, schema: pa.Schema) -> None:
        import pyarrow.csv
        import pyarrow.parquet

        self.format = file.suffix.lower()
        if self.format == ".parquet":
            self.out = pyarrow.parquet.ParquetWriter(file, schema)
        elif self.format == ".csv":
            self.out = pyarrow.csv.CSVWriter(file, _flat(schema.empty_table()).schema)
        else:
            self.out = file.open("w", encoding="utf-8")

    def write(self, table: pa.Table) -> None:
        if self.format == ".parquet":
            self.out.write_table(table)
        elif self.format == ".csv":
            self.out.write_table(_flat(table))
        else:
            self.out.writelines(f"{json_text(line)}\n" for line in lines_of(table))

    def close(self) -> None:
        self.out.close()


def _flat(table: pa.Table) -> pa.Table:
    """Columns that CSV can hold: arrays, structs and bytes become JSON."""
    for index, field in enumerate(table.schema):
        if pa.types.is_nested(field.type) or pa.types.is_binary(field.type):
            values = (line[field.name] for line in lines_of(table.select([index])))
            texts = [None if value is None else json_text(value) for value in values]
            table = table.set_column(index, field.name, pa.array(texts, pa.string()))
    return table


class Counts:
    """How often each rule matches."""

    def __init__(self, segment: Segment) -> None:
        self.ids = pa.array(segment.rules.id, pa.string())
        self.priority = segment.rules.priority
        self.counts = np.zeros(len(self.ids), np.int64)

    def add(self, found: Iterable[Matched]) -> None:
        for rows in found:
            numbers = pc.index_in(pc.list_flatten(rows.ids), value_set=self.ids)
            self.counts += np.bincount(numbers.to_numpy(zero_copy_only=False), minlength=len(self.ids))

    @property
    def never(self) -> int:
        """How many rules match no row."""
        return int(np.count_nonzero(self.counts == 0))

    def table(self) -> pa.Table:
        """All rules, the most frequent matches first."""
        whole = pa.table(
            {
                "subscription_id": self.ids,
                "matches": pa.array(self.counts),
                "priority": pa.array(self.priority, pa.int32()),
            }
        )
        return whole.sort_by([("matches", "descending"), ("subscription_id", "ascending")])


def shaped(found: Iterable[Matched], shape: Shape) -> Iterator[pa.Table]:
    """The rows as they are written."""
    return map(shape.table, found)
