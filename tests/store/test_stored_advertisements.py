"""Advertisements are part of a version: stored, carried over, rolled back, and not lost between two publishers."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from sparkrules import RuleSet
from sparkrules.errors import CorruptStore, PublishConflict, RuleSetError
from sparkrules.index import SCHEMAS
from sparkrules.index.tables import OPTIONAL
from sparkrules.sql import Node, Policy, Predicate
from sparkrules.store import Store
from sparkrules.store.arrow_file import read_arrow, write_arrow
from tests.store.published import published
from tests.store.resealed import reseal, reseal_manifest, unverified


def rules(**advertisements: str) -> RuleSet:
    made = RuleSet("alerts")
    made.subscribe_all({"hot": "t > 30", "cold": "t < 0"})
    for id, where in advertisements.items():
        made.advertise(id, where)
    return made


def texts(loaded: RuleSet) -> dict[str, str]:
    return {id: own.where for id, own in loaded.advertisements.items()}


def written(store: Path) -> list[Path]:
    """The segments of advertisements that there are: those that are no version's subscriptions."""
    versions = Store(store).versions("alerts")
    known = {entry.name for number in versions for entry in Store(store).manifest("alerts", number).segments}
    return sorted(file for file in (store / "alerts" / "segments").iterdir() if file.name not in known)


def unordered(tree: Node) -> object:
    """A tree in which the order of operands does not matter."""
    return tree if isinstance(tree, Predicate) else (tree.operator, frozenset(map(unordered, tree.children)))


def test_what_is_published_is_loaded(tmp_path: Path) -> None:
    made = rules(attic="t > 20 AND floor > 3", **{"a ' \N{SNOWMAN}": "x <=> NULL OR y = '\N{SNOWMAN}'"})
    made.store = tmp_path
    made.publish()
    loaded = RuleSet.load("alerts", tmp_path)
    assert texts(loaded) == texts(made)
    assert list(loaded.advertisements) == list(made.advertisements)
    trees = [[unordered(own.tree) for own in rules.advertisements.values()] for rules in (loaded, made)]
    assert trees[0] == trees[1]
    assert Store(tmp_path).diff("alerts", 1, made.publish()).touched == frozenset()


def test_a_text_of_another_dialect_is_kept_and_its_spark_sql_as_well(tmp_path: Path) -> None:
    made = RuleSet("alerts", dialect="postgres")
    made.advertise("attic", "room ~ '^a' AND t > 3")
    made.store = tmp_path
    made.publish()
    loaded = RuleSet.load("alerts", tmp_path).advertisements["attic"]
    assert loaded.where == "room ~ '^a' AND t > 3"
    assert loaded.sql == made.advertisements["attic"].sql != loaded.where


def test_what_a_publisher_was_allowed_is_read_by_everyone(tmp_path: Path) -> None:
    made = RuleSet("alerts", policy=Policy(extra_functions={"my_udf"}))
    made.advertise("attic", "my_udf(t) > 3")
    made.store = tmp_path
    made.publish()
    assert texts(RuleSet.load("alerts", tmp_path)) == {"attic": "my_udf(t) > 3"}


def test_without_any_there_is_no_file(tmp_path: Path) -> None:
    published(rules(), tmp_path)
    assert written(tmp_path) == []
    assert Store(tmp_path).manifest("alerts").advertisements is None


def test_a_manifest_without_the_field_has_none(tmp_path: Path) -> None:
    published(rules(), tmp_path)
    file = tmp_path / "alerts" / "versions" / "1.json"
    unverified(tmp_path / "alerts")
    fields = json.loads(file.read_text())
    del fields["advertisements"]
    file.write_text(json.dumps(fields))
    loaded = RuleSet.load("alerts", tmp_path)
    assert not loaded.advertisements
    loaded.advertise("attic", "t > 20")
    loaded.publish()
    assert texts(RuleSet.load("alerts", tmp_path)) == {"attic": "t > 20"}


def test_changes_of_subscriptions_carry_them_over(tmp_path: Path) -> None:
    published(rules(attic="t > 20"), tmp_path)
    (file,) = written(tmp_path)
    loaded = RuleSet.load("alerts", tmp_path)
    loaded.subscribe("new", "t = 5")
    loaded.publish()
    loaded.publish(merge="all")
    assert texts(RuleSet.load("alerts", tmp_path)) == {"attic": "t > 20"}
    assert written(tmp_path) == [file]


def test_each_version_has_its_own(tmp_path: Path) -> None:
    made = rules(attic="t > 20")
    made.store = tmp_path
    made.publish()
    made.unadvertise("attic")
    made.advertise("cellar", "t < 10")
    made.publish()
    made.unadvertise("cellar")
    made.publish()
    assert [texts(RuleSet.load("alerts", tmp_path, n)) for n in (1, 2, 3)] == [
        {"attic": "t > 20"},
        {"cellar": "t < 10"},
        {},
    ]
    assert made.rollback(2) == 4
    assert texts(made) == texts(RuleSet.load("alerts", tmp_path)) == {"cellar": "t < 10"}


def test_unpublished_advertisements_are_not_rolled_back_over(tmp_path: Path) -> None:
    made = rules()
    made.store = tmp_path
    made.publish()
    made.advertise("attic", "t > 20")
    with pytest.raises(RuleSetError, match="unpublished changes"):
        made.rollback(1)


