"""The catalog `sparkrules` shows in SQL exactly what is in the files of the store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException

import sparkrules
from sparkrules.store import Store
from tests.spark.oracle import rule_set, settings
from tests.spark.stored_versions import (
    REJECTED,
    change_subscriptions,
    read_arrow,
    write_arrow,
    write_manifest,
    write_removed,
    write_segment,
)
from tests.store.resealed import reseal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SUBSCRIPTIONS = [
    *("id", "where", "sql", "priority", "metadata", "valid_from", "valid_until", "has_ticket"),
    *("status", "tags", "exemptions", "segment"),
]
PREDICATES = {
    "number": "price < 5",
    "negative": "price > -1.50",
    "double": "price = 1e3",
    "other double": "price <> 2.5D",
    "list": "state IN ('new', 'it''s', NULL)",
    "not in list": "id NOT IN (1, 2)",
    "text": r"state LIKE '50\\%_' OR state ILIKE 'A%' OR state RLIKE '^a\\d+$'",
    "no text": r"state NOT LIKE 'x%' AND NOT contains(state, 'é\\')",
    "ends": "startswith(state, 'a') AND NOT endswith(lower(state), 'b')",
    "null": "state IS NULL OR price IS NOT NULL",
    "safe": "state <=> NULL OR NOT (price <=> 3)",
    "boolean": "sold OR NOT sold",
    "opaque": "price + id > length(state)",
    "date": "day >= DATE '2020-01-01'",
    "not true": "(sold AND price > 1) IS NOT TRUE",
    "compared": "sold = true",
}


@pytest.fixture
def store(spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    with settings(spark, spark_sparkrules_store=str(tmp_path)):
        yield tmp_path


def rows(spark: SparkSession, query: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in spark.sql(query).collect()]


def error(spark: SparkSession, query: str) -> str:
    with pytest.raises(PySparkException) as caught:
        spark.sql(query).collect()
    return str(caught.value)


def test_the_catalog_is_there_in_every_session(spark: SparkSession, store: Path) -> None:
    rule_set("alerts", {"a": "x > 1"}, store=store).publish()
    for session in (spark, spark.newSession()):
        assert ("sparkrules",) in rows(session, "SHOW CATALOGS")
        session.conf.set("spark.sparkrules.store", str(store))
        assert rows(session, "SHOW NAMESPACES IN sparkrules") == [("alerts",)]


def test_a_cloned_session_has_the_catalog_and_the_store(spark: SparkSession, store: Path) -> None:
    rule_set("alerts", {"a": "x > 1"}, store=store).publish()
    clone = spark._jsparkSession.cloneSession()
    assert clone.sql("SELECT id FROM sparkrules.alerts.subscriptions").head().getString(0) == "a"


def test_a_catalog_that_the_user_has_set_stays(spark: SparkSession) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.catalog.sparkrules", "no.such.Catalog")
    assert rows(session, "SELECT 1") == [(1,)]
    assert session.conf.get("spark.sql.catalog.sparkrules") == "no.such.Catalog"
    with pytest.raises(Py4JJavaError, match=r"no\.such\.Catalog"):
        session.sql("SHOW NAMESPACES IN sparkrules")


def test_reset_does_not_take_the_catalog_away(spark: SparkSession, store: Path) -> None:
    session = spark.newSession()
    session.sql("RESET")
    session.conf.set("spark.sparkrules.store", str(store))
    rule_set("alerts", {"a": "x > 1"}, store=store).publish()
    assert rows(session, "SHOW NAMESPACES IN sparkrules") == [("alerts",)]


def test_rule_sets_are_namespaces_and_their_parts_are_tables(spark: SparkSession, store: Path) -> None:
    assert rows(spark, "SHOW NAMESPACES IN sparkrules") == []
    for name in ("alerts", "eu-1.b"):
        rule_set(name, {"a": "x > 1"}, store=store).publish()
    (store / "not a name").mkdir()
    (store / "unpublished").mkdir()
    assert rows(spark, "SHOW NAMESPACES IN sparkrules") == [("alerts",), ("`eu-1.b`",)]
    tables = [
        "advertisements",
        "lists",
        "overlaps",
        "patterns",
        "predicates",
        "rejected",
        "selectivity",
        "statistics",
        "subscriptions",
        "versions",
    ]
    assert [row[1] for row in rows(spark, "SHOW TABLES IN sparkrules.alerts")] == tables
    assert [row[1] for row in rows(spark, "SHOW TABLES IN sparkrules.`eu-1.b`")] == tables
    assert rows(spark, "SELECT id FROM sparkrules.`eu-1.b`.subscriptions") == [("a",)]
    described = rows(spark, "DESCRIBE TABLE sparkrules.alerts.subscriptions")
    assert [row[0] for row in described] == SUBSCRIPTIONS
    assert all(comment for _, _, comment in described)
    assert spark.catalog.tableExists("sparkrules.alerts.versions")
    assert not spark.catalog.tableExists("sparkrules.nothing.versions")


def test_the_catalog_can_be_the_current_one(spark: SparkSession, store: Path) -> None:
    session = spark.newSession()
    session.conf.set("spark.sparkrules.store", str(store))
    rule_set("alerts", {"a": "x > 1"}, store=store).publish()
    session.sql("USE sparkrules.alerts")
    assert rows(session, "SELECT id FROM subscriptions") == [("a",)]
    assert rows(session, "SELECT match_subscriptions('alerts', *).ids FROM VALUES (2) AS t(x)") == [(["a"],)]


def test_subscriptions_are_what_was_published(spark: SparkSession, store: Path) -> None:
    rules = sparkrules.RuleSet("alerts")
    rules.subscribe("ünïcode 💡", "name = 'Ω''s \\\\ 💡'", priority=-3, metadata={"owner": "Ann", "täg": [1, None]})
    rules.subscribe("plain", "x > 1")
    rules.store = store
    rules.publish()
    other = sparkrules.RuleSet("other", dialect="mysql")
    other.subscribe("quoted", 'name = "x"', priority=7)
    other.store = store
    other.publish()
    (segment,) = (file.name for file in (store / "alerts" / "segments").iterdir())
    metadata = json.dumps({"owner": "Ann", "täg": [1, None]})
    found = {row[0]: row for row in rows(spark, "SELECT * FROM sparkrules.alerts.subscriptions")}
    assert found.keys() == {"plain", "ünïcode 💡"}
    assert found["plain"] == ("plain", "x > 1", None, 0, None, None, None, False, "live", [], None, segment)
    unicode = found["ünïcode 💡"]
    assert unicode[1:4] == ("name = 'Ω''s \\\\ 💡'", None, -3)
    assert json.loads(unicode[4]) == json.loads(metadata)
    ((id, where, sql, priority),) = rows(spark, "SELECT id, where, sql, priority FROM sparkrules.other.subscriptions")
    assert (id, where, priority) == ("quoted", 'name = "x"', 7)
    assert sql == other.subscriptions["quoted"].sql == "name = 'x'"


def test_status_and_tags_of_any_segment(spark: SparkSession, store: Path) -> None:
    rules = sparkrules.RuleSet("alerts")
    rules.store = store
    rules.subscribe("old", "x > 1")
    rules.publish()
    rules.subscribe_all(
        [{"id": f"r{i}", "where": f"x > {i}", "tags": [f"t{i}", "é", "long" * i][: i % 4]} for i in range(9)]
    )
    rules.publish(merge="none")
    rules.subscribe("draft", "x > 2", status="draft")
    rules.publish(merge="none")
    table = "sparkrules.alerts.subscriptions"
    expected = {(id, rule.status, rule.tags) for id, rule in rules.subscriptions.items()}
    found = rows(spark, f"SELECT id, status, tags FROM {table}")
    assert {(id, status, tuple(tags)) for id, status, tags in found} == expected
    assert rows(spark, f"SELECT id FROM {table} WHERE array_contains(tags, 't5')") == [("r5",)]
    spark.sql("CALL sparkrules.unsubscribe('alerts', 'r5')").collect()
    assert Store(store).manifest("alerts").format == 5
    spark.sql("CALL sparkrules.rollback('alerts', 1)").collect()
    assert Store(store).manifest("alerts").format == 3
    spark.sql("CALL sparkrules.rollback('alerts', 3)").collect()
    assert Store(store).manifest("alerts").format == 5
    loaded = sparkrules.RuleSet.load("alerts", store).subscriptions
    assert {(id, rule.status, rule.tags) for id, rule in loaded.items()} == expected


def test_a_rule_is_removed_with_the_pattern_that_it_has_as_an_option(spark: SparkSession, store: Path) -> None:
    """`CALL sparkrules.unsubscribe` and `RuleSet.unsubscribe` leave the same behind."""

    def defined() -> sparkrules.RuleSet:
        rules = sparkrules.RuleSet("alerts")
        rules.store = store
        rules.subscribe("hot", "t > 30", on_change=["room"])
        rules.subscribe("noisy", "t < 0", suppress="1 hour", by="room")
        rules.subscribe("plain", "t = 7")
        # The ids of patterns and rules are apart: a sequence stays when the rule with its id goes.
        rules.sequence("plain", ["hot", {"where": "t < 10"}], by=["room"], within="1 hour")
        rules.publish()
        return rules

    for ids in (["hot"], ["hot", "noisy"], ["plain"], ["hot", "noisy", "plain"]):
        by_python = defined()
        by_python.unsubscribe_all(ids)
        expected = by_python.subscriptions.keys(), {id: str(own) for id, own in by_python.patterns.items()}
        findings = [str(finding) for finding in by_python.lint()]
        texts = ", ".join(f"'{id}'" for id in ids)
        spark.sql(f"CALL sparkrules.unsubscribe('alerts', array({texts}))").collect()
        loaded = sparkrules.RuleSet.load("alerts", store)
        assert (loaded.subscriptions.keys(), {id: str(own) for id, own in loaded.patterns.items()}) == expected
        assert [str(finding) for finding in loaded.lint()] == findings
        shown = rows(spark, "SELECT id FROM sparkrules.alerts.patterns")
        assert sorted(id for (id,) in shown) == sorted(expected[1])
        # What is left can be changed and published again.
        loaded.subscribe("new", "t = 8", on_change=["room"])
        loaded.publish()
        assert set(sparkrules.RuleSet.load("alerts", store).patterns) == {*expected[1], "new"}
    only = sparkrules.RuleSet("only")
    only.store = store
    only.subscribe("hot", "t > 30", on_change=["room"])
    only.publish()
    spark.sql("CALL sparkrules.unsubscribe('only', 'hot')").collect()
    manifest = Store(store).manifest("only")
    assert (manifest.patterns, manifest.conditions) == (None, None)


def test_lists_are_those_of_now(spark: SparkSession, store: Path) -> None:
    rules = rule_set("alerts", {"a": "x > 1"}, store=store)
    rules.publish()
    assert rows(spark, "SELECT * FROM sparkrules.alerts.lists") == []
    rules.put_list("bad", ["a", "b"])
    rules.put_list("gone", ["a"])
    rules.put_list("nets", ["10.0.0.0/8"], "cidr")
    put = rules.put_list("bad", ["a", "b", "c", None])
    rules.drop_list("gone")
    found = rows(spark, "SELECT * FROM sparkrules.alerts.lists")
    assert [row[:4] for row in found] == [("bad", "values", 2, 3), ("nets", "cidr", 1, 1)]
    assert as_utc(found[0])[4:] == (datetime.fromisoformat(put.created), put.publisher)
    assert rows(spark, "SELECT sum(`values`) FROM sparkrules.alerts.lists WHERE kind = 'cidr'") == [(1,)]
    with pytest.raises(PySparkException, match="lists of rule set 'alerts' is not of one version"):
        rows(spark, "SELECT * FROM sparkrules.alerts.lists VERSION AS OF 1")


def several_segments(store: Path) -> list[tuple[Any, ...]]:
    """A version of three segments, and the subscriptions that it has."""
    start = datetime(2026, 1, 1, tzinfo=timezone.utc)
    first = write_segment(store, "alerts", "first", {f"f{i}": f"x > {i}" for i in range(10)})
    until = [None if i % 3 else start + timedelta(days=i, microseconds=i) for i in range(10)]
    change_subscriptions(
        first, 4, valid_from=[start] + [None] * 9, valid_until=until, ticket=[None if i % 2 else "h" for i in range(10)]
    )
    write_segment(store, "alerts", "second", {"s0": "x IS NULL", "s1": "y = 1"})
    write_segment(store, "alerts", "third", {"t": "y = 2"})
    write_segment(store, "alerts", "empty", {})
    write_removed(store, "alerts", "gone", [0, 3, 4, 9])
    write_removed(store, "alerts", "all", [0])
    segments = {"first": "gone", "second": None, "third": "all", "empty": None}
    write_manifest(store, "alerts", 1, segments, default_validity=3600)
    kept = [
        (f"f{i}", f"x > {i}", None, 0, None, None, until[i], i % 2 == 0, "live", [], None, "first")
        for i in range(10)
        if i not in (0, 3, 4, 9)
    ]
    return [
        *kept,
        ("s0", "x IS NULL", None, 0, None, None, None, False, "live", [], None, "second"),
        ("s1", "y = 1", None, 0, None, None, None, False, "live", [], None, "second"),
    ]


def as_utc(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Timestamps come as local ones without a zone."""
    return tuple(v.astimezone(timezone.utc) if isinstance(v, datetime) else v for v in row)


