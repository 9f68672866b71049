"""`RuleSet.sync`: the newest version becomes what a source says, and nothing is lost by accident."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sparkrules import RuleSet, RuleSetError, Store, StrictPublishError
from sparkrules.rules import bulk
from sparkrules.sql import Policy

PAST, FUTURE = datetime(2020, 1, 1, tzinfo=timezone.utc), datetime(2099, 1, 1, tzinfo=timezone.utc)


def fields(rules: RuleSet) -> dict[str, tuple[Any, ...]]:
    return {
        rule.id: (
            *(rule.where, rule.sql, rule.priority, rule.metadata, rule.valid_from, rule.valid_until),
            *(rule.status, rule.tags, rule.exemptions, str(rule.tree)),
        )
        for rule in rules
    }


@pytest.fixture
def rules(tmp_path: Path) -> RuleSet:
    made = RuleSet("alerts", store=tmp_path)
    made.subscribe_all([("hot", "t > 30", 5, {"owner": "ops"}), ("cold", "t < 0"), ("dry", "h < 10")])
    made.publish()
    return made


def test_only_what_differs_is_published(rules: RuleSet) -> None:
    done = rules.sync([("hot", "t > 35", 5, {"owner": "ops"}), ("cold", "t < 0"), ("storm", "wind > 100")])
    assert (done.version, done.published) == (2, True)
    changes = done.changes
    assert (changes.added, changes.removed, changes.changed) == (("storm",), ("dry",), ("hot",))
    assert sorted(rules.subscriptions) == ["cold", "hot", "storm"]
    assert rules.subscriptions["hot"].where == "t > 35"
    assert str(rules.diff(1, 2)) == str(changes)
    assert rules.version == 2


def test_nothing_new_makes_no_version(rules: RuleSet) -> None:
    rows = [("hot", "t > 30", "5", '{"owner": "ops"}'), ("dry", "h < 10", 0), ("cold", "t < 0", None)]
    done = rules.sync(rows)
    assert (done.version, done.published, bool(done.changes)) == (1, False, False)
    assert "as before" in str(done)
    assert rules.sync(pa.table({"ID": ["dry", "cold"], "Where": ["h < 10", "t < 0"]})).changes.removed == ("hot",)
    assert not rules.sync({"cold": "t < 0", "dry": "h < 10"}).published


@pytest.mark.parametrize(
    "changed",
    [
        {"where": "t > 30 "},
        {"priority": 6},
        {"priority": None},
        {"metadata": None},
        {"metadata": {"owner": "me"}},
        {"valid_from": PAST},
        {"valid_until": FUTURE},
        {"status": "shadow"},
        {"tags": ["prod", "eu"]},
        {"exemptions": [{"where": "h > 5", "until": FUTURE, "reason": "wet"}, "t = 31"]},
    ],
)
def test_every_field_counts(rules: RuleSet, changed: dict[str, Any]) -> None:
    hot = {"id": "hot", "where": "t > 30", "priority": 5, "metadata": {"owner": "ops"}, **changed}
    done = rules.sync([hot, ("cold", "t < 0"), ("dry", "h < 10")])
    assert done.changes.changed == ("hot",)
    fresh = RuleSet("fresh")
    fresh.subscribe_all([hot])
    assert fields(RuleSet.load("alerts", rules.store))["hot"] == fields(fresh)["hot"]


def test_unchanged_rules_are_not_compiled(rules: RuleSet, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    real = bulk._compiled

    def seen(rows: Any, *more: Any) -> Any:
        compiled.extend(row.where for row in rows)
        return real(rows, *more)

    monkeypatch.setattr(bulk, "_compiled", seen)
    rules.sync([("hot", "t > 30", 5, {"owner": "ops"}), ("cold", "t < -1"), ("dry", "h < 10"), ("new", "t = 1")])
    assert sorted(compiled) == ["t < -1", "t = 1"]


def test_a_rejected_row_leaves_the_published_rule(rules: RuleSet) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "hot", "where": "t >"},
        {"id": "cold", "where": "t < 0"},
        {"id": None, "where": "t = 1"},
        {"id": "", "where": "t = 1"},
        {"id": "dry", "where": "h < 5"},
        {"id": "dry", "where": "h < 6"},
        {"id": "twice", "where": "t = 2"},
        {"id": "twice", "where": "t = 2"},
        {"id": "null", "where": None},
        {"id": "far", "where": "t = 1", "priority": 2**40},
        {"id": "new", "where": "t = 3"},
    ]
    done = rules.sync(rows)
    assert (done.changes.added, done.changes.removed, done.changes.changed) == (("new",), (), ())
    assert fields(rules)["hot"][0] == "t > 30"
    assert fields(rules)["dry"][0] == "h < 10"
    assert [own.id for own in done.rejected] == ["hot", "", "", "dry", "dry", "twice", "twice", "null", "far"]
    assert (done.rejected[0].line, done.rejected[0].column) == (1, 4)
    assert done.rejected[3].reason == "2 rows have the id 'dry': give each rule an id of its own"
    assert RuleSet.load("alerts", rules.store).rejected == list(done.rejected)
    again = rules.sync(rows)
    assert not again.published
    assert again.rejected == done.rejected
    # What is rejected is part of a version: the catalog shows it.
    assert rules.sync([row for row in rows if row["id"]]).published


def test_no_rules_do_not_remove_all(rules: RuleSet) -> None:
    for source, reason in (
        ([], "the source has no rows"),
        (pa.table({"id": pa.array([], pa.utf8()), "where": pa.array([], pa.utf8())}), "no rows"),
        ([(None, "t > 1"), ("hot", "t >")], "none of the 2 rows is a valid rule; the first, ''"),
    ):
        with pytest.raises(RuleSetError, match=r"rule set 'alerts' stays as it is.*empty=True") as caught:
            rules.sync(source)
        assert reason in str(caught.value)
    assert rules.version == 1
    with pytest.raises(RuleSetError, match="no column where"):
        rules.sync(pa.table({"id": ["a"]}), empty=True)
    with pytest.raises(RuleSetError, match="no such file"):
        rules.sync("nothing.csv", empty=True)
    done = rules.sync([], empty=True)
    assert (done.changes.removed, len(rules)) == (("cold", "dry", "hot"), 0)
    assert not rules.sync([]).published, "nothing is left to lose"


def test_a_first_sync_makes_the_rule_set(tmp_path: Path) -> None:
    rules = RuleSet("new", store=tmp_path)
    with pytest.raises(RuleSetError, match="no rows"):
        rules.sync([])
    assert rules.sync({"a": "x > 1"}).version == 1
    assert RuleSet("new", store=tmp_path).sync({"a": "x > 1"}).published is False


def test_rules_with_a_ticket_are_their_owners(rules: RuleSet) -> None:
    ticket = rules.subscribe("mine", "t > 99", ticket=True)
    rules.subscribe("theirs", "t > 98", ticket=True)
    rules.publish()
    done = rules.sync({"cold": "t < 0", "mine": "t > 0"})
    assert done.changes.removed == ("dry", "hot")
    assert [(own.id, own.reason) for own in done.rejected] == [
        ("mine", "rule 'mine' has a ticket: only its owner can change or remove it")
    ]
    assert sorted(rules.subscriptions) == ["cold", "mine", "theirs"]
    rules.unsubscribe("mine", ticket=ticket)


def test_unpublished_changes_are_not_lost(rules: RuleSet) -> None:
    rules.subscribe("more", "t > 1")
    with pytest.raises(RuleSetError, match=r"unpublished changes: publish it, or sync with a fresh"):
        rules.sync({"hot": "t > 30"})
    assert "more" in rules


def test_what_others_published_is_compared(rules: RuleSet) -> None:
    other = RuleSet.load("alerts", rules.store)
    other.subscribe("other", "t = 7")
    other.publish()
    assert rules.sync({"hot": "t > 30"}).changes.removed == ("cold", "dry", "other")


def test_expired_rules_are_not_added_again_and_again(tmp_path: Path) -> None:
    rules = RuleSet("alerts", store=tmp_path)
    rows = [("old", "t > 1", 0, None, None, PAST), ("new", "t > 2", 0, None, None, FUTURE)]
    done = rules.sync(rows)
    assert (done.changes.added, done.expired) == (("new",), ("old",))
    assert not rules.sync(rows).published


def test_a_default_validity_begins_once(tmp_path: Path) -> None:
    rules = RuleSet("alerts", store=tmp_path, default_validity=timedelta(days=1))
    rules.sync({"a": "x > 1"})
    ends = rules.subscriptions["a"].valid_until
    assert ends is not None
    assert not rules.sync({"a": "x > 1"}).published
    assert rules.sync({"a": "x > 1", "b": "x > 2"}).changes.changed == ()
    assert rules.subscriptions["a"].valid_until == ends
    assert rules.sync([("a", "x > 1", 0, None, None, FUTURE), ("b", "x > 2")]).changes.changed == ("a",)


def test_the_same_text_in_another_dialect_is_another_rule(tmp_path: Path) -> None:
    text = {"a": "name ~ '^x'", "b": "x > 1"}
    RuleSet("alerts", dialect="postgres", store=tmp_path).sync(text)
    assert not RuleSet("alerts", dialect="postgres", store=tmp_path).sync(text).published
    counts = {"n": "at_least(1, x > 1, x < 0)"}
    RuleSet("counts", store=tmp_path).sync(counts)
    assert not RuleSet("counts", store=tmp_path).sync(counts).published
    done = RuleSet("alerts", store=tmp_path).sync(text)
    assert [own.id for own in done.rejected] == ["a"], "in Spark, ~ is something else"


def test_strict_publishes_nothing_that_is_wrong(rules: RuleSet) -> None:
    kept = {"hot": "t > 30", "cold": "t < 0", "dry": "h < 10"}
    with pytest.raises(StrictPublishError) as caught:
        rules.sync({**kept, "never": "t > 3 AND t < 1", "broken": "t >"}, strict=True)
    assert [own.id for own in caught.value.rejected] == ["broken"]
    assert [finding.ids for finding in caught.value.report] == [("never",)]
    with pytest.raises(StrictPublishError, match="humidity"):
        rules.sync({**kept, "damp": "humidity > 1"}, strict=True, schema=pa.schema([("t", pa.int32())]))
    assert rules.version == 1


def test_patterns_follow_their_source(tmp_path: Path) -> None:
    rules = RuleSet("logins", store=tmp_path)
    failed = {"id": "failed", "where": "NOT ok", "suppress": "1 hour", "by": "user"}
    change = {"id": "up", "where": "cpu > 90", "on_change": ["host"]}
    many = {"id": "many", "count": "failed", "by": "user", "within": "10 minutes", "at_least": 5}
    assert rules.sync([failed, change, many]).changes.patterns_added == ("failed", "many", "up")
    assert not rules.sync([change, many, failed]).published
    done = rules.sync([failed, change, {**many, "at_least": 6}])
    assert (done.changes.patterns_changed, done.changes.changed) == (("many",), ())
    # A broken pattern stays as it was; so does one that a table without such columns cannot know of.
    assert rules.sync([failed, change, {**many, "within": "soon"}]).changes.patterns_removed == ()
    assert rules.patterns["many"].at_least == 6
    table = pa.table({"id": ["failed", "up"], "where": ["NOT ok", "cpu > 95"]})
    done = rules.sync(table)
    assert (done.changes.changed, done.changes.patterns_changed) == (("up",), ("up",))
    assert [term.where for term in rules.patterns["up"].terms if term.where] == ["NOT (cpu > 95)"]
    assert sorted(rules.patterns) == ["failed", "many", "up"]
    done = rules.sync(pa.table({"id": ["failed"], "where": ["NOT ok"]}))
    assert (done.changes.removed, done.changes.patterns_removed) == (("up",), ("up",))
    assert rules.sync([{"id": "failed", "where": "NOT ok"}]).changes.patterns_removed == ("failed", "many")


def exempted(rules: RuleSet) -> dict[str, list[str]]:
    return {rule.id: [own.where for own in rules.exemptions(rule.id)] for rule in rules if rule.exemptions}


@pytest.mark.parametrize("dialect", ["spark", "postgres"])
def test_exemptions_stay_unless_the_source_has_a_field_for_them(tmp_path: Path, dialect: str) -> None:
    rules = RuleSet("alerts", dialect, store=tmp_path)
    rules.subscribe_all({"hot": "t != 30", "cold": "t < 0", "dry": "h < 10"})
    rules.exempt("hot", "host != 'lab'", until=FUTURE, reason="a test")
    rules.exempt("cold", "host = 'lab'")
    rules.publish()
    before = fields(rules)
    plain = {"hot": "t != 30", "cold": "t < 0", "dry": "h < 10"}
    assert not rules.sync(plain).published
    assert fields(rules) == before
    (tmp_path / "rules.csv").write_text("id,where\nhot,t != 31\ncold,t < 0\ndry,h < 10\n")
    assert rules.sync(tmp_path / "rules.csv").changes.changed == ("hot",)
    assert exempted(rules) == {"hot": ["host != 'lab'"], "cold": ["host = 'lab'"]}
    assert rules.match(pa.table({"t": [1, 1, 31], "h": [20] * 3, "host": ["web", "lab", "lab"]})).ids.to_pylist() == [
        [],
        ["hot"],
        [],
    ]
    # An option of a pattern is another kind of row. A rule that is gone takes its exemptions with it.
    done = rules.sync([{"id": "hot", "where": "t != 31", "suppress": "1 hour"}, ("dry", "h < 10")])
    assert (done.changes.changed, done.changes.patterns_added) == ((), ("hot",))
    assert exempted(rules) == {"hot": ["host != 'lab'"]}
    table = {"id": ["hot", "dry"], "where": ["t != 31", "h < 10"]}
    # A rule keeps what was published, if its new text is invalid.
    assert [own.id for own in rules.sync({"hot": "t !=", "dry": "h < 10"}).rejected] == ["hot"]
    assert exempted(rules) == {"hot": ["host != 'lab'"]}
    assert rules.sync(pa.table({**table, "EXEMPTIONS": [None, '["h = 3"]']})).changes.changed == ("dry", "hot")
    assert exempted(rules) == {"dry": ["h = 3"]}
    assert not rules.sync(pa.table({**table, "exemptions": [None, ["h = 3"]]})).published
    assert not rules.sync(pa.table(table)).published
    assert rules.sync([{"id": "dry", "where": "h < 10", "exemptions": []}, ("hot", "t != 31")]).changes.changed == (
        "dry",
    )
    assert exempted(rules) == {}


def test_a_kept_exemption_that_is_no_longer_allowed_changes_nothing(tmp_path: Path) -> None:
    policy = Policy(functions=["my_udf"])
    rules = RuleSet("alerts", policy=policy, store=tmp_path)
    rules.subscribe_all({"hot": "t > 30"})
    rules.exempt("hot", "my_udf(t) = 1")
    rules.publish()
    other = RuleSet("alerts", store=tmp_path)
    done = other.sync({"hot": "t > 31", "cold": "t < 0"})
    assert [(own.id, own.reason[:9]) for own in done.rejected] == [("hot", "exemption")]
    assert (done.changes.added, done.changes.changed) == (("cold",), ())


def test_rules_of_another_rule_set_bring_their_exemptions(tmp_path: Path) -> None:
    rules = RuleSet("alerts")
    rules.subscribe_all({"hot": "t > 30", "cold": "t < 0"})
    rules.exempt("hot", "host = 'lab'", until=FUTURE, reason="a test")
    copy = RuleSet("copy", store=tmp_path)
    assert (copy.subscribe_all(list(rules)), copy.rejected) == (2, [])
    assert fields(copy) == fields(rules)
    copy.publish()
    assert not copy.sync(list(rules)).published
    # What the store keeps about an exemption is not believed: its condition is read again.
    forged = '{"text": "x", "exemptions": [{"where": "host = 1", "until": null, "reason": "", "sql": "rand() > 0"}]}'
    assert copy.sync([{"id": "hot", "where": "t > 30", "exemptions": forged}]).rejected == ()
    assert exempted(copy) == {"hot": ["host = 1"]}
    assert "rand" not in str(fields(copy))
    rules.unexempt("hot")
    assert copy.sync(list(rules)).changes.changed == ("hot",)
    assert exempted(copy) == {}


def test_advertisements_stay(rules: RuleSet) -> None:
    rules.advertise("attic", "t > 15")
    rules.publish()
    rules.sync({"hot": "t > 31"})
    assert list(RuleSet.load("alerts", rules.store).advertisements) == ["attic"]


def test_syncs_at_the_same_time_agree(tmp_path: Path) -> None:
    count = 6
    start = threading.Barrier(count)
    sources = [{f"r{i}": f"x > {i}" for i in range(20)}, {f"r{i}": f"x > {i % 7}" for i in range(5, 25)}]

    def run(number: int) -> None:
        start.wait()
        for _ in range(3):
            RuleSet("alerts", store=tmp_path).sync(sources[number % 2])

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(run, range(count)))
    final = RuleSet("alerts", store=tmp_path)
    final.sync(sources[0])
    assert {rule.id: rule.where for rule in RuleSet.load("alerts", tmp_path)} == sources[0]
    versions = Store(tmp_path).versions("alerts")
    assert versions == list(range(1, len(versions) + 1))


def test_random_sources_end_as_a_fresh_publish_does(tmp_path: Path) -> None:
    """Brute force: after any sequence of syncs the rules are those of the last source."""
    draw = random.Random(7)
    rules = RuleSet("alerts", store=tmp_path)
    for round in range(25):
        rows = {
            f"r{draw.randrange(12)}": (f"x > {draw.randrange(3)}", draw.choice([0, 1]), draw.choice([None, {"a": 1}]))
            for _ in range(draw.randrange(1, 10))
        }
        before = fields(rules)
        done = rules.sync([(id, *own) for id, own in rows.items()])
        fresh = RuleSet("fresh")
        fresh.subscribe_all([(id, *own) for id, own in rows.items()])
        after = fields(RuleSet.load("alerts", tmp_path))
        assert after == fields(fresh), round
        assert set(done.changes.added) == after.keys() - before.keys()
        assert set(done.changes.removed) == before.keys() - after.keys()
        assert set(done.changes.changed) == {id for id in after.keys() & before.keys() if after[id] != before[id]}
        assert done.published == (before != after or round == 0)
