"""`sparkrules versions`, `diff` and `rollback`: the history of a published rule set."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from sparkrules.cli.changed_rules import changed_rules
from sparkrules.cli.command import Commands, add_command
from sparkrules.cli.exit_codes import DONE
from sparkrules.cli.json_text import json_text
from sparkrules.cli.options import add_json, add_limit, add_ruleset, add_store
from sparkrules.cli.text_table import counted, terminal_width, text_table
from sparkrules.store import Manifest, Store

_SHOWN = 20


def add_versions(commands: Commands) -> None:
    """The commands and their options."""
    versions = add_command(
        commands,
        "versions",
        "list the versions of a rule set, or all rule sets",
        examples=["sparkrules versions", "sparkrules versions --ruleset alerts --json"],
    )
    add_ruleset(versions, "the rule set (default: list all rule sets of the store)", required=False)

    diff = add_command(
        commands,
        "diff",
        "list the rules that differ between two versions",
        "List the rules that differ between two versions: added ones, removed ones, and those with another text, "
        "priority, metadata, validity, ticket, status or tags. Also the patterns that differ.",
        examples=["sparkrules diff --ruleset alerts 7", "sparkrules diff --ruleset alerts 7 9 --json"],
    )
    add_ruleset(diff)
    diff.add_argument("before", type=int, help="a version")
    diff.add_argument("after", type=int, nargs="?", help="another version (default: the newest)")
    add_limit(diff, _SHOWN)

    rollback = add_command(
        commands,
        "rollback",
        "publish an old version again, as the newest",
        examples=["sparkrules rollback --ruleset alerts 7"],
    )
    add_ruleset(rollback)
    rollback.add_argument("version", type=int, help="the version to go back to")
    rollback.add_argument(
        "--ticket",
        action="append",
        default=[],
        metavar="SECRET",
        help="the ticket of a rule that the rollback removes, restores or changes; can be repeated",
    )
    rollback.add_argument("--force", action="store_true", help="roll back even without the tickets of such rules")

    for command, run in ((versions, _versions), (diff, _diff), (rollback, _rollback)):
        add_json(command)
        add_store(command)
        command.set_defaults(run=run)


def _versions(arguments: argparse.Namespace) -> int:
    store = Store(arguments.store)
    if arguments.ruleset is None:
        return _rule_sets(store, arguments)
    store.manifest(arguments.ruleset)  # lists the rule sets if there is none with this name
    manifests = [store.manifest(arguments.ruleset, number) for number in store.versions(arguments.ruleset)]
    if arguments.json:
        print(json_text([_fields(manifest) for manifest in manifests], indent=2))
    else:
        print(_table(store, manifests, ["version", "created", "subscriptions", "action", "publisher"]))
    return DONE


def _rule_sets(store: Store, arguments: argparse.Namespace) -> int:
    newest = [store.manifest(name) for name in store.rule_sets()]
    if arguments.json:
        print(json_text([_fields(manifest) for manifest in newest], indent=2))
    elif newest:
        print(_table(store, newest, ["rule_set", "version", "created", "subscriptions", "publisher"]))
    else:
        print(f"there are no rule sets in {store.path}: sparkrules publish --rules FILE makes one")
    return DONE


def _fields(manifest: Manifest) -> dict[str, object]:
    fields = asdict(manifest) | {"verified": manifest.verified}
    del fields["files"]  # the checksums are of no use here
    return fields


def _table(store: Store, manifests: list[Manifest], fields: list[str]) -> str:
    if any(own.patterns for own in manifests):
        fields.insert(fields.index("subscriptions") + 1, "patterns")
    if not all(own.verified for own in manifests):
        fields = [*fields, "verified"]  # no: an older sparkrules wrote no checksums
    if any(own.general for own in manifests):
        fields = [*fields, "general"]  # yes: the rules were pruned, and may match too much
    headings = [field.replace("_", " ") for field in fields]
    return text_table(
        headings, ([_shown(store, own, field) for field in fields] for own in manifests), terminal_width()
    )


def _shown(store: Store, manifest: Manifest, field: str) -> object:
    value = getattr(manifest, field)
    if field == "patterns":
        return len(store.patterns(manifest).patterns)
    return ("no", "yes")[value] if isinstance(value, bool) else value


def _diff(arguments: argparse.Namespace) -> int:
    store = Store(arguments.store)
    changes = store.diff(arguments.ruleset, arguments.before, arguments.after)
    if arguments.json:
        fields = {kind: getattr(changes, kind) for kind in ("added", "removed", "changed")}
        print(json_text(fields | ({"patterns": changes.patterns} if any(changes.patterns.values()) else {}), indent=2))
        return DONE
    counts = ", ".join(f"{len(getattr(changes, kind)):,} {kind}" for kind in ("added", "removed", "changed"))
    counts += "".join(f", {counted(len(ids), 'pattern')} {kind}" for kind, ids in changes.patterns.items() if ids)
    if changes:
        lines = changed_rules(store, arguments.ruleset, (arguments.before, arguments.after), changes, arguments.limit)
        print(text_table(["change", "id", "where"], lines, terminal_width()), end="\n\n")
    number = len(changes.touched) + sum(map(len, changes.patterns.values()))
    cut = f"; the first {arguments.limit:,} are shown, --limit 0 shows all" * (0 < arguments.limit < number)
    print(f"{counts}{cut}")
    return DONE


def _rollback(arguments: argparse.Namespace) -> int:
    store = Store(arguments.store)
    number = store.rollback(arguments.ruleset, arguments.version, tickets=arguments.ticket, force=arguments.force)
    if arguments.json:
        print(json_text({"rule_set": arguments.ruleset, "version": number, "content_of": arguments.version}))
    else:
        print(f"published {arguments.ruleset} version {number}: the content of version {arguments.version}")
    return DONE
