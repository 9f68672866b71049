"""`sparkrules test`: the tests that stand beside rules in a file; made for CI.

Exit codes: 0 all tests passed, 1 a test failed or is invalid or a rule is rejected, 2 it could not run.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sparkrules.cli.command import Commands, add_command
from sparkrules.cli.data_files import read_schema
from sparkrules.cli.engine import settings_of
from sparkrules.cli.exit_codes import DONE, FAILED, WRONG_USAGE
from sparkrules.cli.json_text import json_text
from sparkrules.cli.junit import write_junit
from sparkrules.cli.matching import Engine
from sparkrules.cli.options import add_dialect, add_engine, add_json, add_schema
from sparkrules.cli.rules import read_rules
from sparkrules.cli.testing import Outcome, Testing
from sparkrules.cli.text_table import cell, counted
from sparkrules.errors import SparkRulesError, listed
from sparkrules.rules import RuleTest, read_tests


def add_test(commands: Commands) -> None:
    """The command and its options."""
    command = add_command(
        commands,
        "test",
        "run the tests that stand beside rules in a file",
        "Run the tests of rules: rows that stand beside a rule in its file under `tests`, and whether it matches them. "
        "Exit codes: 0 all passed, 1 a test failed or is invalid, or a rule is rejected, 2 it could not run.",
        examples=[
            "sparkrules test alerts.yaml",
            "sparkrules test rules/*.yaml --schema readings.parquet --junit build/rules.xml",
        ],
    )
    command.add_argument(
        "files", type=Path, nargs="+", metavar="FILE", help="a .csv, .jsonl or .yaml file of rules with tests"
    )
    add_dialect(command)
    add_schema(command)
    command.add_argument("--junit", type=Path, metavar="FILE", help="also write the outcomes as JUnit XML")
    add_json(command, "write the outcomes as JSON")
    add_engine(command)
    command.set_defaults(run=_test)


def _test(arguments: argparse.Namespace) -> int:
    engine: Engine = "spark" if arguments.conf and arguments.engine == "auto" else arguments.engine
    outcomes: dict[str, list[Outcome]] = {}
    rejected, untested = 0, 0
    try:
        schema = read_schema(arguments.schema) if arguments.schema else None
        for file in arguments.files:
            rules = read_rules(file, "rules", arguments.dialect)
            rules.set_status("live", list(rules.subscriptions))  # a draft is tested before it is anything else
            tests = list(read_tests(file))
            outcomes[str(file)] = (
                Testing(rules, schema, engine, settings_of(arguments)).outcomes(tests) if tests else []
            )
            rejected += len(rules.rejected)
            own = {*rules.subscriptions, *rules.patterns}
            untested += len(own - {test.id for test in tests})
        if not any(outcomes.values()):
            raise SparkRulesError(
                f"no rule of {listed(outcomes, 3)} has tests; write them beside it: "
                "tests: [{row: {temperature: 35}, matches: true}]"
            )
        if arguments.junit:
            write_junit(outcomes, arguments.junit)
    except (SparkRulesError, OSError) as error:
        print(f"sparkrules: {error}", file=sys.stderr)
        return WRONG_USAGE
    if arguments.json:
        print(json_text([_line(file, own) for file, found in outcomes.items() for own in found], indent=2))
    else:
        _print(outcomes, untested)
    bad = any(own.status != "passed" for found in outcomes.values() for own in found)
    return FAILED if bad or rejected else DONE


def _print(outcomes: Mapping[str, Sequence[Outcome]], untested: int) -> None:
    found = [own for file in outcomes.values() for own in file]
    shown = [_text(own) for own in found if own.status != "passed"]
    if shown:
        print("\n\n".join(shown), end="\n\n")
    counts = Counter(own.status for own in found)
    tested = len({(file, own.test.id) for file, every in outcomes.items() for own in every})
    parts = [f"{counts['passed']:,} passed", f"{counts['failed']:,} failed"]
    parts += [f"{counts['invalid']:,} invalid"] if counts["invalid"] else []
    rest = f"; {counted(untested, 'rule')} without tests" if untested else ""
    print(f"{counted(len(found), 'test')} of {counted(tested, 'rule')}: {', '.join(parts)}{rest}")


def _text(outcome: Outcome) -> str:
    test = outcome.test
    number = f", test {test.number}" if test.number else ""
    name = f" ({test.name})" if isinstance(test, RuleTest) and test.name else ""
    place = "" if test.source is None else f", {test.source}"
    lines = [f"{outcome.status}: {test.id!r}{number}{name}{place}: {outcome.reason}", *outcome.explanation.splitlines()]
    return "\n    ".join(map(cell, lines))


def _line(file: str, outcome: Outcome) -> dict[str, Any]:
    """For JSON."""
    test = outcome.test
    return {
        "file": file,
        "id": test.id,
        "test": test.number,
        "name": test.name if isinstance(test, RuleTest) else "",
        "source": test.source,
        "status": outcome.status,
        "reason": outcome.reason,
        "explanation": outcome.explanation,
    }
