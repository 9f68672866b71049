"""A few logins with patterns, and what is detected in them, in a batch as in a stream: wherever Spark runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import sparkrules
from sparkrules import RuleSet

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LOGINS = """
    SELECT id, timestamp_seconds(second) AS at, user, action FROM VALUES
      (1, 100, 'ann', 'fail'), (2, 103, 'ann', 'fail'), (3, 104, 'ann', 'admin'), (4, 100, 'bob', 'fail'),
      (5, 120, 'bob', 'admin'), (6, 101, 'zoe', 'login'), (7, 103, 'zoe', 'logout'), (8, 110, 'ann', 'login'),
      (9, 200, 'end', 'none') AS logins(id, second, user, action)"""
COLUMNS = (
    "pattern, key['user'] AS user, unix_seconds(start) AS start, unix_seconds(end) AS end, count, "
    "array_join(rows.id, ' ') AS ids"
)
DETECTED = [
    ("breach", "ann", 103, 104, 2, "2 3"),
    ("brute force", "ann", 100, 103, 2, "1 2"),
    ("silent", "ann", 110, 115, 1, "8"),
]


def logins(spark: SparkSession) -> DataFrame:
    return spark.sql(LOGINS).repartition(2)


def alerts(name: str) -> RuleSet:
    """A rule set with a pattern that is detected for each kind of state: rows, chains, deadlines."""
    rules = RuleSet(name)
    rules.subscribe_all({action: f"action = '{action}'" for action in ("fail", "login", "logout")})
    rules.sequence("breach", ["fail", {"where": "action = 'admin'"}], by="user", within="10 seconds")
    rules.count("brute force", "fail", by="user", within="10 seconds", at_least=2)
    rules.absence("silent", after="login", without="logout", by="user", within="5 seconds")
    return rules


def detected(df: DataFrame, rules: RuleSet) -> list[tuple[Any, ...]]:
    """As `DETECTED`."""
    return shown(sparkrules.detect(df, rules, time="at", id="id"))


def detected_in_stream(df: DataFrame, rules: RuleSet, directory: Path) -> list[tuple[Any, ...]]:
    """The same, with the rows in files and the detections in others."""
    spark, rows, found = df.sparkSession, str(directory / "logins"), str(directory / "detections")
    df.write.parquet(rows)
    stream = spark.readStream.schema(df.schema).parquet(rows).withWatermark("at", "1 second")
    writer = sparkrules.detect(stream, rules, time="at", id="id").writeStream.format("parquet")
    writer = writer.option("checkpointLocation", str(directory / "checkpoint")).trigger(availableNow=True)
    writer.start(found).awaitTermination()
    return shown(spark.read.parquet(found))


def shown(found: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in found.selectExpr(*COLUMNS.split(", ", 5)).collect())
