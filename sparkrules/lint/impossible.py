"""Comparisons that cannot be intended: the constant is invalid for the column's type, or Spark does not compare the
types. Also predicates that name no column.

| predicate | why |
|---|---|
| `price > 'cheap'`, `at > '2025-13-45'` | Spark cannot convert the string to the column's type |
| `day = DATE '2025-02-30'` | the date does not exist |
| `day > 5`, `tags = 'a'` | Spark does not compare dates with numbers, or arrays with strings |
| `lower(kind) = 'Login'` | the result of `lower` has no capital letters |
| `"price" > 5` | double quotes make a string, like single quotes |

>>> from sparkrules.sql import parse_rule
>>> rule = Rule("r", "price > 'cheap'", parse_rule("price > 'cheap'"))
>>> [finding.message for finding in impossible_findings([rule], pa.schema([("price", pa.int32())]))]
["`price > 'cheap'` is never true: 'cheap' is not a number, and the column is int32"]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pyarrow as pa

from sparkrules.index.rule import Rule
from sparkrules.lint.finding import Finding, Kind, Place, quoted, shortened
from sparkrules.lint.locate import Locator
from sparkrules.lint.readable import unreadable
from sparkrules.logic.atom import folded
from sparkrules.logic.columns import Unsupported, find_column, is_name
from sparkrules.logic.comparison import ColumnType, column_type
from sparkrules.sql.literal import string
from sparkrules.sql.named_columns import names_in
from sparkrules.sql.tree import Constant, Predicate, distinct_predicates

_TYPED = re.compile(r"(DATE|TIMESTAMP|TIMESTAMP_LTZ|TIMESTAMP_NTZ)\s*('(?:[^'\\]|\\.)*')", re.IGNORECASE | re.DOTALL)
_TEXT_TESTS = ("like", "ilike", "rlike", "contains", "startswith", "endswith")
_TRUTHS = ("is true", "is false", "is not true", "is not false")
_CASE_CALL = re.compile(r"(lower|lcase|upper|ucase)\(\s*(.+?)\s*\)", re.IGNORECASE | re.DOTALL)
_CAPITAL, _SMALL = re.compile("[A-Z]"), re.compile("[a-z]")
_FINDING = ("=", "<=>", "in", "like", "contains", "startswith", "endswith")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_CONSTANTS = {"integer": "a number", "decimal": "a number", "double": "a number", "boolean": "a Boolean"}
_ANSI = "Correct the constant: in ANSI mode, Spark's default, WHERE would fail on it."
_SHOWN = 5


def impossible_findings(rules: Sequence[Rule], schema: pa.Schema | None) -> Iterator[Finding]:
    """One finding for each predicate, with all rules that contain it."""
    users: dict[Predicate, list[Rule]] = {}
    for rule in rules:
        for predicate in distinct_predicates(rule.tree):
            users.setdefault(predicate, []).append(rule)
    types = _Types(schema)
    for predicate, own in users.items():
        wrong = wrong_comparison(predicate, types.of(predicate.attribute)) or _wrong_case(predicate, types)
        if wrong is not None:
            yield _finding("impossible predicate", predicate, own, *wrong)
        elif (text := types.quoted_column(predicate)) is not None:
            message = f"{quoted(predicate.attribute)} names no column: {shortened(text)} is a string"
            remedy = f"A column is written without quotes, or in backticks: `{text[1:-1]}`."
            yield _finding("constant predicate", predicate, own, message, remedy)


def _finding(kind: Kind, predicate: Predicate, users: Sequence[Rule], message: str, remedy: str) -> Finding:
    places: list[Place] = []
    for rule in users[:_SHOWN]:
        places += Locator(rule).places(predicate)[:1]
    return Finding(kind, tuple(dict.fromkeys(rule.id for rule in users)), message, tuple(places), remedy)


def _wrong_case(predicate: Predicate, types: _Types) -> tuple[str, str] | None:
    """A lower-case string compared with capitals, or the reverse. Only for a plain column without collation."""
    call = _CASE_CALL.fullmatch(predicate.attribute)
    column = types.of(call[2]) if call is not None else None
    if call is None or column is None or column.family != "string" or predicate.operator not in _FINDING:
        return None
    is_lower = call[1].lower() in ("lower", "lcase")
    wrong = _CAPITAL if is_lower else _SMALL
    constants = [folded(constant) for constant in predicate.constants]
    if not all(constant.kind == "string" and wrong.search(constant.text) for constant in constants):
        return None
    cases = ("capital", "small") if is_lower else ("small", "capital")
    message = f"{quoted(predicate)} is never true: what `{call[1]}` gives has no {cases[0]} letters"
    return message, f"Write the text in {cases[1]} letters."


class _Types:
    """The column types, looked up once per attribute. Without a schema, nothing is known."""

    def __init__(self, schema: pa.Schema | None) -> None:
        self.schema = schema
        self.names = {name.lower() for name in schema.names} if schema is not None else set()
        self._known: dict[str, ColumnType | None] = {}

    def of(self, attribute: str) -> ColumnType | None:
        """The column's type, if the attribute is a column."""
        if attribute not in self._known:
            try:
                found = None if self.schema is None else find_column(attribute, self.schema)
            except Unsupported:
                found = None
            self._known[attribute] = None if found is None else column_type(found.type)
        return self._known[attribute]

    def quoted_column(self, predicate: Predicate) -> str | None:
        """A quoted column name in a condition that names no column."""
        if not self.names or is_name(predicate.attribute) or predicate.operator not in _TRUTHS:
            return None
        texts = (found[0] for found in _QUOTED.finditer(predicate.attribute))
        text = next((text for text in texts if text[1:-1].lower() in self.names), None)
        return text if text is not None and not names_in(predicate.attribute) else None


def wrong_comparison(predicate: Predicate, column: ColumnType | None) -> tuple[str, str] | None:
    """What is wrong with a comparison with constants, and what to do. None if nothing is."""
    if predicate.operator in ("in list", "not in list"):
        return None  # the constant is the name of a list
    for constant in map(folded, predicate.constants):
        typed = _TYPED.fullmatch(constant.text) if constant.kind == "sql" else None
        text = string([typed[2]]) if typed else None
        if typed is not None and text is not None:
            family = "date" if typed[1].upper() == "DATE" else "timestamp"
            if (problem := unreadable(text.text, family)) is not None:
                return (
                    f"{quoted(predicate)} is rejected by Spark: {shortened(text)} is {problem}",
                    "Correct the constant.",
                )
        if column is None:
            continue
        if constant.kind == "string" and predicate.operator.removeprefix("not ") not in _TEXT_TESTS:
            problem = unreadable(constant.text, column.family)
            if problem is not None:
                message = (
                    f"{quoted(predicate)} is never true: {shortened(constant)} is {problem}, and the column is {column}"
                )
                return message, _ANSI
        if (what := _uncomparable(column, constant)) is not None:
            message = f"{quoted(predicate)} is rejected by Spark: it compares with {what}, and the column is {column}"
            return message, "Write the conversion that is meant."
    return None


def _uncomparable(column: ColumnType, constant: Constant) -> str | None:
    """A description of the constant, if Spark never compares such a column with it."""
    if column.family in ("date", "timestamp"):
        return _CONSTANTS.get(constant.kind)
    if pa.types.is_nested(column.arrow):
        return "a string" if constant.kind == "string" else _CONSTANTS.get(constant.kind)
    return None
