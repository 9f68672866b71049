"""Where "the same answer as Spark" needs a decision: whose settings apply, which instant is now, what a program is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

import sparkrules
from tests.spark.oracle import rule_set, settings

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

# Conditions whose answer depends on a setting, and never raises.
BY_ANSI = "size(tags) = -1"  # of NULL: -1 or, under ANSI, NULL
BY_ZONE = "hour(ts) = 12 AND ts = '2024-07-01 12:00:00'"
BY_CASE = "A = 1"


@pytest.fixture(scope="module", autouse=True)
def _table(spark: SparkSession) -> Iterator[None]:
    spark.sql("DROP TABLE IF EXISTS decisions")
    spark.sql(
        "CREATE TABLE decisions USING parquet AS SELECT id, IF(id = 0, NULL, array('x')) AS tags, "
        "timestamp_seconds(1719828000 + 3600 * (id - 2)) AS ts FROM range(12)"
    )
    yield
    spark.sql("DROP TABLE decisions")


@pytest.fixture(scope="module")
def rules(spark: SparkSession) -> sparkrules.RuleSet:
    made = rule_set("decisions", {"ansi": BY_ANSI, "zone": BY_ZONE})
    made.publish(spark)
    return made


# What Spark says of each row, and what the rules say, in one query.
BOTH = f"SELECT {BY_ANSI} AS ansi, {BY_ZONE} AS zone, match_subscriptions('decisions', *).ids AS ids FROM decisions"


def answers(df: DataFrame) -> set[str]:
    """The rules that match anywhere; for every row they must be those that Spark's own columns say."""
    rows = df.collect()
    assert len(rows) == 12
    for row in rows:
        assert set(row.ids) == {name for name in ("ansi", "zone") if row[name]}
    return {id for row in rows for id in row.ids}


ZONES = {"UTC": set(), "Europe/Berlin": {"zone"}, "America/New_York": set()}


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("ansi", ["true", "false"])
def test_settings_are_those_of_the_call(spark: SparkSession, rules: sparkrules.RuleSet, ansi: str, zone: str) -> None:
    with settings(spark, ansi=ansi, zone=zone):
        assert ("ansi" in answers(spark.sql(BOTH))) == (ansi == "false")


def test_programs_are_not_mixed_up_between_settings(spark: SparkSession, rules: sparkrules.RuleSet) -> None:
    seen = []
    for ansi, zone in [
        ("false", "UTC"),
        ("true", "UTC"),
        ("true", "Asia/Tokyo"),
        ("false", "Asia/Tokyo"),
        ("false", "UTC"),
    ]:
        with settings(spark, ansi=ansi, zone=zone):
            seen.append(answers(spark.sql(BOTH)))
    assert seen[0] == seen[4] != seen[1]
    assert seen[3] != seen[2]


def test_a_dataframe_keeps_the_settings_it_was_made_under(spark: SparkSession, rules: sparkrules.RuleSet) -> None:
    with settings(spark, ansi="false", zone="Europe/Berlin"):
        made = spark.sql(BOTH)
    with settings(spark, ansi="true", zone="UTC"):
        assert "ansi" in answers(made.select("*"))


@pytest.mark.parametrize("kind", ["VIEW", "TEMPORARY VIEW"])
def test_a_view_keeps_the_settings_of_its_creator(spark: SparkSession, rules: sparkrules.RuleSet, kind: str) -> None:
    with settings(spark, ansi="false", zone="Europe/Berlin"):
        spark.sql(f"CREATE OR REPLACE {kind} decided AS {BOTH}")
        inside = answers(spark.table("decided"))
    with settings(spark, ansi="true", zone="America/New_York"):
        assert answers(spark.table("decided")) == inside == {"ansi"} | (inside & {"zone"})
        assert "ansi" not in answers(spark.sql(BOTH))
        assert "ansi" in answers(spark.sql("SELECT * FROM (SELECT * FROM decided) WHERE size(ids) >= 0"))
    spark.sql("DROP VIEW decided")


def test_case_sensitivity_is_that_of_the_call(spark: SparkSession) -> None:
    rule_set("by_case", {"case": BY_CASE}).publish(spark)
    query = "SELECT match_subscriptions('by_case', *).ids AS ids FROM VALUES (1), (2) AS t(a)"
    with settings(spark, case="false"):
        assert [row.ids for row in spark.sql(query).collect()] == [["case"], []]
    with settings(spark, case="true"), pytest.raises(Exception, match="no column A"):
        spark.sql(query).collect()
    with settings(spark, case="true"):
        both = "SELECT match_subscriptions('by_case', *).ids AS ids FROM VALUES (1, 2), (2, 1) AS t(a, A)"
        assert [row.ids for row in spark.sql(both).collect()] == [[], ["case"]]


