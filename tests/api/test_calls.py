"""The ways to call the functions, and what each call can access."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException

from tests.spark.oracle import rule_set

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module", autouse=True)
def _published(spark: SparkSession) -> Iterator[None]:
    rule_set("calls", {"a": "a > 1", "ab": "a > 1 AND b = 'x'", "nested": "addr.city = 'Bern'"}).publish(spark)
    spark.sql(
        "SELECT * FROM VALUES (1, 'x', named_struct('city', 'Bern')), (2, 'x', named_struct('city', 'Rom')), "
        "(3, NULL, NULL) AS t(a, b, addr)"
    ).createOrReplaceTempView("calls")
    spark.conf.set("spark.sparkrules.invalidRules", "skip")
    yield
    spark.conf.unset("spark.sparkrules.invalidRules")


def ids(spark: SparkSession, call: str) -> list[list[str]]:
    return [row.ids for row in spark.sql(f"SELECT {call}.ids AS ids FROM calls AS t ORDER BY a").collect()]


def test_all_columns(spark: SparkSession) -> None:
    assert ids(spark, "match_subscriptions(*)") == [["nested"], ["a", "ab"], ["a"]]


def test_named_rule_set_and_columns(spark: SparkSession) -> None:
    assert ids(spark, "match_subscriptions('calls', a, b)") == [[], ["a", "ab"], ["a"]]


def test_a_qualified_column(spark: SparkSession) -> None:
    rule_set("qualified", {"q": "t.a = 2"}).publish(spark)
    assert ids(spark, "match_subscriptions('qualified', *)") == [[], ["q"], []]


def test_a_struct_stands_for_a_row(spark: SparkSession) -> None:
    struct = "named_struct('a', a + 1, 'b', b)"
    assert ids(spark, f"match_subscriptions('calls', {struct})") == [["a", "ab"], ["a", "ab"], ["a"]]


def test_a_struct_column_keeps_its_name(spark: SparkSession) -> None:
    assert ids(spark, "match_subscriptions('calls', addr)") == [["nested"], [], []]


def test_a_pinned_version(spark: SparkSession) -> None:
    rules = rule_set("pinned", {"old": "a = 1"})
    first = rules.publish(spark)
    rules.unsubscribe("old")
    rules.subscribe("new", "a = 1")
    rules.publish(spark)
    assert ids(spark, f"match_subscriptions('pinned@{first}', *)") == [["old"], [], []]
    assert ids(spark, "match_subscriptions('pinned', *)") == [["new"], [], []]


def test_grouping_and_ordering_by_matches(spark: SparkSession) -> None:
    grouped = spark.sql(
        "SELECT size(match_subscriptions('calls', a, b, addr).ids) AS n, count(*) AS c FROM calls "
        "GROUP BY size(match_subscriptions('calls', a, b, addr).ids) ORDER BY n"
    )
    assert [(row.n, row.c) for row in grouped.collect()] == [(1, 2), (2, 1)]
    ordered = spark.sql("SELECT a FROM calls ORDER BY size(match_subscriptions('calls', a, b, addr).ids) DESC, a")
    assert [row.a for row in ordered.collect()] == [2, 1, 3]


def test_a_where_clause_without_selecting_the_matches(spark: SparkSession) -> None:
    query = "SELECT a FROM calls WHERE array_contains(match_subscriptions('calls', *).ids, 'ab')"
    assert [row.a for row in spark.sql(query).collect()] == [2]


def test_a_join_condition_over_both_sides(spark: SparkSession) -> None:
    query = (
        "SELECT l.a FROM calls l JOIN calls r ON l.a = r.a "
        "AND size(match_subscriptions('calls', named_struct('a', l.a, 'b', r.b)).ids) = 2"
    )
    assert [row.a for row in spark.sql(query).collect()] == [2]


def test_the_table_function_with_a_query(spark: SparkSession) -> None:
    query = "SELECT a, subscription_id FROM match_subscriptions('calls', TABLE(SELECT a, b FROM calls WHERE a = 2))"
    assert [tuple(row) for row in spark.sql(query).collect()] == [(2, "a"), (2, "ab")]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("match_subscriptions('nowhere', *)", "no rule set 'nowhere'"),
        ("match_subscriptions('calls@99', *)", "no version 99 of rule set 'calls'"),
        ("match_subscriptions('calls@x', *)", "not a version"),
        ("match_subscriptions('../etc', *)", "not the name of a rule set"),
        ("match_subscriptions('calls', a + 1)", r"Argument 2 of match_subscriptions, \(.*a \+ 1\), has no name"),
    ],
)
def test_a_wrong_call_says_what_to_write(spark: SparkSession, call: str, message: str) -> None:
    with pytest.raises(AnalysisException, match=message):
        spark.sql(f"SELECT {call} FROM calls AS t").collect()


def test_the_table_function_wants_a_table(spark: SparkSession) -> None:
    with pytest.raises(AnalysisException, match=r"TABLE\(t\)"):
        spark.sql("SELECT * FROM match_subscriptions('calls')").collect()


def test_missing_columns_read_as_null(spark: SparkSession) -> None:
    rule_set("logs", {"null": "user IS NULL AND a = 1", "equal": "user = 'x'", "or": "user = 'x' OR a = 2"}).publish(
        spark
    )
    spark.conf.set("spark.sparkrules.missingColumns", "null")
    try:
        assert ids(spark, "match_subscriptions('logs', *)") == [["null"], ["or"], []]
    finally:
        spark.conf.unset("spark.sparkrules.missingColumns")


def test_functions_describe_themselves(spark: SparkSession) -> None:
    text = "\n".join(row[0] for row in spark.sql("DESCRIBE FUNCTION match_subscriptions").collect())
    assert "ids of all rules" in text
