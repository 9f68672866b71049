"""The demo, step by step: rules, rows, the match, the top rules, an explained overlap set, plain Spark's answer."""

from __future__ import annotations

import argparse
import tempfile
import textwrap
import time
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import sparkrules
from sparkrules.catalyst import timed
from sparkrules.demo.auctions import auction_rows, auction_rules, write_auctions
from sparkrules.demo.explained import explained_overlap
from sparkrules.demo.plain import compare_with_plain_spark
from sparkrules.demo.session import MEMORY, quiet_session
from sparkrules.errors import SparkRulesError

FAILED = 1
_WIDTH = 100
_MOST_FREQUENT = 10
_COUNTED = 200_000


def show(options: argparse.Namespace) -> int:
    """Run the demo with its command-line options, and return the exit code."""
    try:
        with tempfile.TemporaryDirectory(prefix="sparkrules-demo-", ignore_cleanup_errors=True) as directory:
            return _run(options, Path(directory))
    except PySparkException as error:
        raise SparkRulesError(f"Spark failed: {str(error).splitlines()[0]}") from error


def _run(options: argparse.Namespace, directory: Path) -> int:
    start = time.perf_counter()
    print(f"sparkrules {sparkrules.__version__}: {options.rules:,} rules on {options.rows:,} book auctions\n")
    with quiet_session(directory) as spark:
        cores = spark.sparkContext.defaultParallelism
        _step(f"Spark {spark.version}, local, {_counted(cores, 'core')}, {MEMORY} of memory", start)

        begun = time.perf_counter()
        rules = sparkrules.RuleSet("auctions")
        rules.subscribe_all(list(auction_rules(options.rules, options.seed)))
        version = rules.publish(spark)
        _step(f"{_counted(len(rules), 'rule')} subscribed and published as auctions@{version}", begun)

        begun = time.perf_counter()
        write_auctions(auction_rows(options.rows, options.seed), directory / "auctions")
        auctions = spark.read.parquet(str(directory / "auctions"))
        _step(f"{_counted(options.rows, 'row')} written as Parquet", begun)

        _match(spark, auctions, rules, options.rows)
        _most_frequent(spark, auctions, rules, options.rows)
        explained = explained_overlap(auctions.where("auction < 10000"), rules, _WIDTH)
        _heading("An overlap set of one row, explained")
        print(explained or "No short one among the first rows: try another seed.")
        same = _compare(spark, auctions, options.seed)
    print(f"\nThe whole demo took {time.perf_counter() - start:.0f} s. Everything it wrote has been removed.")
    return 0 if same else FAILED


def _match(spark: SparkSession, auctions: DataFrame, rules: sparkrules.RuleSet, rows: int) -> None:
    """Match all rows against all rules, and print the time it took."""
    matched = sparkrules.match(auctions, rules)
    begun = time.perf_counter()
    matched.limit(0).collect()
    _step("rules loaded by Spark, bound to the table and compiled", begun)

    context = spark.sparkContext
    columns = ", ".join(name for name in auctions.columns if name != "auction")
    found, seconds = timed(context, matched.selectExpr("sum(size(matches.ids))").first, rows, "matching")
    matches = int(found[0]) if found else 0
    floor = min(
        # A new DataFrame each time: Spark would not run the same one twice.
        timed(context, auctions.selectExpr(f"bit_xor(xxhash64({columns}))").collect, rows, "scanning")[1]
        for _ in range(2)
    )

    _heading("One pass over the table")
    each = f"{rows / seconds:,.0f} rows/s"
    print(f"matches          {matches:>14,}   {matches / rows:.1f} per row")
    print(f"match            {seconds:>12.1f} s   {each}; read Parquet, match, add up the matches; first run")
    print(f"floor            {floor:>12.1f} s   the same scan, which only hashes the columns; better of two runs")
    print(f"match / floor    {seconds / floor:>12.1f} x")


def _most_frequent(spark: SparkSession, auctions: DataFrame, rules: sparkrules.RuleSet, rows: int) -> None:
    counted = min(rows, _COUNTED)
    matched = sparkrules.match(auctions.where(f"auction < {counted}"), rules)
    by_rule = matched.selectExpr("explode(matches.ids) AS id").groupBy("id").count()
    found, _ = timed(spark.sparkContext, by_rule.collect, counted, "counting")
    counts = {row["id"]: row["count"] for row in found}
    subscriptions = rules.subscriptions
    _heading(f"The {_MOST_FREQUENT} rules that match most, in {counted:,} rows")
    for id in sorted(counts, key=lambda rule: (-counts[rule], rule))[:_MOST_FREQUENT]:
        label = f"{counts[id]:>8,}  {id:<13} "
        text = subscriptions[id].where
        print(textwrap.fill(text, _WIDTH, initial_indent=label, subsequent_indent=" " * len(label), max_lines=2))


def _compare(spark: SparkSession, auctions: DataFrame, seed: int) -> bool:
    compared = compare_with_plain_spark(spark, auctions, seed)
    _heading(f"The same from plain Spark: {compared.rules} rules on {compared.rows:,} rows, a column per rule")
    print(f"plain Spark      {compared.plain_seconds:>12.1f} s   from the texts of the rules to the ids of the rows")
    print(f"sparkrules       {compared.our_seconds:>12.1f} s   the same, with publishing the rules")
    if compared.same:
        print(f"equal            {'yes':>14}   {compared.matches:,} matches")
    else:
        print(f"equal            {'NO':>14}   {compared.matches:,} matches, and plain Spark has others")
    return compared.same


def _step(what: str, begun: float) -> None:
    print(f"{what:<76}{time.perf_counter() - begun:>7.1f} s", flush=True)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _heading(title: str) -> None:
    print(f"\n{title}\n{'-' * len(title)}", flush=True)
