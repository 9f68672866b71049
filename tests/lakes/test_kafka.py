"""Kafka as the source and the sink of a stream: the same matches as WHERE, and those of a rule that comes meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sparkrules
from tests.lakes.connectors import kafka_jars
from tests.lakes.kafka_broker import broker
from tests.spark.oracle import pairs_by_where, rule_set
from tests.stores.jars import Unavailable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

SCHEMA = "row BIGINT, sensor STRING, temperature DOUBLE, at TIMESTAMP, tags ARRAY<STRING>, place STRUCT<room STRING>"
RULES = {
    "hot": "temperature > 30 AND sensor <> 's3'",
    "unknown": "temperature IS NULL",
    "tagged": "array_contains(tags, 'odd') AND place.room LIKE 'r%'",
    "late": "at >= TIMESTAMP'1970-01-01 00:03:00' AND sensor IN ('s1', 's2')",
}
LATER = {"frost": "temperature < 0", "no room": "place.room IS NULL"}


@pytest.fixture(scope="module")
def kafka(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    try:
        kafka_jars(tmp_path_factory.mktemp("kafka-jars"))
        with broker(tmp_path_factory.mktemp("kafka")) as address:
            yield address
    except Unavailable as error:
        pytest.skip(str(error))


def send(spark: SparkSession, kafka: str, topic: str, first: int, end: int) -> None:
    """Readings as JSON: with NULL, which JSON leaves out, and strings that it must escape."""
    spark.range(first, end, 1, 2).selectExpr(
        "id AS row",
        "concat('s', id % 5, IF(id % 17 = 0, '\"\\\\é\\n', '')) AS sensor",
        "IF(id % 7 = 0, NULL, id % 50 - 5.5D) AS temperature",
        "timestamp_seconds(id) AS at",
        "array(IF(id % 2 = 1, 'odd', NULL), 'x') AS tags",
        "IF(id % 11 = 0, NULL, named_struct('room', IF(id % 6 = 0, NULL, concat('r', id % 3)))) AS place",
    ).selectExpr("CAST(row AS STRING) AS key", "to_json(struct(*)) AS value").write.format("kafka").option(
        "kafka.bootstrap.servers", kafka
    ).option("topic", topic).save()


def parsed(messages: DataFrame) -> DataFrame:
    return messages.selectExpr(f"from_json(CAST(value AS STRING), '{SCHEMA}') AS event").select("event.*")


def received(spark: SparkSession, kafka: str, topic: str) -> DataFrame:
    return spark.read.format("kafka").option("kafka.bootstrap.servers", kafka).option("subscribe", topic).load()


def alerts(spark: SparkSession, kafka: str, topic: str) -> list[tuple[int, str]]:
    rows = received(spark, kafka, topic).selectExpr("from_json(CAST(value AS STRING), 'row BIGINT, id STRING') AS a")
    return [(row.row, row.id) for row in rows.select("a.*").collect()]


def test_matches_of_a_stream_go_to_another_topic(spark: SparkSession, kafka: str, tmp_path: Path) -> None:
    rules = rule_set("readings", RULES)
    rules.publish(spark)
    send(spark, kafka, "readings", 0, 300)

    def start() -> StreamingQuery:
        messages = spark.readStream.format("kafka").option("kafka.bootstrap.servers", kafka)
        events = parsed(messages.option("subscribe", "readings").option("startingOffsets", "earliest").load())
        found = sparkrules.matches(events, "readings")
        written = found.selectExpr(
            "CAST(row AS STRING) AS key", "to_json(struct(row, subscription_id AS id)) AS value"
        ).writeStream.format("kafka")
        written = written.option("kafka.bootstrap.servers", kafka).option("topic", "alerts")
        return written.option("checkpointLocation", str(tmp_path / "checkpoint")).start()

    running = start()
    running.processAllAvailable()
    rules.subscribe("frost", LATER["frost"])
    rules.publish(spark)
    send(spark, kafka, "readings", 300, 500)
    running.processAllAvailable()
    running.stop()
    # While the stream is stopped, too.
    rules.subscribe("no room", LATER["no room"])
    rules.publish(spark)
    send(spark, kafka, "readings", 500, 700)
    running = start()
    running.processAllAvailable()
    running.stop()

    found = alerts(spark, kafka, "alerts")
    events = parsed(received(spark, kafka, "readings")).cache()
    truth = pairs_by_where(events.where("row < 300"), RULES)
    truth |= pairs_by_where(events.where("row BETWEEN 300 AND 499"), RULES | {"frost": LATER["frost"]})
    truth |= pairs_by_where(events.where("row >= 500"), RULES | LATER)
    assert sorted(found) == sorted(truth)
    assert {id for _, id in truth} == set(RULES | LATER)
    # As a batch, the newest version for all rows.
    batch = sparkrules.matches(parsed(received(spark, kafka, "readings")), "readings").select("row", "subscription_id")
    assert {tuple(row) for row in batch.collect()} == pairs_by_where(events, RULES | LATER)
    events.unpersist()


def test_rules_on_the_columns_of_kafka(spark: SparkSession, kafka: str) -> None:
    send(spark, kafka, "raw", 0, 100)
    rules = {
        "key": "CAST(key AS STRING) = '7'",
        "bytes": "key = X'37'",
        "json": "get_json_object(CAST(value AS STRING), '$.place.room') = 'r1'",
        "text": "CAST(value AS STRING) LIKE '%\"s4\"%'",
        "place": "partition = 0 AND offset < 10",
        "topic": "topic = 'raw' AND timestamp > TIMESTAMP'2020-01-01 00:00:00'",
    }
    made = rule_set("raw", rules)
    made.publish(spark)
    messages = received(spark, kafka, "raw").selectExpr("*", "CAST(CAST(key AS STRING) AS BIGINT) AS row")
    truth = pairs_by_where(messages, rules)
    found = {tuple(row) for row in sparkrules.matches(messages, "raw").select("row", "subscription_id").collect()}
    assert found == truth
    assert {id for _, id in truth} == set(rules)
