"""Measures what scan filters save and cost: python -m benchmarks.scan

Auction rules on auctions that are clustered by their end, as Parquet and, where the connectors can be had, as tables of
Delta Lake and Iceberg. Each query runs without a scan filter, with one that was found without statistics, and with one
that was found with them, in turn. For each, the run with the least processor time of Spark's JVM counts, and the
shortest run. Then: how long it takes to find a filter, compared with binding the rules.
"""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from benchmarks.lakes import GROUPS, sample, tables, write_clustered
from benchmarks.measurement import WrongAnswer
from benchmarks.session import bench_session, jvm
from benchmarks.workloads.auctions import auctions, growth
from sparkrules import RuleSet
from sparkrules.demo.auctions import DAY, AuctionRule, auction_rules
from tests.lakes import connectors

CLASSES = 3
PUSH_DOWN = "spark.sparkrules.pushDown"
# Way: whether the rule set has been analysed, and the setting.
WAYS = {"never": (True, "never"), "auto, no statistics": (False, "auto"), "auto": (True, "auto")}

Changed = Callable[[str], str]


def _ending(within: int) -> Changed:
    return lambda where: f"ending_within < {within} AND ({where})"


def _sooner(times: int) -> Changed:
    return lambda where: re.sub(
        r"ending_within < (\d+)", lambda found: f"ending_within < {int(found[1]) // times}", where
    )


def _whenever(where: str) -> str:
    return re.sub(r"ending_within < \d+ AND ", "", where)


