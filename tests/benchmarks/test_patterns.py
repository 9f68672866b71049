"""The benchmark of patterns, small: batch, stream and queries by hand agree, or it fails by itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.patterns.__main__ import table
from benchmarks.patterns.measuring import measure
from benchmarks.patterns.workload import Size
from tests.spark.oracle import settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROCKS_DB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def test_the_ways_agree_on_detections_of_every_kind(spark: SparkSession, tmp_path: Path) -> None:
    size = Size(patterns=30, rules=60, events=10_000, keys=200, files=2)
    with settings(
        spark,
        zone="UTC",
        spark_sparkrules_store=str(tmp_path / "store"),
        spark_sql_streaming_stateStore_providerClass=ROCKS_DB,
    ):
        found = measure(spark, size, tmp_path, runs=1, sampled=3, with_id=True)
    assert set(found.detections) == {"sequence", "together", "count", "absence", "match", "suppressed"}
    assert set(found.checked) == {"sequence", "together", "count"}
    assert min(found.checked.values()) > 0, "patterns that are not detected prove nothing"
    assert found.state.rows > 0
    assert "| a query per pattern (3 measured, the rest extrapolated) |" in table(found)
