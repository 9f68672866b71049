"""Matching files with an embedded Spark, which writes what it finds to a directory.

Spark itself reads Parquet. Of CSV and JSON it is given the columns as they were read here, so that a rule means the
same whoever matches it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import sparkrules
from sparkrules.catalyst.embedded import embedded_spark
from sparkrules.catalyst.job_progress import timed
from sparkrules.catalyst.predicate_sql import quoted
from sparkrules.cli.data_files import DataFiles
from sparkrules.cli.engine import first_lines
from sparkrules.cli.matched import Matched, numbered
from sparkrules.errors import SparkRulesError
from sparkrules.ruleset import RuleSet
from sparkrules.store import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from sparkrules.cli.matching import Matching

_FILE, _ROW, _IDS = "__sparkrules_file", "__sparkrules_row", "__sparkrules_ids"
# Decoded, so that the order is that of the paths; a plus sign, which stands for itself here, would become a space.
_PATH = "url_decode(replace(_metadata.file_path, '+', '%2B'))"
# INT96, the default, has no time zone when it is read back.
_WRITTEN = {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"}


def spark_matched(matching: Matching, directory: Path) -> Iterator[Matched]:
    """The rows that match, in order of the files; scratch files go to the directory."""
    from pyspark.errors import PySparkException

    store, name = published(matching.rules, matching.store, directory)
    data = matching.data
    keep = matching.columns if data.format == "parquet" else []
    try:
        with embedded_spark(directory, store, {**_WRITTEN, **matching.settings}) as spark:
            found = sparkrules.match(_frame(spark, data, directory), name, _IDS)
            found = found.selectExpr(_FILE, _ROW, *map(quoted, keep), f"{_IDS}.ids AS {_IDS}")
            if not matching.all:
                found = found.where(f"size({_IDS}) > 0")
            writer = found.orderBy(_FILE, _ROW).write
            timed(spark.sparkContext, lambda: writer.parquet(str(directory / "found")), data.rows, "matching")
    except PySparkException as error:
        said = first_lines(error).replace(f", {_FILE}, {_ROW}", "")
        advice = "\nSettings are given with --conf KEY=VALUE." if "spark.sparkrules." in said else ""
        raise SparkRulesError(f"Spark cannot match: {said}{advice}") from error
    for number, file in enumerate(sorted((directory / "found").glob("part-*.parquet"))):
        with pq.ParquetFile(file) as opened:
            if number == 0:
                yield _matched(opened.schema_arrow.empty_table(), matching)
            for batch in opened.iter_batches():
                yield _matched(pa.Table.from_batches([batch]), matching)


def published(rules: RuleSet, store: str | None, directory: Path) -> tuple[Path, str]:
    """The store and the version in it from which Spark takes the rules; those of a file are published for it."""
    source = Store(store).path
    version = rules.version_in(source)
    if version is None:
        source = directory / "store"
        version = rules.publish(store=source)
    return source, f"{rules.name}@{version}"


def _frame(spark: SparkSession, data: DataFiles, directory: Path) -> DataFrame:
    if data.format == "parquet":
        paths = [data.root] if data.root is not None else data.files
        reader = spark.read.option("mergeSchema", "true")
        frame = reader.parquet(*map(_spark_path, paths))
        return frame.selectExpr("*", f"{_PATH} AS {_FILE}", f"_metadata.row_index AS {_ROW}")
    for number, table in enumerate(data.read):
        void = [field.name for field in table.schema if pa.types.is_null(field.type)]
        known = table.drop_columns(void)
        known = known.cast(pa.schema([field.with_type(_storable(field.type)) for field in known.schema]))
        files = pa.repeat(pa.scalar(number, pa.int32()), table.num_rows)
        known = known.append_column(_FILE, files).append_column(_ROW, numbered(0, table.num_rows))
        pq.write_table(known, directory / f"data-{number}.parquet")
    void = [field.name for field in data.schema if pa.types.is_null(field.type)]
    frame = spark.read.parquet(*(str(directory / f"data-{number}.parquet") for number in range(len(data.files))))
    return frame.selectExpr("*", *(f"NULL AS {quoted(name)}" for name in void))


def _storable(kind: pa.DataType) -> pa.DataType:
    """A type that Spark reads from Parquet: what is always NULL inside an array or a struct becomes a text."""
    if pa.types.is_null(kind):
        return pa.string()
    if pa.types.is_struct(kind):
        return pa.struct([own.with_type(_storable(own.type)) for own in kind])
    if pa.types.is_list(kind):
        return pa.list_(_storable(kind.value_type))
    return kind


def _spark_path(path: Path) -> str:
    """The path, with what Spark would take for a pattern escaped."""
    return re.sub(r"([][{}*?\\])", r"\\\1", os.path.abspath(path))  # noqa: PTH100


def _matched(found: pa.Table, matching: Matching) -> Matched:
    data, rows = matching.data, found.column(_ROW).combine_chunks()
    ids: Any = found.column(_IDS).combine_chunks()
    if data.format == "parquet":
        known = pa.array([os.path.abspath(file) for file in data.files])  # noqa: PTH100
        paths = found.column(_FILE).combine_chunks().dictionary_encode()
        names = pa.array([re.sub("^file:(//)?", "", uri) for uri in paths.dictionary.to_pylist()], pa.string())
        files = pc.index_in(names, value_set=known).take(paths.indices)
        return Matched(files, rows, found.select(matching.columns), ids)
    files = found.column(_FILE).combine_chunks()
    whole = pa.concat_tables(data.read)
    starts = [0]
    for table in data.read:
        starts.append(starts[-1] + table.num_rows)
    places = pc.add(pa.array(starts, pa.int64()).take(files), rows)
    return Matched(files, rows, whole.select(matching.columns).take(places), ids)
