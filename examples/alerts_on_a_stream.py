"""Alerts on a stream: rules that are published while it runs count from the next micro-batch on.

python examples/alerts_on_a_stream.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import sparkrules

COLUMNS = "sensor STRING, temperature DOUBLE"


def main(spark: SparkSession) -> list[tuple[int, str, str]]:
    """The alerts as (micro-batch, sensor, rule)."""
    rules = sparkrules.RuleSet("alerts")
    rules.subscribe("hot", "temperature > 30", priority=5)
    rules.publish(spark)

    alerts: list[tuple[int, str, str]] = []

    def send(batch: DataFrame, number: int) -> None:
        rows = batch.orderBy("sensor", "subscription_id").collect()
        alerts.extend((number, row.sensor, row.subscription_id) for row in rows)

    with tempfile.TemporaryDirectory() as directory:
        incoming = f"{directory}/incoming"
        Path(incoming).mkdir()
        readings = spark.readStream.schema(COLUMNS).json(incoming)
        sent = (
            sparkrules.matches(readings, "alerts")
            .writeStream.foreachBatch(send)
            .option("checkpointLocation", f"{directory}/sent")
            .start()
        )
        # A stream into a table. It names a version, and so keeps to it.
        kept = (
            sparkrules.matches(readings, "alerts@1")
            .select("sensor", "subscription_id")
            .writeStream.option("checkpointLocation", f"{directory}/kept")
            .option("path", f"{directory}/table")
            .toTable("alerts_of_version_1")
        )
        try:
            _arrive(spark, incoming, [("kitchen", 35.0), ("cellar", -2.0)])
            sent.processAllAvailable()
            kept.processAllAvailable()

            rules.subscribe("frost", "temperature < 0")
            rules.publish(spark)

            _arrive(spark, incoming, [("kitchen", 36.0), ("cellar", -3.0)])
            sent.processAllAvailable()
            kept.processAllAvailable()
            of_version_1 = spark.table("alerts_of_version_1").collect()
        finally:
            sent.stop()
            kept.stop()
            spark.sql("DROP TABLE IF EXISTS alerts_of_version_1")

    for number, sensor, rule in alerts:
        print(f"batch {number}: {sensor} is {rule}")
    assert alerts == [(0, "kitchen", "hot"), (1, "cellar", "frost"), (1, "kitchen", "hot")]
    assert [tuple(row) for row in of_version_1] == [("kitchen", "hot")] * 2
    return alerts


def _arrive(spark: SparkSession, directory: str, readings: list[tuple[str, float]]) -> None:
    spark.createDataFrame(readings, COLUMNS).coalesce(1).write.mode("append").json(directory)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as store:
        main(sparkrules.configure(SparkSession.builder.master("local[2]"), store=store).getOrCreate())
