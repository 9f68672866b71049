"""Measures the ways to detect patterns: each cold, when it runs for the first time, and warm."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import sparkrules
from benchmarks.measurement import WrongAnswer
from benchmarks.patterns.by_hand import can_be_written, query
from benchmarks.patterns.workload import LATE, RULE_SET, Size, rule_set, rule_texts, write_rows
from sparkrules.patterns.pattern import Pattern

Found = Counter[tuple[str, str, str]]


@dataclass(frozen=True)
class Spent:
    """Seconds, and processor seconds of Spark's JVM."""

    seconds: float
    cpu_seconds: float

    def since(self, before: Spent) -> Spent:
        return Spent(self.seconds - before.seconds, self.cpu_seconds - before.cpu_seconds)


@dataclass(frozen=True)
class Way:
    """How long a way took, cold and warm, for all patterns. `extrapolated_from` counts those that were measured.

    `cpu_seconds` are those of the JVM in a warm run: on a busy machine they say more.
    """

    name: str
    cold_seconds: float
    warm_seconds: float
    cpu_seconds: float
    events_per_second: float
    extrapolated_from: int | None = None


@dataclass(frozen=True)
class State:
    """What a stream kept, at most, after a micro-batch."""

    batches: int
    rows: int
    memory_bytes: int
    file_bytes: int


@dataclass(frozen=True)
class Measured:
    """All figures of a run."""

    size: Size
    ways: list[Way]
    state: State
    rows_that_are_events: float
    groups: int
    matches_per_thousand: float
    events_per_thousand: float
    detections_per_thousand: float
    detections: dict[str, int]
    checked: dict[str, int] = field(default_factory=dict)


def measure(spark: SparkSession, size: Size, home: Path, *, runs: int, sampled: int, with_id: bool) -> Measured:
    """Generate, publish, and measure every way. Fails if two ways give different detections."""
    if not (home / "rows").exists():
        write_rows(spark, size, home / "rows.part")
        (home / "rows.part").rename(home / "rows")
    rules = rule_set(size)
    rules.publish(spark)
    rows = spark.read.parquet(str(home / "rows"))
    count = size.events + 1
    stream = Streaming(spark, rows, home, with_id)
    batch = home / "batch"

    def matching() -> None:
        ids = sparkrules.match(rows, RULE_SET).selectExpr("matches.ids AS ids")
        ids.selectExpr("sum(hash(ids))", "sum(size(ids))").collect()

    def detecting() -> None:
        _detected(rows, with_id).write.mode("overwrite").parquet(str(batch))

    ways = [
        _way("match, ids hashed", count, _times(spark, matching, runs)),
        _way("detect, batch", count, _times(spark, detecting, runs)),
    ]
    ways.append(_way("detect, stream", count, [stream.run(number) for number in range(1 + runs)]))
    for number in range(1 + runs):
        _same("batch and stream", _sums(spark.read.parquet(str(batch))), _sums(stream.found(number)))
    sample = _sample(rules.patterns.values(), sampled)
    seconds, checked = _by_hand(spark, rows, batch, sample, dict(rule_texts(size)), runs)
    share = len(sample) / size.patterns
    scaled = [Spent(own.seconds / share, own.cpu_seconds / share) for own in seconds]
    ways.append(_way("a query per pattern", count, scaled, extrapolated_from=len(sample)))
    facts = sparkrules.match(rows, RULE_SET).selectExpr("sum(size(matches.ids))").collect()[0][0]
    events = _events(rows, rules.patterns.values())
    kinds = {row.kind: row["count"] for row in spark.read.parquet(str(batch)).groupBy("kind").count().collect()}
    return Measured(
        size=size,
        ways=ways,
        state=stream.state,
        rows_that_are_events=events["rows"] / count,
        groups=events["groups"],
        matches_per_thousand=1000 * facts / count,
        events_per_thousand=1000 * events["events"] / count,
        detections_per_thousand=1000 * sum(kinds.values()) / count,
        detections=kinds,
        checked=checked,
    )


class Streaming:
    """The same files as a stream: a micro-batch per file, until all are read."""

    def __init__(self, spark: SparkSession, rows: DataFrame, home: Path, with_id: bool) -> None:
        self.spark, self.schema, self.home, self.with_id = spark, rows.schema, home, with_id
        self.state = State(0, 0, 0, 0)

    def run(self, number: int) -> Spent:
        rows = self.spark.readStream.schema(self.schema).option("maxFilesPerTrigger", 1)
        read = rows.parquet(str(self.home / "rows")).withWatermark("at", LATE)
        writer = _detected(read, self.with_id).writeStream.format("parquet").trigger(availableNow=True)
        writer = writer.option("checkpointLocation", str(self.home / f"checkpoint-{number}"))
        before = _now(self.spark)
        streaming = writer.start(str(self.home / f"stream-{number}"))
        streaming.awaitTermination()
        spent = _now(self.spark).since(before)
        progress = [own for own in streaming.recentProgress if own.stateOperators]
        states = [own.stateOperators[0] for own in progress]
        self.state = State(
            batches=len(progress),
            rows=max(own.numRowsTotal for own in states),
            memory_bytes=max(own.memoryUsedBytes for own in states),
            file_bytes=max(int(own.customMetrics.get("rocksdbSstFileSize", 0)) for own in states),
        )
        return spent

    def found(self, number: int) -> DataFrame:
        return self.spark.read.parquet(str(self.home / f"stream-{number}"))


