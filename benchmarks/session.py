"""The Spark session to measure: two cores of this machine, without features that would distort the figures."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pyspark.sql import SparkSession

import sparkrules
from benchmarks.kernel.jar import kernel_jar

CORES = 2
Jvm = Any  # what py4j exposes of it


def jvm(spark: SparkSession) -> Jvm:
    """Spark's JVM, seen from Python."""
    return spark._jvm


@contextmanager
def bench_session(cache: Path, memory: str, more: Mapping[str, str] = MappingProxyType({})) -> Iterator[SparkSession]:
    """A local Spark with the plugin, `KernelBench` and `ScanBench`, and more settings."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = (
        SparkSession.builder.master(f"local[{CORES}]")
        .appName("sparkrules benchmarks")
        .config("spark.jars", str(kernel_jar(cache)))
        .config("spark.driver.memory", memory)
        .config("spark.driver.host", "localhost")
        .config("spark.log.level", "ERROR")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", str(2 * CORES))
        .config("spark.sql.warehouse.dir", str(cache / "warehouse"))
        # About seven files per task: the cores finish together, and no task is so short that its start-up time matters.
        .config("spark.sql.files.maxPartitionBytes", "32m")
    )
    for key, value in more.items():
        builder = builder.config(key, value)
    session = sparkrules.configure(builder).getOrCreate()
    try:
        yield session
    finally:
        session.stop()
