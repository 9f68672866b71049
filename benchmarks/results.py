"""The results as JSON: the figures, and the machine and versions they were measured on."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from pyspark.sql import SparkSession

import sparkrules
from benchmarks.machine import processor
from benchmarks.measurement import Measurement, Preparation
from benchmarks.session import CORES, jvm
from sparkrules.cli.whole_file import whole_file


@dataclass
class Results:
    """All results of a run."""

    environment: dict[str, str] = field(default_factory=dict)
    preparations: list[Preparation] = field(default_factory=list)
    measurements: list[Measurement] = field(default_factory=list)

    def add(self, *found: Measurement | Preparation) -> None:
        """Add results. A result of the same engine and workload is replaced."""
        for one in found:
            if isinstance(one, Preparation):
                self.preparations = [p for p in self.preparations if _key(p) != _key(one)] + [one]
            else:
                self.measurements = [m for m in self.measurements if _key(m) != _key(one)] + [one]

    def write(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(file) as unfinished:
            unfinished.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @staticmethod
    def read(file: Path) -> Results:
        found = json.loads(file.read_text(encoding="utf-8"))
        return Results(
            found["environment"],
            [Preparation(**fields) for fields in found["preparations"]],
            [Measurement(**fields) for fields in found["measurements"]],
        )


def environment(spark: SparkSession) -> dict[str, str]:
    """The machine, the versions and the date."""
    return {
        "date": datetime.now(timezone.utc).date().isoformat(),
        "processor": processor(),
        "cores": str(os.cpu_count()),
        "cores used": str(CORES),
        "memory of Spark": spark.conf.get("spark.driver.memory", ""),
        "Java": jvm(spark).java.lang.System.getProperty("java.version"),
        "Spark": spark.version,
        "Python": platform.python_version(),
        "sparkrules": sparkrules.__version__,
    }


def _key(one: Measurement | Preparation) -> tuple[str, ...]:
    key = (one.workload, str(one.rules))
    return (*key, one.level, one.engine) if isinstance(one, Measurement) else key
