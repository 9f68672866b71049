"""Data files as a DataFrame of the embedded Spark, and errors of Spark made readable.

Spark itself reads Parquet. CSV and JSON are read here and passed to Spark, so that a rule means the same in both
engines.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from sparkrules.catalyst import left_out
from sparkrules.cli.data_files import DataFiles
from sparkrules.cli.engine import first_lines, note, shown_reasons
from sparkrules.cli.matched import numbered
from sparkrules.cli.text_table import counted
from sparkrules.errors import SparkRulesError
from sparkrules.sql import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from sparkrules.ruleset import RuleSet

FILE, ROW = "__sparkrules_file", "__sparkrules_row"
_SHOWN = 20
# Decoded, so that the order is that of the paths; a plus sign, which stands for itself here, would become a space.
_PATH = "url_decode(replace(_metadata.file_path, '+', '%2B'))"


def data_frame(spark: SparkSession, data: DataFiles, directory: Path) -> DataFrame:
    """The rows of the data; scratch files go to the directory."""
    if data.format == "parquet":
        return _parquet(spark, data)
    return converted(spark, data.read, directory).drop(FILE, ROW)


def numbered_frame(spark: SparkSession, data: DataFiles, directory: Path) -> DataFrame:
    """The same with the columns `ROW`, and `FILE`: the path of a Parquet file, else the number of the file."""
    if data.format == "parquet":
        return _parquet(spark, data).selectExpr("*", f"{_PATH} AS {FILE}", f"_metadata.row_index AS {ROW}")
    return converted(spark, data.read, directory)


def cannot_match(error: BaseException, what: str = "match") -> SparkRulesError:
    """The error where Spark cannot match the rows, or detect patterns in them."""
    said = first_lines(error).replace(f", {FILE}, {ROW}", "")
    advice = "\nSettings are given with --conf KEY=VALUE." if "spark.sparkrules." in said else ""
    return SparkRulesError(f"Spark cannot {what}: {said}{advice}")


def note_left_out(df: DataFrame, rules: RuleSet | str) -> None:
    """Print which rules a match will skip, if the session is set to do so."""
    if df.sparkSession.conf.get("spark.sparkrules.invalidRules", "error") != "skip":
        return
    found = {row["subscription_id"]: row["reason"] for row in left_out(df, rules).collect()}
    if found:
        lines = shown_reasons(found, _SHOWN)
        note(f"{counted(len(found), 'rule')} skipped (spark.sparkrules.invalidRules=skip):\n{lines}")


def _parquet(spark: SparkSession, data: DataFiles) -> DataFrame:
    paths = [data.root] if data.root is not None else data.files
    return spark.read.option("mergeSchema", "true").parquet(*map(_spark_path, paths))


def converted(spark: SparkSession, tables: Sequence[pa.Table], directory: Path) -> DataFrame:
    """The rows of tables with the same columns, numbered as in `numbered_frame`."""
    for number, table in enumerate(tables):
        void = [field.name for field in table.schema if pa.types.is_null(field.type)]
        known = table.drop_columns(void)
        known = known.cast(pa.schema([field.with_type(_storable(field.type)) for field in known.schema]))
        files = pa.repeat(pa.scalar(number, pa.int32()), table.num_rows)
        known = known.append_column(FILE, files).append_column(ROW, numbered(0, table.num_rows))
        pq.write_table(known, directory / f"data-{number}.parquet")
    void = [field.name for field in tables[0].schema if pa.types.is_null(field.type)]
    frame = spark.read.parquet(*(str(directory / f"data-{number}.parquet") for number in range(len(tables))))
    return frame.selectExpr("*", *(f"NULL AS {quoted(name)}" for name in void))


def _storable(kind: pa.DataType) -> pa.DataType:
    """A type that Spark reads from Parquet: what is always NULL inside an array or a struct becomes a string."""
    if pa.types.is_null(kind):
        return pa.string()
    if pa.types.is_struct(kind):
        return pa.struct([own.with_type(_storable(own.type)) for own in kind])
    if pa.types.is_list(kind):
        return pa.list_(_storable(kind.value_type))
    return kind


def _spark_path(path: Path) -> str:
    """The path, with characters escaped that Spark would read as a pattern."""
    return re.sub(r"([][{}*?\\])", r"\\\1", os.path.abspath(path))  # noqa: PTH100