def test_other_columns_and_other_modes_are_other_programs(spark: SparkSession) -> None:
    rule_set("modes", {"number": "a > 9", "missing": "b IS NULL"}).publish(spark)

    def ids(value: str) -> list[str]:
        found: list[str] = spark.sql(
            f"SELECT match_subscriptions('modes', *).ids FROM VALUES ({value}) AS t(a)"
        ).collect()[0][0]
        return found

    with settings(spark, spark_sparkrules_missingColumns="null", ansi="false"):
        assert ids("10") == ["missing", "number"]
        assert ids("'10'") == ["missing", "number"]
        assert ids("'x'") == ["missing"]
        assert ids("DOUBLE('NaN')") == ["missing", "number"]
    with settings(spark, spark_sparkrules_invalidRules="skip"):
        assert ids("10") == ["number"]
    with pytest.raises(Exception, match="no column b"):
        ids("10")


NOW = {
    "now": "at = current_timestamp()",
    "alias": "at = now()",
    "today": "today = current_date()",
    "local": "local = localtimestamp()",
    "opaque": "at + INTERVAL '1' SECOND > current_timestamp() AND year(current_date()) = year(today)",
}
WITH_NOW = ["current_timestamp() AS at", "current_date() AS today", "localtimestamp() AS local"]


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_a_query_has_one_instant(spark: SparkSession, zone: str) -> None:
    with settings(spark, zone=zone):
        df = spark.range(0, 100, 1, 4).selectExpr("*", *WITH_NOW)
        matched = sparkrules.match(df, rule_set("now", NOW)).collect()
        assert {tuple(row.matches.ids) for row in matched} == {tuple(sorted(NOW))}
        assert len({row.at for row in matched}) == 1


def test_the_next_query_has_a_later_instant(spark: SparkSession) -> None:
    rule_set("later", {"later": "at < current_timestamp()", "same": "at = current_timestamp()"}).publish(spark)
    query = "SELECT match_subscriptions('later', *).ids FROM (SELECT TIMESTAMP'{}' AS at)"
    instant = spark.sql("SELECT CAST(current_timestamp() AS STRING)").collect()[0][0]
    for _ in range(2):
        assert spark.sql(query.format(instant)).collect()[0][0] == ["later"]


def test_a_micro_batch_has_one_instant(spark: SparkSession, tmp_path: Path) -> None:
    source = spark.range(0, 20, 1, 2)
    source.write.parquet(str(tmp_path / "in" / "1"))
    source.write.parquet(str(tmp_path / "in" / "2"))
    stream = spark.readStream.schema("id BIGINT").option("maxFilesPerTrigger", 1).option("recursiveFileLookup", True)
    timed = stream.parquet(str(tmp_path / "in")).selectExpr("*", *WITH_NOW)
    # What Spark says of each rule; its own now() is not current_timestamp() in a stream.
    judged = timed.selectExpr("*", *(f"({where}) IS TRUE AS `is {id}`" for id, where in NOW.items()))
    writer = sparkrules.match(judged, rule_set("now", NOW)).writeStream.format("memory").queryName("instants")
    writer.trigger(availableNow=True).start().awaitTermination()
    rows = spark.table("instants").collect()
    assert len(rows) == 40
    assert len({row.at for row in rows}) > 1
    for row in rows:
        assert {"now", "today", "local", "opaque"} <= set(row.matches.ids)
        assert row.matches.ids == [id for id in sorted(NOW) if row[f"is {id}"]]


def test_a_replayed_micro_batch_takes_the_version_that_is_current_then(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(3).write.parquet(str(tmp_path / "in"))
    rules = rule_set("replayed", {"old": "id >= 0"})
    seen: dict[int, set[str]] = {}

    def run() -> None:
        def collect(batch: DataFrame, number: int) -> None:
            seen[number] = {id for row in batch.collect() for id in row.matches.ids}

        stream = spark.readStream.schema("id BIGINT").parquet(str(tmp_path / "in"))
        writer = sparkrules.match(stream, "replayed").writeStream.foreachBatch(collect)
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
        writer.start().awaitTermination()

    rules.publish(spark)
    run()
    assert seen == {0: {"old"}}
    for name in ("0", ".0.crc"):
        (tmp_path / "checkpoint" / "commits" / name).unlink(missing_ok=True)
    rules.unsubscribe("old")
    rules.subscribe("new", "id >= 0")
    rules.publish(spark)
    run()
    assert seen == {0: {"new"}}
