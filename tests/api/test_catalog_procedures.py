"""CALL sparkrules.x(...): versions made by SQL are as atomic and exclusive as those made by Python."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, PySparkException

import sparkrules
from sparkrules.store import Store
from sparkrules.store.rejected_file import write_rejected
from tests.spark.oracle import rule_set, settings
from tests.spark.stored_versions import (
    KEY,
    change_subscriptions,
    read_arrow,
    ticket_hash,
    write_manifest,
    write_removed,
    write_segment,
)
from tests.store.resealed import reseal, unverified

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

IDS = "SELECT id FROM sparkrules.alerts.subscriptions ORDER BY id"


@pytest.fixture
def store(spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    with settings(spark, spark_sparkrules_store=str(tmp_path)):
        yield tmp_path


def call(spark: SparkSession, procedure: str) -> dict[str, Any]:
    (row,) = spark.sql(f"CALL sparkrules.{procedure}").collect()
    return row.asDict()


def refused(spark: SparkSession, procedure: str) -> str:
    with pytest.raises(PySparkException) as caught:
        spark.sql(f"CALL sparkrules.{procedure}")
    return str(caught.value)


def ids(spark: SparkSession, query: str = IDS) -> list[str]:
    return [row.id for row in spark.sql(query).collect()]


def files(store: Path) -> list[Path]:
    return sorted(file.relative_to(store) for file in store.rglob("*"))


def test_rollback_makes_an_earlier_version_the_newest(spark: SparkSession, store: Path) -> None:
    rules = rule_set("alerts", {"a": "x > 1", "b": "x > 2"})
    rules.store = store
    rules.publish()
    rules.unsubscribe("a")
    rules.publish()
    assert call(spark, "rollback('alerts', 1)") == {"rule_set": "alerts", "version": 3, "subscriptions": 2}
    assert ids(spark) == ["a", "b"]
    assert call(spark, "rollback(version => 2, rule_set => 'alerts')")["version"] == 4
    python = Store(store)
    assert python.versions("alerts") == [1, 2, 3, 4]
    old, new = python.manifest("alerts", 1), python.manifest("alerts", 3)
    assert (new.action, new.parent, new.publisher) == ("rollback to 1", 2, old.publisher)
    for field in ("rule_set", "segments", "rejected", "default_validity", "subscriptions", "predicates", "nodes"):
        assert getattr(new, field) == getattr(old, field)
    query = "SELECT match_subscriptions('{}', *).ids FROM VALUES (2) AS t(x)"
    assert spark.sql(query.format("alerts@3")).first()[0] == ["a"]
    assert spark.sql(query.format("alerts")).first()[0] == []
    assert [file for file in files(store) if file.name.startswith(".")] == []


def test_python_goes_on_from_what_sql_has_made(spark: SparkSession, store: Path) -> None:
    rules = rule_set("alerts", {"a": "x > 1", "b": "x > 2"})
    rules.store = store
    rules.publish()
    call(spark, "unsubscribe('alerts', 'a')")
    call(spark, "rollback('alerts', 1)")
    loaded = sparkrules.RuleSet.load("alerts", store=store)
    assert set(loaded.subscriptions) == {"a", "b"}
    loaded.subscribe("c", "x > 3")
    assert loaded.publish() == 4
    assert ids(spark) == ["a", "b", "c"]
    assert call(spark, "unsubscribe('alerts', 'c')")["version"] == 5


def test_unsubscribe_marks_rows_as_removed(spark: SparkSession, store: Path) -> None:
    write_segment(store, "alerts", "first", {f"f{i}": f"x > {i}" for i in range(5)})
    write_segment(store, "alerts", "second", {"s": "y = 1", "ö'": "y = 2"})
    write_removed(store, "alerts", "gone", [1, 3])
    (store / "alerts" / "rejected").mkdir()
    write_rejected(store / "alerts" / "rejected" / "r.arrow", [])
    write_manifest(
        store, "alerts", 1, {"first": "gone", "second": None}, rejected="r", default_validity=60, of_the_future=[1]
    )
    before = (store / "alerts" / "versions" / "1.json").read_bytes()
    made = call(spark, "unsubscribe('alerts', array('f2', 's', 'f2'))")
    assert made == {"rule_set": "alerts", "version": 2, "subscriptions": 3, "removed": 2}
    assert ids(spark) == ["f0", "f4", "ö'"]
    assert ids(spark, IDS.replace(" ORDER", " VERSION AS OF 1 ORDER")) == ["f0", "f2", "f4", "s", "ö'"]
    assert call(spark, "unsubscribe(rule_set => 'alerts', id => 'ö\\'')")["subscriptions"] == 2
    assert (store / "alerts" / "versions" / "1.json").read_bytes() == before
    manifest = Store(store).manifest("alerts", 2)
    assert (manifest.action, manifest.parent, manifest.subscriptions) == ("unsubscribe", 1, 3)
    assert (manifest.rejected, manifest.default_validity) == ("r", 60)
    first, second = manifest.segments
    assert [(entry.name, entry.subscriptions, entry.live) for entry in (first, second)] == [
        ("first", 5, 2),
        ("second", 2, 1),
    ]
    for name, rows in ((first.removed, [1, 2, 3]), (second.removed, [0])):
        table = read_arrow(store / "alerts" / "removed" / f"{name}.arrow")
        assert table.schema.equals(pa.schema([("row", pa.int32())]))
        assert table.column("row").to_pylist() == rows
    # What a later sparkrules has added to a manifest is carried over.
    third = json.loads((store / "alerts" / "versions" / "3.json").read_text(encoding="utf-8"))
    assert third["of_the_future"] == [1]
    assert third["segments"][0] == json.loads((store / "alerts" / "versions" / "2.json").read_text())["segments"][0]


def test_all_subscriptions_may_go(spark: SparkSession, store: Path) -> None:
    rule_set("alerts", {"a": "x > 1", "b": "x > 2"}, store=store).publish()
    assert call(spark, "unsubscribe('alerts', ids => array('b', 'a'))")["subscriptions"] == 0
    assert ids(spark) == []


def test_unknown_ids_change_nothing(spark: SparkSession, store: Path) -> None:
    rule_set("alerts", {"a": "x > 1", "b": "x > 2"}, store=store).publish()
    call(spark, "unsubscribe('alerts', 'b')")
    before = files(store)
    assert "has no subscription 'b' that can be removed" in refused(spark, "unsubscribe('alerts', 'b')")
    assert "has no subscription 'z'" in refused(spark, "unsubscribe('alerts', array('a', 'z'))")
    assert "at least one" in refused(spark, "unsubscribe('alerts', array())")
    assert "NULL" in refused(spark, "unsubscribe('alerts', array('a', NULL))")
    assert "id is NULL" in refused(spark, "unsubscribe('alerts', NULL)")
    many = ", ".join(f"'{i}'" for i in range(8))
    assert "and 3 more" in refused(spark, f"unsubscribe('alerts', array({many}))")
    assert files(store) == before


def test_a_subscription_with_a_ticket_is_its_owners(spark: SparkSession, store: Path) -> None:
    segment = write_segment(store, "alerts", "only", {"free": "x > 1", "öwned": "x > 2", "theirs": "x > 3"})
    (store / "alerts" / "tickets.key").write_bytes(KEY)
    names = read_arrow(segment / "subscriptions.arrow").column("id").to_pylist()
    secrets = {"öwned": "sécret", "theirs": "other"}
    change_subscriptions(segment, ticket=[ticket_hash(secrets[id]) if id in secrets else None for id in names])
    write_manifest(store, "alerts", 1, {"only": None})
    # Of an id that has a ticket the same is said as of one that is unknown.
    for given in ("", ", ticket => 'guessed'"):
        texts = {
            refused(spark, f"unsubscribe('alerts', '{id}'{given})").replace(id, "...") for id in ("öwned", "unknown")
        }
        assert len(texts) == 1, texts
    assert "has no subscription 'öwned' that" in refused(spark, "unsubscribe('alerts', array('free', 'öwned'))")
    for wrong in ("other", "", "SÉCRET", ticket_hash("sécret")):
        message = refused(spark, f"unsubscribe('alerts', 'öwned', '{wrong}')")
        assert "has no subscription 'öwned' that can be removed with this ticket" in message
        assert not wrong or wrong not in message
    assert "subscription 'theirs'" in refused(spark, "unsubscribe('alerts', array('öwned', 'theirs'), 'sécret')")
    assert ids(spark) == ["free", "theirs", "öwned"]
    call(spark, "unsubscribe('alerts', 'öwned', ticket => 'sécret')")
    call(spark, "unsubscribe('alerts', 'free')")
    assert ids(spark) == ["theirs"]
    shown = spark.sql("SELECT * FROM sparkrules.alerts.subscriptions").collect()
    assert ticket_hash("other") not in str(shown)
    (store / "alerts" / "tickets.key").unlink()
    assert "tickets.key is missing" in refused(spark, "unsubscribe('alerts', 'theirs', 'other')")


def test_a_ticket_from_python_is_one_in_sql(spark: SparkSession, store: Path) -> None:
    rules = sparkrules.RuleSet("alerts")
    ticket = rules.subscribe("mine", "x > 1", ticket=True)
    rules.subscribe("free", "x > 2")
    rules.store = store
    rules.publish()
    assert "with this ticket" in refused(spark, "unsubscribe('alerts', 'mine', ticket => 'guess')")
    call(spark, f"unsubscribe('alerts', 'mine', ticket => '{ticket}')")
    assert ids(spark) == ["free"]
    assert list(sparkrules.RuleSet.load("alerts", store).subscriptions) == ["free"]


def test_a_rollback_takes_the_tickets_of_what_it_changes(spark: SparkSession, store: Path) -> None:
    rules = rule_set("alerts", {"free": "x > 2"})
    rules.store = store
    rules.publish()
    tickets = [rules.subscribe(id, "x > 1", ticket=True) for id in ("mine", "theirs")]
    rules.publish()
    rules.subscribe("other", "x > 4")
    rules.publish(merge="all")
    rules.unsubscribe("mine", ticket=tickets[0])
    rules.publish(merge="none")
    assert call(spark, "rollback('alerts', 4)")["version"] == 5, "nothing is different"
    given = "array('" + "', '".join(tickets) + "')"
    texts = set()
    for wrong in ("", ", array()", ", array('guessed')", f", array('{tickets[0]}')"):
        texts.add(refused(spark, f"rollback('alerts', 1{wrong})"))
    (text,) = texts
    assert "that were made with a ticket: give all their tickets" in text
    assert not any(word in text for word in ("mine", "theirs", *tickets))
    # To bring one back takes its ticket too, whatever segment it is in; what has none goes and comes.
    for version in (2, 3):
        assert "give all their tickets" in refused(spark, f"rollback('alerts', {version})")
    assert call(spark, f"rollback('alerts', 3, array('{tickets[0]}'))")["subscriptions"] == 4
    assert call(spark, "rollback('alerts', 2)")["subscriptions"] == 3
    assert call(spark, f"rollback('alerts', 1, tickets => {given})")["subscriptions"] == 1
    assert "tickets contains NULL" in refused(spark, "rollback('alerts', 2, array(NULL))")
    renewed = sparkrules.RuleSet.load("alerts", store)
    renewed.rollback(2, tickets=tickets)
    renewed.renew("mine", tickets[0], datetime(2099, 1, 1, tzinfo=timezone.utc))
    renewed.publish()
    assert "give all their tickets" in refused(spark, "rollback('alerts', 2)"), "it would no longer be valid so long"


def test_a_version_whose_files_are_gone_when_it_is_made_is_withdrawn(spark: SparkSession, store: Path) -> None:
    """The rollback's own check finds files that are already gone. Here only the final check can see the loss."""
    rules = rule_set("alerts", {"a": "x > 1", "b": "x > 2"})
    rules.store = store
    rules.publish()
    rules.unsubscribe("a")
    rules.publish(merge="none")
    (removed,) = (store / "alerts" / "removed").iterdir()
    removed.with_suffix(".gone").write_bytes(removed.read_bytes())
    removed.write_bytes(b"")  # nobody reads it; its length is not what was published
    assert "was removed as garbage" in refused(spark, "rollback('alerts', 2)")
    assert Store(store).versions("alerts") == [1, 2]
    assert (store / "alerts" / "versions" / ".3.withdrawn").exists()
    assert call(spark, "rollback('alerts', 1)")["version"] == 4, "the number is not used again"
    rules = sparkrules.RuleSet.load("alerts", store)
    rules.subscribe("c", "x > 3")
    assert rules.publish() == 5


