"""The command line: `sparkrules --help`.

Exit codes: 0 done; 1 failed, with the reason on stderr; 2 wrong usage; 3 done, but some rules were set aside.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sparkrules import RuleSet, SparkRulesError, __version__

if TYPE_CHECKING:
    import pyarrow as pa

FAILED, SOME_REJECTED = 1, 3


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        if words[:1] == ["demo"]:
            return _demo(words[1:])
        arguments = _parser().parse_args(words)
        run: Callable[[argparse.Namespace], int] = arguments.run
        return run(arguments)
    except SparkRulesError as error:
        print(f"sparkrules: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        # `sparkrules match ... | head`: nobody reads on, and Python would complain when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sparkrules",
        description="Thousands of SQL WHERE expressions, matched against every row of a Spark table in one pass.",
        epilog="Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done, but some rules were set aside.",
    )
    parser.add_argument("--version", action="version", version=f"sparkrules {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    # Listed here; `main` hands its arguments on, since argparse would take options of another parser for unknown ones.
    commands.add_parser("demo", help="try it: 10,000 rules on a million rows, on an embedded Spark")

    publish = commands.add_parser("publish", help="publish the rules of a file as the next version of a rule set")
    publish.add_argument(
        "file", type=Path, help="a .csv, .jsonl or .yaml file with the fields id, where, [priority, metadata, ...]"
    )
    publish.add_argument("--name", help="name of the rule set (default: that of the file)")
    _add_store(publish)
    _add_dialect(publish)
    publish.set_defaults(run=_publish)

    match = commands.add_parser("match", help="match a file against a rule set, without Spark; writes JSON lines")
    match.add_argument("data", type=Path, help="a .parquet, .csv or .jsonl file")
    rules = match.add_mutually_exclusive_group(required=True)
    rules.add_argument("--name", help="a published rule set: alerts, or alerts@12 for version 12")
    rules.add_argument("--rules", type=Path, help="a file of rules")
    match.add_argument("--all", action="store_true", help="also write the rows that match nothing")
    _add_store(match)
    _add_dialect(match)
    match.set_defaults(run=_match)

    jar_path = commands.add_parser(
        "jar-path", help="print the path of the plugin's jar: spark-submit --jars $(sparkrules jar-path)"
    )
    jar_path.set_defaults(run=_jar_path)

    build_jar = commands.add_parser("build-jar", help="build the plugin's jar for the installed PySpark")
    build_jar.add_argument("--output", type=Path, metavar="FILE", help="where to (default: the cache)")
    build_jar.add_argument("--strict", action="store_true", help="take the compiler's warnings for errors")
    build_jar.add_argument("--prebuilt", type=Path, metavar="DIRECTORY", help=argparse.SUPPRESS)
    build_jar.set_defaults(run=_build_jar)
    return parser


def _add_store(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--store", help="directory of published rule sets (default: $SPARKRULES_STORE or ~/.sparkrules/store)"
    )


def _add_dialect(command: argparse.ArgumentParser) -> None:
    command.add_argument("--dialect", default="spark", help="SQL dialect of the rules in the file (default: spark)")


def _demo(words: list[str]) -> int:
    from sparkrules import demo

    return demo.main(words)


def _publish(arguments: argparse.Namespace) -> int:
    rules = _read_rules(arguments.file, arguments.name or arguments.file.stem, arguments.dialect)
    version = rules.publish(store=arguments.store)
    print(f"published {rules.name} version {version}: {len(rules)} rules, {len(rules.rejected)} set aside")
    return SOME_REJECTED if rules.rejected else 0


def _match(arguments: argparse.Namespace) -> int:
    if arguments.rules:
        rules = _read_rules(arguments.rules, "rules", arguments.dialect)
    else:
        name, _, version = arguments.name.partition("@")
        if version and not version.isdecimal():
            raise SparkRulesError(f"{arguments.name!r} is not a version of a rule set: write {name}@12 with a number")
        rules = RuleSet.load(name, arguments.store, int(version) if version else None)
    for number, ids in enumerate(rules.match(_read_data(arguments.data)).ids.to_pylist()):
        if ids or arguments.all:
            print(json.dumps({"row": number, "ids": ids}, ensure_ascii=False))
    return SOME_REJECTED if arguments.rules and rules.rejected else 0


def _jar_path(_: argparse.Namespace) -> int:
    from sparkrules.catalyst.jar import jar_path

    print(jar_path())
    return 0


def _build_jar(arguments: argparse.Namespace) -> int:
    from sparkrules.catalyst import jar

    if arguments.prebuilt:
        print(jar.write_prebuilt(arguments.prebuilt))
    else:
        print(jar.build_jar(arguments.output or jar.cached_jar(), strict=arguments.strict))
    return 0


def _read_rules(file: Path, name: str, dialect: str) -> RuleSet:
    rules = RuleSet(name, dialect)
    rules.subscribe_all(file)
    for rejected in rules.rejected:
        where = "" if rejected.line is None else f" (line {rejected.line}, column {rejected.column})"
        print(f"set aside: {rejected.id!r}{where}: {rejected.reason}", file=sys.stderr)
    return rules


def _read_data(file: Path) -> pa.Table:
    import pyarrow.csv
    import pyarrow.json
    import pyarrow.parquet

    readers = {
        ".parquet": pyarrow.parquet.read_table,
        ".csv": pyarrow.csv.read_csv,
        ".jsonl": pyarrow.json.read_json,
        ".ndjson": pyarrow.json.read_json,
        ".json": pyarrow.json.read_json,
    }
    reader = readers.get(file.suffix.lower())
    if reader is None:
        raise SparkRulesError(f"{file}: data is read from {', '.join(readers)} files")
    try:
        return reader(file)
    except (OSError, pyarrow.ArrowException) as error:
        raise SparkRulesError(f"{file} cannot be read: {error}") from error


if __name__ == "__main__":
    sys.exit(main())
