"""Patterns over a stream: late rows, restarts, and rules, patterns and columns that change while there is state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException

import sparkrules
from sparkrules import RuleSet
from tests.pattern_cases import BEGIN, COLUMNS, Plain, Row, expected
from tests.spark.detection_stream import FLUSH, SCHEMA, Stream
from tests.spark.oracle import settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(autouse=True)
def _settings(spark: SparkSession) -> Iterator[None]:
    with settings(spark, zone="UTC"):
        yield


def row(seconds: float | None, **values: Any) -> Row:
    time = None if seconds is None else BEGIN + timedelta(seconds=seconds)
    return dict.fromkeys(COLUMNS) | {"ts": time, "k": "x"} | values


def rules_of(name: str, define: Callable[[RuleSet], None]) -> RuleSet:
    rules = RuleSet(name)
    rules.subscribe_all({"a": "a", "b": "b"})
    define(rules)
    return rules


def short(found: list[Plain]) -> list[tuple[str, str, float, float]]:
    """Pattern, kind, start and end in seconds."""
    return [(pattern, kind, start / 1e6, end / 1e6) for pattern, kind, _, start, end, *_ in found]


def test_a_stream_that_is_started_again_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    def define(rules: RuleSet) -> None:
        rules.sequence("ab", ["a", "b"], by="k", within="10 seconds")
        rules.count("three", "a", by="k", within="10 seconds", at_least=3)
        rules.absence("silent", after="a", without="b", by="k", within="4 seconds")
        rules.subscribe("became", "c", on_change="k", suppress="2 seconds")

    rows = [
        row(1, a=True, c=False, id="1"),
        row(2, a=True, c=True, id="2"),
        row(3, b=True, c=True, id="3"),
        row(4, a=True, c=False, id="4"),
        row(5, a=True, c=True, id="5"),
        row(11, c=False, id="6"),
        row(12, a=True, c=True, id="7"),
    ]
    rules = rules_of("restarted", define)
    stream = Stream(spark, rules, 1, tmp_path)
    for part in (rows[:2], rows[2:4], rows[4:5], rows[5:], [FLUSH]):
        stream.arrive(part)
        found = stream.run()
    assert found == expected(rules, [*rows, FLUSH])
    assert {pattern for pattern, *_ in found} == {"ab", "three", "silent", "became"}
    # Only what is true now is kept, of what can change.
    assert stream.state_rows == 1


def test_state_is_gone_when_its_time_has_passed(spark: SparkSession, tmp_path: Path) -> None:
    def define(rules: RuleSet) -> None:
        rules.sequence("ab", ["a", "b"], by="k", within="10 seconds", after="1 second")
        rules.together("both", ["a", "b"], by="k", within="10 seconds")
        rules.count("three", "a", by="k", within="10 seconds", at_least=3, distinct="v", suppress="5 seconds")

    stream = Stream(spark, rules_of("forgotten", define), 1, tmp_path)
    stream.arrive([row(1, a=True, k=key, v=1) for key in "uvwxyz"])
    stream.run()
    assert stream.state_rows > 0
    stream.arrive([FLUSH])
    assert stream.run() == []
    assert stream.state_rows == 0


def test_late_rows_are_dropped_and_counted(spark: SparkSession, tmp_path: Path) -> None:
    rules = rules_of("late", lambda rules: rules.count("two", "a", by="k", within="1 minute", at_least=2))
    stream = Stream(spark, rules, 5, tmp_path)
    # The row of second 6 comes in time. Spark drops rows by the watermark of the micro-batch before.
    stream.arrive([row(10, a=True)], [row(6, a=True), row(20)], [row(20)], [row(15, a=True), row(16, a=True)], [FLUSH])
    assert short(stream.run()) == [("two", "count", 6.0, 10.0)]
    assert stream.dropped == 1


def test_a_changed_pattern_starts_afresh_and_others_go_on(spark: SparkSession, tmp_path: Path) -> None:
    def define(rules: RuleSet) -> None:
        for name in ("changed", "kept", "removed", "noted"):
            rules.count(name, "a", by="k", within="1 minute", at_least=3)

    rules = rules_of("changing-patterns", define)
    stream = Stream(spark, rules, 1, tmp_path)
    stream.arrive([row(1, a=True), row(2, a=True)], [row(4)])
    assert stream.run() == []
    for name in ("changed", "removed", "noted"):
        rules.remove_pattern(name)
    rules.count("changed", "a", by="k", within="1 minute", at_least=2)
    rules.count("noted", "a", by="k", within="1 minute", at_least=3, metadata={"owner": "ops"})
    stream.arrive([row(10, a=True)], [row(20, a=True)], [FLUSH])
    assert sorted(short(stream.run())) == [
        ("changed", "count", 10.0, 20.0),
        ("kept", "count", 1.0, 10.0),
        ("noted", "count", 1.0, 10.0),
    ]
    assert stream.state_rows == 0  # also that of the pattern that is no more


def test_a_version_that_returns_finds_what_it_has_kept(spark: SparkSession, tmp_path: Path) -> None:
    """A stream goes on where a version has no patterns, and a rollback brings back the definition of the state."""
    rules = rules_of("returning", lambda rules: rules.count("two", "a", by="k", within="1 minute", at_least=2))
    first = rules.publish(spark)
    stream = Stream(spark, "returning", 1, tmp_path)
    stream.arrive([row(1, a=True)], [row(4)])
    assert stream.run() == []
    rules.remove_pattern("two")
    rules.publish(spark)
    stream.arrive([row(6, a=True)])
    assert stream.run() == []
    rules.rollback(first)
    stream.arrive([row(10, a=True)], [FLUSH])
    assert short(stream.run()) == [("two", "count", 1.0, 10.0)]


def test_what_is_kept_of_a_removed_rule_is_gone_after_a_day(spark: SparkSession, tmp_path: Path) -> None:
    rules = rules_of("removed-change", lambda rules: rules.subscribe("became", "c", on_change="k"))
    stream = Stream(spark, rules, 1, tmp_path)
    stream.arrive([row(1, c=True), row(1, k="y", c=True)], [row(4)])
    assert len(stream.run()) == 2
    stream.arrive([FLUSH | {"ts": BEGIN + timedelta(days=2)}])
    stream.run()
    assert stream.state_rows == 2  # it is still true
    rules.unsubscribe("became")
    stream.arrive([FLUSH | {"ts": BEGIN + timedelta(days=4)}])
    stream.run()
    assert stream.state_rows == 0


def test_rows_keep_what_they_matched_when_rules_change(spark: SparkSession, tmp_path: Path) -> None:
    rules = rules_of("changing-rules", lambda rules: rules.sequence("ab", ["a", "b"], by="k", within="1 minute"))
    stream = Stream(spark, rules, 1, tmp_path)
    stream.arrive([row(1, a=True), row(1, k="y", a=True)], [row(4)])
    assert stream.run() == []
    rules.unsubscribe_all(["a", "b"])
    rules.subscribe("b", "v = 7")
    stream.arrive([row(10, v=7), row(11, b=True, k="y")], [FLUSH])
    assert short(stream.run()) == [("ab", "sequence", 1.0, 10.0)]


def test_a_table_may_get_more_columns(spark: SparkSession, tmp_path: Path) -> None:
    rules = rules_of("growing", lambda rules: rules.count("two", "a", by="k", within="1 minute", at_least=2))
    stream = Stream(spark, rules, 1, tmp_path)
    stream.arrive([row(1, a=True)], [row(4)])
    assert stream.run() == []
    rules.subscribe("new", "more > 1")
    rules.count("of new", "new", by=["k", "more"], within="1 minute", at_least=2)
    stream.schema = f"more int, {SCHEMA}"
    stream.arrive([row(10, a=True, more=2), row(11, more=2)], [FLUSH])
    assert sorted(short(stream.run())) == [("of new", "count", 10.0, 11.0), ("two", "count", 1.0, 10.0)]


def test_rows_without_a_place_are_counted(spark: SparkSession, tmp_path: Path) -> None:
    rules = rules_of("overflowing", lambda rules: rules.count("two", "a", by="k", within="1 minute", at_least=2))
    with settings(spark, spark_sparkrules_patternRows="3"):
        stream = Stream(spark, rules, 30, tmp_path)
        stream.arrive([row(n, a=True) for n in range(5)], [row(6, a=True)], [FLUSH])
        found = stream.run()
    assert [(kind, count) for _, kind, _, _, _, count, _ in found] == [("count", 2), ("overflow", 3)]


def test_what_a_stream_needs(spark: SparkSession, tmp_path: Path) -> None:
    rules = rules_of("needs", lambda rules: rules.count("two", "a", by="k", within="1 minute", at_least=2))
    df = spark.readStream.schema(SCHEMA).json(str(tmp_path))
    with pytest.raises(PySparkException, match=r"no watermark on 'ts'.*withWatermark"):
        sparkrules.detect(df, rules, time="ts")
    provider = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
    with settings(spark, spark_sql_streaming_stateStore_providerClass=provider):
        df.withWatermark("ts", "1 second").createOrReplaceTempView("watched")
        with pytest.raises(PySparkException, match="keep their state in RocksDB"):
            spark.sql("SELECT * FROM detect_patterns('needs', TABLE(watched), time => 'ts')")