def _detected(rows: DataFrame, with_id: bool) -> DataFrame:
    return sparkrules.detect(rows, RULE_SET, time="at", id="event" if with_id else None)


def _sums(found: DataFrame) -> tuple[int, int]:
    """How many detections there are, and a sum that differs if one does."""
    texts = found.selectExpr("to_json(struct(*)) AS text")
    row = texts.selectExpr("count(*) AS n", "sum(CAST(xxhash64(text) AS DECIMAL(38))) AS hashes").collect()[0]
    return row.n, int(row.hashes or 0)


def _by_hand(
    spark: SparkSession, rows: DataFrame, batch: Path, sample: list[Pattern], texts: dict[str, str], runs: int
) -> tuple[list[Spent], dict[str, int]]:
    """What every run over all of the sample took, and how many detections were compared, by kind."""
    rows.createOrReplaceTempView("bench_rows")
    checked: Counter[str] = Counter()

    def ask() -> list[Found]:
        found = []
        for pattern in sample:
            answer = spark.sql(query(pattern, texts, "bench_rows")).selectExpr("key", _micros("start"), _micros("end"))
            found.append(Counter((str(row[0]), str(row[1]), str(row[2])) for row in answer.collect()))
        return found

    seconds = []
    for _ in range(1 + runs):
        before = _now(spark)
        answers = ask()
        seconds.append(_now(spark).since(before))
    for pattern, expected in zip(sample, answers, strict=True):
        columns = [f"key['{column}']" for column in pattern.by]
        own = spark.read.parquet(str(batch)).where(f"pattern = '{pattern.id}'")
        ours = own.selectExpr(f"array({', '.join(columns)})", _micros("start"), _micros("end")).collect()
        _same(f"'{pattern}' and its query", Counter((str(r[0]), str(r[1]), str(r[2])) for r in ours), expected)
        checked[pattern.kind] += len(ours)
    return seconds, dict(checked)


def _sample(patterns: Iterable[Pattern], count: int) -> list[Pattern]:
    """Patterns for which there is a query, of each kind as many, as far as there are."""
    kinds: dict[str, list[Pattern]] = {}
    for pattern in patterns:
        if can_be_written(pattern):
            kinds.setdefault(pattern.kind, []).append(pattern)
    return [own for kind in kinds.values() for own in kind[: max(1, count // len(kinds))]]


def _events(rows: DataFrame, patterns: Iterable[Pattern]) -> dict[str, int]:
    """How many rows are events, of how many patterns, and the groups that they fall into."""
    spark = rows.sparkSession
    roles = [
        (rule, pattern.id, list(pattern.by))
        for pattern in patterns
        for rule in sorted({str(term.rule) for term in pattern.terms})
    ]
    table = spark.createDataFrame(roles, "rule STRING, pattern STRING, keys ARRAY<STRING>")
    matched = sparkrules.match(rows, RULE_SET).selectExpr("event", "user", "host", "explode(matches.ids) AS rule")
    key = "concat_ws('/', transform(keys, key -> if(key = 'user', user, host))) AS key"
    events = matched.join(table.hint("broadcast"), "rule").selectExpr("event", "pattern", key).distinct()
    row = events.selectExpr(
        "count(DISTINCT event) AS rows", "count(*) AS events", "count(DISTINCT pattern, key) AS groups"
    ).collect()[0]
    return {"rows": row.rows, "events": row.events, "groups": row.groups}


def _micros(column: str) -> str:
    return f"unix_micros({column})"


def _same(what: str, ours: object, expected: object) -> None:
    if ours != expected:
        raise WrongAnswer(f"{what} differ: {str(ours)[:500]} and {str(expected)[:500]}")


def _now(spark: SparkSession) -> Spent:
    """The time, and the processor time of Spark's JVM; 0 where the system does not tell it as Linux does."""
    gateway: Any = spark.sparkContext._gateway
    try:
        fields = Path(f"/proc/{gateway.proc.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except (AttributeError, OSError):
        return Spent(perf_counter(), 0.0)
    return Spent(perf_counter(), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"))


def _times(spark: SparkSession, run: Callable[[], object], runs: int) -> list[Spent]:
    spent = []
    for _ in range(1 + runs):
        before = _now(spark)
        run()
        spent.append(_now(spark).since(before))
    return spent


def _way(name: str, events: int, spent: list[Spent], extrapolated_from: int | None = None) -> Way:
    warm, cpu = min(own.seconds for own in spent[1:]), min(own.cpu_seconds for own in spent[1:])
    return Way(name, spent[0].seconds, warm, cpu, events / warm, extrapolated_from)
