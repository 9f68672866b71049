"""Streams: every micro-batch uses the newest version and its own instant, without a restart and without a leak."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import sparkrules
from sparkrules.index import Rule
from sparkrules.sql.tree import Constant, Predicate
from tests.spark.oracle import settings
from tests.spark.versions import VersionWriter

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

COLUMNS = "n INT"
PATIENCE = (4, 30, 120, 480)  # seconds that an instant lies ahead: a busy machine gets another try, with more
ALWAYS = Predicate("n", ">=", (Constant("integer", "0"),))


class Arrivals:
    """A directory that a stream reads; rows arrive as files of one row."""

    def __init__(self, spark: SparkSession, path: Path) -> None:
        self.path = path
        self.path.mkdir()
        self.df = spark.readStream.schema(COLUMNS).json(str(path))

    def arrive(self, n: int) -> None:
        hidden = self.path / f".{n}.json"
        hidden.write_text(f'{{"n": {n}}}\n')
        hidden.rename(self.path / f"{n}.json")


@pytest.fixture
def arrivals(spark: SparkSession, tmp_path: Path) -> Arrivals:
    return Arrivals(spark, tmp_path / "incoming")


class Sink:
    """What the micro-batches of a query gave, by the number of the row."""

    def __init__(self, df: DataFrame, checkpoint: Path) -> None:
        self.rows: dict[int, Any] = {}
        self.query: StreamingQuery = (
            df.writeStream.foreachBatch(self._take).option("checkpointLocation", str(checkpoint)).start()
        )

    def _take(self, batch: DataFrame, _: int) -> None:
        self.rows |= {row.n: row for row in batch.collect()}

    def __enter__(self) -> Sink:
        return self

    def __exit__(self, *_: object) -> None:
        self.query.stop()

    def ids(self, n: int) -> list[str]:
        found: list[str] = self.rows[n].matches.ids
        return found


def publish(spark: SparkSession, name: str, *ids: str) -> sparkrules.RuleSet:
    rules = sparkrules.RuleSet(name)
    rules.subscribe_all(dict.fromkeys(ids, "n >= 0"))
    rules.publish(spark)
    return rules


def test_every_micro_batch_takes_the_newest_version(spark: SparkSession, arrivals: Arrivals, tmp_path: Path) -> None:
    rules = publish(spark, "streamed", "first")
    newest = sparkrules.match(arrivals.df, "streamed")
    both = newest.selectExpr("*", "match_subscriptions('streamed@1', n).ids AS pinned")
    with Sink(both, tmp_path / "checkpoint") as sink:
        arrivals.arrive(1)
        sink.query.processAllAvailable()
        rules.subscribe("second", "n >= 0")
        rules.publish(spark)
        arrivals.arrive(2)
        sink.query.processAllAvailable()
        rules.unsubscribe("first")
        rules.publish(spark)
        arrivals.arrive(3)
        sink.query.processAllAvailable()
    assert [sink.ids(n) for n in (1, 2, 3)] == [["first"], ["first", "second"], ["second"]]
    assert [sink.rows[n].pinned for n in (1, 2, 3)] == [["first"]] * 3


def test_a_restarted_stream_takes_the_newest_version(spark: SparkSession, arrivals: Arrivals, tmp_path: Path) -> None:
    rules = publish(spark, "restarted", "first")
    matched = sparkrules.match(arrivals.df, "restarted")
    with Sink(matched, tmp_path / "checkpoint") as before:
        arrivals.arrive(1)
        before.query.processAllAvailable()
    rules.subscribe("second", "n >= 0")
    rules.publish(spark)
    arrivals.arrive(2)
    with Sink(matched, tmp_path / "checkpoint") as after:
        after.query.processAllAvailable()
    assert before.ids(1) == ["first"]
    assert set(after.rows) == {2}, "what was matched before the restart is not matched again"
    assert after.ids(2) == ["first", "second"]


def test_a_stream_into_a_table(spark: SparkSession, arrivals: Arrivals, tmp_path: Path) -> None:
    rules = publish(spark, "to_table", "first")
    spark.sql("DROP TABLE IF EXISTS alerts_of_stream")
    query = (
        sparkrules.matches(arrivals.df, "to_table")
        .select("n", "subscription_id")
        .writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        .toTable("alerts_of_stream")
    )
    try:
        arrivals.arrive(1)
        query.processAllAvailable()
        rules.subscribe("second", "n >= 0")
        rules.publish(spark)
        arrivals.arrive(2)
        query.processAllAvailable()
    finally:
        query.stop()
    assert sorted(map(tuple, spark.table("alerts_of_stream").collect())) == [(1, "first"), (2, "first"), (2, "second")]


def test_a_rule_begins_and_ends_to_match_at_its_instants(spark: SparkSession, tmp_path: Path) -> None:
    """The instant of a micro-batch is a whole millisecond. With a rule for each, it is the bound of two rules."""
    for seconds in PATIENCE:  # from the first rule's instant to the last one's: both micro-batches must come in between
        count = seconds * 1000
        first, rows = matched_at_instants(spark, tmp_path / str(seconds), count)
        passed = [row.now - first for row in rows]
        if passed[-1] < count:
            break
    assert 0 < passed[0] < passed[1] < count
    for row, now in zip(rows, passed, strict=True):
        expected = [f"from {i:06}" for i in range(now + 1)] + [f"until {i:06}" for i in range(now + 1, count)]
        assert row.matches.ids == expected


def matched_at_instants(spark: SparkSession, directory: Path, count: int) -> tuple[int, list[Any]]:
    """The instant of the first of `count` rules, and the rows of two micro-batches that were matched after it."""
    directory.mkdir()
    arrivals = Arrivals(spark, directory / "incoming")
    writer = VersionWriter(spark, f"bounds_{count}")
    start = datetime.now(timezone.utc).replace(microsecond=0)
    steps = [start + timedelta(milliseconds=i) for i in range(count)]
    begins = [Rule(f"from {i:06}", "n >= 0", ALWAYS, valid_from=at) for i, at in enumerate(steps)]
    ends = [Rule(f"until {i:06}", "n >= 0", ALWAYS, valid_until=at) for i, at in enumerate(steps)]
    writer.publish(writer.segment_of(begins), writer.segment_of(ends))
    stamped = sparkrules.match(arrivals.df, writer.rule_set).selectExpr("*", "unix_millis(current_timestamp()) AS now")
    with Sink(stamped, directory / "checkpoint") as sink:
        for n in (1, 2):
            arrivals.arrive(n)
            sink.query.processAllAvailable()
            time.sleep(0.01)
    return int(start.timestamp() * 1000), [sink.rows[n] for n in (1, 2)]


def test_an_expired_rule_stops_without_a_publish(spark: SparkSession) -> None:
    """With a part for each segment, and with one part for both."""
    spark.range(1).count()  # the first query of a session takes its time
    for seconds in PATIENCE:
        soon = datetime.now(timezone.utc) + timedelta(seconds=seconds)
        sets = [Expiring(spark, f"expiring_{part_rules}_{seconds}", part_rules, soon) for part_rules in ("1", "1000")]
        before = [own.found() for own in sets]
        if datetime.now(timezone.utc) < soon:
            break
    assert before == [(["always", "ends"], 1)] * 2
    time.sleep(max(0.0, (soon - datetime.now(timezone.utc)).total_seconds()))
    assert [own.found() for own in sets] == [(["always", "begins"], 0)] * 2


class Expiring:
    """A rule set in which one rule ends and another begins, and two queries: analyzed once, and in a join condition."""

    def __init__(self, spark: SparkSession, name: str, part_rules: str, soon: datetime) -> None:
        self.spark, self.name, self.part_rules = spark, name, part_rules
        writer = VersionWriter(spark, name)
        writer.publish(
            writer.segment({"always": "n > 0", "ends": "n > 0"}, validity={"ends": (None, soon)}),
            writer.segment({"begins": "n > 0"}, validity={"begins": (soon, None)}),
        )
        with settings(spark, spark_sparkrules_partRules=part_rules):
            self.analyzed = spark.sql(f"SELECT match_subscriptions('{name}', *).ids AS ids FROM VALUES (1) t(n)")

    def found(self) -> tuple[list[str], int]:
        """Which rules match now, and how many rows the join has if `ends` is one of them."""
        in_condition = (
            f"SELECT l.n FROM VALUES (1) l(n) JOIN VALUES (1) r(n) ON l.n = r.n AND "
            f"array_contains(match_subscriptions('{self.name}', named_struct('n', l.n * r.n)).ids, 'ends')"
        )
        with settings(self.spark, spark_sparkrules_partRules=self.part_rules):
            (row,) = self.analyzed.select("*").collect()
            return row.ids, self.spark.sql(in_condition).count()


@pytest.fixture
def small_cache(spark: SparkSession) -> Iterator[None]:
    with settings(spark, spark_sparkrules_cacheBytes="5000", spark_sparkrules_partRules="20"):
        yield


VERSIONS = 25


def test_many_versions_under_a_running_stream_leave_nothing_behind(
    spark: SparkSession, small_cache: None, arrivals: Arrivals, tmp_path: Path
) -> None:
    writer = VersionWriter(spark, "many_versions")
    large = writer.segment_of([Rule(f"large {i:03}", "n >= 0", ALWAYS) for i in range(60)])
    parts, held = [], []
    writer.publish(large)
    with Sink(sparkrules.match(arrivals.df, "many_versions"), tmp_path / "checkpoint") as sink:
        for version in range(1, VERSIONS + 1):
            small = writer.segment({f"version {version:03}": "n >= 0"})
            writer.publish(large, small, removed=[f"large {version:03}"])
            arrivals.arrive(version)
            sink.query.processAllAvailable()
            if version % 10 == 5:
                parts.append(cached_parts(spark))
                held.append(bytes_after_cleaning(spark, at_most=min(held, default=0)))
        assert sink.query.isActive
    for version in range(1, VERSIONS + 1):
        ids = sink.ids(version)
        assert len(ids) == 60
        assert ids[-1] == f"version {version:03}"
        assert f"large {version:03}" not in ids
    assert max(parts) < 12, parts
    # Were nothing dropped, it would be 175,000 more.
    assert held[-1] <= held[0] + 50_000, (parts, held)


def cached_parts(spark: SparkSession) -> int:
    jvm: Any = spark.sparkContext._jvm
    return int(jvm.sparkrules.version.VersionCache.cachedParts())


def bytes_after_cleaning(spark: SparkSession, at_most: int) -> int:
    """What the blocks of broadcasts take up, once Spark has dropped those that nothing refers to."""
    jvm: Any = spark.sparkContext._jvm
    gc.collect()  # Python's DataFrames of past micro-batches keep their plans, and so their broadcasts
    seen: list[int] = []
    while len(seen) < 8:
        jvm.System.gc()
        time.sleep(0.25)
        status = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().values().head()
        seen.append(int(status._1()) - int(status._2()))
        if seen[-1] <= at_most or seen[-3:] == 3 * seen[-1:]:
            break
    return seen[-1]
