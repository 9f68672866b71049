"""Measures, prints tables and writes results.json; `report` prints the tables of the last results as Markdown."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

import sparkrules
from benchmarks import report
from benchmarks.cache import Cache
from benchmarks.measurement import Measurement, WrongAnswer
from benchmarks.plot import svg
from benchmarks.results import Results, environment
from benchmarks.runner import Settings, measure
from benchmarks.session import bench_session
from benchmarks.suites import BOTH, SUITES

ROOT = Path(__file__).resolve().parents[1]
PAGE, PLOT = ROOT / "docs" / "benchmarks.md", ROOT / "docs" / "benchmarks.svg"
_BEGIN, _END = "<!-- figures -->", "<!-- end of figures -->"


def main() -> int:
    """Run the command line and return the exit code: 0, or 1 if an answer is wrong."""
    options = _parser().parse_args()
    if options.command == "report":
        _publish(Results.read(options.output), options)
        return 0
    results = Results.read(options.output) if options.add and options.output.exists() else Results()
    try:
        _run(options, results)
    except WrongAnswer as error:
        print(f"WRONG ANSWER: {error}", file=sys.stderr)
        return 1
    print(_tables(results))
    print(f"written to {options.output}")
    if options.plot:
        PLOT.write_text(svg(results.measurements), encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("command", nargs="?", choices=("run", "report"), default="run")
    parser.add_argument("--only", nargs="+", choices=SUITES, default=list(SUITES), help="which workloads")
    parser.add_argument("--rules", nargs="+", type=int, help="numbers of rules, instead of the workload's own")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows at most (default: 1000000)")
    parser.add_argument("--level", choices=BOTH, help="the kernel alone, or through Spark SQL (default: both)")
    parser.add_argument("--quick", action="store_true", help="fewer and smaller rule sets, less time for each")
    parser.add_argument("--no-peers", action="store_true", help="sparkrules and the floor only")
    parser.add_argument("--seconds", type=float, default=5.0, help="for each measurement, about (default: 5)")
    parser.add_argument(
        "--limit", type=float, default=60.0, help="seconds after which a peer is given up (default: 60)"
    )
    parser.add_argument("--memory", default="8g", help="of Spark (default: 8g)")
    cache = Path(os.environ.get("SPARKRULES_BENCH_CACHE") or ROOT / "build" / "bench")
    parser.add_argument(
        "--cache", type=Path, default=cache, help="rules and rows ($SPARKRULES_BENCH_CACHE, build/bench)"
    )
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "bench" / "results.json", help="the results")
    parser.add_argument("--add", action="store_true", help="keep other results that the file has")
    parser.add_argument("--plot", action="store_true", help="draw docs/benchmarks.svg")
    parser.add_argument("--write", action="store_true", help="report: put the tables into docs/benchmarks.md")
    return parser


def _run(options: argparse.Namespace, results: Results) -> None:
    cache = Cache(options.cache.absolute())
    settings = Settings(
        rows=min(options.rows, 100_000) if options.quick else options.rows,
        levels=(options.level,) if options.level else BOTH,
        warm_up=1.0 if options.quick else 3.0,
        seconds=2.0 if options.quick else options.seconds,
        limit=20.0 if options.quick else options.limit,
        with_peers=not options.no_peers,
    )
    with bench_session(cache.directory, options.memory) as spark:
        results.environment = environment(spark)
        _warm_up(spark)
        for name in options.only:
            suite = SUITES[name]
            usual = suite.quick_sizes if options.quick else suite.sizes
            sizes = usual if suite.is_corpus else options.rules or usual
            for workload in (one for size in sizes for one in suite.workloads(size)):
                levels = tuple(level for level in settings.levels if level in suite.levels)
                for found in measure(spark, cache, workload, suite.peers, settings.at(levels)):
                    results.add(found)
                    results.write(options.output)  # saved at once: a long run may be killed
                    _progress(found)


def _warm_up(spark: SparkSession) -> None:
    """Load Spark's planner and the plugin, so that binding the first rule set does not include that cost."""
    with TemporaryDirectory() as store:
        rules = sparkrules.RuleSet("warm_up", store=store)
        rules.subscribe("odd", "id % 2 = 1 AND id < 10")
        rules.publish(spark)
        sparkrules.match(spark.range(100), rules).selectExpr("sum(size(matches.ids))").collect()


def _progress(found: object) -> None:
    if isinstance(found, Measurement):
        speed = f"{report.number(found.rows_per_second)} rows/s" if found.rows_per_second else "did not end"
        print(f"{found.workload}, {found.rules:,} rules, {found.level}, {found.engine}: {speed}", flush=True)


def _tables(results: Results) -> str:
    return "\n\n".join(f"{title}\n\n{report.plain(head, table)}" for title, head, table in report.sections(results))


def _publish(results: Results, options: argparse.Namespace) -> None:
    """Print the tables as Markdown, or insert them into the page, and draw the plot."""
    if options.plot:
        PLOT.write_text(svg(results.measurements), encoding="utf-8")
    if options.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(_BEGIN)
        after = rest.partition(_END)[2]
        PAGE.write_text(f"{before}{_BEGIN}\n\n{_markdown(results)}\n\n{_END}{after}", encoding="utf-8")
    else:
        print(_markdown(results))


def _markdown(results: Results) -> str:
    about = ", ".join(f"{name} {value}" for name, value in results.environment.items())
    sections = (f"### {title}\n\n{report.markdown(head, table)}" for title, head, table in report.sections(results))
    return "\n\n".join([about, *sections])


if __name__ == "__main__":
    sys.exit(main())