def test_versions_of_an_older_sparkrules_are_marked_until_one_is_made(spark: SparkSession, store: Path) -> None:
    rules = rule_set("alerts", {"a": "x > 1", "b": "x > 2"})
    rules.store = store
    rules.publish()
    unverified(store / "alerts")
    query = "SELECT match_subscriptions('alerts', *).ids FROM VALUES (3) AS t(x)"
    assert spark.sql(query).first()[0] == ["a", "b"]
    call(spark, "unsubscribe('alerts', 'b')")
    assert spark.sql(query).first()[0] == ["a"]
    marks = spark.sql("SELECT version, verified FROM sparkrules.alerts.versions ORDER BY version").collect()
    assert [tuple(row) for row in marks] == [(1, False), (2, True)]
    Store(store).verify(Store(store).manifest("alerts", 2))
    assert [rule.id for rule in sparkrules.RuleSet.load("alerts", store)] == ["a"]


def test_calls_at_the_same_time_all_take_effect(spark: SparkSession, store: Path) -> None:
    count = 12
    rule_set("alerts", {f"r{i:02}": f"x > {i}" for i in range(count)}, store=store).publish()
    sessions = [spark.newSession() for _ in range(count)]
    start = threading.Barrier(count)

    def unsubscribe(i: int) -> int:
        sessions[i].conf.set("spark.sparkrules.store", str(store))
        start.wait()
        version: int = call(sessions[i], f"unsubscribe('alerts', 'r{i:02}')")["version"]
        return version

    with ThreadPoolExecutor(count) as pool:
        versions = sorted(pool.map(unsubscribe, range(count)))
    assert versions == list(range(2, count + 2))
    assert ids(spark) == []
    parents = spark.sql("SELECT version - parent AS step FROM sparkrules.alerts.versions WHERE version > 1").collect()
    assert {row.step for row in parents} == {1}


