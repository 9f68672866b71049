"""The command line: `sparkrules --help`.

Exit codes: 0 done; 1 failed, with the reason on stderr; 2 wrong usage; 3 done, but some rules were set aside. Those
of `lint` are in `lint_command`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from sparkrules import SparkRulesError, __version__
from sparkrules.cli.files import load_rules, read_data, read_rules
from sparkrules.cli.lint_command import add_lint
from sparkrules.cli.options import add_dialect, add_store
from sparkrules.cli.report_command import add_report
from sparkrules.cli.version_commands import add_versions

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
    add_store(publish)
    add_dialect(publish)
    publish.set_defaults(run=_publish)

    match = commands.add_parser("match", help="match a file against a rule set, without Spark; writes JSON lines")
    match.add_argument("data", type=Path, help="a .parquet, .csv or .jsonl file")
    rules = match.add_mutually_exclusive_group(required=True)
    rules.add_argument("--name", help="a published rule set: alerts, or alerts@12 for version 12")
    rules.add_argument("--rules", type=Path, help="a file of rules")
    match.add_argument("--all", action="store_true", help="also write the rows that match nothing")
    add_store(match)
    add_dialect(match)
    match.set_defaults(run=_match)

    add_lint(commands)
    add_report(commands)
    add_versions(commands)

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


def _demo(words: list[str]) -> int:
    from sparkrules import demo

    return demo.main(words)


def _publish(arguments: argparse.Namespace) -> int:
    rules = read_rules(arguments.file, arguments.name or arguments.file.stem, arguments.dialect)
    version = rules.publish(store=arguments.store)
    print(f"published {rules.name} version {version}: {len(rules)} rules, {len(rules.rejected)} set aside")
    return SOME_REJECTED if rules.rejected else 0


def _match(arguments: argparse.Namespace) -> int:
    if arguments.rules:
        rules = read_rules(arguments.rules, "rules", arguments.dialect)
    else:
        rules = load_rules(arguments.name, arguments.store)
    for number, ids in enumerate(rules.match(read_data(arguments.data)).ids.to_pylist()):
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
