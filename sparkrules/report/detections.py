"""Counts what patterns detect: per pattern, key and time, in one Spark pass. Detections are never collected."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from sparkrules.catalyst import detect
from sparkrules.patterns import Pattern
from sparkrules.report.hits import time_column
from sparkrules.report.time_buckets import bucket_of, bucket_width, in_bucket

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from sparkrules.report.hits import Hits

MOST_KEYS = 10
_SUPPRESSED = "suppressed"
_TIME = "__sparkrules_time"


@dataclass
class Found:
    """What was found of one pattern. `top_keys` has the keys with the most detections, each with its time buckets."""

    times: list[int]
    suppressed: int = 0
    keys: int = 0
    top_keys: dict[tuple[str, ...], list[int]] = field(default_factory=dict)

    @property
    def detections(self) -> int:
        """How often it was detected, without what was suppressed."""
        return sum(self.times)


@dataclass(frozen=True)
class Detections:
    """What was found, by pattern, and per time bucket of this width from `first` on, by the end of the detection."""

    width: timedelta
    first: int
    by_pattern: Mapping[str, Found]

    @property
    def total(self) -> int:
        """All detections."""
        return sum(found.detections for found in self.by_pattern.values())

    def by_detections(self) -> list[str]:
        """The patterns that were found, the most frequent first."""
        found = ((id, own.detections) for id, own in self.by_pattern.items() if own.detections)
        return [id for id, _ in sorted(found, key=lambda item: (-item[1], item[0]))]


def count_detections(
    df: DataFrame, rule_set: str, patterns: Mapping[str, Pattern], time: str, hits: Hits
) -> Detections | None:
    """Detect the patterns of a published version, `alerts@12`, and count. None if no row has a time."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    if hits.first is None or hits.last is None:
        return None
    width = bucket_width(hits.first, hits.last)
    found = detect(df.withColumn(_TIME, time_column(df, time)), rule_set, time=_TIME)
    is_counted = f.col("kind") == _SUPPRESSED
    lines = found.select(
        "pattern",
        f.to_json("key").alias("key"),
        f.col("end").cast("timestamp_ntz").alias("time"),
        f.when(is_counted, 0).otherwise(1).alias("detections"),
        f.when(is_counted, f.col("count")).otherwise(0).alias("suppressed"),
    )
    sums = [f.sum(name).alias(name) for name in ("detections", "suppressed")]
    by_key = lines.groupBy("pattern", "key", in_bucket(width).alias("bucket")).agg(*sums)
    of_key = by_key.withColumn("of_key", f.sum("detections").over(Window.partitionBy("pattern", "key")))
    by_frequency = Window.partitionBy("pattern").orderBy(f.desc("of_key"), "key")
    ranked = of_key.withColumn("rank", f.dense_rank().over(by_frequency))
    shown = [f.when(f.col("rank") <= MOST_KEYS, f.col(name)).alias(name) for name in ("rank", "key")]
    counted = ranked.groupBy("pattern", *shown, "bucket").agg(*sums, f.max("rank").alias("keys")).toArrow().to_pylist()
    first = bucket_of(hits.first, width)
    size = bucket_of(hits.last, width) - first + 1
    by_pattern = {id: Found([0] * size) for id in patterns}
    for line in sorted(counted, key=lambda own: own["rank"] or 0):
        own = by_pattern[line["pattern"]]
        own.keys = max(own.keys, line["keys"])
        own.suppressed += line["suppressed"]
        # Clocks that are put back can make a later time an earlier local time.
        place = min(max(line["bucket"] - first, 0), size - 1)
        own.times[place] += line["detections"]
        if line["rank"] is not None:
            values = json.loads(line["key"])
            key = tuple(values[name] for name in patterns[line["pattern"]].by)
            own.top_keys.setdefault(key, [0] * size)[place] += line["detections"]
    return Detections(width, first, by_pattern)
