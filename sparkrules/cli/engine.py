"""What matches: numpy at once, where it is certain to give Spark's answer, or an embedded Spark."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

import pyarrow as pa

from sparkrules.errors import SparkRulesError, listed
from sparkrules.local import NeedsSpark, UnknownColumn
from sparkrules.ruleset import RuleSet

_SHOWN = 3
MEMORY = {"spark.driver.memory": "2g"}


def settings_of(arguments: argparse.Namespace) -> dict[str, str]:
    """The settings of the embedded Spark."""
    return {**MEMORY, **dict(arguments.conf)}


def reasons_for_spark(rules: RuleSet, schema: pa.Schema) -> Mapping[str, str]:
    """The rules that only Spark can match on such columns, each with the reason; an error if a column is missing."""
    try:
        rules.match(schema.empty_table())
    except UnknownColumn as error:
        raise SparkRulesError(
            f"columns are missing:\n{shown_reasons(error.reasons)}\n"
            f"The data has: {', '.join(schema.names)}.\n"
            "--conf spark.sparkrules.missingColumns=null reads missing columns as NULL, "
            "--conf spark.sparkrules.invalidRules=skip skips such rules."
        ) from error
    except NeedsSpark as error:
        return error.reasons
    return {}


def refuse_python(reasons: Mapping[str, str], what: str = "rules") -> SparkRulesError:
    """The error for `--engine python` where Spark is needed."""
    return SparkRulesError(f"some {what} need Spark (--engine spark):\n{shown_reasons(reasons)}")


def shown_reasons(reasons: Mapping[str, str], shown: int = _SHOWN) -> str:
    """The first of them, one line each."""
    return "  " + listed((f"{id}: {reason}" for id, reason in reasons.items()), shown, "\n  ")


def first_lines(error: BaseException) -> str:
    """Spark's message, without the plan or the stack trace that may follow it."""
    kept: list[str] = []
    for line in str(error).splitlines():
        if line.startswith(("'", "+-", "== ", "JVM stacktrace", "\tat ")) or not line.strip():
            break
        kept.append(line)
    return "\n".join(kept).rstrip(";") or type(error).__name__


def note(*words: str) -> None:
    """Print a note on stderr."""
    print("sparkrules:", *words, file=sys.stderr, flush=True)
