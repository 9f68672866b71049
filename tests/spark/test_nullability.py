"""To answer IS NULL, neither Spark nor the plugin computes what Spark considers never NULL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from tests.spark.oracle import (
    compared,
    differences,
    pairs_by_filter,
    pairs_by_plugin,
    pairs_by_python,
    rule_set,
    settings,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = StructType(
    [
        StructField("row", IntegerType(), nullable=False),
        StructField("n", IntegerType(), nullable=False),
        StructField("s", StringType(), nullable=False),
        StructField("maybe", IntegerType(), nullable=True),
    ]
)
ROWS = [(0, 1, "12", None), (1, 2147483647, "abc", 2), (2, -1, "", 0)]


def test_columns_that_are_never_null(spark: SparkSession) -> None:
    values = ("n", "s", "upper(s)", "n * 2L", "maybe", "n % 3 + maybe")
    texts = [f"{value} IS {word}NULL" for value in values for word in ("", "NOT ")]
    texts += [
        "n <=> NULL",
        "NOT (n <=> NULL)",
        "isnull(n)",
        "n IS NULL OR maybe = 2",
        "n IS NOT NULL AND maybe IS NULL",
    ]
    assert compared(spark.createDataFrame(ROWS, SCHEMA), {f"r{i}": text for i, text in enumerate(texts)}) == []


def test_what_would_fail_is_not_computed(spark: SparkSession) -> None:
    """A sum of values that are never NULL is never NULL either, even where it would overflow."""
    rules = {"overflow": "n + 1 IS NOT NULL", "never": "n + 1 IS NULL", "computed": "n + 1 > 0"}
    df = spark.createDataFrame(ROWS, SCHEMA)
    where = {(row.row, id) for id in ("overflow", "never") for row in df.where(rules[id]).select("row").collect()}
    assert where == {(0, "overflow"), (1, "overflow"), (2, "overflow")}
    found = pairs_by_plugin(df, rule_set("never_null", rules))
    assert differences(found, where | {(0, "computed")}, rules) == []


def test_an_element_at_no_place(spark: SparkSession) -> None:
    """Here Spark's analyzer decides whether an element of an array without NULLs can be NULL; WHERE follows it."""
    df = spark.sql("SELECT 0 AS row, array(1, 2) AS a, CAST(NULL AS INT) AS i UNION ALL SELECT 1, array(1), 1")
    assert compared(df, {"null": "element_at(a, i) IS NULL", "not null": "element_at(a, i) IS NOT NULL"}) == []


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_both_modes(spark: SparkSession, ansi: str) -> None:
    df = spark.createDataFrame(ROWS, SCHEMA)
    with settings(spark, spark_sql_ansi_enabled=ansi):
        assert compared(df, {"null": "n % 2 IS NULL", "not null": "concat(s, n) IS NOT NULL"}) == []


def test_the_python_engine(spark: SparkSession) -> None:
    rules = {
        "overflow": "n + 1 IS NOT NULL",
        "never": "n + 1 IS NULL",
        "null": "maybe + 1 IS NULL",
        "is": "n IS NOT NULL",
    }
    df = spark.createDataFrame(ROWS, SCHEMA)
    assert (
        differences(pairs_by_python(df, rule_set("never_null_python", rules)), pairs_by_filter(df, rules), rules) == []
    )
