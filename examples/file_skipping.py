"""Skipping files: what is known of each file, minima and maxima, tells which rules can fire in it before it is read.

python examples/file_skipping.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import Row, SparkSession

import sparkrules

RULES = {
    "frost": "temperature < 0",
    "heat": "temperature > 35 AND humidity > 60",
    "storm": "wind > 100 OR wind > 80 AND temperature < 5",
}
COLUMNS = ("temperature", "humidity", "wind")


def main(spark: SparkSession) -> dict[str, list[str]]:
    """The rules that can fire, by the day of a file."""
    with tempfile.TemporaryDirectory() as directory:
        _write_days(spark, directory)
        files = spark.createDataFrame([_statistics(path) for path in sorted(Path(directory).glob("*/*.parquet"))])

        rules = sparkrules.RuleSet("weather")
        rules.subscribe_all(RULES)
        rules.publish(spark)
        routed = files.selectExpr("file", "day", f"overlap_subscriptions('weather', {', '.join(COLUMNS)}) AS ids")
        routed.select("day", "ids").orderBy("day").show(truncate=False)

        needed = [row.file for row in routed.where("size(ids) > 0").collect()]
        print(f"{len(needed)} of {files.count()} files are read")
        some = sparkrules.matches(spark.read.parquet(*needed), rules).select("hour", "subscription_id")
        everything = sparkrules.matches(spark.read.parquet(f"{directory}/*"), rules).select("hour", "subscription_id")
        assert sorted(some.collect()) == sorted(everything.collect())
        some.orderBy("hour").show(truncate=False)
        found = {row.day: row.ids for row in routed.collect()}
    assert found == {"mild": [], "frosty": ["frost"], "hot": [], "windy": ["storm"]}
    return found


def _write_days(spark: SparkSession, directory: str) -> None:
    """A file for each day: temperature, humidity and wind from one value to another."""
    days = {"mild": (12, 50, 10), "frosty": (-3, 70, 20), "hot": (36, 20, 5), "windy": (15, 60, 99)}
    for day, (temperature, humidity, wind) in days.items():
        hours = spark.range(6).selectExpr(
            f"'{day} ' || id AS hour",
            f"CAST({temperature} + id AS DOUBLE) AS temperature",
            f"CAST({humidity} + id AS INT) AS humidity",
            f"CAST({wind} + id AS INT) AS wind",
        )
        hours.coalesce(1).write.parquet(f"{directory}/{day}")


def _statistics(path: Path) -> Row:
    """What the footer of a Parquet file says of its columns, as `overlap_subscriptions` wants it."""
    footer = pq.ParquetFile(path).metadata
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    bounds = {}
    for index, name in enumerate(footer.schema.names):
        if name in COLUMNS:
            own = [group.column(index).statistics for group in groups]
            bounds[name] = Row(
                min=min(each.min for each in own),
                max=max(each.max for each in own),
                nulls=any(each.null_count for each in own),
            )
    return Row(file=str(path), day=path.parent.name, **bounds)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as store:
        main(sparkrules.configure(SparkSession.builder.master("local[2]"), store=store).getOrCreate())