def test_removed_subscriptions_are_left_out(spark: SparkSession, store: Path) -> None:
    expected = several_segments(store)
    assert [as_utc(row) for row in rows(spark, "SELECT * FROM sparkrules.alerts.subscriptions")] == expected
    table = "sparkrules.alerts.subscriptions"
    assert rows(spark, f"SELECT count(*) FROM {table}") == [(8,)]
    assert rows(spark, f"SELECT segment, count(*) FROM {table} GROUP BY 1 ORDER BY 1") == [("first", 6), ("second", 2)]
    assert rows(spark, f"SELECT count_if(has_ticket) FROM {table}") == [(3,)]
    assert rows(spark, f"SELECT has_ticket, segment, id FROM {table} WHERE id IN ('f2', 's1')") == [
        (True, "first", "f2"),
        (False, "second", "s1"),
    ]
    assert len(rows(spark, f"SELECT id FROM {table} LIMIT 3")) == 3
    (entry,) = rows(spark, "SELECT subscriptions, segments, default_validity FROM sparkrules.alerts.versions")
    assert entry == (8, 4, 3600)


@pytest.mark.parametrize("batch", [None, 5000, 1000])
def test_a_large_segment_is_read_in_parts_by_several_tasks(spark: SparkSession, store: Path, batch: int | None) -> None:
    count = 210_001
    segment = write_segment(store, "alerts", "large", {"one": "x > 1"})
    one = read_arrow(segment / "subscriptions.arrow")
    ids = pa.array([f"id {i} {'é' * (i % 7)}" for i in range(count)])
    where = pa.array([None if i % 11 == 0 else f"x > {i}" for i in range(count)])
    columns = {name: pa.repeat(one.column(name)[0], count) for name in one.schema.names}
    columns |= {"id": ids, "metadata": where}
    write_arrow(segment / "subscriptions.arrow", pa.table(columns, schema=one.schema), batch)
    removed = set(range(4090, 4100)) | {0, count - 1} | set(range(99_999, 100_002))
    write_removed(store, "alerts", "gone", sorted(removed))
    write_manifest(store, "alerts", 1, {"large": "gone"})
    df = spark.sql("SELECT id, metadata FROM sparkrules.alerts.subscriptions")
    assert df.rdd.getNumPartitions() == 3
    kept = [i for i in range(count) if i not in removed]
    assert df.toArrow().column("id").to_pylist() == [ids[i].as_py() for i in kept]
    assert df.select("metadata").toArrow().column(0).to_pylist() == [where[i].as_py() for i in kept]
    assert spark.table("sparkrules.alerts.subscriptions").count() == len(kept)


