"""`sparkrules backtest`: which rows each rule gains and loses compared with a published version."""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import asdict
from pathlib import Path

from sparkrules.catalyst import Backtest, embedded_spark
from sparkrules.cli.command import Commands, add_command
from sparkrules.cli.data_files import find_data
from sparkrules.cli.engine import note, settings_of
from sparkrules.cli.exit_codes import DONE, SOME_REJECTED
from sparkrules.cli.json_text import json_text
from sparkrules.cli.options import add_conf, add_json, add_limit, add_rules
from sparkrules.cli.rules import chosen_rules, load_rules
from sparkrules.cli.spark_data import cannot_match, data_frame
from sparkrules.cli.text_table import cell

_SHOWN = 20
_SAMPLES = 3


def add_backtest(commands: Commands) -> None:
    """The command and its options."""
    command = add_command(
        commands,
        "backtest",
        "which rows each rule gains and loses compared with a published version",
        "Match the rows of Parquet, CSV or JSON files against rules and against a published version, and show which "
        "rows each rule gains (+) and loses (-). Publishes nothing.",
        examples=[
            "sparkrules backtest readings.parquet --rules alerts.yaml --against alerts",
            "sparkrules backtest readings/ --ruleset alerts --against alerts@12 --samples 10 --json",
        ],
    )
    command.add_argument(
        "data", type=Path, nargs="+", metavar="DATA", help="a .parquet, .csv or .jsonl file, or a directory of them"
    )
    add_rules(command)
    command.add_argument(
        "--against", required=True, metavar="NAME", help="what is compared with: alerts, or alerts@12 for version 12"
    )
    command.add_argument(
        "--samples", type=int, default=_SAMPLES, metavar="N", help=f"rows to show of each (default: {_SAMPLES})"
    )
    add_limit(command, _SHOWN)
    add_json(command, "write one JSON object, without a limit")
    add_conf(command, "a setting of the embedded Spark; can be repeated")
    command.set_defaults(run=_backtest)


def _backtest(arguments: argparse.Namespace) -> int:
    from pyspark.errors import PySparkException

    rules = chosen_rules(arguments)
    before = load_rules(arguments.against, arguments.store)
    data = find_data(arguments.data)
    note("matching with Spark")
    with tempfile.TemporaryDirectory(prefix="sparkrules-", ignore_cleanup_errors=True) as scratch:
        directory = Path(scratch)
        try:
            # A store of its own: both are copied there, and the one of the user stays as it is.
            with embedded_spark(directory, directory / "store", settings_of(arguments)) as spark:
                found = rules.backtest(data_frame(spark, data, directory), before, samples=arguments.samples)
        except PySparkException as error:
            raise cannot_match(error) from error
    if arguments.json:
        print(json_text(asdict(found), indent=2))
    else:
        _print(found, arguments.limit)
    return SOME_REJECTED if arguments.rules and rules.rejected else DONE


def _print(found: Backtest, limit: int) -> None:
    for own in found.rules[: limit or None]:
        print("\n".join(map(cell, str(own).splitlines())), end="\n\n")
    cut = f"; the first {limit:,} are shown, --limit 0 shows all" * (0 < limit < len(found))
    print(f"{found.summary}{cut}")
