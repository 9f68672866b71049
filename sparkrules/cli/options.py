"""Options that several commands have."""

from __future__ import annotations

import argparse
from pathlib import Path

from sparkrules.sql import DIALECTS, SPARK_DIALECTS

ENGINES = ("auto", "spark", "python")


def add_store(command: argparse.ArgumentParser) -> None:
    """Where published rule sets are."""
    command.add_argument(
        "--store",
        metavar="DIRECTORY",
        help="directory of published rule sets (default: $SPARKRULES_STORE or ~/.sparkrules/store)",
    )


def add_dialect(command: argparse.ArgumentParser) -> None:
    """What the texts of a file are written in."""
    command.add_argument(
        "--dialect", type=_dialect, default="spark", help="SQL dialect of the rules in the file (default: spark)"
    )


def add_json(command: argparse.ArgumentParser, help: str = "write JSON") -> None:
    """For programs."""
    command.add_argument("--json", action="store_true", help=help)


def add_rules(command: argparse.ArgumentParser) -> None:
    """Which rules: published ones or those of a file."""
    source = command.add_mutually_exclusive_group(required=True)
    source.add_argument("--name", help="a published rule set: alerts, or alerts@12 for version 12")
    source.add_argument("--rules", type=Path, metavar="FILE", help="rules of a .csv, .jsonl or .yaml file instead")
    add_store(command)
    add_dialect(command)


def add_advertisements(command: argparse.ArgumentParser) -> None:
    """What sources will send."""
    command.add_argument(
        "--advertisements",
        type=Path,
        metavar="FILE",
        help="conditions that describe what sources send: a .csv, .jsonl or .yaml file with the fields id and where",
    )


def add_schema(command: argparse.ArgumentParser) -> None:
    """Types of columns."""
    command.add_argument(
        "--schema", type=Path, metavar="FILE", help="a .parquet, .csv or .jsonl file with the columns and their types"
    )


def add_engine(command: argparse.ArgumentParser) -> None:
    """Who decides which rules are true."""
    command.add_argument(
        "--engine",
        choices=ENGINES,
        default="auto",
        help="python: without Spark, at once, for rules that allow it; spark: an embedded Spark, for every rule; "
        "auto (default): python where it can",
    )
    add_conf(command, "a setting of the embedded Spark, which is then used; may be repeated")


def add_conf(command: argparse.ArgumentParser, help: str, prefixes: tuple[str, ...] = ("spark.",)) -> None:
    """Settings of Spark, or of what else takes those that begin so."""

    def setting(text: str) -> tuple[str, str]:
        name, equals, value = text.partition("=")
        if not equals or not name.startswith(prefixes):
            forms = " or ".join(f"{prefix}NAME=VALUE" for prefix in prefixes)
            raise argparse.ArgumentTypeError(f"{text!r} is not a setting: write {forms}")
        return name, value

    command.add_argument("--conf", action="append", default=[], type=setting, metavar="KEY=VALUE", help=help)


def add_limit(command: argparse.ArgumentParser, shown: int) -> None:
    """How long a table may become."""
    command.add_argument(
        "--limit", type=_limit, metavar="N", help=f"lines of the table (default: {shown}; 0: all)", default=shown
    )


def _dialect(text: str) -> str:
    if text.lower() not in {*SPARK_DIALECTS, *DIALECTS}:
        raise argparse.ArgumentTypeError(f"unknown dialect {text!r}; there are: {', '.join(['spark', *DIALECTS])}")
    return text


def _limit(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of lines")
    return int(text)
