"""A rule that fails on a row: by default unknown there, and reported; in strict mode, Spark's own error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

import sparkrules
from tests.spark.oracle import pairs_by_plugin, pairs_by_where, rule_set

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Each rule with what it means: the test that fails counts as unknown.
RULES = {
    "CAST(s AS INT) > 5": "try_cast(s AS INT) > 5",
    "NOT (CAST(s AS INT) > 5)": "NOT (try_cast(s AS INT) > 5)",
    "CAST(s AS INT) > 5 OR a = 1": "try_cast(s AS INT) > 5 OR a = 1",
    "a = 1 OR CAST(s AS INT) > 5": "a = 1 OR try_cast(s AS INT) > 5",
    "a = 1 AND CAST(s AS INT) > 5": "a = 1 AND try_cast(s AS INT) > 5",
    "CAST(s AS INT) > 5 AND a = 1": "try_cast(s AS INT) > 5 AND a = 1",
    "s > 5": "try_cast(s AS BIGINT) > 5",
    "6 / a > 2": "try_divide(6, a) > 2",
    "NOT (6 / a > 2 AND a > 0)": "NOT (try_divide(6, a) > 2 AND a > 0)",
    "a + 2147483647 > 0": "try_add(a, 2147483647) > 0",
    "a IS NULL OR 6 / a > 2": "a IS NULL OR try_divide(6, a) > 2",
    "s = DATE'2020-01-01'": "try_cast(s AS DATE) = DATE'2020-01-01'",
    "a > 'many'": "a > try_cast('many' AS BIGINT)",
    "a IN (1, 6 / 0)": "CAST(NULL AS BOOLEAN)",
    "array(s)[a] = '7'": "get(array(s), a) = '7'",
}
ROWS = [(0, 1, "x"), (1, 0, "7"), (2, None, None), (3, 2, ""), (4, 1, "7"), (5, 0, "2020-01-01"), (6, 5, " 9 ")]


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(ROWS, "row INT, a INT, s STRING").localCheckpoint()


@pytest.fixture
def strict(spark: SparkSession) -> Iterator[None]:
    spark.conf.set("spark.sparkrules.strict", "true")
    yield
    spark.conf.unset("spark.sparkrules.strict")


def test_a_test_that_fails_is_unknown_and_the_others_go_on(df: DataFrame) -> None:
    rules = rule_set("failing", {text: text for text in RULES})
    assert pairs_by_plugin(df, rules) == pairs_by_where(df, RULES)


def raises(df: DataFrame, text: str) -> bool:
    from pyspark.errors import PySparkException

    try:
        df.where(text).collect()
    except PySparkException:
        return True
    return False


def test_rule_errors_name_the_rules_that_cannot_be_computed(df: DataFrame) -> None:
    single = [text for text in RULES if " OR " not in text and " AND " not in text]
    found = {
        (row.row, row.subscription_id)
        for row in sparkrules.rule_errors(df, rule_set("failing_single", {text: text for text in single})).collect()
    }
    truth = {(row[0], text) for text in single for row in ROWS if raises(df.where(f"row = {row[0]}"), text)}
    assert found == truth
    assert len(found) > 10


def test_the_message_is_sparks_own(df: DataFrame) -> None:
    rules = rule_set("messages", {"seven": "CAST(s AS INT) = 7"})
    messages = {row.row: row.message for row in sparkrules.rule_errors(df, rules).collect()}
    assert sorted(messages) == [0, 3, 5]
    assert "CAST_INVALID_INPUT" in messages[0]


def test_errors_are_counted_in_the_operators_metric(df: DataFrame) -> None:
    matched = sparkrules.match(df, rule_set("counted", {"seven": "CAST(s AS INT) = 7"})).select("matches.ids")
    matched.collect()
    operator = matched._jdf.queryExecution().executedPlan()
    while "Match" not in operator.nodeName():
        operator = operator.children().head()
    assert operator.metrics().apply("errors").value() == 3


def test_strict_fails_exactly_where_where_fails(spark: SparkSession, df: DataFrame, strict: None) -> None:
    from pyspark.errors import PySparkException

    rules = rule_set("strict", {text: text for text in RULES})
    rules.store = spark.conf.get("spark.sparkrules.store")
    rules.publish()
    for row, *_ in ROWS:
        one = df.where(f"row = {row}").localCheckpoint()
        failing = [text for text in RULES if raises(one, text)]
        if not failing:
            assert pairs_by_plugin(one, rules) == pairs_by_where(one, {text: text for text in RULES})
            continue
        with pytest.raises(PySparkException, match=r"\[SPARKRULES\] rule '") as caught:
            sparkrules.match(one, rules).collect()
        assert any(f"rule '{text}'" in str(caught.value) for text in failing)


@pytest.mark.parametrize(
    ("text", "row", "fails"),
    [
        ("a = 1 OR CAST(s AS INT) > 5", 0, False),
        ("CAST(s AS INT) > 5 OR a = 1", 0, True),
        ("a = 2 AND CAST(s AS INT) > 5", 0, False),
        ("CAST(s AS INT) > 5 AND a = 2", 0, True),
        ("NOT (a = 2 AND CAST(s AS INT) > 5)", 0, False),
        ("a > 0 XOR CAST(s AS INT) > 5", 0, True),
        ("a = 1 OR a > 'many'", 0, True),
        # The whole rule is one predicate.
        ("exists(array(s), t -> CAST(t AS INT) > 5)", 0, True),
        ("CAST(s AS BOOLEAN)", 0, True),
        ("NOT coalesce(CAST(s AS INT) > 5, true)", 0, True),
    ],
)
def test_strict_looks_at_a_rule_from_left_to_right(
    spark: SparkSession, df: DataFrame, strict: None, text: str, row: int, fails: bool
) -> None:
    from pyspark.errors import PySparkException

    matched = sparkrules.match(df.where(f"row = {row}"), rule_set("left_to_right", {"it": text}))
    if fails:
        with pytest.raises(PySparkException, match="rule 'it'"):
            matched.collect()
    else:
        matched.collect()
