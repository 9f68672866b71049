"""Matches written to Delta and Iceberg tables, by statements and by streams."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import sparkrules
from tests.lakes.lake import Lake
from tests.spark.oracle import pairs_by_where, rule_set

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RULES = {"low": "row < 50 AND n = 3", "high": "row >= 150 AND n IN (4, 5)", "none": "n IS NULL"}


def numbers(spark: SparkSession, first: int, end: int) -> DataFrame:
    return spark.range(first, end, 1, 2).selectExpr("id AS row", "IF(id % 10 = 0, NULL, id % 13) AS n")


def test_tables_as_select(lake: Lake) -> None:
    spark = lake.spark
    table = lake.make("numbers", numbers(spark, 0, 300))
    rule_set("written", RULES).publish(spark)
    copy = lake.name("as_select")
    query = f"SELECT row, subscription_id AS id FROM match_subscriptions('written', TABLE({table}))"
    spark.sql(f"DROP TABLE IF EXISTS {copy}")
    spark.sql(f"CREATE TABLE {copy} USING {lake.format} AS {query}")
    truth = pairs_by_where(spark.table(table), RULES)
    assert {tuple(row) for row in spark.table(copy).collect()} == truth
    # The newest version, of the table and of the rules.
    lake.add("numbers", numbers(spark, 300, 400))
    rule_set("written", RULES | {"more": "row > 350"}).publish(spark)
    spark.sql(f"CREATE OR REPLACE TABLE {copy} USING {lake.format} AS {query}")
    truth = pairs_by_where(spark.table(table), RULES | {"more": "row > 350"})
    assert {tuple(row) for row in spark.table(copy).collect()} == truth
    spark.sql(f"INSERT OVERWRITE {copy} {query} WHERE subscription_id = 'more'")
    assert {row.id for row in spark.table(copy).collect()} == {"more"}


def test_matches_are_merged_batch_by_batch(spark: SparkSession, tmp_path: Path) -> None:
    """A stream from one table, whose matches are merged into another: a row that comes again counts once."""
    lake = Lake("delta", spark)
    table = lake.make("arriving", numbers(spark, 0, 200))
    alerts = lake.make("alerts", spark.range(0).selectExpr("id AS row", "'' AS id", "0L AS seen"))
    rules = rule_set("merged", RULES)
    rules.publish(spark)

    def merge(found: DataFrame, _: int) -> None:
        found.createOrReplaceTempView("found")
        found.sparkSession.sql(
            f"MERGE INTO {alerts} t "
            "USING (SELECT row, subscription_id AS id, count(*) AS seen FROM found GROUP BY ALL) f "
            "ON t.row = f.row AND t.id = f.id WHEN MATCHED THEN UPDATE SET seen = t.seen + f.seen "
            "WHEN NOT MATCHED THEN INSERT (row, id, seen) VALUES (f.row, f.id, f.seen)"
        )

    def run() -> None:
        stream = sparkrules.matches(spark.readStream.table(table), "merged").writeStream.foreachBatch(merge)
        stream = stream.option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True)
        stream.start().awaitTermination()

    run()
    first = pairs_by_where(spark.table(table), RULES)
    rules.subscribe("again", "row BETWEEN 40 AND 60")
    rules.publish(spark)
    lake.add("arriving", numbers(spark, 30, 260))
    run()
    second = pairs_by_where(numbers(spark, 30, 260), RULES | {"again": "row BETWEEN 40 AND 60"})
    merged = {(row.row, row.id): row.seen for row in spark.table(alerts).collect()}
    assert merged == {pair: (pair in first) + (pair in second) for pair in first | second}
    assert 2 in merged.values()


def test_a_stream_into_a_table(spark: SparkSession, tmp_path: Path) -> None:
    lake = Lake("iceberg", spark)
    table = lake.make("source", numbers(spark, 0, 200))
    sink = lake.make("sink", spark.range(0).selectExpr("id AS row", "'' AS id"))
    rule_set("into", RULES).publish(spark)
    found = sparkrules.matches(spark.readStream.table(table), "into").selectExpr("row", "subscription_id AS id")
    for _ in range(2):  # the second has nothing to do
        stream = found.writeStream.outputMode("append").option("checkpointLocation", str(tmp_path / "c"))
        stream.trigger(availableNow=True).toTable(sink).awaitTermination()
    assert sorted(tuple(row) for row in spark.table(sink).collect()) == sorted(
        pairs_by_where(spark.table(table), RULES)
    )
