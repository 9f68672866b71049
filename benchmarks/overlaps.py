"""What overlap sets cost beside ids alone: python -m benchmarks.overlaps --rules 10000

Auction rules over auction rows from Parquet through Spark, on one core. The queries take turns, and the run of each
that took least processor time of Spark's JVM counts: on a machine that does other things too, the clock says little.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import sparkrules
from benchmarks.session import jvm
from sparkrules.demo.auctions import auction_rows, auction_rules

QUERIES = {
    "ids": "sum(size(m.ids))",
    "ids and overlaps": "sum(size(m.ids) + size(m.overlaps))",
}


def main() -> None:
    """Print a line for each query, and how the pairs compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", type=int, default=10_000)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.driver.memory", "2g").config("spark.log.level", "ERROR")
        builder = builder.config("spark.ui.showConsoleProgress", "false")
        spark = sparkrules.configure(builder, store=Path(directory) / "store").getOrCreate()
        try:
            _measure(spark, directory, options.rules, options.rows, options.runs)
        finally:
            spark.stop()


def _measure(spark: SparkSession, directory: str, count: int, rows: int, runs: int) -> None:
    rules = sparkrules.RuleSet("auctions")
    rules.subscribe_all(auction_rules(count))
    rules.publish(spark)
    path = str(Path(directory) / "rows.parquet")
    pq.write_table(auction_rows(rows), path)
    spark.read.parquet(path).createOrReplaceTempView("auctions")
    found = spark.sql(
        "SELECT avg(size(m.ids)), avg(size(m.overlaps)), avg(aggregate(m.overlaps, 0, (n, o) -> n + size(o))) "
        "FROM (SELECT match_subscriptions('auctions', *) AS m FROM auctions)"
    ).collect()[0]
    print(
        f"{count:,} rules, {rows:,} rows: per row {found[0]:.1f} matches, {found[1]:.1f} overlap sets "
        f"of {found[2]:.1f} members in all"
    )
    seconds = dict.fromkeys(QUERIES, float("inf"))
    for _ in range(runs):
        for name, read in QUERIES.items():
            query = f"SELECT {read} FROM (SELECT match_subscriptions('auctions', *) AS m FROM auctions)"
            start = _processor_seconds(spark)
            spark.sql(query).collect()
            seconds[name] = min(seconds[name], _processor_seconds(spark) - start)
    for name, best in seconds.items():
        print(f"{name:<26} {best:6.3f} s  {rows / best:10,.0f} rows/s  {best / rows * 1e6:7.2f} us/row")
    print(f"with overlaps / without: {seconds['ids and overlaps'] / seconds['ids']:.2f}")


def _processor_seconds(spark: SparkSession) -> float:
    used = jvm(spark).java.lang.ProcessHandle.current().info().totalCpuDuration()
    return float(used.get().toMillis()) / 1000


if __name__ == "__main__":
    main()
