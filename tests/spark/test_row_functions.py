"""Rules with row functions match the rows that a WHERE of plain Spark SQL with the same meaning keeps."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as with_settings
from hypothesis import strategies as st

import sparkrules
from sparkrules.sql import spark_sql
from tests.row_functions import marked, rule_of, where_of
from tests.spark.oracle import differences, pairs_by_plugin, pairs_by_python, pairs_by_where, rule_set, settings
from tests.writer import Drawn

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAN = float("nan")
COLUMNS = "row INT, i INT, j INT, b BIGINT, d DOUBLE, e DOUBLE, m DECIMAL(10, 2), s STRING, p BOOLEAN, q BOOLEAN"
VALUES: dict[str, list[object]] = {
    "i": [None, 0, 1, 2, 5],
    "j": [None, -1, 1, 3],
    "b": [None, 0, 2, 10_000_000_000],
    "d": [None, 0.0, -0.0, 1.5, NAN, float("inf")],
    "e": [None, 1.0, 2.5, NAN],
    "m": [None, Decimal("0.50"), Decimal("2.00"), Decimal("99.99")],
    "s": [None, "", "x", "xy"],
    "p": [None, True, False],
    "q": [None, True, False],
}
NUMBERS = ("i", "j", "b", "d", "e", "m")


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    rows = [
        (row, *(own[(row * step + row // 7) % len(own)] for step, own in enumerate(VALUES.values(), 1)))
        for row in range(300)
    ]
    return spark.createDataFrame(rows, COLUMNS).cache()


class Rules(Drawn):
    """Conditions with row functions, as marked texts."""

    def predicate(self) -> str:
        column = self.pick(NUMBERS)
        return self.pick(
            [
                f"{column} {self.pick(['=', '<>', '<', '<=', '>', '>=', '<=>'])} {self.pick(['0', '1', '2', '1.5'])}",
                f"{column} IS {self.maybe('NOT ')}NULL",
                f"{column} {self.maybe('NOT ')}BETWEEN 0 AND 2",
                f"{column} {self.maybe('NOT ')}IN (1, {self.pick(['2', 'NULL'])})",
                f"s {self.maybe('NOT ')}LIKE 'x%'",
                "i < j",
                self.pick(["p", "q"]),
            ]
        )

    def matched(self) -> str:
        column = self.pick(NUMBERS)
        condition = self.pick(
            [
                f"{column} {self.pick(['=', '<>', '<', '>=', '<=>'])} {self.pick(['0', '1', '2.5'])}",
                f"{column} > 0 AND {column} < 3",
                f"{column} IS NULL OR {column} > 1",
                f"NOT {column} IS NULL",
                f"{column} NOT IN (0, 2)",
            ]
        )
        return marked(f"matched {column}", condition)

    def value(self, depth: int) -> str:
        if depth == 0 or self.chance(40):
            return self.matched() if self.chance(70) else self.pick([*NUMBERS, "2"])
        one, two = self.value(depth - 1), self.value(depth - 1)
        more = [self.value(depth - 1) for _ in range(self.between(1, 2))]
        return self.pick(
            [
                f"{one} + {two}",
                f"({one} - {two}) * 2",
                f"abs({one})",
                marked(self.pick(["sum", "avg", "min", "max"]), one, *more),
                f"coalesce({one}, 1)",
                f"CASE WHEN {self.condition(0)} THEN {one} ELSE {two} END",
                f"least({one}, {two})",
            ]
        )

    def comparison(self) -> str:
        one = self.value(2)
        return self.pick(
            [
                f"{one} {self.pick(['=', '<>', '<', '<=', '>', '>=', '<=>'])} {self.pick(['0', '2', '3.5'])}",
                f"2 < {one}",
                f"{one} <= {self.value(1)}",
                f"{one} {self.maybe('NOT ')}BETWEEN 0 AND 4",
                f"{one} {self.maybe('NOT ')}IN (1, 2, 3)",
                f"{one} IS {self.maybe('NOT ')}NULL",
            ]
        )

    def condition(self, depth: int) -> str:
        if depth == 0:
            return self.predicate()
        if self.chance(35):
            return self.comparison()
        parts = [self.condition(depth - 1) for _ in range(self.between(1, 5))]
        name = self.pick(["at_least", "at_most", "exactly"])
        number = self.between(name == "at_least", len(parts) - (name == "at_most"))
        count = marked(f"{name} {number}", *parts)
        return self.pick(
            [
                count,
                f"NOT {count}",
                f"{count} AND {self.predicate()}",
                f"{self.predicate()} OR NOT ({count})",
                f"({count}) = ({self.predicate()})",
                f"{count} IS {self.maybe('NOT ')}NULL",
                f"CASE WHEN {count} THEN {self.predicate()} ELSE p END",
            ]
        )


@st.composite
def rules(draw: st.DrawFn) -> list[str]:
    return [Rules(draw).condition(draw(st.integers(1, 2))) for _ in range(25)]


def compare(df: DataFrame, marked_texts: list[str], name: str, *, with_python: bool) -> int:
    wheres = {rule_of(text): where_of(text) for text in marked_texts}
    texts = {text: text for text in wheres}
    truth = pairs_by_where(df, wheres)
    made = rule_set(name, texts)
    assert differences(pairs_by_where(df, {text: spark_sql(text) for text in texts}), truth, texts) == []
    assert differences(pairs_by_plugin(df, made), truth, texts) == []
    if with_python:
        assert differences(pairs_by_python(df, made), truth, texts) == []
    table = df.toArrow()
    matches = made.match(table, unsupported="skip")
    listed = zip(table["row"].to_pylist(), matches.ids.to_pylist(), strict=True)
    by_numpy = {(row, id) for row, ids in listed for id in ids}
    assert differences(by_numpy, {pair for pair in truth if pair[1] not in matches.skipped}, texts) == []
    return len(truth)


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_random_rules(spark: SparkSession, df: DataFrame, ansi: str) -> None:
    found: list[int] = []

    @with_settings(
        max_examples=4, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(rules())
    def agree(texts: list[str]) -> None:
        found.append(compare(df, texts, "row_functions", with_python=len(found) < 2))

    with settings(spark, ansi=ansi):
        agree()
    assert sum(found) > 1_000, "rules that match nothing prove nothing"


def test_all_truths_of_up_to_six_conditions(spark: SparkSession) -> None:
    truths = " UNION ALL ".join(f"SELECT {value} AS t" for value in ("TRUE", "FALSE", "NULL"))
    columns = [f"t{i}.t AS c{i}" for i in range(6)]
    tables = ", ".join(f"({truths}) t{i}" for i in range(6))
    df = spark.sql(f"SELECT row_number() OVER (ORDER BY 1) AS row, * FROM (SELECT {', '.join(columns)} FROM {tables})")
    df = df.cache()
    assert df.count() == 3**6
    texts = [
        f"{negation}{marked(f'{name} {number}', *(f'c{i}' for i in range(size)))}"
        for name in ("at_least", "at_most", "exactly")
        for size in range(1, 7)
        for number in range(name == "at_least", size + (name != "at_most"))
        for negation in ("", "NOT ")
    ]
    wheres = {rule_of(text): where_of(text) for text in texts}
    same = {text: text for text in wheres}
    truth = pairs_by_where(df, wheres)
    assert differences(pairs_by_plugin(df, rule_set("truths", same)), truth, same) == []
    assert differences(pairs_by_python(df, rule_set("truths", same)), truth, same) == []


def test_events_of_the_thesis(spark: SparkSession) -> None:
    """Chapter 4.2.1: all predicates must hold, and then the sum, the average or the least is compared."""
    events = [(1, 300, 170, 500), (2, 300, 170, 630), (3, 240, 120, 630), (4, None, 120, 630)]
    df = spark.createDataFrame(events, "row INT, price_a INT, price_b INT, price_c INT")
    each = ("matched(price_a >= 200)", "matched(price_b >= 100)", "matched(price_c >= 600)")
    texts = {
        "sum": f"{' + '.join(each)} <= 1000",
        "sum of": f"sum({', '.join(each)}) <= 1000",
        "avg": f"avg({', '.join(each)}) > 333",
        "min": f"min({', '.join(each)}) > min(price_b, 150)",
        "plain avg": "avg(price_a, price_b) <= 200",
        "two": "at_least(2, price_a >= 250, price_b >= 150, price_c >= 600)",
    }
    expected = {(3, "sum"), (3, "sum of"), (2, "avg"), (2, "min"), (3, "plain avg")}
    expected |= {(1, "two"), (2, "two")}
    made = rule_set("thesis", texts)
    assert pairs_by_plugin(df, made) == expected
    assert pairs_by_python(df, made) == expected


def test_gates_keep_the_function_from_rows_that_it_would_fail_for(spark: SparkSession) -> None:
    df = spark.createDataFrame([(1, 6, 0), (2, 6, 2), (3, 6, 1)], "row INT, x INT, y INT")
    with settings(spark, ansi="true", spark_sparkrules_strict="true"):
        made = rule_set("gates", {"r": "x / matched(y <> 0) >= 6 OR at_least(2, x / matched(y <> 0) > 2, x = 6)"})
        assert pairs_by_plugin(df, made) == {(2, "r"), (3, "r")}


def test_large_counts(spark: SparkSession) -> None:
    size = 100
    df = spark.range(200).selectExpr("int(id) AS row", *(f"int((id * {i + 3}) % 17) AS c{i}" for i in range(size)))
    parts = [f"c{i} > {i % 16}" for i in range(size)]
    texts = [marked(f"{name} {number}", *parts) for name in ("at_least", "at_most") for number in (2, 45, 50, 55, 98)]
    wheres = {rule_of(text): where_of(text) for text in texts}
    same = {text: text for text in wheres}
    truth = pairs_by_where(df, wheres)
    made = sparkrules.RuleSet("large_counts")
    assert made.subscribe_all(same) == len(same), made.rejected
    assert differences(pairs_by_plugin(df, made), truth, same) == []
    assert 0 < len(truth) < 200 * len(same)
