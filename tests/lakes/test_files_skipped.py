"""Table formats keep the lowest and highest value of a column per file: files that no rule can match are not read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import sparkrules
from tests.lakes.lake import Lake, metrics_of_scan
from tests.spark.oracle import pairs_by_where, rule_set, settings
from tests.spark.test_scan_filter import ALWAYS, NEVER, QUERIES, executed, pairs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FILES, ROWS = 8, 8000
RULES = {
    "late": "at > TIMESTAMP'1970-01-01 07:05:00' AND region = '3' AND price < 20",
    "later": "at > TIMESTAMP'1970-01-01 07:30:00' AND price < 57.4 AND lower(region) = '2'",
    "either": "(at >= TIMESTAMP'1970-01-01 07:10:00' AND n = 5) OR (at > TIMESTAMP'1970-01-01 07:45:00' AND n IS NULL)",
}


def events(spark: SparkSession) -> DataFrame:
    """Eight hours of events. Clustered: each of Spark's partitions is an hour."""
    return spark.range(0, ROWS, 1, FILES).selectExpr(
        "id AS row",
        "timestamp_seconds(id * 3600 DIV 1000) AS at",
        "CAST(id % 7 AS STRING) AS region",
        "CAST(id % 1000 AS DECIMAL(10, 2)) / 10 AS price",
        "named_struct('city', CAST(id DIV 1000 AS STRING), 'zip', id % 99) AS addr",
        "IF(id % 11 = 0, NULL, id % 50) AS n",
    )


@pytest.mark.parametrize("kind", QUERIES)
def test_a_clustered_table(lake: Lake, kind: str) -> None:
    table = lake.make("clustered", events(lake.spark))
    rule_set("late", RULES).publish(lake.spark)
    query = QUERIES[kind].format("late", table)
    with settings(lake.spark, **NEVER):
        assert lake.files_read(lake.spark.sql(query)) == FILES
    assert lake.files_read(lake.spark.sql(query)) == 1
    truth = pairs_by_where(lake.spark.table(table), RULES)
    assert pairs(lake.spark, query) == truth
    assert truth


def test_explain_shows_the_filter_and_batches_of_columns_are_read_as_such(lake: Lake) -> None:
    table = lake.make("clustered", events(lake.spark))
    rule_set("explained", {"late": RULES["late"]}).publish(lake.spark)
    with settings(lake.spark, spark_sql_maxMetadataStringLength="1000"):
        plan = executed(lake.spark, QUERIES["table function"].format("explained", table))
    assert "scan filter: " in plan
    if lake.format == "delta":
        assert "GreaterThan(at,1970-01-01 07:05:00.0)" in plan.split("PushedFilters: [")[1]
    else:
        assert "at > 25500000000" in plan.split("filters=")[1]
    below = plan.split("Match [")[1]
    assert "Filter (" not in below
    assert "ColumnarToRow" not in below


def test_the_rules_that_a_query_names_decide_what_is_read(lake: Lake) -> None:
    table = lake.make("clustered", events(lake.spark))
    rules = {f"hour {h}": f"addr.city = '{h}' AND n = 7" for h in range(FILES)}
    rule_set("hours", rules).publish(lake.spark)
    for condition, files in {
        "subscription_id = 'hour 3'": 1,
        "subscription_id IN ('hour 3', 'hour 4')": 2,
        "subscription_id LIKE 'hour%'": FILES,
    }.items():
        query = f"SELECT row FROM match_subscriptions('hours', TABLE({table})) WHERE {condition}"
        assert lake.files_read(lake.spark.sql(query)) == files


def test_a_partitioned_table(lake: Lake) -> None:
    table = lake.make("partitioned", events(lake.spark), "region")
    rules = {
        "three": "region = '3' AND n = 1",
        "five": "region > '4' AND region < '6' AND price < 9",
        "no": "region = 'x'",
    }
    rule_set("regions", rules).publish(lake.spark)
    query = QUERIES["table function"].format("regions", table)
    with settings(lake.spark, **NEVER):
        assert lake.files_read(lake.spark.sql(query)) == 7 * FILES
    assert lake.files_read(lake.spark.sql(query)) == 2 * FILES
    assert pairs(lake.spark, query) == pairs_by_where(lake.spark.table(table), rules)
    if lake.format == "delta":
        assert "PartitionFilters: []" not in executed(lake.spark, query)


