"""Matching files with an embedded Spark, which writes what it finds to a directory."""

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
from sparkrules.catalyst import embedded_spark, timed
from sparkrules.cli.matched import Matched
from sparkrules.cli.spark_data import FILE, ROW, cannot_match, note_left_out, numbered_frame
from sparkrules.ruleset import RuleSet
from sparkrules.sql import quoted
from sparkrules.store import Place

if TYPE_CHECKING:
    from sparkrules.cli.matching import Matching

_IDS = "__sparkrules_ids"
# INT96, the default, has no time zone when it is read back.
_WRITTEN = {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"}


def spark_matched(matching: Matching, directory: Path) -> Iterator[Matched]:
    """The rows that match, in order of the files; scratch files go to the directory."""
    from pyspark.errors import PySparkException

    store, name = published(matching.rules, directory)
    data = matching.data
    keep = matching.columns if data.format == "parquet" else []
    try:
        with embedded_spark(directory, store, {**_WRITTEN, **matching.settings}) as spark:
            frame = numbered_frame(spark, data, directory)
            note_left_out(frame.drop(FILE, ROW), name)
            found = sparkrules.match(frame, name, _IDS)
            found = found.selectExpr(FILE, ROW, *map(quoted, keep), f"{_IDS}.ids AS {_IDS}")
            if not matching.all:
                found = found.where(f"size({_IDS}) > 0")
            writer = found.orderBy(FILE, ROW).write
            timed(spark.sparkContext, lambda: writer.parquet(str(directory / "found")), data.rows, "matching")
    except PySparkException as error:
        raise cannot_match(error) from error
    for number, file in enumerate(sorted((directory / "found").glob("part-*.parquet"))):
        with pq.ParquetFile(file) as opened:
            if number == 0:
                yield _matched(opened.schema_arrow.empty_table(), matching)
            for batch in opened.iter_batches():
                yield _matched(pa.Table.from_batches([batch]), matching)


def published(rules: RuleSet, directory: Path) -> tuple[Place, str]:
    """The store and the version from which Spark takes the rules. Rules of a file are published to the directory."""
    version = rules.version
    if version is None:
        rules.store = directory / "store"
        version = rules.publish()
    return rules.store.path, f"{rules.name}@{version}"


def _matched(found: pa.Table, matching: Matching) -> Matched:
    data, rows = matching.data, found.column(ROW).combine_chunks()
    ids: Any = found.column(_IDS).combine_chunks()
    if data.format == "parquet":
        known = pa.array([os.path.abspath(file) for file in data.files])  # noqa: PTH100
        paths = found.column(FILE).combine_chunks().dictionary_encode()
        names = pa.array([re.sub("^file:(//)?", "", uri) for uri in paths.dictionary.to_pylist()], pa.string())
        files = pc.index_in(names, value_set=known).take(paths.indices)
        return Matched(files, rows, found.select(matching.columns), ids)
    files = found.column(FILE).combine_chunks()
    whole = pa.concat_tables(data.read)
    starts = [0]
    for table in data.read:
        starts.append(starts[-1] + table.num_rows)
    places = pc.add(pa.array(starts, pa.int64()).take(files), rows)
    return Matched(files, rows, whole.select(matching.columns).take(places), ids)
