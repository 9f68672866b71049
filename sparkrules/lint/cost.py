"""Predicates that cost more than others, because the plugin's index helps only in part or not at all.

| predicate | why it costs | instead |
|---|---|---|
| `RLIKE` | a regular expression per row | `contains`, `startswith`, LIKE where equivalent |
| `my_udf(a) > 5` | a Python function sends rows to a worker and back | Spark functions |
| opaque: `a + b > c` | Spark computes the whole condition per row | attribute, operator, constant |
| `LIKE '%x_y'` | a leading wildcard and no fixed text: nothing to look up | `contains`, `endswith` |

>>> from sparkrules.sql import parse_rule
>>> rule = Rule("r", "a + b > c AND d RLIKE 'x'", parse_rule("a + b > c AND d RLIKE 'x'"))
>>> [finding.message for finding in cost_findings([rule])]
['1 opaque condition, which Spark computes for every row', '1 regular expression']
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sparkrules.index.rule import Rule
from sparkrules.lint.finding import Finding, Place
from sparkrules.lint.locate import Locator
from sparkrules.logic.columns import top_column
from sparkrules.sql.called_functions import functions_in
from sparkrules.sql.functions import SCALAR_FUNCTIONS
from sparkrules.sql.tree import Predicate, distinct_predicates

_TRUTHS = ("is true", "is false", "is not true", "is not false")
_SHOWN = 3
_KINDS = {
    "function": (
        "test of a function that is not Spark's",
        "tests of functions that are not Spark's",
        ": if it is one of Python, rows go to a Python worker and back",
        "Write it with functions of Spark if possible.",
    ),
    "opaque": (
        "opaque condition",
        "opaque conditions",
        ", which Spark computes for every row",
        "Write it as attribute, operator, constant if possible: those are looked up in the index.",
    ),
    "regex": (
        "regular expression",
        "regular expressions",
        "",
        "If it only looks for fixed text, use contains, startswith, endswith or LIKE: all of them take one pass.",
    ),
    "wildcard": (
        "pattern with a wildcard in front",
        "patterns with a wildcard in front",
        "",
        "Use contains or endswith if that is meant; they say so, and need no pattern.",
    ),
}


def cost_findings(rules: Sequence[Rule]) -> Iterator[Finding]:
    """At most one finding of each sort per rule."""
    for rule in rules:
        found: dict[str, dict[Predicate, None]] = {}
        for predicate in distinct_predicates(rule.tree):
            sort = _sort(predicate)
            if sort:
                found.setdefault(sort, {})[predicate] = None
        locator = Locator(rule)
        for sort, (one, many, reason, remedy) in _KINDS.items():
            if sort in found:
                count = len(found[sort])
                firsts: list[Place] = [place for test in found[sort] for place in locator.places(test)[:1]]
                places = sorted(firsts, key=lambda place: (place.line, place.column))[:_SHOWN]
                message = f"{count} {one if count == 1 else many}{reason}"
                yield Finding("costly", (rule.id,), message, tuple(places), remedy)


def _sort(predicate: Predicate) -> str | None:
    operator = predicate.operator.removeprefix("not ")
    if not functions_in(predicate.attribute) <= SCALAR_FUNCTIONS:
        return "function"
    if operator == "rlike":
        return "regex"
    if operator in ("like", "ilike"):
        is_wild = predicate.constants[0].kind == "string" and predicate.constants[0].text[:1] in ("%", "_")
        return "wildcard" if is_wild else None
    return "opaque" if operator in _TRUTHS and top_column(predicate.attribute) is None else None
