"""Thesis, chapter 5: the sweeps of 5.4 to 5.9, run by `benchmarks.race`, and our kernel on some of their points.

A point is a kind of subscription and their number. All algorithms of a point take turns in one run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.papers.experiment import Options
from benchmarks.race.run import race
from benchmarks.workloads import boolean_trees, thesis
from benchmarks.workloads.boolean_trees import shared_nodes_per_subscription, sql
from benchmarks.workloads.thesis import CONJUNCTIVE, WITH_OR, WITH_XOR, Mix, at_size, events, many_subscriptions
from benchmarks.workloads.workload import Workload

Figures = dict[str, dict[str, float]]
# The middle of the ranges in which the thesis kept SNPS and SMPE.
EQUALITY = {L: Mix(f"L{L}", L, CONJUNCTIVE, "=", snps=0.375, smpe=0.001) for L in (4, 6, 8, 10, 12, 14)}
AND_OR = {L: Mix(f"L{L}", L, WITH_OR, ">", snps=0.5, smpe=0.135) for L in (6, 10, 14)}
MIXED = {L: Mix(f"L{L}", L, WITH_XOR, ">", snps=0.175, smpe=0.2) for L in (6, 10)}
LENGTHS = {L: Mix(f"L{L}", L, CONJUNCTIVE, ">", snps=0.375, smpe=0.45) for L in (6, 8, 10, 12, 14)}
SHARING = {
    share: Mix(f"SNPS{share}", 14, CONJUNCTIVE, ">", snps=share / 100, smpe=0.375) for share in (10, 20, 40, 60, 80)
}
MATCHES = {share: Mix(f"SMPE{share}", 14, CONJUNCTIVE, ">", snps=0.35, smpe=share / 100) for share in (10, 40, 75)}
SWEEPS: dict[str, dict[int, Mix]] = {
    "thesis-5.4": EQUALITY,
    "thesis-5.5": AND_OR,
    "thesis-5.6": MIXED,
    "thesis-5.7": LENGTHS,
    "thesis-5.8": SHARING,
    "thesis-5.9": MATCHES,
}
_MEASURED_SNPS = 30_000  # counting shared nodes takes memory: the first so many subscriptions stand for all


def key(value: int, size: int) -> str:
    """The name of a point: what is swept, and the number of subscriptions."""
    return f"{value} {size}"


def points(options: Options) -> list[str]:
    """All points: every value of the sweep at each of its sizes."""
    return [key(value, size) for value, sizes in options["sizes"].items() for size in sizes]


def figures(points: Any, value: int, size: int) -> Figures | None:
    """What was measured at a point, if it was."""
    found = points.get(key(value, size))
    return None if found is None else found["figures"]


def measure(sweep: str, options: Options, point: str) -> dict[str, Any]:
    """Race a point."""
    value, size = map(int, point.split())
    mix = at_size(SWEEPS[sweep][value], size)
    found = race(
        many_subscriptions(mix, size),
        events(mix, options["events"]),
        seconds=options["seconds"],
        rounds=options["rounds"],
    )
    sample = islice(many_subscriptions(mix, size), _MEASURED_SNPS)
    matched = found["general"].matches / size
    return {
        "figures": {name: asdict(own) for name, own in found.items()},
        "SNPS": round(shared_nodes_per_subscription(sample), 3),
        "SMPE": round(matched, 5),
    }


def kernel_points(options: Options) -> list[str]:
    """Sweep, value and size of the points that our kernel is measured at."""
    return [f"{sweep} {key(value, size)}" for sweep, value, size in options["points"]]


def kernel_workload(sweep: str, value: int, size: int) -> Workload:
    """The subscriptions and events of a point, as rules and rows."""
    mix = at_size(SWEEPS[sweep][value], size)

    def rules() -> Iterable[tuple[str, str]]:
        return ((f"{number}", sql(tree)) for number, tree in enumerate(many_subscriptions(mix, size)))

    name = f"{sweep.replace('-', '_').replace('.', '_')}_{mix.name}"
    return Workload(
        family="race",
        variant=name,
        size=size,
        rules=rules,
        rows=lambda count: thesis.table(events(mix, count)),
        generators=(thesis.__file__, boolean_trees.__file__, __file__),
        rows_name=f"race_{name}_{size}",
    )


def measure_kernel(options: Options, point: str) -> dict[str, Any]:
    """Our kernel alone: one thread, rows in memory, as `python -m benchmarks --level kernel` measures it."""
    from benchmarks.cache import Cache
    from benchmarks.measurement import Measurement, Preparation
    from benchmarks.runner import Settings
    from benchmarks.runner import measure as measure_workload
    from benchmarks.session import bench_session

    sweep, value, size = point.split()
    workload = kernel_workload(sweep, int(value), int(size))
    cache = Cache(Path(options["cache"]).absolute())
    settings = Settings(options["rows"], ("kernel",), options["warm_up"], options["seconds"], 60.0, with_peers=False)
    with bench_session(cache.directory, options["memory"]) as spark:
        found = list(measure_workload(spark, cache, workload, (), settings))
    (kernel,) = (own for own in found if isinstance(own, Measurement))
    (prepared,) = (own for own in found if isinstance(own, Preparation))
    return {
        "events": kernel.rows_per_second,
        "bytes": (kernel.bytes_per_rule or 0.0) * int(size),
        "matches": kernel.matches_per_row,
        "tests": kernel.tests_per_row,
        "insertions": int(size) / (prepared.parse_seconds + prepared.publish_seconds + prepared.bind_seconds),
        "cpu_share": kernel.cpu_share,
    }


def sizes_of(options: Options, value: int) -> Sequence[int]:
    """The sizes at which a value of a sweep is measured."""
    return options["sizes"].get(value) or options["sizes"].get(str(value)) or ()
