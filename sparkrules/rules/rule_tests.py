"""Tests that stand beside a rule or a pattern in its source: rows, and what is expected of them.

| of | fields of a test |
|---|---|
| a rule | `row`, a mapping of column to value; `matches`, true or false |
| a pattern | `rows`, a list of such mappings; `time`, the column with their time; `detections`, how many are found |

Both may have a `name`. Tests stay in their source: a rule set does not keep them, and they are not published.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sparkrules.errors import RuleSetError
from sparkrules.rules.fields import is_whole
from sparkrules.rules.sources import RowWithTests, read_rules

_OF_RULES = ("row", "matches")
_OF_PATTERNS = ("rows", "time", "detections")


@dataclass(frozen=True)
class RuleTest:
    """A test. `number` counts those of a rule from 1, and `source` is where the rule is: `alerts.yaml, rule 3`.

    `expected` says whether the only row matches, or how many detections a pattern has in the rows.
    """

    id: str
    number: int
    source: str | None
    rows: tuple[Mapping[str, Any], ...]
    expected: bool | int
    time: str | None = None
    name: str = ""

    @property
    def is_of_pattern(self) -> bool:
        return self.time is not None


@dataclass(frozen=True)
class InvalidTest:
    """A test that cannot be run, and why. `number` is 0 if the rule has no list of tests."""

    id: str
    number: int
    source: str | None
    reason: str


def read_tests(source: object) -> Iterator[RuleTest | InvalidTest]:
    """The tests of a source of rules, which is anything that `RuleSet.subscribe_all` takes but a DataFrame of Spark.

    >>> tests = [{"row": {"temperature": 35}, "matches": True}, {"row": {"temperature": 35}, "matches": "maybe"}]
    >>> found = list(read_tests([{"id": "hot", "where": "temperature > 30", "tests": tests}]))
    >>> found[0].rows, found[0].expected, found[1].reason
    (({'temperature': 35},), True, "matches is true or false, not 'maybe'")
    """
    for row in read_rules(source):
        if isinstance(row, RowWithTests) and row.tests is not None:
            yield from _tests_of(row)


def _tests_of(row: RowWithTests) -> Iterator[RuleTest | InvalidTest]:
    id = "" if row.id is None else str(row.id)
    place = getattr(row, "source", None)
    source = None if place is None else f"{place[0]}, {place[1]} {place[2]}"
    try:
        tests = _list_of(row.tests)
    except RuleSetError as error:
        yield InvalidTest(id, 0, source, str(error))
        return
    for number, test in enumerate(tests, start=1):
        try:
            rows, expected, time, name = _checked(test)
        except RuleSetError as error:
            yield InvalidTest(id, number, source, str(error))
        else:
            yield RuleTest(id, number, source, rows, expected, time, name)


def _list_of(tests: Any) -> list[Any]:
    if isinstance(tests, str):
        try:
            tests = json.loads(tests)
        except (ValueError, RecursionError) as error:
            raise RuleSetError(f"tests is not JSON: {error}") from None
    if not isinstance(tests, (list, tuple)):
        raise RuleSetError(f"tests is a list of tests {{row: ..., matches: true}}, not {tests!r:.60}")
    return list(tests)


def _checked(test: Any) -> tuple[tuple[Mapping[str, Any], ...], bool | int, str | None, str]:
    if not isinstance(test, Mapping):
        raise RuleSetError(f"a test has the fields row and matches, but this is {test!r:.60}")
    is_of_pattern = not {"rows", "time", "detections"}.isdisjoint(test)
    needed = _OF_PATTERNS if is_of_pattern else _OF_RULES
    missing = [field for field in needed if field not in test]
    odd = [str(field) for field in test if field not in (*needed, "name")]
    if missing or odd:
        of = "a pattern" if is_of_pattern else "a rule"
        found = ", ".join(map(str, test)) or "none"
        raise RuleSetError(f"a test of {of} has the fields {', '.join(needed)} and perhaps name, but this has {found}")
    name = "" if test.get("name") is None else str(test["name"])
    if not is_of_pattern:
        if not isinstance(test["matches"], bool):
            raise RuleSetError(f"matches is true or false, not {test['matches']!r:.60}")
        return (_row(test["row"]),), test["matches"], None, name
    if not isinstance(test["rows"], (list, tuple)) or not test["rows"]:
        raise RuleSetError(f"rows is a list of at least one row, not {test['rows']!r:.60}")
    if not isinstance(test["time"], str):
        raise RuleSetError(f"time is the name of a column, not {test['time']!r:.60}")
    if not is_whole(test["detections"]) or test["detections"] < 0:
        raise RuleSetError(f"detections is how many there are, 0 or more, not {test['detections']!r:.60}")
    return tuple(map(_row, test["rows"])), int(test["detections"]), test["time"], name


def _row(row: Any) -> Mapping[str, Any]:
    if not isinstance(row, Mapping) or not row:
        raise RuleSetError(f"a row is a mapping of column to value, as in {{temperature: 35}}, not {row!r:.60}")
    odd = [name for name in row if not isinstance(name, str)]
    if odd:  # YAML reads `on`, `no` and `y` as true or false
        raise RuleSetError(f"the name of a column is a string, not {odd[0]!r:.60}: quote it")
    return row
