"""Matches all Sigma rules against all events: does any answer differ from Spark's, and where does the time go?

    python -m benchmarks.sigma

Spark's own answer takes many minutes; it is computed once and kept in build/sigma.
"""

from __future__ import annotations

from tempfile import TemporaryDirectory
from time import perf_counter

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import sparkrules
from tests.spark import sigma
from tests.spark.oracle import differences, rules_in_plan


def main() -> None:
    """Compare all rules on all events, and print the time of each part."""
    builder = SparkSession.builder.master("local[1]").config("spark.driver.memory", "4g")
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    with TemporaryDirectory() as store:
        spark = sparkrules.configure(builder, store=store).getOrCreate()
        everything = sigma.corpus(spark)
        expected = sigma.truth(everything)
        rules = sparkrules.RuleSet("sigma")
        clock = Clock()
        rules.subscribe_all(everything.rules)
        clock.lap("parse")
        rules.publish(spark)
        clock.lap("publish")
        matched = sparkrules.match(everything.events, rules).selectExpr("row", "matches.ids")
        subscriptions = rules_in_plan(matched)
        clock.lap("bind")
        found = matched.where("size(ids) > 0").collect()
        clock.lap("match")
        spark.stop()
    ours = {(row, id) for row, ids in found for id in ids}
    rows = pq.read_metadata(sigma.DATA / "events.parquet").num_rows
    reasons = set(everything.rejected.values())
    print(f"{subscriptions:,} rules, and {len(everything.rejected)} that Spark rejects: {reasons}")
    print(f"{rows:,} events, {rows * subscriptions:,} pairs, of which {len(expected):,} match")
    print("seconds:", ", ".join(f"{name} {seconds:.1f}" for name, seconds in clock.laps.items()))
    different = differences(ours, expected, everything.rules)
    print(f"{len(different)} differences", *different[:20], sep="\n  ")


class Clock:
    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = perf_counter()

    def lap(self, name: str) -> None:
        now = perf_counter()
        self.laps[name], self._last = now - self._last, now


if __name__ == "__main__":
    main()
