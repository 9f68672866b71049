"""The options of every Java that tests start.

Most of them run for seconds, so starting is most of their work. The first-tier compiler alone and the simplest
collector take little more than half of the processor time. An archive of Spark's classes, which `make test` makes once,
takes half of what is left: see `tests/class_archive.py`. Without one, or with one of another Java or Spark, tests run
all the same, only slower.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

ARCHIVE = Path(__file__).resolve().parents[1] / "build" / "spark-classes.jsa"
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"  # Java would warn of an archive that does not fit


def archived() -> str:
    """The option that takes classes from the archive, if there is one."""
    return f"{shlex.quote(f'-XX:SharedArchiveFile={ARCHIVE}')} {QUIET}" if ARCHIVE.exists() else ""


def java_options() -> str:
    """For a Java that runs for seconds."""
    return f"{QUICK} {archived()}".strip()


def set_for_spark() -> None:
    """For every Spark that this process and its children start from now on; Spark's scripts say nothing about it."""
    os.environ["SPARK_SUBMIT_OPTS"] = java_options()
    os.environ["SPARK_LAUNCHER_OPTS"] = QUICK  # of the Java that only puts together the command of the other
