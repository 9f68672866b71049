"""Counts how often each rule hits, in one Spark pass over the rows. Rows are never collected."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from sparkrules.errors import RuleSetError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_TIME_TYPES = ("timestamp", "timestamp_ntz", "date", "string")


@dataclass(frozen=True)
class Hits:
    """The result of matching some rows.

    `by_rule` has the rules that hit. `first` and `last` are the bounds of the time column, in the session's time zone.
    `seconds` is the duration of the pass after the rules were loaded, `loading` the time to load them, and `reading`
    the time to read the rows and do nothing with them.
    """

    rows: int
    matched_rows: int
    by_rule: Mapping[str, int]
    seconds: float
    loading: float
    reading: float
    first: datetime | None = None
    last: datetime | None = None

    @property
    def matches(self) -> int:
        """The total number of hits of all rules."""
        return sum(self.by_rule.values())


def matched(df: DataFrame, rule_set: str, time: str | None) -> DataFrame:
    """For each row, the `ids` that match, and its `time`: local time, without a zone."""
    from pyspark.sql import functions as f

    ids = f.expr(f"match_subscriptions('{rule_set}', *).ids").alias("ids")
    at = f.lit(None) if time is None else time_column(df, time)
    return df.select(ids, at.cast("timestamp_ntz").alias("time"))


def count_hits(df: DataFrame, rule_set: str, time: str | None = None) -> Hits:
    """Match every row of the DataFrame against a published version, `alerts@12`, and count."""
    from pyspark.sql import functions as f

    start = clock.perf_counter()
    df.write.format("noop").mode("overwrite").save()
    read = clock.perf_counter()
    matched(df.limit(1), rule_set, time).collect()
    loaded = clock.perf_counter()
    # A row without a match yields one line, without an id. Every other row yields a line with place 0.
    lines = matched(df, rule_set, time).select("time", f.posexplode_outer("ids").alias("place", "id"))
    counted = (
        lines.groupBy("id")
        .agg(
            f.count(f.lit(1)).alias("hits"),
            f.count_if(f.col("place") == 0).alias("rows"),
            f.min("time").alias("first"),
            f.max("time").alias("last"),
        )
        .toArrow()
    )
    done = clock.perf_counter()
    ids, hits = counted["id"].to_pylist(), counted["hits"].to_pylist()
    by_rule = dict(zip(ids, hits, strict=True))
    without = by_rule.pop(None, 0)
    matched_rows = sum(counted["rows"].to_pylist())
    first = min((at for at in counted["first"].to_pylist() if at is not None), default=None)
    last = max((at for at in counted["last"].to_pylist() if at is not None), default=None)
    return Hits(without + matched_rows, matched_rows, by_rule, done - loaded, loaded - read, read - start, first, last)


def time_column(df: DataFrame, time: str) -> Column:
    """The times of rows, as TIMESTAMP or TIMESTAMP_NTZ. Raises `RuleSetError` if the column has none."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as f

    try:
        found = df.select(f.col(time)).schema[0].dataType.simpleString()
    except AnalysisException as error:
        raise RuleSetError(f"time={time!r}: {str(error).splitlines()[0]}") from error
    if not found.startswith(_TIME_TYPES):
        raise RuleSetError(f"time={time!r} is of type {found}: name a column of timestamps or dates")
    # A string may contain a zone, which only a cast to timestamp respects.
    if found.startswith("string"):
        return f.col(time).try_cast("timestamp")
    return f.col(time).cast("timestamp_ntz") if found == "date" else f.col(time)
