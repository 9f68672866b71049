"""`sparkrules publish`: the rules of a file, as the next version of a rule set."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from sparkrules.cli.command import Commands, add_command
from sparkrules.cli.data_files import read_schema
from sparkrules.cli.exit_codes import DONE, SOME_REJECTED
from sparkrules.cli.json_text import json_text
from sparkrules.cli.options import add_advertisements, add_dialect, add_json, add_ruleset, add_schema, add_store
from sparkrules.cli.rules import advertise, print_rejected, read_rules
from sparkrules.cli.text_table import counted
from sparkrules.errors import SparkRulesError, StoreError
from sparkrules.lint import Finding, lint_errors
from sparkrules.rules import as_written
from sparkrules.ruleset import RuleSet
from sparkrules.store import check_name


def add_publish(commands: Commands) -> None:
    """The command and its options."""
    command = add_command(
        commands,
        "publish",
        "publish the rules of a file as the next version of a rule set",
        "Publish the rules of a file as the next version of a rule set, which then has these rules and no others. "
        "Rejected rules are shown, and the exit code is 3. With --schema, rules that can never match such a table are "
        "shown as well. With --strict, nothing is published if there are any of either.",
        examples=[
            "sparkrules publish --rules alerts.csv",
            "sparkrules publish --rules rules.yaml --ruleset alerts --store /data/rules",
            "sparkrules publish --rules alerts.csv --schema readings.parquet --strict",
        ],
    )
    command.add_argument(
        "--rules",
        type=Path,
        metavar="FILE",
        required=True,
        help="a .csv, .jsonl or .yaml file with the fields id, where, [priority, metadata, ...], and patterns",
    )
    add_ruleset(command, "the rule set (default: the name of the file)", required=False)
    command.add_argument("--force", action="store_true", help="publish even if rules with a ticket disappear")
    add_advertisements(command)
    add_schema(command)
    command.add_argument(
        "--strict",
        action="store_true",
        help="publish nothing if a rule is rejected, or can never match (an error of lint)",
    )
    add_json(command)
    add_store(command)
    add_dialect(command)
    command.set_defaults(run=_publish)


def _publish(arguments: argparse.Namespace) -> int:
    rules = read_rules(arguments.rules, _name(arguments), arguments.dialect, arguments.store, quiet=arguments.json)
    if arguments.advertisements:
        advertise(rules, arguments.advertisements)
    if rules.rejected and not (len(rules) or rules.patterns):
        if arguments.json:
            print_rejected(rules.rejected)
        raise SparkRulesError(f"all rules in {arguments.rules} are rejected: nothing is published")
    errors = _checked(rules, arguments) if arguments.strict or arguments.schema else []
    rejected = rules.rejected  # as they were read: published ones do not say where
    version = rules.publish(force=arguments.force)
    if arguments.json:
        published = {
            "rule_set": rules.name,
            "version": version,
            "store": str(rules.store.path),
            "rules": len(rules),
            "patterns": len(rules.patterns),
            "rejected": [asdict(rule) for rule in rejected],
            "errors": [finding.to_dict() for finding in errors],
        }
        print(json_text(published, indent=2))
    else:
        patterns = f"{counted(len(rules.patterns), 'pattern')}, " if rules.patterns else ""
        counts = f"{counted(len(rules), 'rule')}, {patterns}{len(rules.rejected):,} rejected"
        print(f"published {rules.name} version {version}: {counts}")
    return SOME_REJECTED if rules.rejected else DONE


def _checked(rules: RuleSet, arguments: argparse.Namespace) -> Sequence[Finding]:
    """The errors of the rules. With `--strict` there must be none, and no rejected rules either."""
    schema = read_schema(arguments.schema) if arguments.schema else None
    stored = rules._collection.patterns.stored()
    conditions = as_written(stored.conditions, rules.policy)
    found = lint_errors(as_written(rules, rules.policy), schema, stored.patterns, conditions)
    for finding in found if arguments.strict or not arguments.json else ():
        print(finding, file=sys.stderr)
    if arguments.strict and (found or rules.rejected):
        if arguments.json:
            print_rejected(rules.rejected)
        counts = f"{counted(len(rules.rejected), 'rule')} rejected, {counted(len(found), 'error')} found"
        raise SparkRulesError(f"{counts}: nothing is published, because of --strict")
    return found.findings


def _name(arguments: argparse.Namespace) -> str:
    if arguments.ruleset is not None:
        return check_name(arguments.ruleset)
    try:
        return check_name(arguments.rules.stem)
    except StoreError as error:
        raise StoreError(f"{error}; name the rule set with --ruleset") from error