def test_sql_and_python_at_the_same_time(spark: SparkSession, store: Path) -> None:
    rules = rule_set("alerts", {"a": "x > 1"})
    rules.store = store
    rules.publish()

    def publish() -> None:
        for _ in range(10):
            rules.store = store
            rules.publish()

    other = threading.Thread(target=publish)
    other.start()
    for _ in range(10):
        call(spark, "rollback('alerts', 1)")
    other.join()
    versions = Store(store).versions("alerts")
    assert versions == list(range(1, len(versions) + 1))
    actions = [Store(store).manifest("alerts", version).action for version in versions]
    assert actions.count("rollback to 1") == 10


def test_refresh_tells_the_newest_version_and_reads_the_store_again(spark: SparkSession, store: Path) -> None:
    rule_set("alerts", {"a": "x > 1"}, store=store).publish()
    query = "SELECT match_subscriptions('alerts', *).ids FROM VALUES (2) AS t(x)"
    assert spark.sql(query).first()[0] == ["a"]
    (segment,) = (store / "alerts" / "segments").iterdir()
    change_subscriptions(segment, id=["other"])  # nobody should; a query does not look
    reseal(store / "alerts")
    assert spark.sql(query).first()[0] == ["a"]
    assert call(spark, "refresh('alerts')") == {"rule_set": "alerts", "version": 1, "subscriptions": 1}
    assert spark.sql(query).first()[0] == ["other"]


