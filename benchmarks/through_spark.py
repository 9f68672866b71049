"""Measures through Spark SQL: Parquet in, ids out, with a scan that only hashes as the floor."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame

from benchmarks.measurement import FLOOR, OURS, Measurement
from benchmarks.subject import Sample, Subject
from benchmarks.timing import DidNotEnd, Timed, timed

RUNS = 5
WARM_UPS = 6  # the first workload of a run meets a cold JVM: with 2, it looked a quarter slower
PILOT_ROWS = 1_000


def floor(df: DataFrame) -> int:
    """Read every column of every row, and do as little else as possible."""
    found = df.selectExpr(f"sum(hash({', '.join(f'`{name}`' for name in df.columns)}))").collect()
    return int(found[0][0] or 0)


def rows_within(subject: Subject, query: Callable[[Sample], Timed[int]], seconds: float, most: int) -> int:
    """How many rows, at most `most`, a query handles in about `seconds` seconds, tried with growing numbers."""
    rows = PILOT_ROWS
    query(subject.sample(rows))  # the first time, Spark generates and loads code
    affordable = 10 * rows
    while rows < most and affordable > 2 * rows:
        try:
            tried = min(most, affordable, 10 * rows)
            affordable = int(tried * seconds / query(subject.sample(tried)).seconds)
        except DidNotEnd:
            return rows
        rows = tried
    return max(PILOT_ROWS, min(most, affordable))


def measure_ours(subject: Subject, rows: int, budget: float) -> list[Measurement]:
    """The match and the floor over the same rows: all of them, or as many as can be matched in the time."""
    spark, workload = subject.spark, subject.workload

    def match(sample: Sample) -> Timed[int]:
        return timed(spark, lambda: subject.matches(sample.df))

    affordable = rows_within(subject, match, budget, rows)
    count = subject.sample(affordable).rows
    matches, scans = [], []
    # Alternating, so that other load on the machine affects both alike. The scan must be warm as well: cold, it looked
    # half as fast, and the match nearly free.
    for _ in range(WARM_UPS + RUNS):
        matches.append(match(subject.sample(affordable)))
        scans.append(timed(spark, lambda: floor(subject.sample(affordable).df)))
    matched, scanned = (min(runs[WARM_UPS:], key=lambda run: run.seconds) for runs in (matches, scans))

    def measurement(engine: str, run: Timed[int], matches_per_row: float | None) -> Measurement:
        return Measurement(
            workload=workload.label,
            rules=workload.size,
            level="spark",
            engine=engine,
            rows=count,
            rows_per_second=count / run.seconds,
            matches_per_row=matches_per_row,
            seconds=run.seconds,
            cpu_seconds=run.cpu_seconds,
            note=f"best of {RUNS}",
        )

    return [measurement(OURS, matched, matched.result / count), measurement(FLOOR, scanned, None)]
