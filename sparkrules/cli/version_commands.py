"""`sparkrules versions`, `diff` and `rollback`: the history of a published rule set."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from sparkrules.cli.changed_rules import changed_rules
from sparkrules.cli.command import Commands, add_command
from sparkrules.cli.exit_codes import DONE
from sparkrules.cli.json_text import json_text
from sparkrules.cli.options import add_json, add_limit, add_store
from sparkrules.cli.text_table import terminal_width, text_table
from sparkrules.store import Manifest, Store

_SHOWN = 20


def add_versions(commands: Commands) -> None:
    """The commands and their options."""
    versions = add_command(
        commands,
        "versions",
        "list the versions of a rule set, or all rule sets",
        examples=["sparkrules versions", "sparkrules versions alerts --json"],
    )
    versions.add_argument("name", nargs="?", help="name of the rule set (default: list the rule sets of the store)")

    diff = add_command(
        commands,
        "diff",
        "which rules two versions differ in",
        "Say which rules two versions differ in: those added, those removed, and those with another text, priority, "
        "metadata, validity or ticket.",
        examples=["sparkrules diff alerts 7", "sparkrules diff alerts 7 9 --json"],
    )
    diff.add_argument("name", help="name of the rule set")
    diff.add_argument("before", type=int, help="a version")
    diff.add_argument("after", type=int, nargs="?", help="another one (default: the newest)")
    add_limit(diff, _SHOWN)

    rollback = add_command(
        commands,
        "rollback",
        "publish an old version again, as the newest",
        examples=["sparkrules rollback alerts 7"],
    )
    rollback.add_argument("name", help="name of the rule set")
    rollback.add_argument("version", type=int, help="the version to go back to")
    rollback.add_argument(
        "--ticket",
        action="append",
        default=[],
        metavar="SECRET",
        help="of a subscription that the rollback removes, brings back or changes; as often as needed",
    )
    rollback.add_argument("--force", action="store_true", help="also without the tickets of such subscriptions")

    for command, run in ((versions, _versions), (diff, _diff), (rollback, _rollback)):
        add_json(command)
        add_store(command)
        command.set_defaults(run=run)


def _versions(arguments: argparse.Namespace) -> int:
    store = Store(arguments.store)
    if arguments.name is None:
        return _rule_sets(store, arguments)
    store.manifest(arguments.name)  # says which rule sets there are if there is none of this name
    manifests = [store.manifest(arguments.name, number) for number in store.versions(arguments.name)]
    if arguments.json:
        print(json_text([_fields(manifest) for manifest in manifests], indent=2))
    else:
        print(_table(manifests, ["version", "created", "subscriptions", "action", "publisher"]))
    return DONE


def _rule_sets(store: Store, arguments: argparse.Namespace) -> int:
    newest = [store.manifest(name) for name in store.rule_sets()]
    if arguments.json:
        print(json_text([_fields(manifest) for manifest in newest], indent=2))
    elif newest:
        print(_table(newest, ["rule_set", "version", "created", "subscriptions", "publisher"]))
    else:
        print(f"there are no rule sets in {store.path}: sparkrules publish FILE makes one")
    return DONE


def _fields(manifest: Manifest) -> dict[str, object]:
    fields = asdict(manifest) | {"verified": manifest.verified}
    del fields["files"]  # nobody wants to see all the checksums
    return fields


def _table(manifests: list[Manifest], fields: list[str]) -> str:
    if not all(own.verified for own in manifests):
        fields = [*fields, "verified"]  # no: made by a sparkrules that wrote no checksums
    headings = [field.replace("_", " ") for field in fields]
    return text_table(
        headings, ([_shown(getattr(own, field)) for field in fields] for own in manifests), terminal_width()
    )


def _shown(value: object) -> object:
    return ("no", "yes")[value] if isinstance(value, bool) else value


def _diff(arguments: argparse.Namespace) -> int:
    store = Store(arguments.store)
    changes = store.diff(arguments.name, arguments.before, arguments.after)
    if arguments.json:
        print(json_text(asdict(changes), indent=2))
        return DONE
    counts = ", ".join(f"{len(getattr(changes, kind)):,} {kind}" for kind in ("added", "removed", "changed"))
    if changes:
        lines = changed_rules(store, arguments.name, (arguments.before, arguments.after), changes, arguments.limit)
        print(text_table(["change", "id", "where"], lines, terminal_width()), end="\n\n")
    number = len(changes.touched)
    cut = f"; the first {arguments.limit:,} are shown, --limit 0 shows all" * (0 < arguments.limit < number)
    print(f"{counts}{cut}")
    return DONE


def _rollback(arguments: argparse.Namespace) -> int:
    store = Store(arguments.store)
    number = store.rollback(arguments.name, arguments.version, tickets=arguments.ticket, force=arguments.force)
    if arguments.json:
        print(json_text({"rule_set": arguments.name, "version": number, "content_of": arguments.version}))
    else:
        print(f"published {arguments.name} version {number}: the content of version {arguments.version}")
    return DONE
