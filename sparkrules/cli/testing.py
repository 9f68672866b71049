"""Running the tests of rules and patterns: by numpy where it can, by an embedded Spark otherwise.

Rows with the same columns and types are matched together, against the rules that are tested with them and no others.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

import sparkrules
from sparkrules.catalyst import embedded_spark, left_out
from sparkrules.cli.engine import note, refuse_python
from sparkrules.cli.json_text import json_text
from sparkrules.cli.matching import Engine
from sparkrules.cli.spark_data import FILE, ROW, cannot_match, converted
from sparkrules.cli.text_table import counted
from sparkrules.cli.unmatched import Unmatched
from sparkrules.errors import RuleSetError, SparkRulesError, listed
from sparkrules.rules import InvalidTest, RuleTest
from sparkrules.ruleset import RuleSet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Status = Literal["passed", "failed", "invalid"]
_SHOWN = 3
_IDS = "__sparkrules_ids"


@dataclass(frozen=True)
class Outcome:
    """What became of a test: if it did not pass, the reason, and why the rule matches the row or does not."""

    test: RuleTest | InvalidTest
    status: Status
    reason: str = ""
    explanation: str = ""


@dataclass(frozen=True)
class Testing:
    """The rules of a file, and how their tests are run. `schema` has the types of the columns, if they are known."""

    rules: RuleSet
    schema: pa.Schema | None
    engine: Engine
    settings: Mapping[str, str]

    def outcomes(self, tests: Sequence[RuleTest | InvalidTest]) -> list[Outcome]:
        """The outcomes of tests, in their order."""
        found: dict[int, Outcome] = {}
        groups: dict[pa.Schema, _Group] = {}
        rejected = {own.source for own in self.rules.rejected}
        for number, test in enumerate(tests):
            if isinstance(test, InvalidTest):
                found[number] = Outcome(test, "invalid", test.reason)
                continue
            try:
                if test.source in rejected:
                    raise RuleSetError("the rule is rejected")
                table = test_table(test, self.schema)
                if test.is_of_pattern:
                    found[number] = _detected(self.rules, test, table)
                elif test.id not in self.rules:
                    raise RuleSetError("a test of a pattern has the fields rows, time and detections")
                else:
                    groups.setdefault(table.schema, _Group()).add(number, test, table)
            except SparkRulesError as error:
                found[number] = Outcome(test, "invalid", str(error))
        for_spark: list[_Group] = []
        needed: dict[str, str] = {}
        for group in groups.values():
            if self.engine == "spark":
                for_spark.append(group)
            else:
                left = self._without_spark(group, found, needed)
                for_spark += [left] if left.tests else []
        if needed and self.engine == "python":
            raise refuse_python(needed)
        if for_spark:
            said = f": {counted(len(needed), 'rule')} {'needs' if len(needed) == 1 else 'need'} it:" if needed else ""
            note(f"testing with Spark{said}", *([listed(needed, _SHOWN)] if needed else []))
            self._with_spark(for_spark, found)
        else:
            note("testing without Spark")
        return [found[number] for number in range(len(tests))]

    def _without_spark(self, group: _Group, found: dict[int, Outcome], needed: dict[str, str]) -> _Group:
        """Run the tests of a group that numpy can run, and return the others."""
        rules, table, left = group.rules(self.rules, "tests"), group.table(), _Group()
        unmatched = Unmatched.of(rules, table)
        ids = rules.match(table, unsupported="skip").ids.to_pylist()
        for (number, test, row), matched in zip(group.tests, ids, strict=True):
            if test.id in unmatched.missing:
                reason = f"{unmatched.missing[test.id]}; the row has: {', '.join(table.column_names)}"
                found[number] = Outcome(test, "invalid", reason)
            elif test.id in unmatched.undecided:
                needed[test.id] = unmatched.undecided[test.id]
                left.add(number, test, row)
            else:
                found[number] = _matched(rules, test, row, matches=test.id in matched)
        return left

    def _with_spark(self, groups: Sequence[_Group], found: dict[int, Outcome]) -> None:
        from pyspark.errors import PySparkException

        # A rule that does not fit the row is an invalid test, which does not stop the others.
        settings = {**self.settings, "spark.sparkrules.invalidRules": "skip"}
        with ExitStack() as stack:
            scratch = tempfile.TemporaryDirectory(prefix="sparkrules-", ignore_cleanup_errors=True)
            directory = Path(stack.enter_context(scratch))
            try:
                spark = stack.enter_context(embedded_spark(directory, directory / "store", settings))
                for place, group in enumerate(groups):
                    rules = group.rules(self.rules, f"tests-{place}")
                    rules.publish(store=directory / "store")
                    own = directory / f"group-{place}"
                    own.mkdir()
                    found |= _matched_by_spark(spark, rules, group, own)
            except PySparkException as error:
                raise cannot_match(error, "run the tests") from error


@dataclass(frozen=True)
class _Group:
    """Tests whose rows have the same columns and types: their numbers, and a table for each row."""

    tests: list[tuple[int, RuleTest, pa.Table]] = field(default_factory=list)

    def add(self, number: int, test: RuleTest, row: pa.Table) -> None:
        self.tests.append((number, test, row))

    def table(self) -> pa.Table:
        return pa.concat_tables([row for _, _, row in self.tests])

    def rules(self, rules: RuleSet, name: str) -> RuleSet:
        """The rules that are tested, valid at any time: a test is not to fail when a rule expires."""
        made = RuleSet(name, rules.dialect, rules.policy)
        ids = dict.fromkeys(test.id for _, test, _ in self.tests)
        made.subscribe_all([(id, rules.subscriptions[id].where) for id in ids])
        return made


def _matched_by_spark(spark: SparkSession, rules: RuleSet, group: _Group, directory: Path) -> dict[int, Outcome]:
    frame = converted(spark, [group.table()], directory)
    name = f"{rules.name}@{rules.version}"
    skipped = {row["subscription_id"]: row["reason"] for row in left_out(frame.drop(FILE, ROW), name).collect()}
    matched = sparkrules.match(frame.orderBy(ROW), name, _IDS).selectExpr(ROW, f"{_IDS}.ids AS ids").collect()
    ids = {row[ROW]: row["ids"] for row in matched}
    found = {}
    for place, (number, test, row) in enumerate(group.tests):
        if test.id in skipped:
            found[number] = Outcome(test, "invalid", skipped[test.id])
        else:
            found[number] = _matched(rules, test, row, spark, matches=test.id in ids[place])
    return found


def _matched(
    rules: RuleSet, test: RuleTest, row: pa.Table, spark: SparkSession | None = None, *, matches: bool
) -> Outcome:
    if matches == test.expected:
        return Outcome(test, "passed")
    values = row.to_pylist()[0]
    (explained,) = rules.explain(values, spark, [test.id])
    reason = "matches, but should not" if matches else "does not match, but should"
    return Outcome(test, "failed", reason, f"row: {json_text(values)}\n{explained}")


def _detected(rules: RuleSet, test: RuleTest, table: pa.Table) -> Outcome:
    if test.id not in rules.patterns:
        raise RuleSetError("a test of a rule has the fields row and matches")
    detections = rules.detect(table, time=str(test.time), unsupported="skip")
    if test.id in detections.skipped:
        raise RuleSetError(f"without Spark it cannot be tested: {detections.skipped[test.id]}")
    found = [own for own in detections if own["pattern"] == test.id and own["kind"] != "suppressed"]
    if len(found) == test.expected:
        return Outcome(test, "passed")
    lines = [json_text({name: own[name] for name in ("key", "start", "end", "count")}) for own in found]
    reason = f"has {counted(len(found), 'detection')}, not {test.expected:,}"
    return Outcome(test, "failed", reason, "\n".join([str(rules.patterns[test.id]), *lines]))


def test_table(test: RuleTest, schema: pa.Schema | None) -> pa.Table:
    """The rows of a test. With a schema they have its columns and types, and what they lack is NULL."""
    names = list(dict.fromkeys(name for row in test.rows for name in row))
    columns = {name: [row.get(name) for row in test.rows] for name in names}
    if schema is None:
        made = pa.table({name: _column(name, values, None) for name, values in columns.items()})
        return made if test.time is None else _timed(made, test.time)
    known = {own.name.lower(): own.name for own in schema}
    unknown = [name for name in names if name.lower() not in known]
    if unknown:
        raise RuleSetError(f"there is no column `{unknown[0]}` in the schema; it has: {', '.join(schema.names)}")
    named = {known[name.lower()]: values for name, values in columns.items()}
    none = [None] * len(test.rows)
    return pa.table(
        [_column(own.name, named.get(own.name, none), own.type) for own in schema],
        schema=pa.schema([pa.field(own.name, own.type) for own in schema]),
    )


def _column(name: str, values: list[Any], kind: pa.DataType | None) -> pa.Array:
    """The values in a type, if there is one, without loss: `"2024-05-01"` is a date, 1.5 a decimal, but no integer."""
    exact = [Decimal(str(value)) if isinstance(value, float) else value for value in values]
    ways: list[Callable[[], pa.Array]] = [lambda: pa.array(values, kind)]
    if kind is not None:
        ways += [lambda: pa.array(values).cast(kind), lambda: pa.array(exact, kind)]
    reasons = []
    for way in ways:
        try:
            return way()
        except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
            reasons.append(str(error))
    of = "" if kind is None else f" of type {kind}"
    raise RuleSetError(f"the column `{name}`{of} cannot hold {listed(map(repr, values), _SHOWN)}: {reasons[0]}")


def _timed(table: pa.Table, time: str) -> pa.Table:
    """The table with its time as timestamps, where the file has strings."""
    if time not in table.column_names:
        raise RuleSetError(f"there is no column `{time}`; the rows have: {', '.join(table.column_names)}")
    values = table.column(time).to_pylist()
    if not any(isinstance(value, str) for value in values):
        return table
    for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        try:
            return table.set_column(table.column_names.index(time), time, pa.array(values).cast(kind))
        except pa.ArrowException:
            continue
    raise RuleSetError(f"`{time}` has no times, such as {datetime(2026, 1, 31, 12)}, but {values[0]!r:.60}")  # noqa: DTZ001
