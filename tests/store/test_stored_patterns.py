"""Patterns are part of a version: stored as documented, carried over, rolled back, and not lost between publishers."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sparkrules import RuleSet
from sparkrules.errors import CorruptStore, NewerFormat, PublishConflict, RuleSetError
from sparkrules.index import SCHEMAS
from sparkrules.sql import Policy
from sparkrules.store import Manifest, Store
from tests.store.published import published
from tests.store.resealed import reseal, reseal_manifest


def rules(*sequences: str) -> RuleSet:
    made = RuleSet("alerts")
    made.subscribe_all({"hot": "t > 30", "cold": "t < 0"})
    for id in sequences:
        made.sequence(id, ["hot", {"where": "t < 10"}], by=["room"], within="1 hour")
    return made


def words(loaded: RuleSet) -> dict[str, str]:
    return {id: str(own) for id, own in loaded.patterns.items()}


ONE = "hot, then (t < 10), by room, within 1 hour"


def of_newest(store: Path) -> tuple[Manifest, dict[str, Any] | None]:
    """The newest manifest, and what its file of patterns has."""
    manifest = Store(store).manifest("alerts")
    if manifest.patterns is None:
        return manifest, None
    return manifest, json.loads((store / "alerts" / "patterns" / f"{manifest.patterns}.json").read_text("utf-8"))


def test_the_file_is_that_of_the_documented_format(tmp_path: Path) -> None:
    made = RuleSet("alerts")
    made.subscribe("hot", "t > 30", on_change=["room", "site.name"], suppress="90s", metadata={"owner": "ops"})
    made.sequence("a", ["hot", ["cold", {"where": "t < 10"}]], by="room", within="1 hour", after="1s", overlapping=True)
    made.count("é", {"where": "t < 10"}, within="1 d", at_least=3, distinct="room")
    published(made, tmp_path)
    manifest, found = of_newest(tmp_path)
    fields = {"by": [], "within": None, "after": None, "at_least": None, "distinct": None, "overlapping": False}
    fields |= {"suppress": None, "metadata": None}
    assert found == {
        "patterns": [
            fields
            | {
                "id": "hot",
                "kind": "change",
                "steps": [[{"rule": "hot"}], [{"where": "NOT (t > 30)", "condition": "hot\x001"}]],
                "by": ["room", "site.name"],
                "suppress": 90_000_000,
                "metadata": {"owner": "ops"},
            },
            fields
            | {
                "id": "a",
                "kind": "sequence",
                "steps": [[{"rule": "hot"}], [{"rule": "cold"}, {"where": "t < 10", "condition": "a\x001"}]],
                "by": ["room"],
                "within": 3_600_000_000,
                "after": 1_000_000,
                "overlapping": True,
            },
            fields
            | {
                "id": "é",
                "kind": "count",
                "steps": [[{"where": "t < 10", "condition": "é\x001"}]],
                "within": 86_400_000_000,
                "at_least": 3,
                "distinct": "room",
            },
        ]
    }
    assert [list(own) for own in found["patterns"]] == [
        ["id", "kind", "steps", "by", "within", "after", "at_least", "distinct", "overlapping", "suppress", "metadata"]
    ] * 3
    assert manifest.format == 4
    assert {f"segments/{manifest.conditions}/{table}.arrow" for table in SCHEMAS} < set(manifest.files)
    assert f"patterns/{manifest.patterns}.json" in manifest.files
    conditions = Store(tmp_path).patterns(manifest).conditions
    assert {own.id: own.where for own in conditions} == {
        "hot\x001": "NOT (t > 30)",
        "a\x001": "t < 10",
        "é\x001": "t < 10",
    }
    Store(tmp_path).verify(manifest)
    loaded = RuleSet.load("alerts", tmp_path)
    assert dict(loaded.patterns) == dict(made.patterns)


def test_metadata_that_is_not_unicode(tmp_path: Path) -> None:
    made = RuleSet("alerts")
    made.count("p", "hot", within="1 h", at_least=2, metadata={"\ud800": "é\ud800"})
    published(made, tmp_path)
    assert dict(RuleSet.load("alerts", tmp_path).patterns) == dict(made.patterns)
    for column in ("\ud800", "x\udfff"):
        with pytest.raises(RuleSetError, match="name"):
            made.count("q", "hot", by=[column], within="1 h", at_least=2)
        with pytest.raises(RuleSetError, match="name"):
            made.count("q", "hot", distinct=column, within="1 h", at_least=2)


def test_without_patterns_the_format_is_as_before(tmp_path: Path) -> None:
    made = rules("one")
    made.store = tmp_path
    made.publish()
    assert Store(tmp_path).manifest("alerts").format == 4
    made.remove_pattern("one")
    made.publish()
    manifest = Store(tmp_path).manifest("alerts")
    assert (manifest.format, manifest.patterns, manifest.conditions) == (3, None, None)
    assert json.loads((tmp_path / "alerts" / "versions" / "2.json").read_text())["format"] == 3


def test_without_conditions_there_is_no_segment(tmp_path: Path) -> None:
    made = rules()
    made.together("both", ["hot", "cold"], within="1 h")
    published(made, tmp_path)
    manifest, _ = of_newest(tmp_path)
    assert manifest.conditions is None
    assert words(RuleSet.load("alerts", tmp_path)) == {"both": "hot and cold together, within 1 hour"}


def test_a_manifest_without_the_fields_has_none(tmp_path: Path) -> None:
    published(rules(), tmp_path)

    def without(fields: dict[str, Any]) -> None:
        del fields["patterns"], fields["conditions"]

    reseal(tmp_path / "alerts", without)
    loaded = RuleSet.load("alerts", tmp_path)
    assert not loaded.patterns
    loaded.count("many", "hot", within="1 h", at_least=2)
    loaded.publish()
    assert words(RuleSet.load("alerts", tmp_path)) == {"many": "hot 2 times, within 1 hour"}


def test_conditions_of_other_dialects_and_policies_are_read_by_everyone(tmp_path: Path) -> None:
    made = RuleSet("alerts", "postgres", Policy(extra_functions={"my_udf"}))
    made.subscribe("hot", "room ~ '^a' AND my_udf(t) > 3", on_change=["room"])
    made.store = tmp_path
    made.publish()
    (condition,) = Store(tmp_path).patterns(Store(tmp_path).manifest("alerts")).conditions
    assert condition.where == "NOT (room ~ '^a' AND my_udf(t) > 3)"
    assert condition.sql is not None
    assert "RLIKE" in condition.sql.upper()
    loaded = RuleSet.load("alerts", tmp_path)
    loaded.count("many", "hot", within="1 h", at_least=2)
    loaded.publish()
    assert Store(tmp_path).patterns(Store(tmp_path).manifest("alerts")).conditions == (condition,)


def test_changes_of_subscriptions_carry_them_over(tmp_path: Path) -> None:
    published(rules("one"), tmp_path)
    before = Store(tmp_path).manifest("alerts")
    loaded = RuleSet.load("alerts", tmp_path)
    loaded.subscribe("new", "t = 5")
    loaded.publish()
    loaded.publish(merge="all")
    after = Store(tmp_path).manifest("alerts")
    assert (after.patterns, after.conditions, after.format) == (before.patterns, before.conditions, 4)
    assert words(RuleSet.load("alerts", tmp_path)) == {"one": ONE}


def test_each_version_has_its_own_and_diff_tells_them_apart(tmp_path: Path) -> None:
    made = rules("one")
    made.store = tmp_path
    made.publish()
    made.remove_pattern("one")
    made.sequence("two", ["hot", "cold"], within="1 hour")
    made.publish()
    made.remove_pattern("two")
    made.sequence("two", ["hot", "cold"], within="2 hours")
    made.publish()
    expected = [
        {"one": ONE},
        {"two": "hot, then cold, within 1 hour"},
        {"two": "hot, then cold, within 2 hours"},
    ]
    assert [words(RuleSet.load("alerts", tmp_path, number)) for number in (1, 2, 3)] == expected
    assert str(made.diff(1, 2)) == ("0 added\n0 removed\n0 changed\n1 pattern added: two\n1 pattern removed: one")
    assert made.diff(2, 3).patterns == {"added": (), "removed": (), "changed": ("two",)}
    assert made.diff(2, 3)
    assert not made.diff(3, 3)
    assert made.rollback(1) == 4
    assert words(made) == words(RuleSet.load("alerts", tmp_path)) == {"one": ONE}
    assert Store(tmp_path).manifest("alerts").format == 4


def test_a_changed_pattern_is_a_changed_rule_set(tmp_path: Path) -> None:
    made = rules()
    made.store = tmp_path
    assert made.publish() == made.version
    made.count("many", "hot", within="1 h", at_least=2)
    assert made.version is None
    with pytest.raises(RuleSetError, match="unpublished changes"):
        made.rollback(1)
    assert made.publish() == made.version == 2


def test_unsubscribing_a_rule_removes_its_own_pattern_only(tmp_path: Path) -> None:
    made = rules("hot")
    made.subscribe("damp", "wet", on_change=["room"])
    made.subscribe("noisy", "loud", suppress="1 h")
    published(made, tmp_path)
    loaded = RuleSet.load("alerts", tmp_path)
    loaded.unsubscribe("damp")
    loaded.unsubscribe_all(["hot", "noisy"])
    loaded.publish()
    assert words(RuleSet.load("alerts", tmp_path)) == {"hot": ONE}


def test_one_rule_set_in_two_stores(tmp_path: Path) -> None:
    made = rules("one")
    for store in ("one", "two", "one"):
        made.store = tmp_path / store
        made.publish()
        assert words(RuleSet.load("alerts", tmp_path / store)) == {"one": ONE}
    made.sequence("two", ["hot", "cold"], within="1 hour")
    for store in ("two", "one", "two"):
        made.store = tmp_path / store
        made.publish()
        assert len(RuleSet.load("alerts", tmp_path / store).patterns) == 2
    assert len(list((tmp_path / "one" / "alerts" / "patterns").iterdir())) == 2


def test_a_rule_set_made_from_nothing_replaces_them(tmp_path: Path) -> None:
    published(rules("one"), tmp_path)
    published(rules("two"), tmp_path)
    assert words(RuleSet.load("alerts", tmp_path)) == {"two": ONE}


class TestTwoPublishers:
    def two(self, store: Path) -> tuple[RuleSet, RuleSet]:
        published(rules("one"), store)
        return RuleSet.load("alerts", store), RuleSet.load("alerts", store)

    def test_one_changes_patterns_the_other_subscriptions(self, tmp_path: Path) -> None:
        for order in (0, 1):
            ann, bob = self.two(tmp_path)
            ann.sequence("two", ["hot", {"where": "t < 10"}], by=["room"], within="1 hour")
            bob.subscribe("new", "t = 5")
            for who in (ann, bob) if order else (bob, ann):
                who.publish()
            loaded = RuleSet.load("alerts", tmp_path)
            assert words(loaded) == {"one": ONE, "two": ONE}
            assert "new" in loaded

    def test_both_change_patterns(self, tmp_path: Path) -> None:
        ann, bob = self.two(tmp_path)
        ann.together("two", ["hot", "cold"], within="1 hour")
        bob.remove_pattern("one")
        bob.subscribe("new", "t = 5")
        ann.publish()
        with pytest.raises(PublishConflict, match="others have changed the patterns since version 1"):
            bob.publish()
        loaded = RuleSet.load("alerts", tmp_path)
        assert list(loaded.patterns) == ["one", "two"]
        assert "new" not in loaded

    def test_both_make_the_same_change(self, tmp_path: Path) -> None:
        for who in self.two(tmp_path):
            who.sequence("two", ["hot", {"where": "t < 10"}], by=["room"], within="1 hour")
            who.publish()
        assert words(RuleSet.load("alerts", tmp_path)) == {"one": ONE, "two": ONE}

    def test_a_change_that_was_undone_is_none(self, tmp_path: Path) -> None:
        ann, bob = self.two(tmp_path)
        ann.together("two", ["hot", "cold"], within="1 hour")
        ann.publish()
        bob.together("three", ["hot", "cold"], within="1 hour")
        bob.remove_pattern("three")
        bob.publish()
        assert list(RuleSet.load("alerts", tmp_path).patterns) == ["one", "two"]


def test_garbage_collection_keeps_what_is_referred_to(tmp_path: Path) -> None:
    made = rules("one")
    made.store = tmp_path
    made.publish()
    old = Store(tmp_path).manifest("alerts")
    made.sequence("two", ["hot", {"where": "t < 10"}], within="1 hour")
    made.publish()
    made.publish()
    assert made.collect_garbage(keep=3, older_than=timedelta(0)).files == ()
    found = made.collect_garbage(keep=1, older_than=timedelta(0))
    assert {f"segments/{old.conditions}", f"patterns/{old.patterns}.json"} <= set(found.files)
    assert len(RuleSet.load("alerts", tmp_path).patterns) == 2
    Store(tmp_path).verify(Store(tmp_path).manifest("alerts"))


class TestDamage:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        published(rules("one"), tmp_path)
        (file,) = (tmp_path / "alerts" / "patterns").iterdir()
        return file

    def test_a_missing_file(self, tmp_path: Path, file: Path) -> None:
        file.unlink()
        loaded = RuleSet.load("alerts", tmp_path)
        assert len(loaded) == 2
        with pytest.raises(CorruptStore, match="is missing from the store"):
            len(loaded.patterns)
        with pytest.raises(CorruptStore, match="is missing from the store"):
            Store(tmp_path).verify(Store(tmp_path).manifest("alerts"))

    def test_another_content(self, tmp_path: Path, file: Path) -> None:
        file.write_text(file.read_text().replace("3600000000", "3600000001"))
        with pytest.raises(CorruptStore, match="is damaged"):
            len(RuleSet.load("alerts", tmp_path).patterns)
        with pytest.raises(CorruptStore, match="is not the file that was published"):
            Store(tmp_path).verify(Store(tmp_path).manifest("alerts"))

    @pytest.mark.parametrize(
        "change",
        [
            lambda own: own.update(kind="shuffle"),
            lambda own: own.update(steps=[]),
            lambda own: own.update(steps=[[{"rule": 3}], [{"rule": "hot"}]]),
            lambda own: own.update(steps=[[{}], [{"rule": "hot"}]]),
            lambda own: own.update(steps=[7, 8]),
            lambda own: own.update(within="1 hour"),
            lambda own: own.update(within=True),
            lambda own: own.update(overlapping=1),
            lambda own: own.update(metadata=[]),
            lambda own: own.pop("by"),
        ],
    )
    def test_fields_that_make_no_pattern(self, tmp_path: Path, file: Path, change: Any) -> None:
        content = json.loads(file.read_text())
        change(content["patterns"][0])
        file.write_text(json.dumps(content))
        reseal(tmp_path / "alerts")
        with pytest.raises(CorruptStore, match=r"\.json is damaged"):
            len(RuleSet.load("alerts", tmp_path).patterns)

    @pytest.mark.parametrize("text", ["", "[]", '{"patterns": 3}', "\x80", "[" * 100_000])
    def test_something_else(self, tmp_path: Path, file: Path, text: str) -> None:
        file.write_bytes(text.encode("latin-1"))
        reseal(tmp_path / "alerts")
        with pytest.raises(CorruptStore, match=r"\.json is damaged"):
            len(RuleSet.load("alerts", tmp_path).patterns)

    def test_an_id_that_is_there_twice(self, tmp_path: Path, file: Path) -> None:
        content = json.loads(file.read_text())
        file.write_text(json.dumps({"patterns": content["patterns"] * 2}))
        reseal(tmp_path / "alerts")
        with pytest.raises(CorruptStore, match="same id"):
            len(RuleSet.load("alerts", tmp_path).patterns)

    def test_a_condition_that_is_not_there(self, tmp_path: Path, file: Path) -> None:
        reseal(tmp_path / "alerts", lambda fields: {**fields, "conditions": None})
        with pytest.raises(CorruptStore, match="names the condition"):
            len(RuleSet.load("alerts", tmp_path).patterns)

    @pytest.mark.parametrize("field", ["patterns", "conditions"])
    def test_a_name_that_leaves_the_store(self, tmp_path: Path, file: Path, field: str) -> None:
        manifest = tmp_path / "alerts" / "versions" / "1.json"
        reseal_manifest(manifest, lambda fields: {**fields, field: "../../x"})
        with pytest.raises(Exception, match="is not a name"):
            RuleSet.load("alerts", tmp_path)

    def test_a_later_format(self, tmp_path: Path, file: Path) -> None:
        reseal(tmp_path / "alerts", lambda fields: {**fields, "format": 6})
        with pytest.raises(NewerFormat, match="reads the formats 2 to 5"):
            RuleSet.load("alerts", tmp_path)
