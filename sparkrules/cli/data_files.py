"""The data that commands read: one or more Parquet, CSV or JSON files, or a directory of them.

Rows are numbered within their file, from 0. Errors name the file.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from sparkrules.cli.csv_table import read_csv
from sparkrules.cli.partitions import directory_values, partition_columns, with_partitions
from sparkrules.errors import SparkRulesError

Format = Literal["parquet", "csv", "json"]
_FORMATS: dict[str, Format] = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
}
_COMPRESSED = (".gz", ".bz2", ".zst")
_BATCH = 65_536


class Chunk(NamedTuple):
    """Rows of one file, and the number of the first."""

    file: int
    start: int
    table: pa.Table


@dataclass(frozen=True)
class DataFiles:
    """Files of one format. `root` is the directory if its subdirectories name values of columns: `day=2024-05-01`."""

    format: Format
    files: tuple[Path, ...]
    root: Path | None = None

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of all files. Rows of Parquet files are not read."""
        if self.format != "parquet":
            return self.read[0].schema
        try:
            return pa.unify_schemas(self._schemas, promote_options="permissive")
        except pa.ArrowException as error:
            raise SparkRulesError(f"the columns of {self.files[0]} and the other files differ: {error}") from error

    @property
    def columns(self) -> list[str]:
        """The names of the columns, including those that directories name."""
        names = dict.fromkeys(self.schema.names)
        if self.root is not None:
            names |= dict.fromkeys(name for file in self.files for name in directory_values(self.root, file))
        return list(names)

    @property
    def are_alike(self) -> bool:
        """Whether all files have exactly the columns of the schema."""
        return self.format != "parquet" or (self.root is None and all(map(self.schema.equals, self._schemas)))

    @cached_property
    def rows(self) -> int:
        """How many rows there are in all files."""
        if self.format != "parquet":
            return sum(table.num_rows for table in self.read)
        import pyarrow.parquet as pq

        return sum(_reading(file, lambda own: pq.read_metadata(own).num_rows) for file in self.files)

    def chunks(self) -> Iterator[Chunk]:
        """All rows, file by file."""
        for number, file in enumerate(self.files):
            if self.format == "parquet":
                yield from _parquet_chunks(number, file)
            else:
                table = self.read[number]
                for start in range(0, table.num_rows, _BATCH):
                    yield Chunk(number, start, table.slice(start, _BATCH))

    def row(self, number: int) -> pa.Table:
        """A table of one row of the first file."""
        for chunk in self.chunks():
            if chunk.file > 0:
                break
            if chunk.start <= number < chunk.start + chunk.table.num_rows:
                return chunk.table.slice(number - chunk.start, 1)
        raise SparkRulesError(f"{self.files[0]} has no row {number}: rows count from 0, and there are {self.rows:,}")

    @cached_property
    def _schemas(self) -> list[pa.Schema]:
        return [_reading(file, _parquet_schema) for file in self.files]

    @cached_property
    def read(self) -> list[pa.Table]:
        """The tables of CSV and JSON files; types are inferred from all rows of all files."""
        tables = [_reading(file, _READERS[self.format]) for file in self.files]
        if self.root is not None:
            tables = with_partitions(tables, partition_columns(self.root, self.files))
        if len(tables) == 1:
            return tables
        try:
            whole = pa.concat_tables(tables, promote_options="permissive")
        except pa.ArrowException as error:
            raise SparkRulesError(f"the columns of {self.files[0]} and the other files differ: {error}") from error
        starts = [0]
        for table in tables:
            starts.append(starts[-1] + table.num_rows)
        return [whole.slice(start, table.num_rows) for start, table in zip(starts, tables, strict=False)]


