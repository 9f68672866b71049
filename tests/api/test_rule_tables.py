"""Rules that are the rows of a table: read, synced, and followed by a stream."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import sparkrules
from sparkrules import RuleSet, RuleSetError, StoreError
from tests.spark.oracle import settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = [
    ("hot", "t > 30", 5, '{"owner": "ops"}', True, "anything"),
    ("cold", "t < 0", None, None, True, None),
    ("off", "t = 1", 1, None, False, None),
]
COLUMNS = "id STRING, where STRING, priority INT, metadata STRING, enabled BOOLEAN, note STRING"


@pytest.fixture
def store(spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    with settings(spark, spark_sparkrules_store=str(tmp_path / "store")):
        yield tmp_path / "store"


@pytest.fixture
def table(spark: SparkSession) -> Iterator[str]:
    """A table of files, which has to be refreshed to see what others write."""
    spark.sql("CREATE DATABASE IF NOT EXISTS sec")
    write(spark, ROWS)
    yield "sec.rules"
    spark.sql("DROP DATABASE sec CASCADE")


def write(spark: SparkSession, rows: list[tuple[Any, ...]]) -> None:
    spark.createDataFrame(rows, COLUMNS).write.mode("overwrite").saveAsTable("sec.rules")


def test_a_rule_set_from_a_table(spark: SparkSession, store: Path, table: str) -> None:
    rules = RuleSet.from_table(spark, table, where="enabled")
    assert rules.name == "rules"
    assert {rule.id: (rule.priority, rule.metadata) for rule in rules} == {
        "hot": (5, {"owner": "ops"}),
        "cold": (0, None),
    }
    rules = RuleSet.from_table(spark, table, name="alerts")
    assert sorted(rules.subscriptions) == ["cold", "hot", "off"]
    rules.publish(spark)
    found = spark.sql("SELECT match_subscriptions('alerts', *).ids FROM VALUES (1), (40) AS v(t)").collect()
    assert [row[0] for row in found] == [["off"], ["hot"]]


def test_a_view_of_anything(spark: SparkSession, store: Path) -> None:
    spark.createDataFrame(
        [(1, "x > 1", [("owner", "ops")], datetime(2030, 1, 1, tzinfo=timezone.utc), ["host"])],
        "Id BIGINT, Where STRING, metadata ARRAY<STRUCT<k: STRING, v: STRING>>, valid_until TIMESTAMP, "
        "on_change ARRAY<STRING>",
    ).selectExpr(
        "Id", "Where", "map_from_entries(metadata) AS metadata", "valid_until", "on_change"
    ).createOrReplaceTempView("v")
    rules = RuleSet.from_table(spark, "v")
    (rule,) = rules
    assert (rule.id, rule.metadata, rule.valid_until) == (
        "1",
        {"owner": "ops"},
        datetime(2030, 1, 1, tzinfo=timezone.utc),
    )
    assert rules.patterns["1"].kind == "change"
    done = RuleSet("v").sync("v", spark)
    assert (done.changes.added, done.changes.patterns_added) == (("1",), ("1",))
    assert not RuleSet("v").sync("v", spark).published


def test_decimal_ids_as_databases_have_them(spark: SparkSession, store: Path) -> None:
    spark.sql("SELECT 17BD AS id, 'x > 1' AS where, CAST(3 AS DECIMAL(10, 2)) AS priority").createOrReplaceTempView("v")
    (rule,) = RuleSet.from_table(spark, "v")
    assert (rule.id, rule.priority) == ("17", 3)


def test_rows_with_the_same_id_are_all_rejected(spark: SparkSession, store: Path) -> None:
    values = "('a', 'x > 1'), ('a', 'x > 2'), ('b', 'x >'), ('b', 'x > 2'), (NULL, 'x > 3'), ('c', 'x > 4')"
    spark.sql(f"SELECT * FROM VALUES {values} AS v(id, where)").createOrReplaceTempView("v")
    rules = RuleSet.from_table(spark, "v")
    assert list(rules.subscriptions) == ["c"]
    assert sorted(own.id for own in rules.rejected) == ["", "a", "a", "b", "b"]


@pytest.mark.parametrize(
    "where",
    [
        "1 = 1; DROP TABLE sec.rules",
        "enabled) OR (true",
        "nothing > 1",
        "",
        "id",
        "count(*) > 1",
        "-- x",
        "enabled UNION SELECT 1",
    ],
)
def test_a_condition_is_an_expression(spark: SparkSession, store: Path, table: str, where: str) -> None:
    with pytest.raises(RuleSetError, match=r"is no condition on sec\.rules"):
        RuleSet.from_table(spark, table, where=where)
    with pytest.raises(RuleSetError, match=r"is no condition on sec\.rules"):
        RuleSet("alerts").sync(table, spark, where)
    assert spark.table(table).count() == 3


def test_what_is_no_table_of_rules(spark: SparkSession, store: Path, table: str) -> None:
    for name in ("sec.nothing", "a b", "sec.rules; DROP TABLE sec.rules", "(SELECT 1)"):
        with pytest.raises(RuleSetError, match="cannot be read"):
            RuleSet.from_table(spark, name)
    spark.range(1).createOrReplaceTempView("numbers")
    with pytest.raises(RuleSetError, match="the table numbers has no column where; it has: id"):
        RuleSet.from_table(spark, "numbers")
    with pytest.raises(RuleSetError, match="table must be a non-empty string"):
        RuleSet.from_table(spark, spark.range(1))  # type: ignore[arg-type]
    with pytest.raises(RuleSetError, match="where is a condition"):
        RuleSet.from_table(spark, table, where=True)  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="is not a name"):
        RuleSet.from_table(spark, table, name="../x")


def test_sync_follows_the_table(spark: SparkSession, store: Path, table: str) -> None:
    rules = RuleSet("alerts")
    first = rules.sync(table, spark, "enabled")
    assert (first.version, first.changes.added) == (1, ("cold", "hot"))
    assert not rules.sync(table, spark, where="enabled").published
    write(spark, [("hot", "t > 35", 5, '{"owner": "ops"}', True, None), ("off", "t = 1", 1, None, True, None)])
    second = rules.sync(table, spark, "enabled")
    assert (second.changes.added, second.changes.removed, second.changes.changed) == (("off",), ("cold",), ("hot",))
    assert sorted(RuleSet.load("alerts", store).subscriptions) == ["hot", "off"]
    with pytest.raises(RuleSetError, match="no rows"):
        rules.sync(table, spark, "false")
    with pytest.raises(RuleSetError, match="cannot be read"):
        rules.sync(spark.sql("SELECT id, raise_error('gone') AS where FROM sec.rules"))
    with pytest.raises(RuleSetError, match="where is for a table"):
        rules.sync(spark.table(table), where="enabled")
    assert rules.version == 2


def test_files_that_others_have_written_are_seen(spark: SparkSession, store: Path, table: str) -> None:
    rules = RuleSet("alerts")
    rules.sync(table, spark)
    (place,) = {
        Path(row[0].removeprefix("file:")).parent
        for row in spark.sql("SELECT _metadata.file_path FROM sec.rules").collect()
    }
    spark.createDataFrame([("new", "t = 9", 0, None, True, None)], COLUMNS).write.mode("append").parquet(str(place))
    assert rules.sync(table, spark).changes.added == ("new",)


def test_a_query_takes_what_the_table_has(spark: SparkSession, store: Path, table: str) -> None:
    readings = spark.createDataFrame([(40,), (-1,)], "t INT")
    query = {"rules_from": table}
    for engine in ("plugin", "python"):
        found = sparkrules.matches(readings, "alerts", engine=engine, **query)  # type: ignore[arg-type]
        assert sorted(row.subscription_id for row in found.collect()) == ["cold", "hot"]
    write(spark, [("cold", "t < 0", 0, None, True, None)])
    found = sparkrules.match(readings, RuleSet("alerts"), rules_from=spark.table(table).where("enabled"))
    assert [row.matches.ids for row in found.collect()] == [[], ["cold"]]
    with pytest.raises(RuleSetError, match="without one, 'alerts'"):
        sparkrules.match(readings, "alerts@1", rules_from=table)
    with pytest.raises(RuleSetError, match="rules_from is the name of a table"):
        sparkrules.match(readings, "alerts", rules_from=[("a", "b")])  # type: ignore[arg-type]
    changed = RuleSet("alerts")
    changed.subscribe("more", "t = 2")
    with pytest.raises(RuleSetError, match="unpublished changes"):
        sparkrules.match(readings, changed, rules_from=table)


def test_a_stream_follows_a_table(spark: SparkSession, store: Path, table: str, tmp_path: Path) -> None:
    incoming = tmp_path / "incoming"
    incoming.mkdir()
    following = sparkrules.follow(spark, "alerts", table, every=timedelta(milliseconds=100))
    readings = spark.readStream.schema("t INT").json(str(incoming))
    matched = sparkrules.matches(readings, "alerts", rules_from=table)  # follows it already
    query = matched.writeStream.format("memory").queryName("followed").start()
    try:
        (incoming / "1.json").write_text('{"t": 40}\n')
        query.processAllAvailable()
        write(spark, [("warm", "t > 20", 0, None, True, None)])
        until(lambda: following.last.version == 2)
        (incoming / "2.json").write_text('{"t": 41}\n')
        query.processAllAvailable()
        found = [(row.t, row.subscription_id) for row in spark.table("followed").orderBy("t").collect()]
        assert found == [(40, "hot"), (41, "warm")]
        # A table that cannot be read, or is empty, leaves the rules as they are.
        spark.sql("DROP TABLE sec.rules")
        until(lambda: following.error is not None)
        assert "cannot be read" in str(following.error)
        write(spark, [])
        until(lambda: "no rows" in str(following.error))
        write(spark, ROWS)
        until(lambda: following.last.version == 3 and following.error is None)
        with pytest.raises(RuleSetError, match=r"already follows sec\.rules"):
            sparkrules.follow(spark, "alerts", spark.table(table))
    finally:
        query.stop()
    until(lambda: not following.is_running)
    with pytest.raises(RuleSetError, match="foreachBatch"):
        sparkrules.match(readings, "alerts", rules_from=table, engine="python")


def until(condition: Any) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
