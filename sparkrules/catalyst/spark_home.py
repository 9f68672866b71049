"""The installed Spark: the location of its jars and its version, without importing PySpark."""

from __future__ import annotations

import importlib.util
import os
import re
from dataclasses import dataclass
from pathlib import Path

from sparkrules.errors import SetupError

OLDEST_SPARK, NEWEST_SPARK = (4, 0), (4, 3)

_INSTALL = 'Install it: pip install "pyspark>=4.0,<4.4"'


@dataclass(frozen=True)
class SparkHome:
    """An installed Spark.

    >>> SparkHome(Path("spark"), "4.3.0").minor
    '4.3'
    """

    path: Path
    version: str

    @property
    def jars(self) -> Path:
        return self.path / "jars"

    @property
    def minor(self) -> str:
        """The part of the version within which the plugin's jar stays compatible."""
        return "{}.{}".format(*parse_minor(self.version))


def find_spark_home() -> SparkHome:
    """The Spark that a session of this Python would start: `SPARK_HOME` if it is set, else the PySpark package."""
    path, origin = _locate_spark()
    core = sorted((path / "jars").glob("spark-core_*.jar"))
    if not core:
        raise SetupError(
            f"{path} ({origin}) has no Spark in it: no jars/spark-core_*.jar. The pyspark-client package is not enough "
            f"to build the plugin, the full pyspark is needed. {_INSTALL}"
        )
    home = SparkHome(path, core[-1].stem.partition("-core_")[2].partition("-")[2])
    if parse_minor(home.version) < OLDEST_SPARK:
        raise SetupError(f"Spark {home.version} ({origin}) is too old, sparkrules needs 4.0 or newer. {_INSTALL}")
    return home


def parse_minor(version: str) -> tuple[int, int]:
    """Major and minor version as numbers.

    >>> parse_minor("4.1.0-preview3")
    (4, 1)
    """
    found = re.match(r"(\d+)\.(\d+)", version)
    if not found:
        raise SetupError(f"{version!r} is not a Spark version")
    return int(found.group(1)), int(found.group(2))


def _locate_spark() -> tuple[Path, str]:
    home = os.environ.get("SPARK_HOME")
    if home:
        return Path(home), "SPARK_HOME"
    package = importlib.util.find_spec("pyspark")
    if package is None or not package.submodule_search_locations:
        raise SetupError(f"PySpark is not installed. {_INSTALL}")
    return Path(package.submodule_search_locations[0]), "the pyspark package"
