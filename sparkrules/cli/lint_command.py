"""`sparkrules lint`: what is wrong with the rules of a file, or of a published rule set; made for CI.

Exit codes: 0 no findings at or above the level, 1 findings or rejected rules, 2 it could not run.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sparkrules.cli.command import Commands, add_command
from sparkrules.cli.data_files import read_schema
from sparkrules.cli.exit_codes import FAILED, WRONG_USAGE
from sparkrules.cli.options import add_rules, add_schema
from sparkrules.cli.rules import chosen_rules
from sparkrules.errors import RuleSetError, SparkRulesError
from sparkrules.lint import SEVERITIES, Baseline, Report, Severity
from sparkrules.ruleset import RuleSet

_FOUND, _FAILED = FAILED, WRONG_USAGE


def add_lint(commands: Commands) -> None:
    """The command and its options."""
    command = add_command(
        commands,
        "lint",
        "look for contradictions, duplicates and the like in rules",
        "Look for contradictions, duplicates and the like in rules. Exit codes: 0 no findings at or above the level, 1 "
        "findings or rejected rules, 2 it could not run.",
        examples=[
            "sparkrules lint --rules alerts.csv",
            "sparkrules lint --ruleset alerts --schema readings.parquet --json",
        ],
    )
    add_rules(command)
    add_schema(command)
    command.add_argument("--json", action="store_true", help="write one JSON object")
    command.add_argument("--baseline", type=Path, metavar="FILE", help="do not report the findings in this file")
    command.add_argument("--update-baseline", action="store_true", help="write all findings to the file of --baseline")
    command.add_argument(
        "--fail-on",
        choices=[*reversed(SEVERITIES)],
        default="warning",
        metavar="LEVEL",
        help="exit with 1 for findings at or above this level: info, warning (default) or error",
    )
    command.set_defaults(run=_lint)


def _lint(arguments: argparse.Namespace) -> int:
    if arguments.update_baseline and not arguments.baseline:
        print("sparkrules: --update-baseline needs --baseline FILE", file=sys.stderr)
        return _FAILED
    try:
        rules = chosen_rules(arguments)
        report = rules.lint(read_schema(arguments.schema) if arguments.schema else None)
        if arguments.update_baseline:
            _write(Baseline.of(report), arguments.baseline)
        if arguments.baseline:
            report = report.without(_read(arguments.baseline))
    except SparkRulesError as error:
        print(f"sparkrules: {error}", file=sys.stderr)
        return _FAILED
    if arguments.json:
        rejected = [asdict(rule) for rule in _rejected(rules, arguments)]
        print(json.dumps({**report.to_dict(), "rejected": rejected}, ensure_ascii=False, indent=2))
    else:
        print(report)
    return _FOUND if _rejected(rules, arguments) or _is_bad(report, arguments.fail_on) else 0


def _rejected(rules: RuleSet, arguments: argparse.Namespace) -> list[Any]:
    """The rejected rules of a file. Those of a published rule set were known when it was published."""
    return rules.rejected if arguments.rules else []


def _is_bad(report: Report, level: Severity) -> bool:
    return report.worst is not None and SEVERITIES.index(report.worst) <= SEVERITIES.index(level)


def _read(file: Path) -> Baseline:
    try:
        return Baseline.read(file)
    except OSError as error:
        raise RuleSetError(f"{file} cannot be read: {error}; --update-baseline writes it") from error


def _write(baseline: Baseline, file: Path) -> None:
    try:
        baseline.write(file)
    except OSError as error:
        raise RuleSetError(f"{file} cannot be written: {error}") from error