def test_predicates_are_tests_that_spark_understands(spark: SparkSession, store: Path) -> None:
    rules = rule_set("alerts", PREDICATES)
    rules.store = store
    rules.publish()
    books = spark.sql(
        "SELECT * FROM VALUES (1, 4.0D, 'new', true, DATE '2020-01-01'), (2, 1000.0D, 'it''s', false, NULL), "
        "(3, NULL, NULL, NULL, DATE '1999-01-01'), (4, 2.5D, 'a1', true, NULL), (5, 0.0D, 'é\\\\', false, NULL)"
        " AS t(id, price, state, sold, day)"
    )
    found = spark.sql("SELECT * FROM sparkrules.alerts.predicates").collect()
    segment = rules._segment
    assert [row.attribute for row in found] == segment.forest.attributes[segment.forest.predicates.attribute].tolist()
    tables = store / "alerts" / "segments" / found[0].segment
    assert [row.operator for row in found] == read_arrow(tables / "predicates.arrow").column("operator").to_pylist()
    nodes = read_arrow(tables / "nodes.arrow").to_pylist()
    uses = {node["predicate"]: node["use_count"] for node in nodes if node["operator"] == "predicate"}
    assert {i: row.uses for i, row in enumerate(found)} == uses
    # A rule that is a single predicate is that predicate.
    for text in ("price < 5", "price = 1e3", "id NOT IN (1, 2)", "day >= DATE '2020-01-01'", "price > -1.50"):
        same = [row.predicate for row in found if _ids(books, row.predicate) == _ids(books, text)]
        assert same, text
    assert all(isinstance(_ids(books, row.predicate), list) for row in found)
    texts = {row.predicate for row in found}
    assert {"price < 5", "state IN ('new', 'it\\'s', NULL)", "state IS NULL", "NOT contains(state, 'é\\\\')"} <= texts
    constants = {row.predicate: row.constants for row in found}
    assert constants["state IN ('new', 'it\\'s', NULL)"] == ["new", "it's", None]
    assert constants["state IS NULL"] == []


