"""With `invalidRules=skip`, rules that do not fit a table are left out and named."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import sparkrules
from sparkrules import RuleSet


@pytest.fixture
def skipping(spark: SparkSession, tmp_path: Path) -> Iterator[SparkSession]:
    before = spark.conf.get("spark.sparkrules.store")
    spark.conf.set("spark.sparkrules.store", str(tmp_path))
    spark.conf.set("spark.sparkrules.invalidRules", "skip")
    yield spark
    spark.conf.set("spark.sparkrules.store", before)
    spark.conf.unset("spark.sparkrules.invalidRules")
    spark.conf.unset("spark.sparkrules.ruleset")


@pytest.fixture
def rules() -> RuleSet:
    made = RuleSet("weather")
    made.subscribe_all({"hot": "t > 30", "typo": "temprature > 30", "types": "t > array(1)", "cold": "t < 0"})
    return made


@pytest.fixture
def df(skipping: SparkSession) -> DataFrame:
    return skipping.createDataFrame([(35,), (-1,)], "t int")


def _named(found: DataFrame) -> dict[str, str]:
    return {row["subscription_id"]: row["reason"] for row in found.collect()}


def test_they_are_listed_with_reasons(df: DataFrame, rules: RuleSet) -> None:
    assert [row["ids"] for row in sparkrules.match(df, rules).selectExpr("matches.ids").collect()] == [
        ["hot"],
        ["cold"],
    ]
    found = _named(sparkrules.left_out(df, rules))
    assert list(found) == ["types", "typo"]
    assert found["typo"] == "there is no column temprature"
    assert "t > array(1)" in found["types"] or "DATATYPE_MISMATCH" in found["types"]


def test_no_row_and_no_match_is_needed(skipping: SparkSession, df: DataFrame, rules: RuleSet) -> None:
    assert set(_named(sparkrules.left_out(df.limit(0), rules))) == {"typo", "types"}
    skipping.conf.set("spark.sparkrules.invalidRules", "error")
    assert set(_named(sparkrules.left_out(df, rules))) == {"typo", "types"}
    with pytest.raises(PySparkException, match="2 rules of weather"):
        sparkrules.match(df, rules).collect()
    stream = skipping.readStream.format("rate").load().selectExpr("cast(value AS int) t")
    assert set(_named(sparkrules.left_out(stream, rules))) == {"typo", "types"}


def test_rules_that_all_fit(df: DataFrame) -> None:
    made = RuleSet("fitting")
    made.subscribe("hot", "t > 30")
    assert _named(sparkrules.left_out(df, made)) == {}


def test_columns_that_a_query_names_with_its_alias(df: DataFrame) -> None:
    made = RuleSet("aliased")
    made.subscribe_all({"hot": "r.t > 30", "other": "q.t > 30"})
    assert set(_named(sparkrules.left_out(df.alias("r"), made))) == {"other"}


def test_the_python_engine_logs_them(df: DataFrame, rules: RuleSet, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "sparkrules.catalyst.python_engine"):
        sparkrules.match(df, rules, engine="python")
    assert "there is no column temprature" in caplog.text
    assert "The query skips them" in caplog.text
