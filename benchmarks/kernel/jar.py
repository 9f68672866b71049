"""The jar with `KernelBench`, compiled by the Scala compiler that PySpark has, and kept by what it is made of."""

from __future__ import annotations

from pathlib import Path

import sparkrules
from sparkrules.catalyst.scala_compiler import compile_once
from sparkrules.catalyst.spark_home import find_spark_home

SOURCE = Path(__file__).with_name("KernelBench.scala")


def kernel_jar(directory: Path) -> Path:
    """The jar, in `directory`; built first if there is none of this source, this plugin and this Spark."""
    plugin = Path(sparkrules.jar_path())
    return compile_once("KernelBench", [SOURCE], directory, find_spark_home(), plugin, root=SOURCE.parent)
