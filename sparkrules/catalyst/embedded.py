"""An embedded Spark that prints nothing: the JVM logs to a file, which is shown if Spark does not start."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sparkrules.catalyst.java import find_java
from sparkrules.catalyst.session import STORE_SETTING, configure, require_plugin
from sparkrules.errors import SetupError
from sparkrules.store.location import path_in_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_STDERR = 2


@contextlib.contextmanager
def embedded_spark(
    directory: Path, store: str | os.PathLike[str], settings: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """A local Spark on all cores with the plugin, with its scratch files in `directory`. Stopped at the end.

    If the process already has a Spark, this is a new session of it with separate state, and nothing is stopped.
    """
    from pyspark.errors import AnalysisException
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None:
        session = running.newSession()
        require_plugin(session)
        for key, value in {**(settings or {}), STORE_SETTING: path_in_spark(store)}.items():
            with contextlib.suppress(AnalysisException):  # fixed when Spark starts, such as its memory
                session.conf.set(key, value)
        try:
            yield session
        finally:
            running.createDataFrame([], "x int")  # makes it the active session again
        return
    session = _start(directory, store, settings or {})
    try:
        yield session
    finally:
        session.stop()


def _start(directory: Path, store: str | os.PathLike[str], settings: Mapping[str, str]) -> SparkSession:
    from pyspark.logger import PySparkLogger
    from pyspark.sql import SparkSession

    fixed = {
        "spark.driver.host": "localhost",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.warehouse.dir": str(directory / "warehouse"),
        "spark.local.dir": str(directory / "scratch"),
    }
    builder = SparkSession.builder.master("local[*]").appName("sparkrules")
    for key, value in {**fixed, **settings}.items():
        builder.config(key, value)
    configure(builder, store=store)
    find_java()  # reports what to install; Spark would only report that its gateway has exited
    log = directory / "spark.log"
    try:
        with _stderr_to(log):
            session = builder.getOrCreate()
    except Exception as error:
        said = log.read_text(encoding="utf-8", errors="replace").strip()
        raise SetupError(f"Spark does not start: {error}\n{said[-2000:]}") from error
    session.sparkContext.setLogLevel("OFF")
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True  # these log the stack of every caught error
    return session


@contextlib.contextmanager
def _stderr_to(file: Path) -> Iterator[None]:
    """Redirect the stderr of processes started in the block to the file, for as long as they live."""
    sys.stderr.flush()
    ours = os.dup(_STDERR)
    with file.open("wb") as log:
        os.dup2(log.fileno(), _STDERR)
    try:
        yield
    finally:
        os.dup2(ours, _STDERR)
        os.close(ours)
