"""`sparkrules report`: an HTML report about the rules of a file, or of a published rule set, and what they match."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from sparkrules.catalyst import embedded_spark
from sparkrules.cli.command import Commands, add_command
from sparkrules.cli.data_files import DataFiles, find_data
from sparkrules.cli.engine import note, settings_of
from sparkrules.cli.exit_codes import DONE, SOME_REJECTED
from sparkrules.cli.options import add_conf, add_rules
from sparkrules.cli.rules import load_rules, read_rules
from sparkrules.errors import SparkRulesError
from sparkrules.report import write_report
from sparkrules.rules import arrow_schema
from sparkrules.ruleset import RuleSet
from sparkrules.store import Store


def add_report(commands: Commands) -> None:
    """The command and its options."""
    command = add_command(
        commands,
        "report",
        "write an HTML report about rules and what they match",
        examples=[
            "sparkrules report --rules alerts.csv",
            "sparkrules report --ruleset alerts --data readings.parquet --time at --output alerts.html",
            "sparkrules report --rules alerts.csv --data day1.csv.gz day2.csv.gz",
        ],
    )
    add_rules(command)
    command.add_argument(
        "--data",
        type=Path,
        nargs="+",
        action="extend",
        help="rows to match: .parquet, .csv or .jsonl files, or a directory of them",
    )
    command.add_argument(
        "--output", type=Path, default=Path("report.html"), metavar="FILE", help="the report (default: report.html)"
    )
    command.add_argument("--time", metavar="COLUMN", help="a column of timestamps or dates: shows hits over time")
    add_conf(command, "a setting of the embedded Spark; can be repeated")
    linted = command.add_mutually_exclusive_group()
    linted.add_argument(
        "--lint", action="store_true", default=None, help="lint the rules even if there are more than 20,000"
    )
    linted.add_argument("--no-lint", action="store_false", dest="lint", help="do not lint the rules")
    command.set_defaults(run=_report)


def _report(arguments: argparse.Namespace) -> int:
    if arguments.time and not arguments.data:
        raise SparkRulesError("--time is a column of the rows: give them with --data FILE")
    data = find_data(arguments.data) if arguments.data else None
    if arguments.ruleset:
        rules = load_rules(arguments.ruleset, arguments.store)
    else:
        rules = read_rules(arguments.rules, arguments.rules.stem, arguments.dialect)
    if data is None:
        page = write_report(rules, arguments.output, lint=arguments.lint, say=note)
    else:
        page = _report_of_rows(rules, data, arguments)
    print(f"{page}: {len(rules):,} rules, {page.stat().st_size / 1e6:.1f} MB")
    return SOME_REJECTED if arguments.rules and rules.rejected else DONE


def _report_of_rows(rules: RuleSet, data: DataFiles, arguments: argparse.Namespace) -> Path:
    from pyspark.errors import PySparkException

    from sparkrules.cli.spark_data import cannot_match, data_frame, note_left_out

    _ = data.schema  # what cannot be read fails before Spark starts
    note("starting Spark")
    with tempfile.TemporaryDirectory(prefix="sparkrules-report-", ignore_cleanup_errors=True) as scratch:
        directory = Path(scratch)
        # Rules of a file are published only while the report is made.
        store = Store(arguments.store).path if arguments.ruleset else directory / "store"
        try:
            with embedded_spark(directory, store, settings_of(arguments)) as spark:
                rows = data_frame(spark, data, directory)
                note_left_out(rows, rules)
                types = arrow_schema(rows)
                return write_report(
                    rules, arguments.output, rows, time=arguments.time, schema=types, lint=arguments.lint, say=note
                )
        except PySparkException as error:
            raise cannot_match(error) from error
