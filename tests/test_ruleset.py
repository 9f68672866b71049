"""What a user does with a rule set, without Spark."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sparkrules import (
    DuplicateId,
    Rejected,
    RuleError,
    RuleSet,
    RuleSetError,
    SparkRulesError,
    Store,
    StoreError,
    UnknownId,
)


@pytest.fixture
def rules() -> RuleSet:
    made = RuleSet("alerts")
    made.subscribe("hot", "temperature > 30 AND NOT indoors", priority=5, metadata={"owner": "ops"})
    made.subscribe("cold", "temperature < 0")
    return made


class TestSubscribing:
    def test_a_rule_set_holds_its_rules_by_id(self, rules: RuleSet) -> None:
        assert len(rules) == 2
        assert "hot" in rules
        assert "warm" not in rules
        assert [rule.id for rule in rules] == ["hot", "cold"]
        hot = rules.subscriptions["hot"]
        assert (hot.where, hot.priority, hot.metadata) == ("temperature > 30 AND NOT indoors", 5, {"owner": "ops"})

    def test_unsubscribing_removes_a_rule(self, rules: RuleSet) -> None:
        rules.unsubscribe("hot")
        assert [rule.id for rule in rules] == ["cold"]
        with pytest.raises(UnknownId, match=r"^rule set 'alerts' has no rule 'hot'$"):
            rules.unsubscribe("hot")

    def test_an_id_cannot_be_taken_twice(self, rules: RuleSet) -> None:
        with pytest.raises(DuplicateId, match="'alerts' already has a rule 'hot'"):
            rules.subscribe("hot", "temperature > 40")
        assert rules.subscriptions["hot"].where == "temperature > 30 AND NOT indoors"

    @pytest.mark.parametrize("where", ["", "  ", "temperature >", "SELECT 1", "rand() > 0.5"])
    def test_a_bad_text_is_an_error_that_names_the_rule(self, rules: RuleSet, where: str) -> None:
        with pytest.raises(RuleError, match="rule 'bad': ") as caught:
            rules.subscribe("bad", where)
        assert isinstance(caught.value, SparkRulesError)
        assert "bad" not in rules

    @pytest.mark.parametrize(
        "fields",
        [
            {"id": ""},
            {"id": None},
            {"id": "\ud800"},
            {"where": 7},
            {"priority": "high"},
            {"priority": 2**31},
            {"priority": True},
            {"metadata": "text"},
            {"metadata": {"a": object()}},
        ],
    )
    def test_a_field_of_the_wrong_kind_is_refused(self, rules: RuleSet, fields: dict[str, Any]) -> None:
        with pytest.raises(RuleSetError):
            rules.subscribe(**{"id": "new", "where": "a = 1", **fields})
        assert len(rules) == 2

    def test_metadata_is_a_copy(self, rules: RuleSet) -> None:
        mine = {"tags": ["a"]}
        rules.subscribe("new", "a = 1", metadata=mine)
        mine["tags"].append("b")
        assert rules.subscriptions["new"].metadata == {"tags": ["a"]}

    def test_the_name_of_a_rule_set_is_checked(self) -> None:
        with pytest.raises(StoreError, match="is not a name"):
            RuleSet("my alerts")


class TestSubscribingAll:
    def test_bad_rules_are_set_aside_and_the_rest_goes_on(self, rules: RuleSet) -> None:
        accepted = rules.subscribe_all(
            [
                ("mild", "temperature BETWEEN 10 AND 20"),
                ("broken", "temperature >\n  AND"),
                ("hot", "temperature > 50"),
                ("mild", "temperature = 15"),
                (None, "a = 1"),
                ("none", None),
                (17, "a = 17", "-3"),
                ("odd", "a = 1", "high"),
            ]
        )
        assert accepted == 2
        assert [rule.id for rule in rules] == ["hot", "cold", "mild", "17"]
        assert rules.subscriptions["17"].priority == -3
        assert [rejected.id for rejected in rules.rejected] == ["broken", "hot", "mild", "", "none", "odd"]
        broken, duplicate = rules.rejected[:2]
        assert isinstance(broken, Rejected)
        assert (broken.where, broken.line) == ("temperature >\n  AND", 2)
        assert broken.reason
        assert "already" in duplicate.reason
        assert duplicate.line is None

    def test_rejected_rules_keep_their_order(self, rules: RuleSet, tmp_path: Path) -> None:
        rules.store = tmp_path
        rules.publish()
        rules.subscribe("dry", "humidity < 10")
        source = [("x", "a >"), ("hot", "a = 1"), ("dry", "a = 1"), ("hot", "a = 2"), ("new", "a = 1"), ("y", "a >")]
        assert rules.subscribe_all(source) == 1
        assert [rejected.id for rejected in rules.rejected] == ["x", "hot", "dry", "hot", "y"]
        assert all("already" in rejected.reason for rejected in rules.rejected[1:4])

    def test_a_source_that_breaks_off_adds_nothing(self, rules: RuleSet, tmp_path: Path) -> None:
        (tmp_path / "a.jsonl").write_text('{"id": "x", "where": "a = 1"}\nnot JSON\n')
        with pytest.raises(RuleSetError, match="line 2"):
            rules.subscribe_all(tmp_path / "a.jsonl")
        assert "x" not in rules

    def test_nothing_is_printed_where_nobody_looks(self, capfd: pytest.CaptureFixture[str]) -> None:
        RuleSet("many").subscribe_all((str(n), f"a = {n}") for n in range(3000))
        assert capfd.readouterr() == ("", "")

    def test_another_dialect(self) -> None:
        rules = RuleSet("alerts", dialect="postgres")
        rules.subscribe("a", "name ~ '^x'")
        assert "rlike" in str(rules.subscriptions["a"].tree).lower()


class TestPublishing:
    def test_a_store_that_publish_names_is_that_of_the_rules_from_then_on(self, tmp_path: Path) -> None:
        rules = RuleSet("alerts", store=tmp_path / "first")
        rules.subscribe("hot", "temperature > 30")
        assert rules.publish(store=tmp_path / "second") == 1
        assert rules.store.path == tmp_path / "second"
        assert not (tmp_path / "first").exists()
        assert "hot" in RuleSet.load("alerts", tmp_path / "second")

    def test_a_published_set_can_be_loaded(self, rules: RuleSet, tmp_path: Path) -> None:
        rules.store = tmp_path
        assert rules.publish() == 1
        loaded = RuleSet.load("alerts", tmp_path)
        assert {r.id: (r.where, r.priority, r.metadata) for r in loaded} == {
            r.id: (r.where, r.priority, r.metadata) for r in rules
        }
        table = pa.table({"temperature": [35, 35, -1], "indoors": [True, False, None]})
        assert loaded.match(table).ids.equals(rules.match(table).ids)

    def test_a_loaded_set_can_be_changed_and_published_again(self, rules: RuleSet, tmp_path: Path) -> None:
        rules.store = tmp_path
        rules.publish()
        loaded = RuleSet.load("alerts", tmp_path)
        loaded.unsubscribe("hot")
        loaded.subscribe("mild", "temperature = 15")
        assert loaded.publish() == 2
        assert {rule.id for rule in RuleSet.load("alerts", tmp_path)} == {"cold", "mild"}
        assert {rule.id for rule in RuleSet.load("alerts", tmp_path, version=1)} == {"cold", "hot"}

    def test_it_knows_in_which_store_it_is_up_to_date(self, rules: RuleSet, tmp_path: Path) -> None:
        rules.store = tmp_path
        assert rules.version is None
        rules.publish()
        rules.store = f"file:{tmp_path}"
        assert rules.version == 1
        rules.store = Store(tmp_path / "other")
        assert rules.version is None
        rules.store = Store(tmp_path)
        assert rules.version == 1
        rules.unsubscribe("hot")
        assert rules.version is None

    def test_rejected_rules_are_published_too(self, rules: RuleSet, tmp_path: Path) -> None:
        rules.subscribe_all([("broken", "temperature >\n AND"), ("\ud800", "a = 1"), (None, None)])
        aside = list(rules.rejected)
        rules.store = tmp_path
        rules.publish()
        assert rules.rejected[0] == aside[0]
        loaded = RuleSet.load("alerts", tmp_path)
        assert [(rejected.id, rejected.line) for rejected in loaded.rejected] == [
            ("broken", 2),
            ("?", None),
            ("", None),
        ]
        loaded.rejected.clear()
        loaded.publish()
        assert RuleSet.load("alerts", tmp_path).rejected == []
        assert RuleSet.load("alerts", tmp_path, version=1).rejected == rules.rejected

    def test_subscriptions_can_be_looked_at_one_by_one_or_compared(self, rules: RuleSet, tmp_path: Path) -> None:
        rules.store = tmp_path
        rules.publish()
        loaded = RuleSet.load("alerts", tmp_path)
        loaded.subscribe("new", "a = 1")
        assert list(loaded.subscriptions) == ["cold", "hot", "new"]
        assert loaded.subscriptions == {rule.id: rule for rule in loaded}
        assert loaded.subscriptions.get("nobody") is None
        with pytest.raises(KeyError, match="nobody"):
            _ = loaded.subscriptions["nobody"]

    def test_removing_many_is_all_or_nothing(self, rules: RuleSet, tmp_path: Path) -> None:
        rules.store = tmp_path
        rules.publish()
        rules.subscribe("new", "a = 1")
        for unknown in ("nobody", "\ud800", 7, None):
            with pytest.raises(UnknownId, match=r"'alerts' has no rule|an id is a string"):
                rules.unsubscribe_all(["hot", unknown, "new"])  # type: ignore[list-item]
        assert len(rules) == 3
        with pytest.raises(RuleSetError, match="must be a list of ids"):
            rules.unsubscribe_all("hot")
        assert rules.unsubscribe_all(iter(["hot", "new", "hot"])) == 2
        assert list(rules.subscriptions) == ["cold"]
        assert rules.unsubscribe_all([]) == 0

    def test_without_a_store_the_default_one_is_used(self, rules: RuleSet) -> None:
        version = rules.publish()
        loaded = RuleSet.load("alerts", version=version)
        assert (loaded.version, loaded.store.path) == (version, Store().path)

    def test_the_index_is_built_when_needed_and_kept_until_a_change(self, rules: RuleSet) -> None:
        segment = rules._segment
        assert rules._segment is segment
        rules.unsubscribe("hot")
        assert rules._segment is not segment

    def test_the_functions_of_the_rules_are_published(self, rules: RuleSet) -> None:
        rules.subscribe("name", "lower(name) = upper('x')")
        assert {"lower", "upper"} <= set(rules._segment.functions)


class TestMatching:
    def test_arrow_tables_are_matched_without_spark(self, rules: RuleSet) -> None:
        table = pa.table(
            {"temperature": [35.0, 35.0, -1.0, None, math.nan], "indoors": [True, False, None, False, False]}
        )
        assert rules.match(table).ids.to_pylist() == [[], ["hot"], ["cold"], [], ["hot"]]  # to Spark, NaN is largest


class TestExplaining:
    def test_every_part_has_its_truth(self, rules: RuleSet) -> None:
        hot, cold = rules.explain({"temperature": 35, "indoors": True})
        assert (hot.id, hot.matched, cold.id, cold.matched) == ("hot", False, "cold", False)
        assert {(child.text, child.truth) for child in hot.root.children} == {
            ("temperature > 30", True),
            ("indoors is false", False),
        }

    def test_some_subscriptions_only(self, rules: RuleSet) -> None:
        (hot,) = rules.explain({"temperature": 35, "indoors": False}, ids=["hot"])
        assert hot.matched
        with pytest.raises(UnknownId, match="'warm'"):
            rules.explain({"temperature": 35, "indoors": False}, ids=["warm"])

    def test_what_numpy_cannot_say_is_an_error_with_the_remedy(self, rules: RuleSet) -> None:
        rules.subscribe("name", "lower(name) = 'x'")
        row = {"temperature": 35, "indoors": False, "name": "X"}
        with pytest.raises(RuleSetError, match=r"lower\(name\) = 'x': .*explain\(row, spark\)"):
            rules.explain(row)
        assert [e.matched for e in rules.explain(row, ids=["hot"])] == [True]

    def test_a_row_of_another_kind_is_refused(self, rules: RuleSet) -> None:
        with pytest.raises(RuleSetError, match="a row is a mapping"):
            rules.explain([1, 2])  # type: ignore[arg-type]
