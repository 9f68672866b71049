"""An embedded Spark that says nothing: the JVM writes to a file, which is shown if it does not start."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import SparkSession

import sparkrules
from sparkrules.errors import SetupError

MEMORY = "4g"
_STDERR = 2


@contextlib.contextmanager
def quiet_session(directory: Path, store: Path | None = None) -> Iterator[SparkSession]:
    """A local Spark on all cores, its scratch files in `directory`, and its store unless one is given; then stopped."""
    builder = (
        SparkSession.builder.master("local[*]")
        .appName("sparkrules")
        .config("spark.driver.memory", MEMORY)
        .config("spark.driver.host", "localhost")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.warehouse.dir", str(directory / "warehouse"))
        .config("spark.local.dir", str(directory / "scratch"))
        # The files of the demo are small. Each becomes a task, so that the progress bar moves.
        .config("spark.sql.files.maxPartitionBytes", "1m")
    )
    sparkrules.configure(builder, store=store or directory / "store")
    log = directory / "spark.log"
    try:
        with _stderr_to(log):
            session = builder.getOrCreate()
    except Exception as error:
        said = log.read_text(encoding="utf-8", errors="replace").strip()
        raise SetupError(f"Spark does not start: {error}\n{said[-2000:]}") from error
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()


@contextlib.contextmanager
def _stderr_to(file: Path) -> Iterator[None]:
    """Processes that are started inside write their stderr to the file, for as long as they live."""
    sys.stderr.flush()
    ours = os.dup(_STDERR)
    with file.open("wb") as log:
        os.dup2(log.fileno(), _STDERR)
    try:
        yield
    finally:
        os.dup2(ours, _STDERR)
        os.close(ours)
