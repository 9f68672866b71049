"""A driver that detects patterns in a stream of files; killed_streams.py runs it, and kills it.

python -m tests.servers.stream_driver DIRECTORY forever     until it is killed
python -m tests.servers.stream_driver DIRECTORY RESULT_FILE  until all files are read; then compares with a batch

Every row of the result is a detection with everything that it says.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import sparkrules
from tests.servers.killed_streams import COLUMNS, RULE_SET, Places

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LATE = "15 seconds"  # more than the rows of files differ from the order of the files
FILES = 10  # of a micro-batch, so that there are several to be killed in


def main(directory: str, until: str) -> None:
    places = Places(Path(directory))
    spark = session(places)
    rows = spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", FILES).json(str(places.incoming))
    found = sparkrules.detect(rows.withWatermark("at", LATE), RULE_SET, time="at", id="n")
    writer = found.writeStream.format("parquet").option("checkpointLocation", str(places.checkpoint))
    if until == "forever":
        query = writer.start(str(places.detections))
        sys.stdout.write("the stream has started\n")
        sys.stdout.flush()
        query.awaitTermination()
    else:
        writer.trigger(availableNow=True).start(str(places.detections)).awaitTermination()
        batch = sparkrules.detect(spark.read.schema(COLUMNS).json(str(places.incoming)), RULE_SET, time="at", id="n")
        result = {"stream": texts(spark.read.parquet(str(places.detections))), "batch": texts(batch)}
        Path(until).write_text(json.dumps(result), encoding="utf-8")


def session(places: Places) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", 2)
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
    )
    return sparkrules.configure(builder, store=places.store).getOrCreate()


def texts(df: DataFrame) -> list[str]:
    return sorted(row.text for row in df.selectExpr("to_json(struct(*)) AS text").collect())


if __name__ == "__main__":
    main(*sys.argv[1:])
