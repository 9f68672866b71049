"""A query sees the version that is newest when it is planned, whatever the query is built from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

import sparkrules

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture
def rules(spark: SparkSession, request: pytest.FixtureRequest) -> sparkrules.RuleSet:
    rules = sparkrules.RuleSet(request.node.name)
    rules.subscribe("first", "id >= 0")
    rules.publish(spark)
    return rules


def publish_second(spark: SparkSession, rules: sparkrules.RuleSet) -> None:
    rules.unsubscribe("first")
    rules.subscribe("second", "id >= 0")
    rules.publish(spark)


def seen(df: DataFrame) -> set[str]:
    return {id for row in df.collect() for id in row.ids}


def call(rules: sparkrules.RuleSet) -> str:
    return f"SELECT match_subscriptions('{rules.name}', *).ids AS ids FROM range(3)"


def test_a_view_sees_the_newest(spark: SparkSession, rules: sparkrules.RuleSet) -> None:
    spark.sql("DROP VIEW IF EXISTS matched_view")
    spark.sql("DROP TABLE IF EXISTS ids_table")
    spark.sql("CREATE TABLE ids_table USING parquet AS SELECT id FROM range(3)")
    spark.sql(f"CREATE VIEW matched_view AS SELECT match_subscriptions('{rules.name}', *).ids AS ids FROM ids_table")
    assert seen(spark.table("matched_view")) == {"first"}
    publish_second(spark, rules)
    assert seen(spark.table("matched_view")) == {"second"}


def test_a_temporary_view_and_a_dataframe_see_the_newest(spark: SparkSession, rules: sparkrules.RuleSet) -> None:
    df = spark.sql(call(rules))
    df.createOrReplaceTempView("matched_temp")
    assert seen(df.select("ids")) == {"first"}
    publish_second(spark, rules)
    assert seen(spark.table("matched_temp")) == {"second"}
    assert seen(df.select("ids")) == {"second"}


def test_a_table_keeps_what_it_was_made_with(spark: SparkSession, rules: sparkrules.RuleSet) -> None:
    spark.sql("DROP TABLE IF EXISTS matched_table")
    spark.sql(f"CREATE TABLE matched_table USING parquet AS {call(rules)}")
    publish_second(spark, rules)
    assert seen(spark.table("matched_table")) == {"first"}
    spark.sql(f"INSERT OVERWRITE matched_table {call(rules)}")
    assert seen(spark.table("matched_table")) == {"second"}


@pytest.fixture
def cached(spark: SparkSession, rules: sparkrules.RuleSet) -> Iterator[DataFrame]:
    df = spark.sql(call(rules)).cache()
    df.count()
    yield df
    df.unpersist()


def test_a_cached_result_never_answers_for_a_newer_version(
    spark: SparkSession, rules: sparkrules.RuleSet, cached: DataFrame
) -> None:
    def reads_cache(df: DataFrame) -> bool:
        return "InMemoryTableScan" in df._jdf.queryExecution().executedPlan().toString()

    again = spark.sql(call(rules))
    assert reads_cache(again), "the same version is the same plan"
    publish_second(spark, rules)
    newer = spark.sql(call(rules))
    assert not reads_cache(newer)
    assert seen(newer) == {"second"}
    assert seen(cached) == {"first"}, "the DataFrame that was cached keeps its version"


def test_two_sessions_share_the_store_and_not_the_default(spark: SparkSession, rules: sparkrules.RuleSet) -> None:
    other = spark.newSession()
    other.conf.set("spark.sparkrules.store", spark.conf.get("spark.sparkrules.store"))
    default = "SELECT match_subscriptions(*).ids AS ids FROM range(3)"
    assert seen(spark.sql(default)) == {"first"}
    with pytest.raises(Exception, match="No rule set"):
        seen(other.sql(default))
    assert seen(other.sql(call(rules))) == {"first"}
    publish_second(spark, rules)
    assert seen(other.sql(call(rules))) == {"second"}
    other.conf.set("spark.sparkrules.ruleset", f"{rules.name}@1")
    assert seen(other.sql(default)) == {"first"}
    assert seen(spark.sql(default)) == {"second"}