def _ids(books: Any, where: str) -> list[int]:
    return [row.id for row in books.where(where).collect()]


def test_predicates_of_all_segments_are_there(spark: SparkSession, store: Path) -> None:
    several_segments(store)
    found = rows(spark, "SELECT segment, count(*), sum(uses) FROM sparkrules.alerts.predicates GROUP BY 1 ORDER BY 1")
    assert found == [("first", 10, 10), ("second", 2, 2), ("third", 1, 1)]
    assert rows(spark, "SELECT count(*) FROM sparkrules.alerts.predicates") == [(13,)]


def test_versions_tell_their_history(spark: SparkSession, store: Path) -> None:
    rules = rule_set("alerts", {"a": "x > 1", "b": "x > 1 AND y = 2"})
    rules.store = store
    rules.publish()
    rules.unsubscribe("a")
    rules.publish()
    found = spark.sql("SELECT * FROM sparkrules.alerts.versions ORDER BY version").collect()
    python = Store(store)
    for row, version in zip(found, [1, 2], strict=True):
        manifest = python.manifest("alerts", version)
        assert row.created.astimezone(timezone.utc) == datetime.fromisoformat(manifest.created)
        names = ["version", "publisher", "action", "parent", "subscriptions", "predicates", "nodes", "default_validity"]
        assert [row[name] for name in names] == [getattr(manifest, name) for name in names]
        assert row.segments == len(manifest.segments)
        assert row.is_newest == (version == 2)
    assert rows(spark, "SELECT version FROM sparkrules.alerts.versions WHERE is_newest") == [(2,)]


