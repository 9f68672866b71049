"""The rules of a command: those of a file, or of a published rule set."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sparkrules.errors import RuleSetError, SparkRulesError, and_more
from sparkrules.rules import read_rules as rule_rows
from sparkrules.ruleset import RuleSet
from sparkrules.sql import Rejected, RuleError

_SHOWN = 20


def chosen_rules(arguments: argparse.Namespace) -> RuleSet:
    """What `--ruleset` or `--rules` names."""
    if arguments.rules:
        return read_rules(arguments.rules, "rules", arguments.dialect)
    return load_rules(arguments.ruleset, arguments.store)


def read_rules(file: Path, name: str, dialect: str, store: str | None = None, *, quiet: bool = False) -> RuleSet:
    """The rules of a file; rejected ones are shown on stderr."""
    rules = RuleSet(name, dialect, store=store)
    try:
        rules.subscribe_all(file)
    except RuleSetError as error:
        hint = "" if file.suffix else f"; a published rule set is named with --ruleset {file}"
        raise RuleSetError(f"{error}{hint}") from error
    if not quiet:
        print_rejected(rules.rejected)
    return rules


def load_rules(name: str, store: str | None) -> RuleSet:
    """A published rule set: `alerts`, or `alerts@12` for a version."""
    known, at, version = name.partition("@")
    if at and not version.isdecimal():
        raise SparkRulesError(f"{name!r} is not a version of a rule set: write {known}@12 with a number")
    if Path(name).is_file():
        raise SparkRulesError(f"{name} is a file: rules of a file are named with --rules {name}")
    return RuleSet.load(known, store, int(version) if version else None)


def advertise(rules: RuleSet, file: Path) -> None:
    """Add the advertisements of a file."""
    for row in rule_rows(file):
        rules.advertise(row.id, row.where)


def print_rejected(rejected: list[Rejected]) -> None:
    """Show rejected rules on stderr."""
    for line in rejected_lines(rejected):
        print(line, file=sys.stderr)


def rejected_lines(rejected: list[Rejected]) -> list[str]:
    """The first rejected rules: id, place, reason and remedy, and the text with the place marked.

    >>> print(*rejected_lines([Rejected("bad", "t > 30 AND", "expected a value", 1, 11, "r.csv, line 7")]), sep=chr(10))
    rejected: 'bad', r.csv, line 7 (line 1, column 11 of its text): expected a value
        t > 30 AND
                  ^
    """
    lines = []
    for rule in rejected[:_SHOWN]:
        source = "" if rule.source is None else f", {rule.source}"
        place = "" if rule.line is None else f" (line {rule.line}, column {rule.column} of its text)"
        remedy = f"\n    {rule.remedy}" if rule.remedy else ""
        lines.append(f"rejected: {rule.id!r}{source}{place}: {rule.reason}{_marked(rule)}{remedy}")
    more = and_more(len(rejected) - _SHOWN)
    return [*lines, f"{more}; sparkrules lint --json lists all of them"] if more else lines


def _marked(rule: Rejected) -> str:
    """The line of the text with a caret, as in the error."""
    if rule.line is None or rule.column is None:
        return ""
    before = rule.where.split("\n")[: rule.line - 1]
    offset = sum(len(line) + 1 for line in before) + rule.column - 1
    # A text of another dialect is translated first; a place in the translation may lie outside the text.
    if offset > len(rule.where):
        return ""
    shown = str(RuleError(rule.reason, rule.where, offset)).splitlines()[-2:]
    return "".join(f"\n{line}" for line in shown)
