"""Compiles and runs the race in a plain JVM, and reads its figures."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt

from benchmarks.race.workload_file import write_workload
from benchmarks.workloads.boolean_trees import Tree
from sparkrules.catalyst.java import find_java
from sparkrules.catalyst.scala_compiler import class_path, compile_scala
from sparkrules.catalyst.spark_home import find_spark_home

SOURCES = sorted(Path(__file__).parent.glob("*.scala"))
JARS = Path(__file__).resolve().parents[2] / "build" / "race"


@dataclass(frozen=True)
class Figures:
    """What one algorithm did with one workload. `deletions` and `nodes` are 0 for those that have none."""

    insertions: float
    deletions: float
    events: float
    bytes: float
    computed: float
    passed: float
    matches: float
    nodes: float


def race(
    subscriptions: Iterable[Tree],
    events: npt.NDArray[np.int64],
    *,
    seconds: float,
    rounds: int = 3,
    memory: str = "12g",
    matches: Path | None = None,
) -> dict[str, Figures]:
    """The figures of every algorithm that can take the workload.

    All must agree on the matches. With `matches`, those of every event are written to that file.
    """
    with TemporaryDirectory() as directory:
        file = Path(directory, "work")
        write_workload(subscriptions, events, file)
        command = [find_java(), f"-Xmx{memory}", "-Xss64m", "-XX:+UseSerialGC"]
        command += ["-cp", class_path(find_spark_home(), [race_jar()]), "race.Race", str(file)]
        command += [str(seconds), str(rounds), *([] if matches is None else [str(matches)])]
        ran = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    if ran.returncode:
        raise RuntimeError(f"the race failed:\n{ran.stderr}")
    _, *lines = ran.stdout.splitlines()
    return {name: Figures(*map(float, figures)) for name, *figures in (line.split("\t") for line in lines)}


def race_jar() -> Path:
    """The jar of the race, compiled unless it already exists for this source and Spark."""
    home = find_spark_home()
    digest = hashlib.sha256(home.version.encode())
    for source in SOURCES:
        digest.update(source.read_bytes())
    jar = JARS / f"race-{digest.hexdigest()[:16]}.jar"
    if not jar.exists():
        JARS.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=JARS) as scratch:
            made = Path(scratch, jar.name)
            compile_scala("the race", SOURCES, made, home, root=Path(__file__).parent, strict=True)
            made.replace(jar)
    return jar