def test_statistics_are_those_of_the_last_analysis(spark: SparkSession, store: Path) -> None:
    rules = rule_set("alerts", {"a": "x > 1", "b": "s = 'é'", "c": "levenshtein(s, 'x') = 0"})
    rules.store = store
    rules.publish()
    assert rows(spark, "SELECT * FROM sparkrules.alerts.statistics") == []
    assert rows(spark, "SELECT count(*) FROM sparkrules.alerts.statistics") == [(0,)]
    rules.analyze(spark.sql("SELECT * FROM VALUES (1, 'é'), (NULL, 'x') AS t(x, s)"))
    rules.analyze(spark.sql("SELECT * FROM VALUES (1, 'é'), (2, 'x'), (NULL, NULL) AS t(x, s)"))
    stored = Store(store).statistics("alerts")
    assert stored is not None
    found = rows(spark, "SELECT * FROM sparkrules.alerts.statistics")
    expected = [row | {"nanoseconds": row["nanoseconds"] or None} for row in stored.to_pylist()]
    assert found == [(2, *row.values()) for row in expected]
    query = "SELECT DISTINCT attribute FROM sparkrules.alerts.statistics WHERE nanoseconds {} ORDER BY 1"
    assert rows(spark, query.format("> 0")) == [("levenshtein(s, 'x')",)]
    assert rows(spark, query.format("IS NULL")) == [("s",), ("x",)]
    assert rows(spark, "SELECT count(*), max(number) FROM sparkrules.alerts.statistics") == [(len(found), 2)]


