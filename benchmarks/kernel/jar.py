"""The jar of what measures inside Spark's JVM, from PySpark's Scala compiler, cached by a hash of its inputs."""

from __future__ import annotations

from pathlib import Path

import sparkrules
from sparkrules.catalyst.scala_compiler import compile_once
from sparkrules.catalyst.spark_home import find_spark_home

SOURCES = [Path(__file__).with_name(f"{name}.scala") for name in ("KernelBench", "PhaseSampler", "ScanBench")]


def kernel_jar(directory: Path) -> Path:
    """The jar in `directory`, built first if there is none for this source, this plugin and this Spark."""
    plugin = Path(sparkrules.jar_path())
    return compile_once("KernelBench", SOURCES, directory, find_spark_home(), plugin, root=Path(__file__).parent)
