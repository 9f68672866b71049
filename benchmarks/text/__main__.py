"""Matches strings and Sigma's rules, and lets Hyperscan, RE2 and rsigma do the same; `make bench-peers` installs them.

All figures are processor time of one thread, so that they can be compared on a busy machine too.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import sparkrules
from benchmarks.cache import Cache
from benchmarks.kernel.run import measure_kernel
from benchmarks.report import markdown, number
from benchmarks.session import bench_session
from benchmarks.subject import Subject
from benchmarks.text import rsigma
from benchmarks.text.searchers import ENGINES, measure
from benchmarks.text.searches import searches_of
from benchmarks.timing import best_of, timed
from benchmarks.workloads.sigma import sigma
from benchmarks.workloads.strings import strings
from sparkrules import sigma as sigma_reader

ROOT = Path(__file__).resolve().parents[2]
HEAD = ("rules", "engine", "before the first row, s", "CPU µs/row", "x sparkrules", "matches", "note")
Figures = dict[str, object]


def main() -> None:
    """Measure, print a table, and write the figures to build/bench/text-peers.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.text", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=("strings", "sigma"), default=["strings", "sigma"])
    parser.add_argument("--rules", nargs="+", type=int, default=[1_000, 10_000])
    parser.add_argument("--rows", type=int, default=10_000, help="rows of the workload strings (default: 10000)")
    parser.add_argument("--seconds", type=float, default=5.0, help="for each measurement of the kernel (default: 5)")
    parser.add_argument("--rsigma", type=Path, default=ROOT / "build/peers/rsigma/release/rsigma-peer")
    parser.add_argument("--output", type=Path, default=ROOT / "build/bench/text-peers.json")
    options = parser.parse_args()
    cache = Cache(Path(os.environ.get("SPARKRULES_BENCH_CACHE") or ROOT / "build" / "bench"))
    with bench_session(cache.directory, "8g", {"spark.master": "local[1]"}) as spark:
        figures: list[Figures] = []
        parts = {
            "strings": lambda: _strings(spark, cache, options.rules, options.rows, options.seconds),
            "sigma": lambda: _sigma(spark, options.rsigma, options.seconds),
        }
        for name in options.only:
            for found in parts[name]():
                print(json.dumps(found), flush=True)
                figures.append(found)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(markdown(HEAD, [[_cell(one.get(key)) for key in HEAD] for one in figures]))


def _cell(value: object) -> str:
    return number(value) if isinstance(value, float | int) else str(value or "")


def _figures(rules: str, engine: str, before: float, per_row: float, ours: float, matches: int, note: str) -> Figures:
    values = (rules, engine, before, per_row * 1e6, per_row / ours, matches, note)
    return dict(zip(HEAD, values, strict=True))


def _strings(spark: SparkSession, cache: Cache, sizes: list[int], rows: int, seconds: float) -> Iterator[Figures]:
    for size in sizes:
        workload = strings(size)
        subject = Subject(spark, workload, cache.rules(workload), cache.rows(workload, 1_000_000))
        bound = subject.bind()
        kernel = measure_kernel(subject.matched(subject.sample(rows).df), 3.0, seconds)
        matches = round(kernel.matches_per_row * kernel.rows)
        ours = 1 / kernel.rows_per_second
        label = f"strings, {size:,}"
        bytes_per_rule = f"{kernel.bytes_per_subscription:.0f} bytes/rule"
        yield _figures(label, "sparkrules", bound, ours, ours, matches, f"rules, not only searches; {bytes_per_rule}")
        searches = searches_of(where for _, where in workload.rules())
        files, _ = cache.rows(workload, 1_000_000).first(rows)
        rows_of_all = pq.read_table(files).slice(0, min(kernel.rows, 2_000))
        with TemporaryDirectory() as name:  # the same rows for everybody: Spark reads files in an order of its own
            pq.write_table(rows_of_all, f"{name}/rows.parquet")
            expected = subject.matches(spark.read.parquet(f"{name}/rows.parquet"))
        sample = rows_of_all.to_pylist()
        for engine, make in ENGINES.items():
            found = measure(engine, searches, sample, make)
            same = "same answers" if found.matches == expected else f"{found.matches} matches for {expected}"
            note = f"searches only, from Python; {len(sample):,} rows, {same}"
            total = round(found.matches / len(sample) * kernel.rows)
            yield _figures(label, engine, found.compile_seconds, found.seconds_per_row, ours, total, note)
            if found.bare_seconds_per_row is not None:
                note = "does not tell what it found"
                bare = f"{engine}, no callback"
                yield _figures(label, bare, found.compile_seconds, found.bare_seconds_per_row, ours, 0, note)


def _sigma(spark: SparkSession, program: Path, seconds: float) -> Iterator[Figures]:
    if not rsigma.FILES.exists():
        print(f"sigma: left out, there are no Sigma files in {rsigma.FILES}")
        return
    if not program.exists():
        print(f"sigma: left out, rsigma was not built: there is no {program}")
        return
    events = sigma()[0].rows(1 << 30)
    with TemporaryDirectory() as name:
        directory = Path(name)
        rsigma.write_events(events, directory / "events.jsonl")
        theirs, their_pairs = rsigma.run(program, directory)
        rules = sparkrules.RuleSet("sigma", store=directory / "store")
        rules.subscribe_all(sigma_reader.read(*rsigma.sigma_files(), keywords="raw"))
        rules.publish(spark)
        numbered = events.append_column("row", [list(range(events.num_rows))])
        pq.write_table(numbered, directory / "events.parquet")
        rows = spark.read.parquet(str(directory / "events.parquet"))
        spark.conf.set("spark.sparkrules.invalidRules", "skip")
        matched = sparkrules.match(rows, rules)
        pairs = {(row, id) for row, ids in matched.selectExpr("row", "matches.ids").collect() for id in ids}
        kernel = measure_kernel(matched.selectExpr("matches.ids"), 3.0, seconds)
        ours = 1 / kernel.rows_per_second
        label = f"sigma, {kernel.subscriptions:,}"
        note = f"{len(pairs - their_pairs):,} pairs that rsigma has not, {len(their_pairs - pairs):,} that it has more"
        yield _figures(label, "sparkrules", 0.0, ours, ours, len(pairs), note)
        per_row = theirs.match_seconds / theirs.events
        note = f"{theirs.rules:,} rules"
        yield _figures(label, "rsigma", theirs.load_seconds, per_row, ours, theirs.matches, note)

        def scan() -> int:
            query = sparkrules.match(spark.read.parquet(str(directory / "events.parquet")), rules)
            return int(query.selectExpr("coalesce(sum(size(matches.ids)), 0)").collect()[0][0])

        for _ in range(3):
            scan()
        run = best_of(5, lambda: timed(spark, scan))
        whole = run.cpu_seconds / events.num_rows
        note = "from Parquet, all threads of the JVM"
        yield _figures(label, "sparkrules through Spark", 0.0, whole, whole, run.result, note)
        per_row = (theirs.parse_seconds + theirs.match_seconds) / theirs.events
        note = f"from JSON, of which parsing {theirs.parse_seconds:.2f} s; {asdict(theirs)['rejected']} rules rejected"
        yield _figures(label, "rsigma", theirs.load_seconds, per_row, whole, theirs.matches, note)


if __name__ == "__main__":
    main()
