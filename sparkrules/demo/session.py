"""The Spark session of the demo."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from pyspark.sql import SparkSession

from sparkrules.catalyst import embedded_spark

MEMORY = "4g"


def quiet_session(directory: Path) -> AbstractContextManager[SparkSession]:
    """A local Spark on all cores, with its store and scratch files in `directory`. Stopped at the end."""
    # The files of the demo are small. Each becomes a task, so that the progress bar moves.
    settings = {"spark.driver.memory": MEMORY, "spark.sql.files.maxPartitionBytes": "1m"}
    return embedded_spark(directory, directory / "store", settings)