def test_a_table_that_is_partitioned_by_what_its_format_computes_from_a_column(lake: Lake) -> None:
    if lake.format == "delta":
        lake.spark.sql("DROP TABLE IF EXISTS by_hour")
        lake.spark.sql(
            "CREATE TABLE by_hour (row BIGINT, at TIMESTAMP, n BIGINT, "
            "day DATE GENERATED ALWAYS AS (CAST(at AS DATE))) USING delta PARTITIONED BY (day)"
        )
        table = "by_hour"
        rows = events(lake.spark).selectExpr("row", "timestampadd(DAY, row DIV 1000, at) AS at", "n")
        rows.write.format("delta").mode("append").saveAsTable(table)
        rules = {"late": "at > TIMESTAMP'1970-01-08 07:05:00' AND n = 5"}
    else:
        table = lake.make("by_hour", events(lake.spark), "hours(at)", "bucket(4, n)", "truncate(1, region)")
        rules = {"late": "at > TIMESTAMP'1970-01-01 07:05:00' AND n = 5"}
    rule_set("by_hour", rules).publish(lake.spark)
    query = QUERIES["table function"].format("by_hour", table)
    with settings(lake.spark, **NEVER):
        every = lake.files_read(lake.spark.sql(query))
    assert 0 < lake.files_read(lake.spark.sql(query)) <= every // 8
    truth = pairs_by_where(lake.spark.table(table), rules)
    assert pairs(lake.spark, query) == truth
    assert truth


def test_two_columns_skip_more_than_one(lake: Lake) -> None:
    """Clustered by both. If it were partitioned by one of them, Delta would not look at that one in an OR."""
    rows = lake.spark.range(0, 5600, 1, 7 * FILES).selectExpr(
        "id AS row", "CAST(id DIV 800 AS STRING) AS region", "id DIV 100 % 8 AS hour", "id % 100 AS price"
    )
    table = lake.make("by_both", rows)
    rules = {f"tenant {r}": f"region = '{r}' AND hour > {r} AND price < 99" for r in range(7)}
    rule_set("tenants", rules).publish(lake.spark)
    query = QUERIES["table function"].format("tenants", table)
    assert lake.files_read(lake.spark.sql(query)) == sum(FILES - 1 - region for region in range(7))
    assert pairs(lake.spark, query) == pairs_by_where(lake.spark.table(table), rules)


def test_rules_that_no_file_can_match(lake: Lake) -> None:
    table = lake.make("clustered", events(lake.spark))
    rule_set("none", {"far": "row > 1000000 AND n = 1", "never": "n > 5 AND n < 3"}).publish(lake.spark)
    query = lake.spark.sql(QUERIES["table function"].format("none", table))
    assert query.collect() == []
    assert metrics_of_scan(query).get("numOutputRows", 0) == 0


def test_statistics_of_the_rules_choose_the_column(lake: Lake) -> None:
    """Both columns would do; that which few rows have is the better one, and only `analyze` knows which."""
    table = lake.make("clustered", events(lake.spark))
    rules = sparkrules.RuleSet("analysed")
    rules.subscribe_all(
        {f"r{i}": f"price < {60 + i} AND row BETWEEN {7100 + 10 * i} AND {7103 + 10 * i}" for i in range(9)}
    )
    rules.publish(lake.spark)
    rules.analyze(lake.spark.table(table))
    query = QUERIES["table function"].format("analysed", table)
    with settings(lake.spark, spark_sparkrules_pushDown="auto"):
        assert "at a guess" not in executed(lake.spark, query)
        assert lake.files_read(lake.spark.sql(query)) == 1


def test_counts_per_rule(lake: Lake) -> None:
    table = lake.make("clustered", events(lake.spark))
    rule_set("late", RULES).publish(lake.spark)
    query = f"SELECT subscription_id AS id, count(*) AS n FROM match_subscriptions('late', TABLE({table})) GROUP BY 1"
    counted = {row.id: row.n for row in lake.spark.sql(query).collect()}
    with settings(lake.spark, **NEVER):
        assert counted == {row.id: row.n for row in lake.spark.sql(query).collect()}
    with settings(lake.spark, **ALWAYS):
        assert counted == {row.id: row.n for row in lake.spark.sql(query).collect()}
    assert len(counted) == 3
