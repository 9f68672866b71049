"""Brute force, then a new admin: patterns over a stream of logins, the same as in a batch of the same rows.

python examples/brute_force.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import sparkrules

COLUMNS = "id STRING, at TIMESTAMP, user STRING, ip STRING, action STRING, ok BOOLEAN"
Login = tuple[str, str, str, str, str, bool]
Found = tuple[str, str, str, list[str]]


def main(spark: SparkSession) -> list[Found]:
    """The detections as (pattern, kind, user, ids of rows), in order of time."""
    rules = sparkrules.RuleSet("logins")
    rules.subscribe("failed login", "action = 'login' AND NOT ok")
    rules.subscribe("new admin", "action = 'grant'")
    rules.count("brute force", "failed login", by=["user"], within="2 minutes", at_least=5)
    rules.sequence("breach", ["failed login", "new admin"], by=["user"], within="10 minutes")
    rules.absence("nobody looked", after="new admin", without={"where": "action = 'review'"}, within="5 minutes")
    rules.publish(spark)

    guesses = [(f"g{n}", f"09:00:{10 * n:02}", "ann", "10.0.0.7", "login", False) for n in range(5)]
    batches: list[list[Login]] = [
        [*reversed(guesses), ("b1", "09:00:05", "bob", "10.0.1.1", "login", False)],
        [("b2", "09:01:30", "bob", "10.0.1.1", "login", True), ("a1", "09:03:00", "ann", "10.0.0.7", "grant", True)],
        [("c1", "09:12:00", "cleo", "10.0.2.1", "login", True)],
    ]
    streamed: list[Found] = []

    def send(batch: DataFrame, number: int) -> None:
        for found in _found(batch):
            print(f"micro-batch {number}: {found}")
            streamed.append(found)

    with tempfile.TemporaryDirectory() as directory:
        incoming = f"{directory}/incoming"
        Path(incoming).mkdir()
        logins = spark.readStream.schema(COLUMNS).json(incoming).withWatermark("at", "1 minute")
        stream = (
            sparkrules.detect(logins, "logins", time="at", id="id")
            .writeStream.foreachBatch(send)
            .option("checkpointLocation", f"{directory}/checkpoint")
            .start()
        )
        try:
            for batch in batches:
                _table(spark, batch).coalesce(1).write.mode("append").json(incoming)
                stream.processAllAvailable()
        finally:
            stream.stop()

    everything = _table(spark, [login for batch in batches for login in batch])
    assert streamed == _found(sparkrules.detect(everything, rules, time="at", id="id"))
    assert streamed == [
        ("brute force", "count", "ann", ["g0", "g1", "g2", "g3", "g4"]),
        ("breach", "sequence", "ann", ["g4", "a1"]),
        ("nobody looked", "absence", "", ["a1"]),
    ]
    return streamed


def _table(spark: SparkSession, logins: list[Login]) -> DataFrame:
    rows = [(id, f"2026-03-01 {at}", *others) for id, at, *others in logins]
    texts = COLUMNS.replace("TIMESTAMP", "STRING")
    return spark.createDataFrame(rows, texts).selectExpr("id", "to_timestamp(at) AS at", "user", "ip", "action", "ok")


def _found(detections: DataFrame) -> list[Found]:
    rows = detections.orderBy("end", "pattern").collect()
    return [(row.pattern, row.kind, row.key.get("user", ""), [own.id for own in row.rows]) for row in rows]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as store:
        main(sparkrules.configure(SparkSession.builder.master("local[2]"), store=store).getOrCreate())
