"""`sparkrules doctor`: check everything that sparkrules needs."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict

from sparkrules import __version__
from sparkrules.cli.checks import Check, all_checks
from sparkrules.cli.command import Commands, add_command
from sparkrules.cli.exit_codes import DONE, FAILED
from sparkrules.cli.json_text import json_text
from sparkrules.cli.options import add_json, add_store


def add_doctor(commands: Commands) -> None:
    """The command and its options."""
    command = add_command(
        commands,
        "doctor",
        "check Java, PySpark, the plugin and the store, and say how to fix them",
        "Check Python, PySpark, Java, the plugin's jar, packages and the store, and that Spark starts and matches. If "
        "something is broken, print how to fix it and exit with 1.",
        examples=["sparkrules doctor", "sparkrules doctor --no-spark --store /data/rules --json"],
    )
    command.add_argument("--no-spark", action="store_true", help="do not start Spark, which takes some seconds")
    add_json(command)
    add_store(command)
    command.set_defaults(run=_doctor)


def _doctor(arguments: argparse.Namespace) -> int:
    checks = []
    if not arguments.json:
        print(f"sparkrules {__version__} on {sys.platform}\n")
    for check in all_checks(arguments.store, spark=not arguments.no_spark):
        checks.append(check)
        if not arguments.json:
            print(_line(check), flush=True)
    broken = [check.name for check in checks if check.status == "broken"]
    if arguments.json:
        listed = [asdict(check) for check in checks]
        print(json_text({"sparkrules": __version__, "ok": not broken, "checks": listed}, indent=2))
    else:
        print(f"\nbroken: {', '.join(broken)}" if broken else "\neverything works")
    return FAILED if broken else DONE


def _line(check: Check) -> str:
    first, *others = check.found.splitlines() or [""]
    lines = [f"{check.status:<9}{check.name:<16}  {first}", *(f"{'':<27}{line}" for line in others)]
    if check.fix:
        lines.append(f"{'':<27}→ {check.fix}")
    return "\n".join(lines)
