"""CALL sparkrules.subscribe and the others that the Python of the driver runs: rules from SQL alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException

from sparkrules import RuleSet, Store
from tests.spark.oracle import rule_set, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def store(spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    with settings(spark, spark_sparkrules_store=str(tmp_path)):
        yield tmp_path


def call(spark: SparkSession, procedure: str) -> list[dict[str, Any]]:
    return [row.asDict() for row in spark.sql(f"CALL sparkrules.{procedure}").collect()]


def refused(spark: SparkSession, procedure: str) -> str:
    with pytest.raises(PySparkException) as caught:
        spark.sql(f"CALL sparkrules.{procedure}").collect()
    return str(caught.value)


def text(value: str) -> str:
    """As a literal of SQL."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def test_a_rule_set_by_sql_alone(spark: SparkSession, store: Path) -> None:
    made = call(spark, "subscribe('alerts', 'hot', 'temperature > 30', priority => 5)")
    assert made == [{"rule_set": "alerts", "version": 1, "subscriptions": 1, "ticket": None}]
    call(
        spark,
        "subscribe(where => 'temperature < 0', id => 'cold', rule_set => 'alerts', metadata => map('owner', 'ops'),"
        " valid_from => TIMESTAMP '2020-01-01 00:00:00.123456+00:00', valid_until => '2099-01-01T00:00:00Z',"
        " tags => array('prod'), status => 'live')",
    )
    (found,) = spark.sql("SELECT match_subscriptions('alerts', *).ids FROM VALUES (31) AS t(temperature)").collect()
    assert found[0] == ["hot"]
    cold = RuleSet.load("alerts", store).subscriptions["cold"]
    assert (cold.metadata, cold.tags) == ({"owner": "ops"}, ("prod",))
    assert cold.valid_from == datetime(2020, 1, 1, 0, 0, 0, 123456, tzinfo=timezone.utc)
    assert cold.valid_until == datetime(2099, 1, 1, tzinfo=timezone.utc)
    message = refused(spark, "subscribe('alerts', 'hot', 'temperature > 35')")
    assert "already has a rule 'hot'; to change it, add replace => true" in message
    call(spark, "subscribe('alerts', 'hot', 'temperature > 35', metadata => '{\"a\": [1]}', replace => true)")
    hot = RuleSet.load("alerts", store).subscriptions["hot"]
    assert (hot.where, hot.priority, hot.metadata) == ("temperature > 35", 0, {"a": [1]})
    assert Store(store).versions("alerts") == [1, 2, 3]


def test_a_rejected_rule_publishes_nothing(spark: SparkSession, store: Path) -> None:
    message = refused(spark, "subscribe('alerts', 'broken', 'temperature >\\n  AND 1')")
    assert "rule 'broken'" in message
    assert "line 2, column 3" in message
    for where in ("rand() > 0.5", "1 = 1; DROP TABLE x"):
        assert "rule 'r'" in refused(spark, f"subscribe('alerts', 'r', {text(where)})"), where
    assert "metadata" in refused(spark, "subscribe('alerts', 'a', 'x > 1', metadata => 'no json')")
    assert "where is NULL" in refused(spark, "subscribe('alerts', 'a', NULL)")
    assert "id is NULL" in refused(spark, "subscribe('alerts', NULL, 'x > 1')")
    assert "rule_set is NULL" in refused(spark, "subscribe(NULL, 'a', 'x > 1')")
    assert "is not the name of a rule set" in refused(spark, "subscribe('../x', 'a', 'x > 1')")
    assert list(store.iterdir()) == []


HOSTILE = [
    "'; rm -rf / #",
    '"quoted" $(id) `id` %PATH%',
    "two\nlines\r\n\u2028",
    "nul\0byte",
    "ünïcödé 🜁",
    '{"result": []}',
    "\\",
    "--",
]


