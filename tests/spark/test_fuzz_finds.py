"""What the fuzzer has found, each reduced to the smallest case that shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException

import sparkrules
from tests.spark.oracle import pairs_by_plugin, pairs_by_python, pairs_by_where, rule_set

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    return spark.sql("SELECT * FROM VALUES (0, 'x', 1), (1, '7', 0), (2, NULL, NULL) AS t(row, s, a)").localCheckpoint()


@pytest.mark.parametrize(
    "text",
    [
        # Spark's optimizer sees that both branches agree, so the cast that would fail is never made.
        "CASE WHEN s >= 5 THEN true ELSE true END",
        # AND casts a text to a condition, which is none by itself.
        "'true' AND a = 1",
        "'true' AND 0 IS NULL",
    ],
)
def test_what_spark_accepts_matches_as_spark_does(df: DataFrame, text: str) -> None:
    assert pairs_by_plugin(df, rule_set("finds", {"it": text})) == pairs_by_where(df, {"it": text})


@pytest.mark.parametrize("text", ["NOT (NOT (true) AND NOT (1))", "true OR 1", "false AND a", "'true'"])
def test_what_spark_rejects_is_rejected_though_a_constant_decides_it(df: DataFrame, text: str) -> None:
    with pytest.raises(AnalysisException):
        df.where(text)
    with pytest.raises(AnalysisException, match="'it': "):
        sparkrules.match(df, rule_set("refused", {"it": text})).collect()


@pytest.mark.parametrize(
    "text",
    ["concat(s, t) IS NULL", "length(concat(s, t)) = 2", "coalesce(concat(s, t) IS NOT NULL AND a = 1, false)"],
)
def test_strings_of_two_collations_have_a_type_that_pyspark_cannot_read(spark: SparkSession, text: str) -> None:
    df = spark.sql(
        "SELECT row, a, s COLLATE UTF8_LCASE AS s, t COLLATE UNICODE_CI AS t "
        "FROM VALUES (0, 'x', 'y', 1), (1, 'xx', NULL, 0), (2, NULL, NULL, NULL) AS v(row, s, t, a)"
    ).localCheckpoint()
    rules = rule_set("two", {"it": text, "other": "a = 1"})
    expected = pairs_by_where(df, {"it": text, "other": "a = 1"})
    assert pairs_by_plugin(df, rules) == expected
    assert pairs_by_python(df, rules) == expected
