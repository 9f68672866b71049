"""What rules did: a line per micro-batch of a stream, and then the sums.

python examples/rule_metrics.py
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from pyspark.sql import SparkSession

import sparkrules


def main(spark: SparkSession) -> dict[str, int]:
    """The matches of each rule."""
    rules = sparkrules.RuleSet("watched")
    rules.subscribe("hot", "temperature > 30")
    rules.subscribe("frost", "temperature < 0")
    rules.subscribe("numbered", "CAST(sensor AS INT) > 100")
    rules.publish(spark)

    seen = sparkrules.RuleMetrics()
    runs: list[sparkrules.RuleRun] = []
    listener = sparkrules.log_matches(spark, runs.append)  # without runs.append: a line in the log
    try:
        with tempfile.TemporaryDirectory() as directory:
            for number, readings in enumerate(['{"sensor": "roof", "temperature": 35}\n' * 3, '{"sensor": "101"}\n']):
                path = Path(directory, f"{number}.json")
                path.write_text(readings)
                os.utime(path, (number, number))  # the oldest first
            stream = spark.readStream.schema("sensor STRING, temperature DOUBLE").option("maxFilesPerTrigger", 1)
            query = (
                sparkrules.match(stream.json(directory), "watched", observe=seen)
                .writeStream.format("noop")
                .trigger(availableNow=True)
                .start()
            )
            query.awaitTermination()
        patience = time.monotonic() + 60  # listeners hear of a micro-batch shortly after it has ended
        while len(runs) < 2 and time.monotonic() < patience:
            time.sleep(0.1)
    finally:
        spark.streams.removeListener(listener)

    for run in runs:
        print(f"batch {run.batch}, {run.ruleset}@{run.version}: {run.rows} rows, {run.hits}, errors {run.rule_errors}")
    hits: dict[str, int] = seen.get["hits"]
    print(f"all: {hits}")
    assert [run.hits for run in runs] == [{"hot": 3}, {"numbered": 1}]
    assert hits == {"hot": 3, "numbered": 1}
    return hits


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as store:
        main(sparkrules.configure(SparkSession.builder.master("local[2]"), store=store).getOrCreate())
