"""The command line: `sparkrules --help`. See `exit_codes` for how commands end."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence

from sparkrules import SparkRulesError, __version__
from sparkrules.cli.backtest_command import add_backtest
from sparkrules.cli.command import Parser
from sparkrules.cli.demo_command import add_demo
from sparkrules.cli.detect_command import add_detect
from sparkrules.cli.doctor_command import add_doctor
from sparkrules.cli.exit_codes import FAILED, STOPPED, SUMMARY
from sparkrules.cli.explain_command import add_explain
from sparkrules.cli.jar_commands import add_jar
from sparkrules.cli.lint_command import add_lint
from sparkrules.cli.list_command import add_list
from sparkrules.cli.match_command import add_match
from sparkrules.cli.overlap_command import add_overlap
from sparkrules.cli.publish_command import add_publish
from sparkrules.cli.report_command import add_report
from sparkrules.cli.rule_test_command import add_test
from sparkrules.cli.thriftserver_command import add_thriftserver
from sparkrules.cli.version_commands import add_versions


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    _replace_unprintable()
    try:
        arguments = _parser().parse_args(argv)
        run: Callable[[argparse.Namespace], int] = arguments.run
        return run(arguments)
    except SparkRulesError as error:
        print(f"sparkrules: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        # `sparkrules match ... | head`: the reader is gone, and Python would complain when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        print(f"sparkrules: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("sparkrules: stopped", file=sys.stderr)
        return STOPPED


def _replace_unprintable() -> None:
    """Print question marks for ✓ and → on a terminal that knows only ASCII, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="sparkrules",
        description="Thousands of SQL WHERE expressions, matched against every row of a Spark table in one pass.",
        epilog=SUMMARY,
    )
    parser.add_argument("--version", action="version", version=f"sparkrules {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    add_demo(commands)
    add_publish(commands)
    add_match(commands)
    add_detect(commands)
    add_explain(commands)
    add_overlap(commands)
    add_lint(commands)
    add_list(commands)
    add_test(commands)
    add_backtest(commands)
    add_report(commands)
    add_versions(commands)
    add_thriftserver(commands)
    add_jar(commands)
    add_doctor(commands)
    return parser
