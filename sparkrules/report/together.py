"""Counts which of the top rules hit the same rows, and when: a second pass, bounded by the number of these rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sparkrules.report.hits import matched
from sparkrules.report.time_buckets import bucket_of, bucket_width, in_bucket

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from sparkrules.report.hits import Hits


@dataclass(frozen=True)
class OverTime:
    """Counts per time bucket, starting at `first`: rows, hits of all rules, hits of each chosen rule."""

    width: timedelta
    first: int
    rows: Sequence[int]
    hits: Sequence[int]
    by_rule: Mapping[str, Sequence[int]]
    rows_without_time: int


@dataclass(frozen=True)
class Together:
    """`pairs`: the number of rows that two of the chosen rules both hit, by ids, the smaller id first."""

    pairs: Mapping[tuple[str, str], int]
    over_time: OverTime | None


def count_together(
    df: DataFrame, rule_set: str, chosen: Sequence[str], hits: Hits, time: str | None = None
) -> Together:
    """Count pairs of the chosen rules and, if `time` is given, hits over time; `hits` must be of the same rows."""
    from pyspark.sql import functions as f

    known = f.array(*map(f.lit, sorted(chosen))) if chosen else f.array().cast("array<string>")
    width = None if hits.first is None or hits.last is None else bucket_width(hits.first, hits.last)
    rows = matched(df, rule_set, time).select(
        (f.lit(None).cast("bigint") if width is None else in_bucket(width)).alias("bucket"),
        f.size("ids").alias("hits"),
        f.array_intersect(known, f.col("ids")).alias("found"),  # keeps the order of its first argument, so sorted by id
    )
    # One line for the row itself, without rules, one for each rule and one for each pair.
    pairs = f.expr("""
        concat(
            array(named_struct('a', CAST(NULL AS STRING), 'b', CAST(NULL AS STRING))),
            flatten(transform(found, (a, i) -> transform(slice(found, i + 1, size(found)), b -> struct(a, b))))
        )
    """)
    counted = (
        rows.select("bucket", "hits", f.explode(pairs).alias("pair"))
        .groupBy("bucket", "pair")
        .agg(f.count(f.lit(1)).alias("rows"), f.sum("hits").alias("hits"))
        .toArrow()
        .to_pylist()
    )
    together: dict[tuple[str, str], int] = {}
    for line in counted:
        a, b = line["pair"]["a"], line["pair"]["b"]
        if a != b:
            together[a, b] = together.get((a, b), 0) + line["rows"]
    return Together(together, None if width is None else _over_time(counted, chosen, hits, width))


def _over_time(counted: Sequence[dict[str, Any]], chosen: Sequence[str], hits: Hits, width: timedelta) -> OverTime:
    assert hits.first is not None
    assert hits.last is not None
    first = bucket_of(hits.first, width)
    size = bucket_of(hits.last, width) - first + 1
    rows, total, without = [0] * size, [0] * size, 0
    by_rule = {id: [0] * size for id in chosen}
    for line in counted:
        a, b = line["pair"]["a"], line["pair"]["b"]
        if line["bucket"] is None:
            without += line["rows"] if a is None else 0
        elif a is None:
            rows[line["bucket"] - first] += line["rows"]
            total[line["bucket"] - first] += line["hits"]
        elif a == b:
            by_rule[a][line["bucket"] - first] += line["rows"]
    return OverTime(width, first, rows, total, by_rule, without)
