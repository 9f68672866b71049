"""`sparkrules list`: the reference lists of a rule set."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from sparkrules import RuleSet, SparkRulesError
from sparkrules.cli.command import Commands, add_command
from sparkrules.cli.exit_codes import DONE
from sparkrules.cli.json_text import json_text
from sparkrules.cli.options import add_json, add_ruleset, add_store
from sparkrules.cli.text_table import text_table
from sparkrules.store import ListVersion

_COLUMNS = ["name", "number", "kind", "values", "created", "publisher"]


def add_list(commands: Commands) -> None:
    """The command and its options."""
    command = add_command(
        commands,
        "list",
        "show, put or drop the reference lists of a rule set",
        "Without a name, show the lists of a rule set as they are now. With a name, show its versions, put a new one, "
        "or drop the list. Queries use a new version at once; no rule is compiled again.",
        examples=[
            "sparkrules list --ruleset alerts",
            "sparkrules list --ruleset alerts bad_ips --put bad.txt --kind cidr",
            "sparkrules list --ruleset alerts bad_ips --drop",
        ],
    )
    add_ruleset(command)
    command.add_argument("name", nargs="?", help="the list")
    action = command.add_mutually_exclusive_group()
    action.add_argument("--put", metavar="FILE", type=Path, help="a .txt, .csv or .jsonl file with the values")
    action.add_argument("--drop", action="store_true", help="remove the list")
    command.add_argument("--kind", choices=("values", "cidr", "glob"), default="values", help="what the values are")
    command.add_argument("--column", metavar="NAME", help="the column of a CSV or JSON lines file with several")
    add_json(command)
    add_store(command)
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    rules = RuleSet(arguments.ruleset, store=arguments.store)
    if arguments.name is None and (arguments.put or arguments.drop):
        raise SparkRulesError("name the list: sparkrules list --ruleset alerts bad_ips --put bad.txt")
    if arguments.name is None:
        found = list(rules.lists().values())
    elif arguments.put:
        found = [rules.put_list(arguments.name, arguments.put, arguments.kind, column=arguments.column)]
    elif arguments.drop:
        rules.drop_list(arguments.name)
        return DONE
    else:
        found = rules.store.list_versions(rules.name, arguments.name)
    print(json_text(list(map(_fields, found)), indent=2) if arguments.json else _table(found))
    return DONE


def _fields(version: ListVersion) -> dict[str, object]:
    return {name: value for name, value in asdict(version).items() if name in _COLUMNS}


def _table(found: list[ListVersion]) -> str:
    rows = [[str(value if value is not None else "dropped") for value in _fields(own).values()] for own in found]
    return text_table(_COLUMNS, rows) if rows else "no lists"