def test_hostile_texts_are_texts(spark: SparkSession, store: Path) -> None:
    id = " ".join(HOSTILE)
    escaped = "".join(f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}" for c in id)
    call(spark, f"subscribe('alerts', '{escaped}', 'x > 1', metadata => map('{escaped}', '{escaped}'))")
    (rule,) = RuleSet.load("alerts", store)
    assert (rule.id, rule.metadata) == (id, {id: id})
    rows = [(own, f"name = {text(own)}", {own: own}) for own in HOSTILE]
    spark.createDataFrame(rows, "id STRING, where STRING, metadata MAP<STRING, STRING>").createOrReplaceTempView("rows")
    call(spark, "publish('alerts', 'rows')")
    assert {(own.id, own.where, str(own.metadata)) for own in RuleSet.load("alerts", store)} == {
        (id, where, str(metadata)) for id, where, metadata in rows
    }


def test_megabytes_are_read_and_bounded(spark: SparkSession, store: Path) -> None:
    values = ", ".join(map(str, range(100_000)))
    call(spark, f"subscribe('alerts', 'many', 'x IN ({values})')")
    assert len(RuleSet.load("alerts", store).subscriptions["many"].where) > 500_000
    assert "characters" in refused(spark, f"subscribe('alerts', 'long', 'x IN ({values}, {values})')")


def test_tickets(spark: SparkSession, store: Path) -> None:
    (made,) = call(spark, "subscribe('alerts', 'mine', 'x > 1', ticket => true)")
    ticket = made["ticket"]
    assert "not the ticket" in refused(spark, "renew('alerts', 'mine', 'guessed', TIMESTAMP '2099-01-01 00:00:00Z')")
    renewed = call(spark, f"renew('alerts', 'mine', '{ticket}', until => TIMESTAMP '2099-01-01 00:00:00Z')")
    assert renewed == [{"rule_set": "alerts", "version": 2, "subscriptions": 1}]
    assert RuleSet.load("alerts", store).subscriptions["mine"].valid_until == datetime(2099, 1, 1, tzinfo=timezone.utc)
    assert "in the future" in refused(spark, f"renew('alerts', 'mine', '{ticket}', TIMESTAMP '2000-01-01 00:00:00Z')")
    assert "ticket" in refused(spark, "subscribe('alerts', 'mine', 'x > 2', replace => true)")
    call(spark, f"unsubscribe('alerts', 'mine', ticket => '{ticket}')")
    assert "no rule set 'nothing'" in refused(spark, f"renew('nothing', 'a', '{ticket}', TIMESTAMP '2099-01-01')")


def test_advertisements(spark: SparkSession, store: Path) -> None:
    call(spark, "subscribe('alerts', 'hot', 't > 30')")
    call(spark, "advertise('alerts', 'attic', 't > 15')")
    assert "rule 'cellar'" in refused(spark, "advertise('alerts', 'cellar', 't <')")
    assert [row.id for row in spark.sql("SELECT id FROM sparkrules.alerts.advertisements").collect()] == ["attic"]
    call(spark, "unadvertise('alerts', 'attic')")
    assert "has no advertisement 'attic'" in refused(spark, "unadvertise('alerts', 'attic')")


def test_patterns_as_options(spark: SparkSession, store: Path) -> None:
    call(spark, "subscribe('alerts', 'hot', 't > 30', on_change => array('sensor'))")
    call(spark, "subscribe('alerts', 'loud', 'db > 90', suppress => '10 minutes', by => array('room'))")
    assert {own.id: own.kind for own in RuleSet.load("alerts", store).patterns.values()} == {
        "hot": "change",
        "loud": "match",
    }


