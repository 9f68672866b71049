"""A stream in which patterns are detected: rows arrive in files, each a micro-batch."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import sparkrules
from sparkrules import RuleSet
from tests.pattern_cases import BEGIN, COLUMNS, Plain, Row, plain

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
FLUSH: Row = dict.fromkeys(COLUMNS) | {"ts": BEGIN + timedelta(hours=1)}
"""A row that no rule matches, so late that the watermark passes all others."""


def detections(df: DataFrame) -> list[Plain]:
    """The rows of an answer, sorted."""
    return sorted(plain(row.asDict(recursive=True)) for row in df.collect())


class Stream:
    """A stream of rows from files, each a micro-batch, whose detections go to Parquet files.

    `run` takes what has arrived, starting from the checkpoint.
    """

    def __init__(self, spark: SparkSession, rules: RuleSet | str, delay: int, path: Path, schema: str = SCHEMA) -> None:
        self.spark, self.path, self.delay = spark, path, delay
        self.rules, self.schema = rules, schema
        self.files = 0
        self.dropped = 0
        self.state_rows = -1
        (path / "incoming").mkdir()

    def arrive(self, *batches: Sequence[Row]) -> None:
        for rows in batches:
            self.files += 1
            file = self.path / "incoming" / f"{self.files}.json"
            file.write_text("".join(f"{json.dumps(row, default=str)}\n" for row in rows))
            os.utime(file, (self.files, self.files))  # files are read in the order of their times

    def run(self) -> list[Plain]:
        """All detections so far."""
        incoming = self.spark.readStream.schema(self.schema).option("maxFilesPerTrigger", 1)
        df = incoming.json(str(self.path / "incoming")).withWatermark("ts", f"{self.delay} seconds")
        found = sparkrules.detect(df, self.rules, time="ts", id="id")
        query = (
            found.writeStream.option("checkpointLocation", str(self.path / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(self.path / "found"))
        )
        query.awaitTermination()
        for progress in query.recentProgress:
            (state,) = progress["stateOperators"]
            self.dropped += state["numRowsDroppedByWatermark"]
            self.state_rows = state["numRowsTotal"]
        return detections(self.spark.read.schema(found.schema).parquet(str(self.path / "found")))
