"""`sparkrules explain`: which parts of a rule are true for a row."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from datetime import datetime, timezone
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import pyarrow as pa

from sparkrules.catalyst import embedded_spark
from sparkrules.cli.command import Commands, add_command
from sparkrules.cli.data_files import find_data
from sparkrules.cli.engine import first_lines, note, refuse_python, settings_of
from sparkrules.cli.exit_codes import DONE
from sparkrules.cli.json_text import json_text
from sparkrules.cli.options import add_engine, add_json, add_rules
from sparkrules.cli.rules import chosen_rules
from sparkrules.cli.unmatched import Unmatched
from sparkrules.errors import SparkRulesError, listed
from sparkrules.local import ExplainedNode, Explanation
from sparkrules.ruleset import RuleSet


def add_explain(commands: Commands) -> None:
    """The command and its options."""
    command = add_command(
        commands,
        "explain",
        "why a rule matches a row, or does not",
        "Show which parts of rules are true for a row. By default the rules that match it are explained.",
        examples=[
            """sparkrules explain --ruleset alerts --row '{"temperature": 35, "indoors": true}'""",
            """sparkrules explain --ruleset alerts --id hot --id cold --row '{"temperature": 35, "indoors": true}'""",
            "sparkrules explain --rules alerts.csv --data readings.parquet --row-number 7",
        ],
    )
    add_rules(command)
    row = command.add_mutually_exclusive_group(required=True)
    row.add_argument(
        "--row", metavar="JSON", help="the row: a JSON object of column and value; '-' reads it from stdin"
    )
    row.add_argument("--data", type=Path, metavar="FILE", help="take the row from a .parquet, .csv or .jsonl file")
    command.add_argument("--row-number", type=int, default=0, metavar="N", help="which row of --data (default: 0)")
    which = command.add_mutually_exclusive_group()
    which.add_argument("--id", action="append", metavar="ID", help="explain this rule; can be repeated")
    which.add_argument("--all", action="store_true", help="explain all rules, not only those that match")
    add_json(command)
    add_engine(command)
    command.set_defaults(run=_explain)


def _explain(arguments: argparse.Namespace) -> int:
    rules = chosen_rules(arguments)
    row = _row_of(arguments)
    unmatched = Unmatched.of(rules, row)
    by_spark = arguments.engine == "spark" or bool(arguments.conf)
    ids = arguments.id or _candidates(rules, row, unmatched, everything=by_spark or arguments.all)
    _check(rules, ids, unmatched)
    by_spark |= not unmatched.undecided.keys().isdisjoint(ids)
    if by_spark and arguments.engine == "python":
        raise refuse_python(unmatched.undecided)
    explained = _explained(rules, row, ids, arguments, by_spark=by_spark)
    if not (arguments.id or arguments.all):
        explained = [own for own in explained if own.matched]
    if arguments.json:
        print(json_text([_plain(own) for own in explained], indent=2))
    elif explained:
        print("\n\n".join(map(str, explained)))
    else:
        print("no rule matches this row; --id ID explains one rule, --all explains all")
    return DONE


def _row_of(arguments: argparse.Namespace) -> pa.Table:
    """A table with only the row."""
    if arguments.data:
        return find_data([arguments.data]).row(arguments.row_number)
    text = sys.stdin.read() if arguments.row == "-" else arguments.row
    try:
        row = json.loads(text)
    except ValueError as error:
        raise SparkRulesError(f"""--row is not JSON ({error}): write '{{"temperature": 35}}'""") from error
    if not isinstance(row, dict):
        raise SparkRulesError("""--row is an object of column and value: '{"temperature": 35}'""")
    try:
        return pa.Table.from_pylist([row])
    except (pa.ArrowException, OverflowError) as error:
        raise SparkRulesError(f"--row has a value that no column can hold: {error}") from error


def _candidates(rules: RuleSet, row: pa.Table, unmatched: Unmatched, *, everything: bool) -> list[str]:
    """The rules to explain: all valid ones, or those that match or could match."""
    if unmatched.missing:
        note(f"skipped, because the row lacks a column: {listed(unmatched.missing, 3)}")
    if everything:
        live = rules._live.rules
        valid = live.id[live.valid_at(datetime.now(timezone.utc))].tolist()
        return [id for id in valid if id not in unmatched.missing]
    matched = rules.match(row, unsupported="skip").ids[0].as_py()
    return [*matched, *unmatched.undecided]


def _check(rules: RuleSet, ids: list[str], unmatched: Unmatched) -> None:
    for id in ids:
        if id not in rules.subscriptions:
            near = get_close_matches(id, rules.subscriptions, 3)
            advice = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise SparkRulesError(f"rule set {rules.name!r} has no rule {id!r}{advice}")
        if id in unmatched.missing:
            raise SparkRulesError(f"{id}: {unmatched.missing[id]} in the row")


def _explained(
    rules: RuleSet, row: pa.Table, ids: list[str], arguments: argparse.Namespace, *, by_spark: bool
) -> list[Explanation]:
    values = row.to_pylist()[0]
    if not by_spark:
        return rules.explain(values, ids=ids)
    from pyspark.errors import PySparkException

    note("explaining with Spark")
    with tempfile.TemporaryDirectory(prefix="sparkrules-", ignore_cleanup_errors=True) as scratch:
        directory = Path(scratch)
        try:
            with embedded_spark(directory, directory / "store", settings_of(arguments)) as spark:
                return rules.explain(values, spark, ids)
        except PySparkException as error:
            raise SparkRulesError(f"Spark cannot explain: {first_lines(error)}") from error


def _plain(explained: Explanation) -> dict[str, Any]:
    """For JSON."""
    drawn: set[int] = set()

    def plain(node: ExplainedNode) -> dict[str, Any]:
        own: dict[str, Any] = {"text": node.text, "truth": node.truth}
        if id(node) in drawn:  # a rewritten XOR would double at every nesting
            return {**own, "as_above": True}
        if node.children:
            drawn.add(id(node))
            own["children"] = [plain(child) for child in node.children]
        return own

    return {
        "id": explained.id,
        "matched": explained.matched,
        "valid": explained.valid,
        "tree": plain(explained.root),
    }
