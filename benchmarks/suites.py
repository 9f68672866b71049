"""The workloads, their sizes, and the peers that they are compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.measurement import JOIN, NUMPY, PLAIN
from benchmarks.workloads.auctions import auctions, growth
from benchmarks.workloads.sigma import sigma
from benchmarks.workloads.strings import strings
from benchmarks.workloads.thesis import thesis
from benchmarks.workloads.workload import Workload

BOTH = ("kernel", "spark")


@dataclass(frozen=True)
class Suite:
    """Workloads of one kind: one list for each size."""

    workloads: Callable[[int], Sequence[Workload]]
    sizes: tuple[int, ...]
    quick_sizes: tuple[int, ...]
    levels: tuple[str, ...] = BOTH
    peers: tuple[str, ...] = ()
    is_corpus: bool = False  # has a fixed size


SUITES: dict[str, Suite] = {
    "auctions": Suite(
        lambda size: [auctions(size)],
        sizes=(1_000, 10_000, 100_000, 1_000_000),
        quick_sizes=(1_000, 10_000),
        peers=(PLAIN, NUMPY, JOIN),
    ),
    "growth": Suite(
        lambda size: [growth(size)],
        sizes=(1_000, 10_000, 100_000, 1_000_000),
        quick_sizes=(1_000, 10_000),
        levels=("kernel",),
    ),
    "thesis": Suite(thesis, sizes=(10_000, 100_000), quick_sizes=(1_000,), peers=(PLAIN, NUMPY)),
    "strings": Suite(lambda size: [strings(size)], sizes=(1_000, 10_000), quick_sizes=(1_000,), peers=(PLAIN,)),
    "sigma": Suite(lambda _: sigma(), sizes=(0,), quick_sizes=(0,), peers=(PLAIN,), is_corpus=True),
}