def test_publish_from_a_table(spark: SparkSession, store: Path) -> None:
    rows = [
        ("hot", "t > 30", 5, {"owner": "ops"}, datetime(2030, 1, 1, 0, 0, 0, 1, tzinfo=timezone.utc), True, ["a"]),
        ("cold", "t < 0", None, None, None, True, None),
        ("off", "t = 1", 1, None, None, False, None),
        ("broken", "t >", 1, None, None, True, None),
        (None, "t = 2", 1, None, None, True, None),
    ]
    columns = (
        "ID STRING, `where` STRING, priority INT, metadata MAP<STRING, STRING>, valid_until TIMESTAMP,"
        " enabled BOOLEAN, tags ARRAY<STRING>"
    )
    spark.createDataFrame(rows, columns).createOrReplaceTempView("rule_rows")
    with settings(spark, spark_sql_session_timeZone="Asia/Tokyo"):
        first = call(spark, "publish('alerts', table => 'rule_rows', where => 'enabled')")
    assert {(row["version"], row["action"], row["id"]) for row in first} == {
        (1, "added", "hot"),
        (1, "added", "cold"),
        (1, "rejected", "broken"),
        (1, "rejected", ""),
    }
    (broken,) = (row for row in first if row["id"] == "broken")
    assert (broken["reason"], broken["line"], broken["column"]) == ("expected a value", 1, 4)
    python = RuleSet.from_table(spark, "rule_rows", where="enabled")
    assert {rule.id: rule for rule in RuleSet.load("alerts", store)} == {rule.id: rule for rule in python}
    second = call(spark, "publish('alerts', 'rule_rows', 'enabled')")
    assert [row["action"] for row in second] == ["rejected", "rejected"]
    assert Store(store).versions("alerts") == [1]
    spark.createDataFrame(rows[1:3], columns).createOrReplaceTempView("rule_rows")
    third = call(spark, "publish('alerts', 'rule_rows')")
    assert {(row["version"], row["action"], row["id"]) for row in third} == {(2, "added", "off"), (2, "removed", "hot")}
    assert call(spark, "publish('alerts', 'rule_rows')") == [
        {"version": 2, "action": "none", "id": None, "reason": "nothing has changed", "line": None, "column": None}
    ]


def test_publish_loses_nothing_by_accident(spark: SparkSession, store: Path) -> None:
    rule_set("alerts", {"a": "x > 1"}, store=store).publish()
    spark.sql("SELECT 'a' AS id, 'x > 1' AS where").createOrReplaceTempView("rule_rows")
    assert "the source has no rows" in refused(spark, "publish('alerts', 'rule_rows', where => 'false')")
    assert "cannot be read" in refused(spark, "publish('alerts', 'no.such.table')")
    for where in ("1 = 1; DROP VIEW rule_rows", "nothing = 1", "id", "", "true) OR (true"):  # before Python starts
        assert "is no condition on rule_rows" in refused(spark, f"publish('alerts', 'rule_rows', {text(where)})"), where
    spark.range(1).createOrReplaceTempView("numbers")
    assert "the table numbers has no column where" in refused(spark, "publish('alerts', 'numbers')")
    spark.sql("SELECT 'a' AS id, raise_error('gone') AS where").createOrReplaceTempView("failing")
    assert "so nothing is changed" in refused(spark, "publish('alerts', 'failing', empty => true)")
    spark.sql("SELECT 'a' AS id, CAST('x' AS BINARY) AS where").createOrReplaceTempView("bytes")
    assert "is binary" in refused(spark, "publish('alerts', 'bytes')")
    spark.sql("SELECT 'b' AS id, 'x >' AS where").createOrReplaceTempView("broken")
    assert "rejected: b" in refused(spark, "publish('alerts', 'broken', strict => true, empty => true)")
    assert Store(store).versions("alerts") == [1]
    assert call(spark, "publish('alerts', 'rule_rows', 'false', empty => true)")[0]["action"] == "removed"


def test_patterns_and_many_rows_from_a_table(spark: SparkSession, store: Path) -> None:
    spark.sql("""
        SELECT concat('r', id) AS id, concat('x > ', id) AS where, NULL AS count, NULL AS within, NULL AS at_least
        FROM range(20000)
        UNION ALL SELECT 'many', NULL, 'r1', '10 minutes', 5
    """).createOrReplaceTempView("rule_rows")
    made = call(spark, "publish('alerts', 'rule_rows')")
    assert len(made) == 20_001
    assert [row["id"] for row in made if row["reason"] == "a pattern"] == ["many"]
    assert len(RuleSet.load("alerts", store)) == 20_000


