"""The rules that a command is about: those of a file, or a published rule set."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sparkrules.errors import SparkRulesError
from sparkrules.rules import read_rules as rule_rows
from sparkrules.ruleset import RuleSet
from sparkrules.sql import Rejected, RuleError

_SHOWN = 20


def chosen_rules(arguments: argparse.Namespace) -> RuleSet:
    """What `--name` or `--rules` name."""
    if arguments.rules:
        return read_rules(arguments.rules, "rules", arguments.dialect)
    return load_rules(arguments.name, arguments.store)


def read_rules(file: Path, name: str, dialect: str, *, quiet: bool = False) -> RuleSet:
    """The rules of a file; those that are set aside are shown on stderr."""
    rules = RuleSet(name, dialect)
    rules.subscribe_all(file)
    if not quiet:
        for line in set_aside(rules.rejected):
            print(line, file=sys.stderr)
    return rules


def load_rules(name: str, store: str | None) -> RuleSet:
    """A published rule set: `alerts`, or `alerts@12` for a version."""
    known, at, version = name.partition("@")
    if at and not version.isdecimal():
        raise SparkRulesError(f"{name!r} is not a version of a rule set: write {known}@12 with a number")
    return RuleSet.load(known, store, int(version) if version else None)


def advertise(rules: RuleSet, file: Path) -> None:
    """Add the advertisements of a file."""
    for row in rule_rows(file):
        rules.advertise(row.id, row.where)


def set_aside(rejected: list[Rejected]) -> list[str]:
    """The first rules that were set aside: id, place, reason and remedy, and the text with a mark below that place.

    >>> print(*set_aside([Rejected("bad", "t > 30 AND", "expected a value", 1, 11, "r.csv, line 7")]), sep=chr(10))
    set aside: 'bad', r.csv, line 7 (line 1, column 11 of its text): expected a value
        t > 30 AND
                  ^
    """
    lines = []
    for rule in rejected[:_SHOWN]:
        source = "" if rule.source is None else f", {rule.source}"
        place = "" if rule.line is None else f" (line {rule.line}, column {rule.column} of its text)"
        remedy = f"\n    {rule.remedy}" if rule.remedy else ""
        lines.append(f"set aside: {rule.id!r}{source}{place}: {rule.reason}{_marked(rule)}{remedy}")
    if len(rejected) > _SHOWN:
        lines.append(f"and {len(rejected) - _SHOWN:,} more; sparkrules lint --json lists all of them")
    return lines


def _marked(rule: Rejected) -> str:
    """The line of the text with a caret, as the error that was met shows it."""
    if rule.line is None or rule.column is None:
        return ""
    before = rule.where.split("\n")[: rule.line - 1]
    offset = sum(len(line) + 1 for line in before) + rule.column - 1
    # A text of another dialect is translated first; a place in the translation may lie outside of it.
    if offset > len(rule.where):
        return ""
    shown = str(RuleError(rule.reason, rule.where, offset)).splitlines()[-2:]
    return "".join(f"\n{line}" for line in shown)
