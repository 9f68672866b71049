"""Comparisons across types, which Spark casts silently.

With a schema, its types decide. Without one, an attribute that most rules compare with numbers is assumed to be a
number, and one that most rules compare with strings a string. A tie decides nothing.

>>> from sparkrules.sql import parse_rule
>>> texts = {"a": "price > 10", "b": "price > 20", "c": "price > '9'"}
>>> rules = [Rule(id, text, parse_rule(text)) for id, text in texts.items()]
>>> [(finding.ids, finding.message) for finding in type_findings(rules, None)]
[(('c',), "`price > '9'` compares with a string what 2 other predicates compare with numbers")]
>>> schema = pa.schema([("price", pa.string())])
>>> [finding.message for finding in type_findings(rules[:1], schema)]
['`price > 10` compares with a number, but the column is string']
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from sparkrules.errors import and_more
from sparkrules.index.rule import Rule
from sparkrules.lint.finding import Finding, quoted
from sparkrules.lint.impossible import wrong_comparison
from sparkrules.lint.locate import Locator
from sparkrules.logic.atom import folded
from sparkrules.logic.columns import NoSuchColumn, Unsupported, find_column
from sparkrules.logic.comparison import ColumnType, column_type
from sparkrules.sql.tree import Predicate, distinct_predicates

_NUMBERS = ("integer", "decimal", "double")
_NUMERIC = ("integer", "decimal", "float", "double")
_TEXT_TESTS = ("like", "ilike", "rlike", "contains", "startswith", "endswith", "in network")
_WORDS = {"number": "a number", "string": "a string", "boolean": "a Boolean"}
_PLURALS = {"number": "numbers", "string": "strings", "boolean": "Booleans"}


def type_findings(rules: Sequence[Rule], schema: pa.Schema | None) -> Iterator[Finding]:
    """See the module."""
    users: dict[Predicate, list[Rule]] = {}
    for rule in rules:
        for predicate in distinct_predicates(rule.tree):
            users.setdefault(predicate, []).append(rule)
    columns = _Columns(schema) if schema is not None else None
    yield from _surprises(users, columns)


class _Columns:
    """The columns of a schema, looked up once per attribute."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self._known: dict[str, ColumnType | NoSuchColumn | None] = {}

    def find(self, attribute: str) -> ColumnType | NoSuchColumn | None:
        """The column's type, the error if there is no such column, or None for a derived attribute."""
        if attribute not in self._known:
            try:
                self._known[attribute] = column_type(find_column(attribute, self.schema).type)
            except NoSuchColumn as error:
                self._known[attribute] = error
            except Unsupported:
                self._known[attribute] = None
        return self._known[attribute]


def _surprises(users: Mapping[Predicate, list[Rule]], columns: _Columns | None) -> Iterator[Finding]:
    votes: dict[str, Counter[str]] = {}
    for predicate in users:
        for family in _families(predicate):
            votes.setdefault(predicate.attribute, Counter())[family] += 1
    found: dict[tuple[str, str, str], list[Predicate]] = {}
    for predicate in users:
        column = columns.find(predicate.attribute) if columns else None
        if isinstance(column, ColumnType) and wrong_comparison(predicate, column) is not None:
            continue  # already reported
        expected, reason = _expected(column), f", but the column is {column}"
        if column is None:
            expected, reason = _majority(votes.get(predicate.attribute, Counter()))
        for other in sorted(_families(predicate) - {expected}) if expected else ():
            found.setdefault((predicate.attribute, other, f"{reason}\0{expected}"), []).append(predicate)
    for (_, other, why), tests in found.items():
        reason, expected = why.split("\0")
        more = and_more(len(tests) - 1, "like it")
        message = (
            f"{quoted(tests[0])}{' ' * bool(more)}{more} compare{'' if more else 's'} with {_WORDS[other]}{reason}"
        )
        places = [place for test in tests for place in Locator(users[test][0]).places(test)[:1]]
        ids = dict.fromkeys(rule.id for test in tests for rule in users[test])
        yield Finding("type surprise", tuple(ids), message, tuple(places[:5]), _remedy(expected, other))


def _majority(votes: Counter[str]) -> tuple[str, str]:
    """What most predicates compare an attribute with, and a description of it. Empty if there is no majority."""
    ranked = [*votes.most_common(2), ("", 0), ("", 0)]
    (expected, most), (_, next_most) = ranked[:2]
    if not next_most or most == next_most:
        return "", ""
    others = "predicates compare" if most > 1 else "predicate compares"
    return expected, f" what {most} other {others} with {_PLURALS[expected]}"


def _families(predicate: Predicate) -> set[str]:
    if predicate.operator.removeprefix("not ") == "in list":
        return set()  # the constant is the name of a list
    if predicate.operator.removeprefix("not ") in _TEXT_TESTS:
        return {"string"}
    kinds = {constant.kind for constant in map(folded, predicate.constants)}
    found = {"number"} if kinds & set(_NUMBERS) else set()
    return found | (kinds & {"string", "boolean"})


def _expected(column: ColumnType | NoSuchColumn | None) -> str:
    """What a column should be compared with. Empty for dates and similar types, which may be written as strings."""
    if not isinstance(column, ColumnType):
        return ""
    if column.family in _NUMERIC:
        return "number"
    return column.family if column.family in ("string", "boolean") else ""


def _remedy(expected: str, other: str) -> str:
    if (expected, other) == ("number", "string"):
        return (
            "Remove the quotes: Spark casts one side silently, and which one depends on the operator and its settings."
        )
    if (expected, other) == ("string", "number"):
        return "Put the number in quotes, or write the cast: a string that is not a number is unknown here, or fails."
    return "Write the cast that is meant."
