"""Measures the kernel of a query."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from benchmarks.session import jvm


@dataclass(frozen=True)
class KernelFigures:
    """One thread over rows in memory, per second of its processor time; `cpu_share` is the share of a core that it got.

    `in_order`: with the matches sorted by priority and id, as for queries that ask for ids. Counters that the kernel
    does not have are None.
    """

    subscriptions: int
    rows: int
    rows_per_second: float
    rows_per_second_in_order: float
    matches_per_row: float
    bytes_per_subscription: float
    tests_per_row: float | None
    candidates_per_row: float | None
    cpu_share: float


def measure_kernel(matched: DataFrame, warm_up: float, seconds: float) -> KernelFigures:
    """Match the rows of a query that calls `match_subscriptions`, for `seconds` seconds."""
    bench = jvm(matched.sparkSession).sparkrules.KernelBench
    found = dict(bench.run(matched._jdf, float(warm_up), float(seconds)))
    return KernelFigures(
        subscriptions=int(found["subscriptions"]),
        rows=int(found["rows"]),
        rows_per_second=found["rows_per_second"],
        rows_per_second_in_order=found["rows_per_second_in_order"],
        matches_per_row=found["matches_per_row"],
        bytes_per_subscription=found["bytes"] / found["subscriptions"],
        tests_per_row=found["tests_per_row"] or None,
        candidates_per_row=found["candidates_per_row"] or None,
        cpu_share=found["cpu_share"],
    )
