"""`sparkrules detect`: patterns over several rows, in files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pyarrow as pa

from sparkrules.cli.command import Commands, add_command
from sparkrules.cli.data_files import find_data
from sparkrules.cli.detecting import Detecting
from sparkrules.cli.engine import note, settings_of
from sparkrules.cli.exit_codes import DONE, SOME_REJECTED
from sparkrules.cli.match_output import check_output, lines_of, print_json_lines, write_tables
from sparkrules.cli.matching import Engine
from sparkrules.cli.options import add_engine, add_json, add_limit, add_rules
from sparkrules.cli.rules import chosen_rules
from sparkrules.cli.text_table import counted, terminal_width, text_table
from sparkrules.errors import SparkRulesError

_SHOWN = 20
_COLUMNS = ("pattern", "kind", "key", "start", "end", "count")


def add_detect(commands: Commands) -> None:
    """The command and its options."""
    command = add_command(
        commands,
        "detect",
        "find the patterns of a rule set in Parquet, CSV or JSON files",
        "Find the patterns of a rule set in the rows of Parquet, CSV or JSON files: sequences, counts, absences and "
        "others. The files are taken together, in order of time. The greatest time is the end of time: what would be "
        "decided later is not reported.",
        examples=[
            "sparkrules detect events.parquet --ruleset alerts --time at",
            "sparkrules detect day1.csv day2.csv --rules alerts.yaml --time at --id event_id",
            "sparkrules detect events.jsonl --ruleset alerts --time at --json | jq .pattern",
        ],
    )
    command.add_argument(
        "data", type=Path, nargs="+", metavar="DATA", help="a .parquet, .csv or .jsonl file, or a directory of them"
    )
    add_rules(command)
    command.add_argument("--time", required=True, metavar="COLUMN", help="the column with the time of a row")
    command.add_argument("--id", metavar="COLUMN", help="a column with an id, to name the rows of a detection")
    add_limit(command, _SHOWN)
    add_json(command, "write one JSON object per line, without a limit")
    command.add_argument(
        "--output", type=Path, metavar="FILE", help="write all detections to a .parquet, .csv or .jsonl file"
    )
    add_engine(command)
    command.set_defaults(run=_detect)


def _detect(arguments: argparse.Namespace) -> int:
    if arguments.output:
        check_output(arguments.output)
    rules = chosen_rules(arguments)
    if not rules.patterns:
        raise SparkRulesError(f"rule set {rules.name!r} has no patterns; `sparkrules match` matches its rules")
    engine: Engine = "spark" if arguments.conf and arguments.engine == "auto" else arguments.engine
    data = find_data(arguments.data)
    found = Detecting(rules, data, arguments.time, arguments.id, engine, settings_of(arguments)).table()
    if arguments.output:
        written = write_tables([found], arguments.output)
        note(f"{counted(written, 'detection')} written to {arguments.output}")
    elif arguments.json:
        print_json_lines([found])
    else:
        _print(found, arguments.limit, len(rules.patterns), named=arguments.id is not None)
    return SOME_REJECTED if arguments.rules and rules.rejected else DONE


def _print(found: pa.Table, limit: int, patterns: int, *, named: bool) -> None:
    lines = list(lines_of(found.slice(0, limit or None)))
    columns = [*_COLUMNS, *(["rows"] if named else [])]
    if lines:
        print(text_table(columns, ([_cell(line[name], name) for name in columns] for line in lines), terminal_width()))
        print()
    cut = f"; the first {limit:,} are shown, --limit 0 shows all" * (0 < limit < len(found))
    print(f"{counted(len(found), 'detection')} of {counted(patterns, 'pattern')}{cut}")


def _cell(value: Any, name: str) -> Any:
    if name == "key":
        return ", ".join(f"{column}={own}" for column, own in value.items())
    if name == "rows":
        return ", ".join("NULL" if own["id"] is None else own["id"] for own in value)
    return value
