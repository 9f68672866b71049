"""`sparkrules report`: a page about the rules of a file, or of a published rule set, and what they do to rows."""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sparkrules.catalyst.embedded import embedded_spark
from sparkrules.cli.command import Commands, add_command
from sparkrules.cli.engine import settings_of
from sparkrules.cli.exit_codes import DONE, SOME_SET_ASIDE
from sparkrules.cli.options import add_conf, add_dialect, add_store
from sparkrules.cli.rules import load_rules, read_rules
from sparkrules.errors import SparkRulesError
from sparkrules.report import write_report
from sparkrules.ruleset import RuleSet
from sparkrules.store import Store
from sparkrules.table_schema import arrow_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SUFFIXES = (".parquet", ".csv", ".jsonl", ".ndjson", ".json")


def add_report(commands: Commands) -> None:
    """The command and its options."""
    command = add_command(
        commands,
        "report",
        "write a page to look at: what the rules do, as one HTML file",
        examples=[
            "sparkrules report alerts.csv",
            "sparkrules report --name alerts --data readings.parquet --time at --output alerts.html",
        ],
    )
    source = command.add_mutually_exclusive_group(required=True)
    source.add_argument("file", nargs="?", type=Path, help="a .csv, .jsonl or .yaml file of rules")
    source.add_argument("--name", help="a published rule set: alerts, or alerts@12 for version 12")
    command.add_argument("--data", type=Path, help="rows to match: a .parquet, .csv or .jsonl file")
    command.add_argument("--output", type=Path, default=Path("report.html"), help="the page (default: report.html)")
    command.add_argument("--time", metavar="COLUMN", help="a column of timestamps or dates: shows hits over time")
    add_conf(command, "a setting of the embedded Spark; may be repeated")
    linted = command.add_mutually_exclusive_group()
    linted.add_argument(
        "--lint", action="store_true", default=None, help="lint the rules even if there are more than 20,000"
    )
    linted.add_argument("--no-lint", action="store_false", dest="lint", help="do not lint the rules")
    add_store(command)
    add_dialect(command)
    command.set_defaults(run=_report)


def _report(arguments: argparse.Namespace) -> int:
    if arguments.time and not arguments.data:
        raise SparkRulesError("--time is a column of the rows: give them too, --data FILE")
    if arguments.name:
        rules = load_rules(arguments.name, arguments.store)
    else:
        rules = read_rules(arguments.file, arguments.file.stem, arguments.dialect)
    if arguments.data is None:
        page = write_report(rules, arguments.output, lint=arguments.lint, say=_say)
    else:
        page = _report_of_rows(rules, arguments)
    print(f"{page}: {len(rules):,} rules, {page.stat().st_size / 1e6:.1f} MB")
    return SOME_SET_ASIDE if arguments.file and rules.rejected else DONE


def _report_of_rows(rules: RuleSet, arguments: argparse.Namespace) -> Path:
    from pyspark.errors import PySparkException

    if arguments.data.suffix.lower() not in _SUFFIXES and not arguments.data.is_dir():
        raise SparkRulesError(f"{arguments.data}: data is read from {', '.join(_SUFFIXES)} files")
    if not arguments.data.exists():
        raise SparkRulesError(f"{arguments.data}: there is no such file")
    # Rules of a file are published for the while of the report only.
    store = Store(arguments.store).path if arguments.name else None
    try:
        with _session(store, settings_of(arguments)) as spark:
            rows = _rows(spark, arguments.data.absolute())
            types = arrow_schema(rows)
            return write_report(
                rules, arguments.output, rows, time=arguments.time, schema=types, lint=arguments.lint, say=_say
            )
    except PySparkException as error:
        raise SparkRulesError(str(error).partition("JVM stacktrace:")[0].strip()) from error


@contextlib.contextmanager
def _session(store: Path | None, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    _say("starting Spark")
    with tempfile.TemporaryDirectory(prefix="sparkrules-report-", ignore_cleanup_errors=True) as directory:
        own = Path(directory)
        with embedded_spark(own, store or own / "store", settings) as spark:
            yield spark


def _rows(spark: SparkSession, file: Path) -> DataFrame:
    if file.suffix.lower() == ".csv":
        return spark.read.csv(str(file), header=True, inferSchema=True)
    if file.suffix.lower() == ".parquet" or file.is_dir():
        return spark.read.parquet(str(file))
    return spark.read.json(str(file))


def _say(step: str) -> None:
    print(f"{step} ...", file=sys.stderr, flush=True)