def test_rejected_rules_of_a_version(spark: SparkSession, store: Path) -> None:
    write_segment(store, "alerts", "only", {"a": "x > 1"})
    write_manifest(store, "alerts", 1, {"only": None})
    refused = [("bad", "x >", "expected an expression", 1, 4), ("ö", "x > rand()", "not deterministic", None, None)]
    columns = {name: [row[i] for row in refused] for i, name in enumerate(REJECTED.names)}
    write_arrow(store / "alerts" / "rejected" / "r.arrow", pa.table(columns, schema=REJECTED))
    write_manifest(store, "alerts", 2, {"only": None}, rejected="r")
    assert rows(spark, "SELECT * FROM sparkrules.alerts.rejected") == refused
    assert rows(spark, "SELECT column, id FROM sparkrules.alerts.rejected WHERE line = 1") == [(4, "bad")]
    assert rows(spark, "SELECT * FROM sparkrules.alerts.rejected VERSION AS OF 1") == []


def test_a_version_can_be_named(spark: SparkSession, store: Path) -> None:
    rules = rule_set("alerts", {"a": "x > 1", "b": "y = 2"})
    rules.store = store
    rules.publish()
    rules.unsubscribe("a")
    rules.publish()
    assert rows(spark, "SELECT id FROM sparkrules.alerts.subscriptions") == [("b",)]
    old = "sparkrules.alerts.subscriptions VERSION AS OF 1"
    assert rows(spark, f"SELECT id FROM {old} ORDER BY id") == [("a",), ("b",)]
    assert rows(spark, f"SELECT id FROM {old} MINUS SELECT id FROM sparkrules.alerts.subscriptions") == [("a",)]
    assert rows(spark, "SELECT count(*) FROM sparkrules.alerts.predicates VERSION AS OF 1") == [(2,)]
    for wrong in ("3", "'x'", "'1; DROP'", "'../1'"):
        message = error(spark, f"SELECT * FROM sparkrules.alerts.subscriptions VERSION AS OF {wrong}")
        assert "There is no version 3" in message or "is not a version of a rule set" in message
    assert "leave out AS OF" in error(spark, "SELECT * FROM sparkrules.alerts.versions VERSION AS OF 1")


def test_the_version_of_a_time(spark: SparkSession, store: Path) -> None:
    write_segment(store, "alerts", "one", {"a": "x > 1"})
    write_segment(store, "alerts", "two", {"b": "x > 1"})
    write_manifest(store, "alerts", 1, {"one": None}, created="2026-01-01T00:00:00+00:00")
    write_manifest(store, "alerts", 2, {"two": None}, created="2026-02-01T01:00:00+01:00")
    query = "SELECT id FROM sparkrules.alerts.subscriptions TIMESTAMP AS OF"
    with settings(spark, spark_sql_session_timeZone="UTC"):
        assert rows(spark, f"{query} '2026-01-31 23:59:59'") == [("a",)]
        assert rows(spark, f"{query} '2026-02-01'") == [("b",)]
        assert "no version" in error(spark, f"{query} '2025-12-31'")