@pytest.mark.parametrize("procedure", ["rollback('{}', 1)", "unsubscribe('{}', 'a')", "refresh('{}')"])
def test_hostile_names_are_refused(spark: SparkSession, store: Path, procedure: str) -> None:
    rule_set("alerts", {"a": "x > 1"}, store=store).publish()
    inner = store / "inner"
    rule_set("b", {"a": "x > 1"}, store=inner).publish()
    spark.conf.set("spark.sparkrules.store", str(inner))
    before = files(store)
    for name in ("../alerts", "../x", "/etc", "a/../b", "..", ".", "", "alerts@1", "b\\\\0", "b/versions"):
        assert "is not the name of a rule set" in refused(spark, procedure.format(name)), name
    assert "There is no rule set 'nothing'" in refused(spark, procedure.format("nothing"))
    assert "rule_set is NULL" in refused(spark, procedure.replace("'{}'", "NULL"))
    assert files(store) == before


def test_a_version_to_go_back_to_must_be_there_with_its_files(spark: SparkSession, store: Path) -> None:
    rule_set("alerts", {"a": "x > 1"}, store=store).publish()
    for version in (0, -1, 2, 99999999999):
        assert f"There is no version {version} " in refused(spark, f"rollback('alerts', {version})")
    assert "version is NULL" in refused(spark, "rollback('alerts', NULL)")
    with pytest.raises(AnalysisException, match="version"):
        spark.sql("CALL sparkrules.rollback('alerts')")
    (segment,) = (store / "alerts" / "segments").iterdir()
    file = segment / "subscriptions.arrow"
    file.unlink()
    assert f"{file} is missing" in refused(spark, "rollback('alerts', 1)")
    assert Store(store).versions("alerts") == [1]


