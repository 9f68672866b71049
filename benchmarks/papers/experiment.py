"""An experiment: points that are measured one by one and kept in a JSON file, so that a run can be resumed."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal

from benchmarks.machine import processor
from benchmarks.verdict import Judged
from sparkrules.cli.whole_file import whole_file

Size = Literal["smoke", "quick", "full"]
Options = Mapping[str, Any]
Points = Mapping[str, Any]


@dataclass(frozen=True)
class Claim:
    """What a paper says and where, what we found, and why it differs or not."""

    where: str
    text: str
    judged: Judged
    why: str = ""


@dataclass(frozen=True)
class Experiment:
    """What is measured, at which sizes, and what the paper says about it.

    `points` lists the keys of all points for some options, `measure` measures one of them. `needs_spark`: whether it
    starts a Spark session.
    """

    name: str
    title: str
    options: Mapping[Size, Options]
    points: Callable[[Options], Sequence[str]]
    measure: Callable[[Options, str], Any]
    claims: Callable[[Options, Points], list[Claim]]
    needs_spark: bool = False

    def run(self, size: Size, directory: Path, say: Callable[[str], None]) -> Result:
        """Measure what the file does not have yet."""
        options = self.options[size]
        file = directory / f"{self.name}.json"
        result = Result.read(file) if file.exists() else Result(self.name, dict(options))
        if result.options != json.loads(json.dumps(options)):
            result = Result(self.name, dict(options))
        for key in self.points(options):
            if key in result.points:
                continue
            start = time.perf_counter()
            result.points[key] = self.measure(options, key)
            result.seconds[key] = round(time.perf_counter() - start, 1)
            result.machine = machine(result.machine)
            result.write(file)
            say(f"{self.name}: {key}, {result.seconds[key]:.1f} s")
        return result


@dataclass
class Result:
    """The content of the file."""

    experiment: str
    options: dict[str, Any]
    machine: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    points: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def read(file: Path) -> Result:
        return Result(**json.loads(file.read_text(encoding="utf-8")))

    def write(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(file) as unfinished:
            unfinished.write_text(json.dumps(vars(self), indent=1) + "\n", encoding="utf-8")


def machine(before: Mapping[str, str]) -> dict[str, str]:
    """Where and when a point was measured, and the highest load there was at the end of one."""
    load = max(os.getloadavg()[0], float(before.get("load", 0)))
    return {
        "date": datetime.now(timezone.utc).date().isoformat(),
        "processor": processor(),
        "cores": str(os.cpu_count()),
        "Python": platform.python_version(),
        "load": f"{load:.1f}",
    }
