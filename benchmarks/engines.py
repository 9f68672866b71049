"""Compares engine="python" with the plugin: python -m benchmarks.engines --rules 1000 10000

Matches auction rules against auction rows from Parquet, through Spark, on two cores. The plugin computes `ids`, and
overlap sets only if they are read. The Python engine always computes both, so there are two lines: the first query
reads the sum of the sizes of `ids`, the second also adds `overlaps`. Binding is the time of a call before it runs.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import sparkrules
from sparkrules.catalyst.dataframe import Engine
from sparkrules.demo.auctions import auction_rows, auction_rules

READ = {"ids": "sum(size(matches.ids))", "ids and overlaps": "sum(size(matches.ids) + size(matches.overlaps))"}


def main() -> None:
    """Print a table for each number of rules."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", nargs="+", type=int, default=[1_000, 10_000])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=3, help="the best of so many counts")
    options = parser.parse_args()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with tempfile.TemporaryDirectory() as directory:
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.driver.memory", "2g").config("spark.log.level", "ERROR")
        builder = builder.config("spark.ui.showConsoleProgress", "false")
        # Several files, so that both cores stay busy to the end.
        builder = builder.config("spark.sql.files.maxPartitionBytes", "1m")
        spark = sparkrules.configure(builder, store=Path(directory) / "store").getOrCreate()
        try:
            path = str(Path(directory) / "rows.parquet")
            pq.write_table(auction_rows(options.rows), path, row_group_size=options.rows // 8)
            for count in options.rules:
                _measure(spark, path, count, options.rows, options.runs)
        finally:
            spark.stop()


def _measure(spark: SparkSession, path: str, count: int, rows: int, runs: int) -> None:
    rules = sparkrules.RuleSet("auctions")
    rules.subscribe_all(auction_rules(count))
    seconds: dict[tuple[Engine, str], float] = {}
    answers: dict[tuple[Engine, str], int] = {}
    engines: tuple[Engine, ...] = ("plugin", "python")
    for engine in engines:
        start = perf_counter()
        matched = sparkrules.match(spark.read.parquet(path), rules, engine=engine)
        matched.schema  # noqa: B018
        print(f"{count:,} rules, {engine}: bound in {perf_counter() - start:.2f} s")
        for what, read in READ.items():
            for _ in range(runs):
                start = perf_counter()
                answers[engine, what] = matched.selectExpr(read).collect()[0][0]
                took = perf_counter() - start
                seconds[engine, what] = min(seconds.get((engine, what), took), took)
    for what in READ:
        plugin, python = seconds["plugin", what], seconds["python", what]
        if answers["plugin", what] != answers["python", what]:
            sys.exit(f"WRONG ANSWER: {answers}")
        print(
            f"{count:,} rules, {what}: {answers['plugin', 'ids'] / rows:.1f} matches per row; "
            f"plugin {rows / plugin:,.0f} rows/s, python {rows / python:,.0f} rows/s: {python / plugin:.1f} x the time",
            flush=True,
        )


if __name__ == "__main__":
    main()
