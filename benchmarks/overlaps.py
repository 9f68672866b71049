"""Measures the cost of overlap sets compared with ids alone: python -m benchmarks.overlaps --rules 10000

Matches auction rules against auction rows from Parquet through Spark, on one core: all rows, where most match nothing
and some a thousand rules, and the rows with about the average number of matches. The queries alternate. For each, the
run with the least processor time of Spark's JVM counts: on a busy machine, wall-clock time says little.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import SparkSession, functions

import sparkrules
from benchmarks.session import jvm
from sparkrules.demo.auctions import auction_rows, auction_rules

AROUND = (14, 42)  # matches
QUERIES = {
    "ids": "sum(size(m.ids))",
    "ids and overlaps": "sum(size(m.ids) + size(m.overlaps))",
}


def main() -> None:
    """Print a line for each query, and how the pairs compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", type=int, default=10_000)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=6)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.driver.memory", "2g").config("spark.log.level", "ERROR")
        builder = builder.config("spark.ui.showConsoleProgress", "false")
        spark = sparkrules.configure(builder, store=Path(directory) / "store").getOrCreate()
        try:
            _publish(spark, options.rules)
            path = str(Path(directory) / "rows.parquet")
            pq.write_table(auction_rows(options.rows), path)
            print(f"{options.rules:,} rules")
            _measure(spark, "all rows", path, options.runs)
            _measure(spark, "rows with {} to {} matches".format(*AROUND), _around(spark, path), options.runs)
        finally:
            spark.stop()


def _publish(spark: SparkSession, count: int) -> None:
    rules = sparkrules.RuleSet("auctions")
    rules.subscribe_all(auction_rules(count))
    rules.publish(spark)


def _around(spark: SparkSession, path: str) -> str:
    """The path of the rows with about the average number of matches, repeated to half of all rows."""
    rows = spark.read.parquet(path)
    counted = rows.withColumn("matches", functions.expr("size(match_subscriptions('auctions', *).ids)"))
    chosen = counted.where(functions.col("matches").between(*AROUND)).drop("matches").cache()
    times = max(1, rows.count() // (2 * max(1, chosen.count())))
    chosen.crossJoin(spark.range(times).select()).coalesce(1).write.parquet(f"{path}.around")
    chosen.unpersist()
    return f"{path}.around"


def _measure(spark: SparkSession, name: str, path: str, runs: int) -> None:
    spark.read.parquet(path).createOrReplaceTempView("auctions")
    matched = "FROM (SELECT match_subscriptions('auctions', *) AS m FROM auctions)"
    rows, ids, sets, members = spark.sql(
        "SELECT count(*), avg(size(m.ids)), avg(size(m.overlaps)), "
        f"avg(aggregate(m.overlaps, 0, (n, o) -> n + size(o))) {matched}"
    ).collect()[0]
    print(f"{name}: {rows:,}; per row {ids:.1f} matches, {sets:.1f} overlap sets of {members:.1f} members in all")
    seconds = dict.fromkeys(QUERIES, float("inf"))
    for _ in range(runs):
        for query, read in QUERIES.items():
            start = _processor_seconds(spark)
            spark.sql(f"SELECT {read} {matched}").collect()
            seconds[query] = min(seconds[query], _processor_seconds(spark) - start)
    for query, best in seconds.items():
        print(f"  {query:<26} {best:6.3f} s  {rows / best:10,.0f} rows/s  {best / rows * 1e6:7.2f} us/row")
    print(f"  with overlaps / without: {seconds['ids and overlaps'] / seconds['ids']:.2f}")


def _processor_seconds(spark: SparkSession) -> float:
    used = jvm(spark).java.lang.ProcessHandle.current().info().totalCpuDuration()
    return float(used.get().toMillis()) / 1000


if __name__ == "__main__":
    main()
