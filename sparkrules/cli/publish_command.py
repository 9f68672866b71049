"""`sparkrules publish`: the rules of a file, as the next version of a rule set."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from sparkrules.cli.command import Commands, add_command
from sparkrules.cli.data_files import read_schema
from sparkrules.cli.exit_codes import DONE, SOME_SET_ASIDE
from sparkrules.cli.json_text import json_text
from sparkrules.cli.options import add_advertisements, add_dialect, add_json, add_schema, add_store
from sparkrules.cli.rules import advertise, read_rules, set_aside
from sparkrules.cli.text_table import counted
from sparkrules.errors import SparkRulesError, StoreError
from sparkrules.lint import Finding, lint_errors
from sparkrules.rules import as_written
from sparkrules.ruleset import RuleSet
from sparkrules.store import Store, check_name


def add_publish(commands: Commands) -> None:
    """The command and its options."""
    command = add_command(
        commands,
        "publish",
        "publish the rules of a file as the next version of a rule set",
        "Publish the rules of a file as the next version of a rule set, which then has these rules and no others. "
        "Rules that are not accepted are set aside and shown, and the exit code is 3. With --schema, rules that can "
        "never match such a table are shown, too; with --strict, nothing is published if there are any of either.",
        examples=[
            "sparkrules publish alerts.csv",
            "sparkrules publish rules.yaml --name alerts --store /data/rules",
            "sparkrules publish alerts.csv --schema readings.parquet --strict",
        ],
    )
    command.add_argument(
        "file", type=Path, help="a .csv, .jsonl or .yaml file with the fields id, where, [priority, metadata, ...]"
    )
    command.add_argument("--name", help="name of the rule set (default: that of the file)")
    command.add_argument(
        "--force", action="store_true", help="also if subscriptions that were made with a ticket would be gone"
    )
    add_advertisements(command)
    add_schema(command)
    command.add_argument(
        "--strict",
        action="store_true",
        help="publish nothing if a rule is not accepted, or can never match (see lint: errors)",
    )
    add_json(command)
    add_store(command)
    add_dialect(command)
    command.set_defaults(run=_publish)


def _publish(arguments: argparse.Namespace) -> int:
    rules = read_rules(arguments.file, _name(arguments), arguments.dialect, quiet=arguments.json)
    if arguments.advertisements:
        advertise(rules, arguments.advertisements)
    if rules.rejected and not len(rules):
        for line in set_aside(rules.rejected) if arguments.json else ():
            print(line, file=sys.stderr)
        raise SparkRulesError(f"none of the rules in {arguments.file} is accepted: nothing is published")
    errors = _checked(rules, arguments) if arguments.strict or arguments.schema else []
    rejected = rules.rejected  # as they were read; what is published does not say where
    version = rules.publish(store=arguments.store, force=arguments.force)
    if arguments.json:
        published = {
            "rule_set": rules.name,
            "version": version,
            "store": str(Store(arguments.store).path),
            "rules": len(rules),
            "rejected": [asdict(rule) for rule in rejected],
            "errors": [finding.to_dict() for finding in errors],
        }
        print(json_text(published, indent=2))
    else:
        counts = f"{counted(len(rules), 'rule')}, {len(rules.rejected):,} set aside"
        print(f"published {rules.name} version {version}: {counts}")
    return SOME_SET_ASIDE if rules.rejected else DONE


def _checked(rules: RuleSet, arguments: argparse.Namespace) -> Sequence[Finding]:
    """What is certainly wrong with the rules; with `--strict` nothing may be, and none of them set aside."""
    schema = read_schema(arguments.schema) if arguments.schema else None
    found = lint_errors(as_written(rules, rules.policy), schema)
    for finding in found if arguments.strict or not arguments.json else ():
        print(finding, file=sys.stderr)
    if arguments.strict and (found or rules.rejected):
        if arguments.json:
            for line in set_aside(rules.rejected):
                print(line, file=sys.stderr)
        counts = f"{counted(len(rules.rejected), 'rule')} set aside, {counted(len(found), 'error')} found"
        raise SparkRulesError(f"{counts}: nothing is published, because of --strict")
    return found.findings


def _name(arguments: argparse.Namespace) -> str:
    if arguments.name is not None:
        return check_name(arguments.name)
    try:
        return check_name(arguments.file.stem)
    except StoreError as error:
        raise StoreError(f"{error}; give the rule set another name than the file with --name") from error