def test_queries_and_views_follow_the_newest_version(spark: SparkSession, store: Path) -> None:
    rules = rule_set("alerts", {"a": "x > 1"})
    rules.store = store
    rules.publish()
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW ids AS SELECT id FROM sparkrules.alerts.subscriptions")
    spark.sql("CREATE OR REPLACE VIEW stored_ids AS SELECT id FROM sparkrules.alerts.subscriptions")
    spark.sql("SELECT id FROM sparkrules.alerts.subscriptions").cache().count()
    try:
        views = ("ids", "stored_ids", "sparkrules.alerts.subscriptions")
        assert [rows(spark, f"SELECT id FROM {view}") for view in views] == [[("a",)]] * 3
        rules.subscribe("b", "x > 2")
        rules.publish()
        assert [rows(spark, f"SELECT id FROM {view}") for view in views] == [[("a",), ("b",)]] * 3
        fresh = spark.newSession()
        fresh.conf.set("spark.sparkrules.store", str(store))
        assert rows(fresh, "SELECT id FROM stored_ids") == [("a",), ("b",)]
    finally:
        spark.catalog.clearCache()
        spark.sql("DROP VIEW stored_ids")
        spark.catalog.dropTempView("ids")


def test_a_cached_table_follows_when_it_is_refreshed(spark: SparkSession, store: Path) -> None:
    rules = rule_set("alerts", {"a": "x > 1"})
    rules.store = store
    rules.publish()
    spark.sql("CACHE TABLE sparkrules.alerts.subscriptions")
    try:
        rules.subscribe("b", "x > 2")
        rules.publish()
        spark.sql("REFRESH TABLE sparkrules.alerts.subscriptions")
        assert rows(spark, "SELECT id FROM sparkrules.alerts.subscriptions") == [("a",), ("b",)]
    finally:
        spark.catalog.clearCache()


def test_the_store_is_that_of_the_session_when_it_asks(spark: SparkSession, store: Path) -> None:
    for name in ("one", "two"):
        rule_set(name, {name: "x > 1"}, store=store / name).publish()
    for name in ("one", "two"):
        spark.conf.set("spark.sparkrules.store", (store / name).as_uri())
        assert rows(spark, "SHOW NAMESPACES IN sparkrules") == [(name,)]


def test_only_the_columns_that_are_asked_for_are_read(spark: SparkSession, store: Path) -> None:
    rule_set("alerts", {"a": "x > 1"}, store=store).publish()
    query = "SELECT id FROM sparkrules.alerts.subscriptions"
    assert "sparkrules.alerts.subscriptions [id]" in rows(spark, f"EXPLAIN {query}")[0][0]
    # Without a single text in it, the file still has ids.
    (segment,) = (store / "alerts" / "segments").iterdir()
    file = segment / "subscriptions.arrow"
    write_arrow(file, read_arrow(file).drop_columns(["where", "metadata"]))
    reseal(store / "alerts")
    assert rows(spark, query) == [("a",)]
    assert "it has no column 'where'" in error(spark, "SELECT * FROM sparkrules.alerts.subscriptions")


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE sparkrules.alerts.versions",
        "DROP NAMESPACE sparkrules.alerts CASCADE",
        "CREATE NAMESPACE sparkrules.other",
        "CREATE TABLE sparkrules.alerts.other (i INT)",
        "CREATE TABLE sparkrules.alerts.other AS SELECT 1",
        "ALTER TABLE sparkrules.alerts.versions ADD COLUMN i INT",
        "ALTER TABLE sparkrules.alerts.versions RENAME TO alerts.other",
        "INSERT INTO sparkrules.alerts.rejected VALUES ('a', 'b', 'c', 1, 1)",
        "DELETE FROM sparkrules.alerts.subscriptions",
        "TRUNCATE TABLE sparkrules.alerts.subscriptions",
    ],
)
def test_tables_cannot_be_changed(spark: SparkSession, store: Path, statement: str) -> None:
    rule_set("alerts", {"a": "x > 1"}, store=store).publish()
    before = sorted(file.relative_to(store) for file in store.rglob("*"))
    with pytest.raises(AnalysisException, match=r"cannot be changed|support"):
        spark.sql(statement)
    assert sorted(file.relative_to(store) for file in store.rglob("*")) == before


