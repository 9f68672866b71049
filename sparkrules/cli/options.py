"""Options that several commands have."""

from __future__ import annotations

import argparse
from pathlib import Path

from sparkrules.sql import DIALECTS, SPARK_DIALECTS

ENGINES = ("auto", "spark", "python")


def add_store(command: argparse.ArgumentParser) -> None:
    """Where rule sets are published."""
    command.add_argument(
        "--store",
        metavar="DIRECTORY",
        help="published rule sets: a directory, or a URL such as s3://bucket/rules (default: $SPARKRULES_STORE or "
        "~/.sparkrules/store)",
    )


def add_dialect(command: argparse.ArgumentParser) -> None:
    """The language of the texts in a file."""
    command.add_argument(
        "--dialect", type=_dialect, default="spark", help="SQL dialect of the rules in the file (default: spark)"
    )


def add_json(command: argparse.ArgumentParser, help: str = "write JSON") -> None:
    """For programs."""
    command.add_argument("--json", action="store_true", help=help)


def add_rules(command: argparse.ArgumentParser) -> None:
    """Which rules: those of a published rule set, or those of a file."""
    source = command.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--ruleset", metavar="NAME", help="a published rule set: alerts, or alerts@12 for version 12 of it"
    )
    source.add_argument("--rules", type=Path, metavar="FILE", help="a .csv, .jsonl or .yaml file of rules")
    add_store(command)
    add_dialect(command)


def add_ruleset(command: argparse.ArgumentParser, help: str = "the rule set", *, required: bool = True) -> None:
    """Which rule set."""
    command.add_argument("--ruleset", metavar="NAME", required=required, help=help)


def add_advertisements(command: argparse.ArgumentParser) -> None:
    """What sources send."""
    command.add_argument(
        "--advertisements",
        type=Path,
        metavar="FILE",
        help="conditions that describe the rows of sources: a .csv, .jsonl or .yaml file with the fields id and where",
    )


def add_schema(command: argparse.ArgumentParser) -> None:
    """The types of columns."""
    command.add_argument(
        "--schema", type=Path, metavar="FILE", help="a .parquet, .csv or .jsonl file with the columns and their types"
    )


def add_engine(command: argparse.ArgumentParser) -> None:
    """What matches the rules."""
    command.add_argument(
        "--engine",
        choices=ENGINES,
        default="auto",
        help="python: without Spark, starts at once, not for every rule; spark: an embedded Spark, for every rule; "
        "auto (default): python where possible",
    )
    add_conf(command, "a setting of the embedded Spark, which is then used; can be repeated")


def add_conf(command: argparse.ArgumentParser, help: str, prefixes: tuple[str, ...] = ("spark.",)) -> None:
    """Settings of Spark, or others with these prefixes."""

    def setting(text: str) -> tuple[str, str]:
        name, equals, value = text.partition("=")
        if not equals or not name.startswith(prefixes):
            forms = " or ".join(f"{prefix}NAME=VALUE" for prefix in prefixes)
            raise argparse.ArgumentTypeError(f"{text!r} is not a setting: write {forms}")
        return name, value

    command.add_argument("--conf", action="append", default=[], type=setting, metavar="KEY=VALUE", help=help)


def add_limit(command: argparse.ArgumentParser, shown: int) -> None:
    """How many lines a table has."""
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


def names_in(text: str | None) -> list[str] | None:
    """The names of an option, with commas between; None if it is not given.

    >>> names_in("severity, title"), names_in(None)
    (['severity', 'title'], None)
    """
    return None if text is None else [name.strip() for name in text.split(",")]