def test_one_rule_set_in_two_stores(tmp_path: Path) -> None:
    made = rules(attic="t > 20")
    for store in ("one", "two", "one"):
        made.store = tmp_path / store
        made.publish()
        assert texts(RuleSet.load("alerts", tmp_path / store)) == {"attic": "t > 20"}
    made.advertise("cellar", "t < 10")
    for store in ("two", "one", "two"):
        made.store = tmp_path / store
        made.publish()
        assert len(RuleSet.load("alerts", tmp_path / store).advertisements) == 2
    assert len(written(tmp_path / "one")) == len(written(tmp_path / "two")) == 2


def test_a_rule_set_made_from_nothing_replaces_them(tmp_path: Path) -> None:
    published(rules(attic="t > 20"), tmp_path)
    published(rules(cellar="t < 10"), tmp_path)
    assert texts(RuleSet.load("alerts", tmp_path)) == {"cellar": "t < 10"}


class TestTwoPublishers:
    def two(self, store: Path) -> tuple[RuleSet, RuleSet]:
        published(rules(attic="t > 20"), store)
        return RuleSet.load("alerts", store), RuleSet.load("alerts", store)

    def test_one_changes_advertisements_the_other_subscriptions(self, tmp_path: Path) -> None:
        for order in (0, 1):
            ann, bob = self.two(tmp_path)
            ann.advertise("cellar", "t < 10")
            bob.subscribe("new", "t = 5")
            for who in (ann, bob) if order else (bob, ann):
                who.publish()
            loaded = RuleSet.load("alerts", tmp_path)
            assert texts(loaded) == {"attic": "t > 20", "cellar": "t < 10"}
            assert "new" in loaded

    def test_both_change_advertisements(self, tmp_path: Path) -> None:
        ann, bob = self.two(tmp_path)
        ann.advertise("cellar", "t < 10")
        bob.unadvertise("attic")
        bob.subscribe("new", "t = 5")
        ann.publish()
        with pytest.raises(PublishConflict, match="others have changed the advertisements since version 1"):
            bob.publish()
        loaded = RuleSet.load("alerts", tmp_path)
        assert texts(loaded) == {"attic": "t > 20", "cellar": "t < 10"}
        assert "new" not in loaded

    def test_both_make_the_same_change(self, tmp_path: Path) -> None:
        for who in self.two(tmp_path):
            who.advertise("cellar", "t < 10")
            who.publish()
        assert texts(RuleSet.load("alerts", tmp_path)) == {"attic": "t > 20", "cellar": "t < 10"}

    def test_a_change_that_was_undone_is_none(self, tmp_path: Path) -> None:
        ann, bob = self.two(tmp_path)
        ann.advertise("cellar", "t < 10")
        ann.publish()
        bob.advertise("roof", "t < 10")
        bob.unadvertise("roof")
        bob.publish()
        assert texts(RuleSet.load("alerts", tmp_path)) == {"attic": "t > 20", "cellar": "t < 10"}


def test_garbage_collection_keeps_what_is_referred_to(tmp_path: Path) -> None:
    made = rules(attic="t > 20")
    made.store = tmp_path
    made.publish()
    (old,) = written(tmp_path)
    made.advertise("cellar", "t < 10")
    made.publish()
    made.publish()
    assert made.collect_garbage(keep=3, older_than=timedelta(0)).files == ()
    found = made.collect_garbage(keep=1, older_than=timedelta(0))
    assert f"segments/{old.name}" in found.files
    assert len(RuleSet.load("alerts", tmp_path).advertisements) == 2


class TestDamage:
    def test_an_id_that_is_there_twice(self, tmp_path: Path) -> None:
        published(rules(attic="t > 20", cellar="t < 3"), tmp_path)
        (segment,) = written(tmp_path)
        schema = SCHEMAS["subscriptions"]
        table = read_arrow(segment / "subscriptions.arrow", schema, optional=OPTIONAL["subscriptions"])
        twice = table.set_column(0, schema.field("id"), pa.array(["attic", "attic"]))
        (segment / "subscriptions.arrow").unlink()  # it is mapped
        write_arrow(segment / "subscriptions.arrow", twice, schema)
        for _ in range(2):
            with pytest.raises(CorruptStore, match="publish the rule set again"):
                len(RuleSet.load("alerts", tmp_path).advertisements)
            reseal(tmp_path / "alerts")

    def test_a_missing_file(self, tmp_path: Path) -> None:
        published(rules(attic="t > 20"), tmp_path)
        (written(tmp_path)[0] / "nodes.arrow").unlink()
        loaded = RuleSet.load("alerts", tmp_path)
        with pytest.raises(CorruptStore, match="is missing from the store"):
            len(loaded.advertisements)
        assert len(loaded.match(pa.table({"t": [35]})).ids[0]) == 1
        loaded.subscribe("new", "t = 5")
        with pytest.raises(CorruptStore, match="is missing from the store"):
            loaded.publish()

    def test_a_name_that_leaves_the_store(self, tmp_path: Path) -> None:
        published(rules(attic="t > 20"), tmp_path)
        file = tmp_path / "alerts" / "versions" / "1.json"
        reseal_manifest(file, lambda fields: {**fields, "advertisements": "../../x"})
        with pytest.raises(Exception, match="is not a name"):
            len(RuleSet.load("alerts", tmp_path).advertisements)