@pytest.mark.parametrize("name", ["../alerts", "a/b", "", ".hidden", "alerts@1", "nothing", "a\\b"])
def test_there_are_no_tables_outside_the_store(spark: SparkSession, store: Path, name: str) -> None:
    inner = store / "inner"
    rule_set("alerts", {"a": "x > 1"}, store=store).publish()
    rule_set("b", {"a": "x > 1"}, store=inner).publish()
    spark.conf.set("spark.sparkrules.store", str(inner))
    with pytest.raises(AnalysisException):
        spark.sql(f"SELECT * FROM sparkrules.`{name}`.versions")
    assert not spark.catalog.tableExists(f"sparkrules.`{name or 'x'}`.versions")


def test_a_damaged_store_names_the_file(spark: SparkSession, store: Path) -> None:
    rule_set("alerts", {"a": "x > 1"}, store=store).publish()
    (segment,) = (store / "alerts" / "segments").iterdir()
    file, manifest = segment / "subscriptions.arrow", store / "alerts" / "versions" / "1.json"
    whole, text = file.read_bytes(), manifest.read_text(encoding="utf-8")
    half, long_footer = whole[: len(whole) // 2], whole[:-10] + b"\xff\xff\xff\x7f" + whole[-6:]
    for damage in (b"", whole[:-20], half, b"x" * 100, long_footer):
        file.write_bytes(damage)
        message = error(spark, "SELECT * FROM sparkrules.alerts.subscriptions")
        assert f"{file} is damaged" in message, damage
    file.unlink()
    assert f"{file} is missing" in error(spark, "SELECT * FROM sparkrules.alerts.subscriptions")
    file.write_bytes(whole)
    wrong = read_arrow(file)
    write_arrow(file, wrong.set_column(0, "id", pa.array([1], pa.int32())))
    assert f"{file} is damaged" in error(spark, "SELECT id FROM sparkrules.alerts.subscriptions")
    reseal(store / "alerts")
    assert "the column 'id' has the type" in error(spark, "SELECT id FROM sparkrules.alerts.subscriptions")
    write_arrow(file, pa.concat_tables([wrong, wrong]))
    reseal(store / "alerts")
    assert "it has 2 rows, not 1" in error(spark, "SELECT id FROM sparkrules.alerts.subscriptions")
    file.write_bytes(whole)
    for damage in ("", "[]", '{"format": 2}', text.replace('"parent": null', '"parent": "x"'), text[:-10]):
        manifest.write_text(damage, encoding="utf-8")
        for table in ("subscriptions", "versions", "predicates", "rejected"):
            message = error(spark, f"SELECT * FROM sparkrules.alerts.{table}")
            assert f"{manifest} is damaged" in message
    manifest.write_text(text.replace('"format": 3', '"format": 6'), encoding="utf-8")
    assert "has format 6" in error(spark, "SELECT * FROM sparkrules.alerts.versions")
    escape = text.replace(segment.name, "../../../x")
    manifest.write_text(escape, encoding="utf-8")
    reseal(store / "alerts")
    assert "is not the name" in error(spark, "SELECT * FROM sparkrules.alerts.subscriptions")


def test_removed_rows_that_do_not_exist_are_an_error(spark: SparkSession, store: Path) -> None:
    write_segment(store, "alerts", "only", {"a": "x > 1", "b": "x > 2"})
    for bad in ([2], [-1], [1, 0], [0, 0]):
        write_removed(store, "alerts", "gone", bad)
        write_manifest(store, "alerts", 1, {"only": "gone"})
        message = error(spark, "SELECT count(*) FROM sparkrules.alerts.subscriptions")
        assert str(store / "alerts" / "removed" / "gone.arrow") in message
