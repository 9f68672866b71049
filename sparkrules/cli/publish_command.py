"""`sparkrules publish`: the rules of a file, as the next version of a rule set."""

from __future__ import annotations

import argparse
from pathlib import Path

from sparkrules.cli.command import Commands, add_command
from sparkrules.cli.exit_codes import DONE, SOME_SET_ASIDE
from sparkrules.cli.options import add_dialect, add_store
from sparkrules.cli.rules import read_rules


def add_publish(commands: Commands) -> None:
    """The command and its options."""
    command = add_command(
        commands,
        "publish",
        "publish the rules of a file as the next version of a rule set",
        examples=["sparkrules publish alerts.csv", "sparkrules publish rules.yaml --name alerts --store /data/rules"],
    )
    command.add_argument(
        "file", type=Path, help="a .csv, .jsonl or .yaml file with the fields id, where, [priority, metadata, ...]"
    )
    command.add_argument("--name", help="name of the rule set (default: that of the file)")
    add_store(command)
    add_dialect(command)
    command.set_defaults(run=_publish)


def _publish(arguments: argparse.Namespace) -> int:
    rules = read_rules(arguments.file, arguments.name or arguments.file.stem, arguments.dialect)
    version = rules.publish(store=arguments.store)
    print(f"published {rules.name} version {version}: {len(rules)} rules, {len(rules.rejected)} set aside")
    return SOME_SET_ASIDE if rules.rejected else DONE
