"""`sparkrules match`: a file against a rule set."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from sparkrules.cli.command import Commands, add_command
from sparkrules.cli.exit_codes import DONE, SOME_SET_ASIDE
from sparkrules.cli.files import load_rules, read_data, read_rules
from sparkrules.cli.options import add_dialect, add_store


def add_match(commands: Commands) -> None:
    """The command and its options."""
    command = add_command(commands, "match", "match a file against a rule set, without Spark; writes JSON lines")
    command.add_argument("data", type=Path, help="a .parquet, .csv or .jsonl file")
    rules = command.add_mutually_exclusive_group(required=True)
    rules.add_argument("--name", help="a published rule set: alerts, or alerts@12 for version 12")
    rules.add_argument("--rules", type=Path, help="a file of rules")
    command.add_argument("--all", action="store_true", help="also write the rows that match nothing")
    add_store(command)
    add_dialect(command)
    command.set_defaults(run=_match)


def _match(arguments: argparse.Namespace) -> int:
    if arguments.rules:
        rules = read_rules(arguments.rules, "rules", arguments.dialect)
    else:
        rules = load_rules(arguments.name, arguments.store)
    for number, ids in enumerate(rules.match(read_data(arguments.data)).ids.to_pylist()):
        if ids or arguments.all:
            print(json.dumps({"row": number, "ids": ids}, ensure_ascii=False))
    return SOME_SET_ASIDE if arguments.rules and rules.rejected else DONE
