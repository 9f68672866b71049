"""Random texts with row functions, each with a WHERE of plain Spark SQL that means the same by their definition.

A text is written with marks, `⟦at_least 2¦p¦q⟧` and `⟦matched a¦a > 1⟧`, from which both are made: `rule_of` writes the
row functions, `where_of` counts with CASE and puts a CASE in place of each matched value.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_MARK = re.compile("⟦([^⟦⟧¦]*)¦([^⟦⟧]*)⟧")


def marked(name: str, *arguments: str) -> str:
    """A row function: `at_least 2`, `matched a`, `min`, ..., and what stands in its brackets."""
    return f"⟦{name}¦{'¦'.join(arguments)}⟧"


def rule_of(text: str) -> str:
    """The text with row functions.

    >>> rule_of("⟦at_least 2¦⟦matched a¦a > 1⟧ < 5¦b¦c⟧")
    'at_least(2, matched(a > 1) < 5, b, c)'
    """
    return _unmarked(text, _row_function)


def where_of(text: str) -> str:
    """The text as Spark SQL.

    >>> where_of("⟦sum¦⟦matched a¦a > 1⟧¦b⟧ < 5")
    '(((CASE WHEN a > 1 THEN a END)) + (b)) < 5'
    """
    return _unmarked(text, _meaning)


def _unmarked(text: str, written: Callable[[str, str, list[str]], str]) -> str:
    while (mark := _MARK.search(text)) is not None:
        name, _, detail = mark[1].partition(" ")
        text = text[: mark.start()] + written(name, detail, mark[2].split("¦")) + text[mark.end() :]
    return text


def _row_function(name: str, detail: str, arguments: list[str]) -> str:
    return f"{name}({', '.join([detail, *arguments] if name in ('at_least', 'at_most', 'exactly') else arguments)})"


def _meaning(name: str, detail: str, arguments: list[str]) -> str:
    if name == "matched":
        return f"(CASE WHEN {arguments[0]} THEN {detail} END)"
    if name in ("sum", "avg"):
        total = " + ".join(f"({argument})" for argument in arguments)
        return f"({total})" if name == "sum" else f"(({total}) / {len(arguments)})"
    if name in ("min", "max"):
        unknown = " OR ".join(f"({argument}) IS NULL" for argument in arguments)
        return f"(CASE WHEN {unknown} THEN NULL ELSE {_EXTREMES[name]}({', '.join(arguments)}) END)"
    # The least and the most that may turn out to be true.
    least = " + ".join(f"CASE WHEN ({argument}) AND TRUE THEN 1 ELSE 0 END" for argument in arguments)
    most = " + ".join(f"CASE WHEN NOT (({argument}) AND TRUE) THEN 0 ELSE 1 END" for argument in arguments)
    return {
        "at_least": f"(CASE WHEN {least} >= {detail} THEN TRUE WHEN {most} < {detail} THEN FALSE END)",
        "at_most": f"(CASE WHEN {most} <= {detail} THEN TRUE WHEN {least} > {detail} THEN FALSE END)",
        "exactly": f"(CASE WHEN {least} = {detail} AND {most} = {detail} THEN TRUE "
        f"WHEN {most} < {detail} OR {least} > {detail} THEN FALSE END)",
    }[name]


_EXTREMES = {"min": "least", "max": "greatest"}
