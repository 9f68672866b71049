"""Calls of Python functions and time, against other ways to evaluate the same rules.

1,000 rules, 20 functions that take 0.1 to 10 ms, 100,000 rows; and with how many rules a row is about on average, which
decides how much can be saved. Functions sleep, so that Spark runs eight at a time however many cores there are. Each
function counts its calls.

| way | how it is measured |
|---|---|
| eager | all functions are called for every row, then results are matched: on a sample of rows |
| CASE WHEN | plain Spark, a CASE WHEN for each rule: on the same sample |
| naive | the paper's baseline, rule by rule as they are written, cheap predicates first; counted, not run |
| sparkrules | all rows |
| oracle | knows all truth values: the cheapest calls that prove the answer of each row; counted, not run |

Of a way that is run on a sample, only the time within calls is scaled to all rows, and divided by eight. What Spark
does besides, such as planning a thousand CASE WHENs, is left out, in favour of that way.

    python -m benchmarks.udfs                   some minutes, nearly all of which are spent asleep
    python -m benchmarks.udfs --rows 10000
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

import sparkrules
from benchmarks.udfs import counting
from benchmarks.udfs.measure import Measured, slow_functions, write_rows
from benchmarks.udfs.workload import Workload, generate

WORKERS = 8
HEAD = ("rules about a row", "matches/row", "way", "calls/row", "x fewer", "ms of calls/row", "x oracle", "s", "note")


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.udfs", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rules", type=int, default=1_000)
    parser.add_argument("--per-row", nargs="+", type=float, default=[0.1, 1, 10], help="how many rules are about a row")
    parser.add_argument("--sample", type=int, default=1_000, help="rows for eager and CASE WHEN")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with TemporaryDirectory() as directory:
        builder = SparkSession.builder.master(f"local[{WORKERS}]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.driver.memory", "3g").config("spark.log.level", "ERROR")
        builder = builder.config("spark.ui.showConsoleProgress", "false")
        # The operator is found in the plan.
        builder = builder.config("spark.sql.adaptive.enabled", "false")
        spark = sparkrules.configure(builder, store=Path(directory) / "store").getOrCreate()
        try:
            print(f"{options.rules:,} rules, {options.rows:,} rows, Spark {spark.version}, {WORKERS} workers\n")
            print(f"| {' | '.join(HEAD)} |\n|--:|--:|---|--:|--:|--:|--:|--:|---|", flush=True)
            for number, per_row in enumerate(options.per_row):
                work = generate(options.rules, per_row, options.rows, options.seed)
                for line in lines(spark, work, per_row, options.sample, Path(directory) / str(number)):
                    print(line, flush=True)
        finally:
            spark.stop()


def lines(spark: SparkSession, work: Workload, per_row: float, sample: int, directory: Path) -> Iterator[str]:
    """The lines of the table for a workload."""
    some = work.first(sample)
    expected, of_some = counting.matches(work), counting.matches(some)
    naive, oracle = counting.counted(work, counting.naive), counting.counted(work, counting.oracle)
    directory.mkdir()
    rows = spark.read.parquet(write_rows(work, directory / "rows"))
    few = spark.read.parquet(write_rows(some, directory / "sample"))
    with slow_functions(spark, work.milliseconds) as counters:
        measured = Measured(spark, work, counters)
        measured.where_needed(few, of_some)  # the workers start, and code is generated
        ours = measured.where_needed(rows, expected)
        peers = {"eager": measured.eager(few, of_some), "CASE WHEN": measured.case_when(few, of_some)}
    scale = work.rows / some.rows
    table: list[tuple[str, list[float], str, str]] = []
    for name, run in peers.items():
        seconds = f"at least {scale * run.seconds_in_calls / WORKERS:,.0f}"
        note = f"from {some.rows:,} rows, which took {run.seconds:,.1f} s"
        table.append((name, [scale * own for own in run.calls], seconds, note))
    table.append(("naive", [*map(float, naive)], "", "counted"))
    in_calls = f"{ours.seconds_in_calls / WORKERS:,.1f} s of it in calls"
    table.append(("sparkrules", [*map(float, ours.calls)], f"{ours.seconds:,.0f}", in_calls))
    table.append(("oracle", [*map(float, oracle)], "", "counted"))
    most, least = sum(table[0][1]), work.cost(oracle)
    first = f"{per_row:g} | {expected / work.rows:.3g}"
    for name, own, seconds, about in table:
        cost = work.cost(own)
        figures = f"{sum(own) / work.rows:.3g} | {most / sum(own):,.1f} | {cost / work.rows:.3g} | {cost / least:.2f}"
        yield f"| {first} | {name} | {figures} | {seconds} | {about} |"
        first = " | "


if __name__ == "__main__":
    main()
