"""Options that several commands have."""

from __future__ import annotations

import argparse


def add_store(command: argparse.ArgumentParser) -> None:
    """Where published rule sets are."""
    command.add_argument(
        "--store", help="directory of published rule sets (default: $SPARKRULES_STORE or ~/.sparkrules/store)"
    )


def add_dialect(command: argparse.ArgumentParser) -> None:
    """What the texts of a file are written in."""
    command.add_argument("--dialect", default="spark", help="SQL dialect of the rules in the file (default: spark)")


def add_json(command: argparse.ArgumentParser) -> None:
    """For programs."""
    command.add_argument("--json", action="store_true", help="write JSON")
