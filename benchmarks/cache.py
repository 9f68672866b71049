"""Caches generated rule sets and rows: parsing a million rules takes minutes, and no measurement depends on it.

Each has a directory whose name contains a hash of its generator. The directory appears whole or not at all.
"""

from __future__ import annotations

import json
import resource
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from time import perf_counter

import pyarrow.parquet as pq

import sparkrules
from benchmarks.workloads.workload import Workload
from sparkrules.store import Store

# The first files are small, so that a prefix of the files is a sample of any size.
FIRST_FILES = (1_000, 1_000, 3_000, 5_000)
ROWS_PER_FILE = 10_000


@dataclass(frozen=True)
class Built:
    """The cost of building a rule set; the memory is for the whole process."""

    rules: int
    predicates: int
    nodes: int
    parse_seconds: float
    publish_seconds: float
    peak_megabytes: int
    traits: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CachedRules:
    """A published rule set, `name` in the store at `store`."""

    name: str
    store: Path
    built: Built


@dataclass(frozen=True)
class CachedRows:
    """Parquet files. The first ones are a sample."""

    files: tuple[Path, ...]
    counts: tuple[int, ...]

    def first(self, count: int) -> tuple[list[str], int]:
        """The files of the smallest sample of at least `count` rows, or all files, and the number of rows."""
        taken = total = 0
        while taken < len(self.files) and total < count:
            total += self.counts[taken]
            taken += 1
        return [str(file) for file in self.files[:taken]], total


class Cache:
    """A directory of rule sets and rows."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def rules(self, workload: Workload) -> CachedRules:
        """The published rules of a workload, generated on first use."""
        home = self._directory(f"rules-{workload.name}-{workload.fingerprint()}", lambda at: _publish(workload, at))
        built = Built(**json.loads((home / "built.json").read_text(encoding="utf-8")))
        return CachedRules(workload.name, home / "store", built)

    def rows(self, workload: Workload, count: int) -> CachedRows:
        """The rows of a workload as Parquet, generated on first use."""
        name = f"rows-{workload.rows_name}-{count}-{workload.fingerprint(FIRST_FILES)}"
        home = self._directory(name, lambda at: _write_rows(workload, count, at))
        files = tuple(sorted(home.glob("*.parquet")))
        return CachedRows(files, tuple(pq.read_metadata(file).num_rows for file in files))

    def _directory(self, name: str, make: Callable[[Path], None]) -> Path:
        home = self.directory / name
        if not home.exists():
            self.directory.mkdir(parents=True, exist_ok=True)
            scratch = Path(mkdtemp(prefix=".making-", dir=self.directory))
            try:
                make(scratch)
                scratch.replace(home)
            except OSError:
                if not home.exists():  # otherwise another process was faster
                    raise
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
        return home


def _publish(workload: Workload, home: Path) -> None:
    print(f"{workload.name}: parsing and publishing, once", file=sys.stderr, flush=True)
    rules = sparkrules.RuleSet(workload.name, store=home / "store")
    start = perf_counter()
    rules.subscribe_all(list(workload.rules()))
    parsed = perf_counter()
    if rules.rejected:
        raise ValueError(f"{len(rules.rejected)} rules of {workload.name} are rejected, first {rules.rejected[0]}")
    rules.publish()
    published = perf_counter()
    manifest = Store(home / "store").manifest(workload.name)
    built = Built(
        rules=len(rules),
        predicates=manifest.predicates,
        nodes=manifest.nodes,
        parse_seconds=parsed - start,
        publish_seconds=published - parsed,
        peak_megabytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        traits=workload.measured_traits(),
    )
    (home / "built.json").write_text(json.dumps(asdict(built), indent=1) + "\n", encoding="utf-8")


def _write_rows(workload: Workload, count: int, home: Path) -> None:
    rows = workload.rows(count)
    start = number = 0
    while start < rows.num_rows:
        size = FIRST_FILES[number] if number < len(FIRST_FILES) else ROWS_PER_FILE
        pq.write_table(rows.slice(start, size), home / f"part-{number:04}.parquet")
        start, number = start + size, number + 1