def test_a_damaged_newest_version_is_named(spark: SparkSession, store: Path) -> None:
    rule_set("alerts", {"a": "x > 1"}, store=store).publish()
    manifest = store / "alerts" / "versions" / "2.json"
    manifest.write_text("{}", encoding="utf-8")
    for procedure in ("rollback('alerts', 1)", "unsubscribe('alerts', 'a')", "refresh('alerts')"):
        assert f"{manifest} is damaged" in refused(spark, procedure)


def test_explain_calls_nothing(spark: SparkSession, store: Path) -> None:
    rule_set("alerts", {"a": "x > 1"}, store=store).publish()
    spark.sql("EXPLAIN CALL sparkrules.rollback('alerts', 1)").collect()
    assert Store(store).versions("alerts") == [1]


def test_unknown_procedures_name_the_known_ones(spark: SparkSession, store: Path) -> None:
    assert "there are refresh, rollback, unsubscribe" in refused(spark, "drop_all('alerts')")


def test_a_store_that_is_not_a_local_directory(spark: SparkSession, tmp_path: Path) -> None:
    """Hadoop's viewfs stands for any non-local file system: all file access goes through Hadoop."""
    rule_set("alerts", {"a": "x > 1", "b": "x > 2"}, store=tmp_path).publish()
    session = spark.newSession()
    session.conf.set("fs.viewfs.mounttable.rules.link./store", tmp_path.as_uri())
    session.conf.set("spark.sparkrules.store", "viewfs://rules/store")
    assert ids(session) == ["a", "b"]
    assert call(session, "unsubscribe('alerts', 'a')")["version"] == 2
    assert ids(session) == ["b"]
    assert call(session, "rollback('alerts', 1)")["version"] == 3
    assert [entry.live for entry in Store(tmp_path).manifest("alerts", 2).segments] == [1]
    assert Store(tmp_path).versions("alerts") == [1, 2, 3]
    assert not list((tmp_path / "alerts" / "versions").glob(".*.tmp"))
