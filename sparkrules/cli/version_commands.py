"""`sparkrules versions`, `rollback` and `diff`: the history of a published rule set."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Any

from sparkrules.cli.options import add_json, add_store
from sparkrules.store import Store


def add_versions(commands: argparse._SubParsersAction[Any]) -> None:
    """The commands and their options."""
    versions = commands.add_parser("versions", help="list the versions of a published rule set, oldest first")
    rollback = commands.add_parser("rollback", help="publish an old version again, as the newest")
    diff = commands.add_parser("diff", help="which subscriptions two versions differ in")
    for command in (versions, rollback, diff):
        command.add_argument("name", help="name of the rule set")
    rollback.add_argument("version", type=int, help="the version to go back to")
    diff.add_argument("before", type=int, help="a version")
    diff.add_argument("after", type=int, nargs="?", help="another one (default: the newest)")
    for command, run in ((versions, _versions), (rollback, _rollback), (diff, _diff)):
        add_json(command)
        add_store(command)
        command.set_defaults(run=run)


def _versions(arguments: argparse.Namespace) -> int:
    store = Store(arguments.store)
    store.manifest(arguments.name)  # says which rule sets there are if there is none of this name
    manifests = [store.manifest(arguments.name, number) for number in store.versions(arguments.name)]
    if arguments.json:
        print(json.dumps([asdict(manifest) for manifest in manifests], ensure_ascii=False, indent=2))
    else:
        for own in manifests:
            print(f"{own.version}  {own.created}  {own.subscriptions:,} subscriptions  {own.action}  {own.publisher}")
    return 0


def _rollback(arguments: argparse.Namespace) -> int:
    number = Store(arguments.store).rollback(arguments.name, arguments.version)
    if arguments.json:
        print(json.dumps({"rule_set": arguments.name, "version": number, "content_of": arguments.version}))
    else:
        print(f"published {arguments.name} version {number}: the content of version {arguments.version}")
    return 0


def _diff(arguments: argparse.Namespace) -> int:
    changes = Store(arguments.store).diff(arguments.name, arguments.before, arguments.after)
    print(json.dumps(asdict(changes), ensure_ascii=False, indent=2) if arguments.json else changes)
    return 0