def find_data(paths: Sequence[Path]) -> DataFiles:
    """The given files, and the files in given directories; ordered by path, each once."""
    files: list[Path] = []
    root = None
    for path in paths:
        if path.is_dir():
            found = _files_in(path)
            if not found:
                raise SparkRulesError(f"{path} contains no {', '.join(_FORMATS)} files")
            if any("=" in part for file in found for part in file.relative_to(path).parts[:-1]):
                root = path
            files += found
        else:
            files.append(path)
    if root is not None and len(paths) > 1:
        raise SparkRulesError(f"{root} is partitioned by columns: give that directory alone")
    formats = {_format_of(file) for file in files}
    if len(formats) > 1:
        raise SparkRulesError(f"all files must have the same format, not {' and '.join(sorted(formats))}")
    for file in files:
        if not file.exists():
            raise SparkRulesError(f"{file} cannot be read: there is no such file{_elsewhere(file)}")
    files = sorted({Path(os.path.abspath(file)): file for file in files}.values(), key=os.path.abspath)  # noqa: PTH100
    return DataFiles(formats.pop(), tuple(files), root)


def _elsewhere(file: Path) -> str:
    """A hint for `s3a://bucket/file`, which has only one slash as a path."""
    is_remote = re.match("[A-Za-z][A-Za-z0-9+.-]+:/", str(file)) is not None
    return " here. Only local files are read; in Spark: sparkrules.match(spark.read.parquet(...), name)" * is_remote


def read_schema(file: Path) -> pa.Schema:
    """The columns of data."""
    return find_data([file]).schema


def _files_in(directory: Path) -> list[Path]:
    """The data files of a directory. As in Spark, names that begin with `_` or `.` are hidden."""
    found = []
    for file in sorted(directory.rglob("*")):
        hidden = any(part.startswith(("_", ".")) for part in file.relative_to(directory).parts)
        if not hidden and file.is_file() and _suffix(file) in _FORMATS:
            found.append(file)
    return found


def _suffix(file: Path) -> str:
    name = Path(file.stem) if file.suffix.lower() in _COMPRESSED else file
    return name.suffix.lower()


def _format_of(file: Path) -> Format:
    format = _FORMATS.get(_suffix(file))
    if format is None:
        raise SparkRulesError(f"{file}: data is read from {', '.join(_FORMATS)} files")
    return format


def _reading(file: Path, read: Callable[[Path], Any]) -> Any:
    with _named(file):
        return read(file)


@contextmanager
def _named(file: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, UnicodeDecodeError, ValueError, pa.ArrowException) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise SparkRulesError(f"{file} cannot be read: {reason}") from error


def _parquet_chunks(number: int, file: Path) -> Iterator[Chunk]:
    import pyarrow.parquet as pq

    start = 0
    with _named(file), pq.ParquetFile(file) as opened:
        for batch in opened.iter_batches(_BATCH):
            yield Chunk(number, start, _with_zone(pa.Table.from_batches([batch]), _instants(opened)))
            start += batch.num_rows


def _parquet_schema(file: Path) -> pa.Schema:
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as opened:
        return _with_zone(opened.schema_arrow.remove_metadata().empty_table(), _instants(opened)).schema


def _instants(opened: Any) -> list[str]:
    """The columns of the old type INT96: instants for Spark, which Arrow does not know."""
    leaves = (opened.schema.column(number) for number in range(len(opened.schema)))
    return [leaf.path for leaf in leaves if leaf.physical_type == "INT96"]


def _with_zone(table: pa.Table, names: list[str]) -> pa.Table:
    for name in names:
        if name in table.column_names:
            instants = pc.assume_timezone(table.column(name).cast(pa.timestamp("us"), safe=False), "UTC")
            table = table.set_column(table.column_names.index(name), name, instants)
    return table


def _read_json(file: Path) -> pa.Table:
    import pyarrow.json

    if file.suffix.lower() == ".json" and file.open("rb").read(64).lstrip().startswith(b"["):
        return pa.Table.from_pylist(json.loads(file.read_text(encoding="utf-8")))
    return pyarrow.json.read_json(file)


_READERS: dict[str, Callable[[Path], pa.Table]] = {"csv": read_csv, "json": _read_json}