# Rule set: whether it has all classes or only the first, and how its rules differ from those of the papers.
RULE_SETS: dict[str, tuple[bool, Changed]] = {
    "class 1, 30 times sooner": (False, _sooner(30)),
    "all, within 2.4 hours": (True, _ending(DAY // 10)),
    "all, within a day": (True, _ending(DAY)),
    "class 1": (False, str),
    "all": (True, str),
    "class 1, whenever": (False, _whenever),
}


@dataclass(frozen=True)
class Run:
    """A query: its answer, how long it took, and what its scan read."""

    matches: int
    seconds: float
    cpu_seconds: float
    megabytes: float
    files: int
    rows: int
    note: str


@dataclass(frozen=True)
class Counted:
    """What a query reads."""

    megabytes: float
    groups: float


def main() -> None:
    """Print a table of queries, and one of the time to find filters."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--rules", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--formats", nargs="+", choices=("Parquet", "Delta", "Iceberg"), help="default: all there are")
    parser.add_argument("--only", nargs="*", choices=RULE_SETS, default=list(RULE_SETS), help="which rule sets")
    parser.add_argument("--find", nargs="*", type=int, default=[1_000, 10_000, 100_000, 1_000_000], help="rules")
    parser.add_argument("--cache", type=Path, default=Path("build/bench"))
    options = parser.parse_args()
    rows = options.cache.resolve() / f"clustered-{options.rows}-{options.files}"
    if not rows.exists():
        shutil.rmtree(rows.with_suffix(".part"), ignore_errors=True)
        write_clustered(rows.with_suffix(".part"), options.rows, options.files)
        rows.with_suffix(".part").rename(rows)
    with TemporaryDirectory() as directory:
        reason = connectors.unavailable(Path(directory)) if options.formats != ["Parquet"] else "not asked for"
        more = {} if reason else connectors.settings(Path(directory))
        # The scan is found in the plan, and a version that is planned again is bound again.
        more |= {"spark.sql.adaptive.enabled": "false", "spark.sparkrules.store": f"{directory}/store"}
        with bench_session(options.cache.resolve(), "6g", more) as spark:
            print(f"Spark {spark.version}; Delta and Iceberg: {reason or 'yes'}", flush=True)
            found = tables(spark, rows, with_lakes=reason is None)
            made = {name: table for name, table in found.items() if name in (options.formats or found)}
            if options.only:
                _queries(spark, options, made, sample(spark, rows))
            if options.find:
                _finding(spark, options.find, Path(directory))


def _queries(spark: SparkSession, options: argparse.Namespace, tables: dict[str, str], sampled: DataFrame) -> None:
    print(f"{options.rows:,} rows in {options.files} files of {GROUPS} row groups, {options.rules:,} rules\n")
    times = ("seconds", "x", "CPU s", "x", "MB", "x")
    head = ("rules", "format", "way", *times, "files", "row groups", "rows read", "matches/row", "filter")
    print(f"| {' | '.join(head)} |\n|---|---|---|{'--:|' * (len(head) - 4)}---|", flush=True)
    meter = jvm(spark).sparkrules.ScanBench.meter()
    spark.sparkContext._jsc.sc().addSparkListener(meter)
    for number, label in enumerate(options.only):
        every, changed = RULE_SETS[label]
        for analysed in (True, False):
            rules = RuleSet(_name(number, analysed))
            rules.subscribe_all(islice(_texts(every, changed, options.rules), options.rules))
            rules.publish(spark)
            if analysed:
                rules.analyze(sampled)
        for format, table in tables.items():
            runs: dict[str, list[Run]] = {way: [] for way in WAYS}
            for _ in range(1 + options.runs):  # the first is not counted: code is generated and compiled
                for way, (analysed, setting) in WAYS.items():
                    with _setting(spark, PUSH_DOWN, setting):
                        runs[way].append(_run(spark, meter, _name(number, analysed), table))
            counted = {}
            for way, (analysed, setting) in WAYS.items():
                with _setting(spark, PUSH_DOWN, setting):
                    name, groups = _name(number, analysed), GROUPS * options.files / options.rows
                    counted[way] = _counted(spark, meter, name, table, groups)
            _print(label, format, runs, counted, options.rows)


def _name(number: int, analysed: bool) -> str:
    return f"scan{number}{'' if analysed else 'unknown'}"


def _texts(every: bool, changed: Changed, count: int) -> Iterable[AuctionRule]:
    for number, rule in enumerate(auction_rules(CLASSES * count)):
        if every or number % CLASSES == 0:
            yield AuctionRule(rule.id, changed(rule.where))


def _query(spark: SparkSession, name: str, table: str) -> DataFrame:
    """The number of matches, of rows that have any."""
    return spark.sql(
        "SELECT coalesce(sum(size(ids)), 0) AS matches "
        f"FROM (SELECT match_subscriptions('{name}', *).ids AS ids FROM {table}) WHERE size(ids) > 0"
    )


def _run(spark: SparkSession, meter: object, name: str, table: str) -> Run:
    bench, bus = jvm(spark).sparkrules.KernelBench, spark.sparkContext._jsc.sc().listenerBus()
    bytes_before = meter.bytes()  # type: ignore[attr-defined]
    start, start_cpu = perf_counter(), bench.processSeconds()
    query = _query(spark, name, table)
    matches = query.collect()[0].matches
    seconds, cpu_seconds = perf_counter() - start, bench.processSeconds() - start_cpu
    bus.waitUntilEmpty()
    plan = query._jdf.queryExecution().executedPlan()
    text = plan.toString()
    while plan.children().nonEmpty():
        plan = plan.children().head()
    metrics = plan.metrics()
    files = next(name for name in ("numFiles", "resultDataFiles") if metrics.contains(name))
    note = re.search(r"(no scan filter: .*|\((?:at a guess )?[\d.]+ % of the rows\))", text)
    return Run(
        matches=int(matches),
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        megabytes=(meter.bytes() - bytes_before) / 1e6,  # type: ignore[attr-defined]
        files=int(metrics.apply(files).value()),
        rows=int(metrics.apply("numOutputRows").value()),
        note=note[1].strip("()") if note else "",
    )


def _counted(spark: SparkSession, meter: object, name: str, table: str, groups: float) -> Counted:
    """What a query reads, by runs that are not timed: Hadoop does not count the bytes of vectored reads."""
    with _setting(spark, "parquet.hadoop.vectored.io.enabled", "false"):
        megabytes = _run(spark, meter, name, table).megabytes
        # Spark counts rows, not row groups: all rows of a group, unless pages of it are skipped.
        with _setting(spark, "parquet.filter.columnindex.enabled", "false"):
            return Counted(megabytes, groups * _run(spark, meter, name, table).rows)


@contextmanager
def _setting(spark: SparkSession, key: str, value: str) -> Iterator[None]:
    spark.conf.set(key, value)
    yield
    spark.conf.unset(key)


def _print(label: str, format: str, runs: dict[str, list[Run]], counted: dict[str, Counted], rows: int) -> None:
    if len({run.matches for own in runs.values() for run in own}) > 1:
        raise WrongAnswer(f"{label}, {format}: { {way: own[0].matches for way, own in runs.items()} }")
    best = {way: (min(r.seconds for r in own[1:]), min(r.cpu_seconds for r in own[1:])) for way, own in runs.items()}
    (seconds, cpu), read = best["never"], counted["never"].megabytes
    for way, (own_seconds, own_cpu) in best.items():
        last, own_read = runs[way][-1], counted[way].megabytes
        cells = [
            *(label, format, way, f"{own_seconds:.2f}", f"{seconds / own_seconds:.2f}"),
            *(f"{own_cpu:.2f}", f"{cpu / own_cpu:.2f}", f"{own_read:.1f}", f"{read / own_read:.1f}"),
            *(f"{last.files}", f"{counted[way].groups:.0f}", f"{last.rows:,}", f"{last.matches / rows:.2f}", last.note),
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


def _finding(spark: SparkSession, sizes: list[int], directory: Path) -> None:
    """How long it takes to find a filter, and to bind the rules; the shortest of several times."""
    print("\n| rules | workload | bind s | find s | find / bind |\n|--:|---|--:|--:|--:|", flush=True)
    for workload in (made(size) for size in sizes for made in (auctions, growth)):
        path = directory / f"{workload.name}.parquet"
        pq.write_table(workload.rows(1_000), path)
        rules = RuleSet(workload.name)
        rules.subscribe_all(list(workload.rules()))
        rules.publish(spark)
        binding, finding = [], []
        for _ in range(5 if workload.size < 1_000_000 else 3):
            spark.sql(f"CALL sparkrules.refresh('{workload.name}')")
            start = perf_counter()
            with _setting(spark, PUSH_DOWN, "never"):
                planned = _query(spark, workload.name, f"parquet.`{path}`")
                planned._jdf.queryExecution().executedPlan()
            binding.append(perf_counter() - start)
            finding.append(jvm(spark).sparkrules.ScanBench.findSeconds(planned._jdf))
        bind, find = min(binding), min(finding)
        print(f"| {workload.size:,} | {workload.label} | {bind:.3f} | {find:.4f} | {find / bind:.1%} |", flush=True)


if __name__ == "__main__":
    main()
