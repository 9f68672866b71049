"""`sparkrules match`: files against a rule set."""

from __future__ import annotations

import argparse
from pathlib import Path

from sparkrules.cli.command import Commands, add_command
from sparkrules.cli.data_files import DataFiles, find_data
from sparkrules.cli.engine import note, settings_of
from sparkrules.cli.exit_codes import DONE, SOME_REJECTED
from sparkrules.cli.match_output import (
    Counts,
    Totals,
    check_output,
    first_rows,
    print_json_lines,
    print_table,
    shaped,
    write_tables,
)
from sparkrules.cli.matched import Shape
from sparkrules.cli.matching import Engine, Matching
from sparkrules.cli.options import add_engine, add_json, add_limit, add_rules, names_in
from sparkrules.cli.rules import chosen_rules
from sparkrules.cli.text_table import counted, terminal_width, text_table
from sparkrules.errors import SparkRulesError

_SHOWN = 20


def add_match(commands: Commands) -> None:
    """The command and its options."""
    command = add_command(
        commands,
        "match",
        "match Parquet, CSV or JSON files against a rule set",
        "Match every row of Parquet, CSV or JSON files against a rule set. Rows count from 0 within their file.",
        examples=[
            "sparkrules match readings.parquet --ruleset alerts",
            "sparkrules match day1.csv day2.csv --rules alerts.csv --summary",
            "sparkrules match readings/ --ruleset alerts@12 --output matches.parquet --per match",
            "sparkrules match readings.parquet --ruleset alerts --tags windows --per match --fields severity,title",
            "sparkrules match readings.jsonl --ruleset alerts --json | jq .ids",
        ],
    )
    command.add_argument(
        "data", type=Path, nargs="+", metavar="DATA", help="a .parquet, .csv or .jsonl file, or a directory of them"
    )
    add_rules(command)
    command.add_argument("--all", action="store_true", help="also write the rows that match nothing")
    command.add_argument(
        "--per", choices=["row", "match"], default="row", help="one line per row (default), or one per match"
    )
    command.add_argument("--fields", metavar="A,B", help="fields of the rules' metadata to include; needs --per match")
    command.add_argument("--tags", metavar="A,B", help="match only rules that have one of these tags")
    command.add_argument(
        "--status", choices=["live", "shadow"], default="live", help="match the rules with this status (default: live)"
    )
    command.add_argument("--summary", action="store_true", help="print the number of matches of each rule instead")
    add_limit(command, _SHOWN)
    add_json(command, "write one JSON object per line, without a limit")
    command.add_argument(
        "--output", type=Path, metavar="FILE", help="write all lines to a .parquet, .csv or .jsonl file"
    )
    command.add_argument(
        "--columns",
        metavar="A,B",
        help="columns of the data to include: '*' for all, '' for none (default: those that fit into the table, none "
        "with --json, all with --output)",
    )
    add_engine(command)
    command.set_defaults(run=_match)


def _match(arguments: argparse.Namespace) -> int:
    if arguments.output:
        check_output(arguments.output)
    if arguments.fields and (arguments.per != "match" or arguments.summary):
        raise SparkRulesError("--fields needs --per match, and no --summary: a line is then one match, of one rule")
    rules = chosen_rules(arguments)._chosen(arguments.status, names_in(arguments.tags))
    data = find_data(arguments.data)
    files = [str(file) for file in data.files] if len(data.files) > 1 else None
    shape = Shape(arguments.per, rules._live, files, rules._fields(names_in(arguments.fields)))
    columns = [] if arguments.summary else _columns(arguments, data, shape)
    engine: Engine = "spark" if arguments.conf and arguments.engine == "auto" else arguments.engine
    everything = arguments.all and not arguments.summary
    matching = Matching(rules, data, columns, everything, engine, settings_of(arguments))
    totals = Totals(data.rows)
    found = totals.counting(matching.rows())
    if arguments.summary:
        counts = Counts(rules._live)
        counts.add(found)
        _write_counts(counts, totals, arguments)
    elif arguments.output:
        written = write_tables(shaped(found, shape), arguments.output)
        note(f"{counted(written, 'line')} written to {arguments.output}; {totals}")
    elif arguments.json:
        print_json_lines(shaped(found, shape))
    else:
        limited = first_rows(found, arguments.limit)
        shown = print_table(shaped(limited, shape), chosen=arguments.columns is not None)
        most = totals.rows if arguments.all else totals.matching
        cut = f"; the first {arguments.limit:,} are shown, --limit 0 shows all" * (0 < arguments.limit < most)
        print(f"{chr(10) * (shown > 0)}{totals}{cut}")
    return SOME_REJECTED if arguments.rules and rules.rejected else DONE


def _columns(arguments: argparse.Namespace, data: DataFiles, shape: Shape) -> list[str]:
    known = data.columns
    if arguments.columns is None and not arguments.output:
        return [] if arguments.json else [name for name in known if name not in shape.names()]
    wanted = known
    if arguments.columns is not None and arguments.columns.strip() != "*":
        wanted = [name.strip() for name in arguments.columns.split(",") if name.strip()]
    for name in wanted:
        if name not in known:
            raise SparkRulesError(f"the data has no column {name!r}; it has: {', '.join(known)}")
    shape.check(wanted)
    return wanted


def _write_counts(counts: Counts, totals: Totals, arguments: argparse.Namespace) -> None:
    table = counts.table()
    if arguments.output:
        written = write_tables([table], arguments.output)
        note(f"counts of {counted(written, 'rule')} written to {arguments.output}; {totals}")
    elif arguments.json:
        print_json_lines([table])
    else:
        shown = table.slice(0, arguments.limit or None)
        names = ["subscription_id", "matches"]
        print(text_table(names, ([line[name] for name in names] for line in shown.to_pylist()), terminal_width()))
        cut = f"; the first {arguments.limit:,} are shown, --limit 0 shows all" * (0 < arguments.limit < len(table))
        print(f"\n{totals}; {counted(counts.never, 'rule')} never{cut}")