def test_lint(spark: SparkSession, store: Path) -> None:
    rules = {"never": "t > 3 AND t < 1", "a": "t > 1", "b": "t > 1", "c": "h > 1"}
    rule_set("alerts", rules, store=store).publish()
    expected = {(own.severity, own.kind, own.ids) for own in RuleSet.load("alerts", store).lint()}
    assert {(row["severity"], row["kind"], tuple(row["ids"])) for row in call(spark, "lint('alerts')")} == expected
    assert expected
    spark.sql("SELECT 1 AS t").createOrReplaceTempView("readings")
    found = call(spark, "lint('alerts', table => 'readings')")
    assert ("unknown column", ["c"]) in [(row["kind"], row["ids"]) for row in found]
    assert all(row["message"] for row in found)


def test_explain(spark: SparkSession, store: Path) -> None:
    rules = {
        "hot": "t > 30 AND NOT indoors",
        "text": "upper(city) RLIKE '^RO' AND at <= TIMESTAMP '2026-01-01 00:00:00'",
        "fails": "CAST(city AS INT) > 1",
        "null": "missing IS NULL",
    }
    rule_set("alerts", rules, store=store).publish()
    row = (
        "named_struct('t', 35.5D, 'indoors', true, 'city', 'Rome', 'at', TIMESTAMP '2025-01-01 00:00:00',"
        " 'missing', CAST(NULL AS STRING))"
    )
    found = call(spark, f"explain('alerts', row => {row})")
    assert {own["id"]: own["matches"] for own in found} == {"hot": False, "text": True, "fails": False, "null": True}
    (hot,) = call(spark, f"explain('alerts', {row}, id => 'hot')")
    assert hot["explanation"].splitlines() == [
        "hot does not match",
        "  ✗ and",
        "    ✗ indoors is false",
        "    ✓ t > 30",
    ]
    assert "has no rule 'other'" in refused(spark, f"explain('alerts', {row}, 'other')")
    assert "indoors" in refused(spark, "explain('alerts', named_struct('t', 1), id => 'hot')")
    assert "named_struct" in refused(spark, "explain('alerts', 'text')")


def test_calls_at_the_same_time_all_take_effect(spark: SparkSession, store: Path) -> None:
    """Also the first ones, which all find no rule set."""
    count = 4
    start = threading.Barrier(count)

    def subscribe(number: int) -> None:
        start.wait()
        call(spark, f"subscribe('alerts', 'r{number}', 'x > {number}')")

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(subscribe, range(count)))
    assert sorted(RuleSet.load("alerts", store).subscriptions) == [f"r{number}" for number in range(count)]
    assert Store(store).versions("alerts") == list(range(1, count + 1))


def test_settings_of_a_session_choose_no_program(spark: SparkSession, store: Path, tmp_path: Path) -> None:
    program = tmp_path / "evil"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/touched\n")
    program.chmod(0o755)
    for key in ("spark.pyspark.driver.python", "spark.pyspark.python"):
        with pytest.raises(PySparkException, match="CANNOT_MODIFY_CONFIG"):
            spark.sql(f"SET {key}={program}")
    with settings(spark, **{"spark.executorEnv.PYSPARK_PYTHON": str(program), "PYSPARK_DRIVER_PYTHON": str(program)}):
        call(spark, "subscribe('alerts', 'a', 'x > 1')")
    assert not (tmp_path / "touched").exists()


@pytest.mark.parametrize("name", ["admins", "extraFunctions"])
def test_a_session_cannot_change_who_may(spark: SparkSession, store: Path, name: str) -> None:
    with settings(spark, **{f"spark_sparkrules_{name}": "somebody"}):
        message = refused(spark, "subscribe('alerts', 'a', 'x > 1')")
    assert f"spark.sparkrules.{name} cannot be changed in a session" in message


def test_explain_of_spark_calls_nothing(spark: SparkSession, store: Path) -> None:
    spark.sql("EXPLAIN CALL sparkrules.subscribe('alerts', 'a', 'x > 1')").collect()
    assert Store(store).versions("alerts") == []
