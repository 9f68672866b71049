"""Pruned rules, filters and pruned advertisements from the user's side: never fewer matches, and the mark stays."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sparkrules import RuleSet
from sparkrules.cli import main
from sparkrules.demo.auctions import auction_rows, auction_rules
from sparkrules.errors import RuleSetError
from sparkrules.sql import parse_rule
from sparkrules.sql.tree import predicates
from sparkrules.store import Store
from tests.test_advertisements import ROWS, conditions, rules


def matched(made: RuleSet, table: pa.Table) -> list[set[str]]:
    return [set(ids) for ids in made.match(table).ids.to_pylist()]


def count(made: RuleSet) -> int:
    return sum(len(list(predicates(rule.tree))) for rule in made)


class TestPruning:
    def test_it_has_a_name_and_a_mark_of_its_own(self, tmp_path: Path) -> None:
        made = rules({"cellar": "indoors AND (t > 30 OR damp) AND floor = -1"}, attic="t > 20")
        made.store = tmp_path
        made.publish()
        general = made.prune(keep=0.5)
        assert repr(general) == "RuleSet('alerts.general', 1 rules, general)"
        assert (general.general, made.general) == (True, False)
        assert list(general.advertisements) == ["attic"]
        assert made.prune(keep=0.5, name="edge").name == "edge"
        assert made.subscriptions["cellar"].where == "indoors AND (t > 30 OR damp) AND floor = -1"

    def test_the_mark_survives_the_store(self, tmp_path: Path) -> None:
        general = rules({"hot": "t > 30 AND NOT indoors", "cold": "t < 0 AND indoors"}).prune(keep=0.5)
        general.store = tmp_path
        first = general.publish()
        loaded = RuleSet.load("alerts.general", tmp_path)
        assert loaded.general
        loaded.subscribe("mild", "t = 20")
        loaded.publish()
        assert Store(tmp_path).manifest("alerts.general").general
        assert loaded.rollback(first) == 3
        assert RuleSet.load("alerts.general", tmp_path).general
        fresh = RuleSet("alerts.general", store=tmp_path)
        fresh.subscribe("hot", "t > 30")
        fresh.publish()
        assert not RuleSet.load("alerts.general", tmp_path).general

    def test_what_is_made_from_general_rules_is_general(self) -> None:
        general = rules({"hot": "t > 30 AND NOT indoors", "cold": "t < 0 AND indoors"}).prune(keep=0.5)
        assert general.restrict(where="t > 0").general
        assert general.prune(keep=0.5).general

    def test_two_publishers_do_not_lose_the_mark(self, tmp_path: Path) -> None:
        general = rules({"hot": "t > 30 AND NOT indoors"}).prune(keep=0)
        general.store = tmp_path
        general.publish()
        one, other = (RuleSet.load("alerts.general", tmp_path) for _ in range(2))
        one.subscribe("a", "t = 1")
        other.subscribe("b", "t = 2")
        one.publish()
        other.publish()
        assert other.general
        assert Store(tmp_path).manifest("alerts.general").general

    def test_the_command_line_shows_the_mark(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        made = rules({"hot": "t > 30 AND NOT indoors"})
        for own in (made, made.prune(keep=0)):
            own.store = tmp_path
            own.publish()
        assert main(["versions", "--store", str(tmp_path), "--json"]) == 0
        assert [own["general"] for own in json.loads(capsys.readouterr().out)] == [False, True]
        assert main(["versions", "--store", str(tmp_path)]) == 0
        heading, *lines = capsys.readouterr().out.splitlines()
        assert "general" in heading
        assert [line.split()[-1] for line in lines if line.startswith("alerts")] == ["no", "yes"]

    def test_rules_keep_what_is_not_their_text(self) -> None:
        made = RuleSet("alerts", dialect="postgres", default_validity=timedelta(days=1))
        begin = datetime(2030, 1, 1, tzinfo=timezone.utc)
        made.subscribe("hot", "t > 30 AND x ~ 'a'", 7, {"owner": "ops"}, valid_from=begin, ticket=True)
        made.subscribe("one", "x ~ 'a'", 3)
        general = made.prune(keep=0.5)
        hot, one = general.subscriptions["hot"], general.subscriptions["one"]
        assert (hot.priority, hot.metadata, hot.valid_from, hot.ticket) == (7, {"owner": "ops"}, begin, None)
        assert parse_rule(hot.where) == hot.tree
        assert (one.where, one.sql) == ("x ~ 'a'", "x RLIKE '(?s)a'")

    def test_how_far_must_be_said(self) -> None:
        made = rules({"hot": "t > 30 AND NOT indoors"})
        with pytest.raises(RuleSetError, match="say how far to prune"):
            made.prune()
        for wrong in (
            {"keep": 2},
            {"keep": "all"},
            {"degradation": -0.1},
            {"distinct": True},
            {"prunings": float("nan")},
        ):
            with pytest.raises(RuleSetError, match="is a number from 0 to 1"):
                made.prune(**wrong)  # type: ignore[arg-type]
        with pytest.raises(RuleSetError, match="is a number from 0 to 1"):
            made.advertisements.prune(keep=3)

    def test_nothing_to_prune_changes_nothing(self) -> None:
        made = rules({"hot": "t > 30", "two": "t > 30 OR damp", "all": "true"})
        assert {rule.id: rule.where for rule in made.prune(keep=0)} == {rule.id: rule.where for rule in made}
        assert len(RuleSet("none").prune(keep=0)) == 0
        assert rules({"hot": "t > 30 AND damp"}).prune(keep=1).subscriptions["hot"].where == "t > 30 AND damp"

    def test_predicates_are_replaced_on_request(self) -> None:
        made = rules({f"r{at}": f"price < {at + 10} AND title = 't{at % 3}'" for at in range(30)})
        general = made.prune(distinct=0.2)
        assert count(general) == count(made)
        assert len({own for rule in general for own in predicates(rule.tree)}) <= 0.2 * 33

    def test_auctions_match_no_less(self) -> None:
        made = RuleSet("auctions")
        made.subscribe_all(auction_rules(300))
        table = auction_rows(300)
        before = matched(made, table)
        kept = count(made)
        for keep in (0.8, 0.5, 0.34, 0.1):
            general = made.prune(keep=keep)
            assert all(own <= now for own, now in zip(before, matched(general, table), strict=True))
            assert count(general) <= kept
            kept = count(general)
        # Parts that have become equal are one.
        assert 0.4 * count(made) < count(made.prune(keep=0.5)) <= 0.5 * count(made)


class TestFilters:
    def test_only_valid_rules_count(self) -> None:
        made = rules({"hot": "t > 30"})
        now = datetime.now(timezone.utc)
        made.subscribe("old", "u = 1", valid_until=now - timedelta(days=1))
        made.subscribe("next", "v = 1", valid_from=now + timedelta(days=1))
        assert made.filter_sql() == "t > 30"
        assert made.filter_sql(at=now + timedelta(days=2)) == "t > 30 OR v = 1"

    def test_rules_without_a_filter_are_named(self) -> None:
        made = rules({"hot": "t > 30", "odd": "t + u > 5", "or": "t = 1 OR length(s) = 2"})
        found = made.scan_filter()
        assert (found.sql, found.blamed, repr(found)) == (
            "TRUE",
            ("odd", "or"),
            "ScanFilter(TRUE, because of 'odd', 'or')",
        )
        assert rules({"odd": "t + u > 5"}).filter_sql() == "TRUE"
        assert RuleSet("none").filter_sql() == "FALSE"

    def test_other_dialects(self) -> None:
        made = rules({"a": "`odd name` < 1.5", "b": "s = 'it''s'"})
        assert made.filter_sql("postgres") == "\"odd name\" < 1.5 OR s = 'it''s'"
        with pytest.raises(RuleSetError, match="cannot be written in the dialect 'klingon'"):
            made.filter_sql("klingon")


class TestIsThereAny:
    def test_of_rules(self) -> None:
        made = rules({"mild": "t > 15 AND t < 25", "damp": "damp"}, cellar="t < 10 AND NOT damp")
        ask = made.advertisements.any_overlapping
        assert ask(where="t = 20")
        assert not ask("cellar")
        assert not ask(where="t > 20 AND t < 18 AND NOT damp")
        assert ask(where="t > 20 AND t < 18 AND NOT damp", exact=False)
        assert not ask(where="t < 16 AND NOT damp", schema=pa.schema([("t", pa.int32()), ("damp", pa.bool_())]))

    def test_of_sources(self) -> None:
        made = rules({"hot": "t > 30", "cold": "t < 0"}, cellar="t < 20", attic="t > 25 AND t < 28")
        assert made.advertisements.any_source("cold")
        assert not made.advertisements.any_source("hot")
        assert made.advertisements.any_source(where="t = 27")
        with pytest.raises(RuleSetError, match="either the id of"):
            made.advertisements.any_source()


class TestPrunedAdvertisements:
    def test_they_are_never_certain_and_remember_the_original(self) -> None:
        made = rules({"hot": "t > 30", "mild": "t > 15 AND t < 25"}, cellar="floor < 0 AND t < 20", roof="t > 40")
        pruned = made.advertisements.prune(keep=0)
        assert str(pruned["cellar"]) == "t < 20"
        assert str(pruned["cellar"].original) == "floor < 0 AND t < 20"
        assert not pruned["roof"].is_pruned
        assert [tuple(pair) for pair in pruned.overlaps()] == [("cellar", "mild", False), ("roof", "hot", True)]
        assert pruned.prune(keep=0)["cellar"].original == made.advertisements["cellar"]
        assert str(made.advertisements["cellar"]) == "floor < 0 AND t < 20"

    def test_what_is_published_is_the_original(self, tmp_path: Path) -> None:
        made = rules({"hot": "t > 30"}, cellar="floor < 0 AND t < 20")
        made.advertisements.prune(keep=0)
        made.store = tmp_path
        made.publish()
        assert str(RuleSet.load("alerts", tmp_path).advertisements["cellar"]) == "floor < 0 AND t < 20"


@given(st.lists(conditions, min_size=1, max_size=6), st.floats(0, 1), st.one_of(st.none(), st.floats(0, 1)))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_pruned_rules_match_no_less(texts: list[str], keep: float, distinct: float | None) -> None:
    made = rules({f"r{at}": text for at, text in enumerate(texts)})
    general = made.prune(keep=keep, distinct=distinct, schema=ROWS)
    for before, after in zip(matched(made, ROWS), matched(general, ROWS), strict=True):
        assert before <= after


@given(st.lists(conditions, min_size=1, max_size=6), st.booleans(), st.integers(1, 5))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_filters_keep_every_match(texts: list[str], with_schema: bool, disjuncts: int) -> None:
    made = rules({f"r{at}": text for at, text in enumerate(texts)})
    schema: Any = ROWS if with_schema else None
    text = made.filter_sql(schema=schema, disjuncts=disjuncts, values=2)
    kept = matched(rules({"filter": text}), ROWS)
    for ids, own in zip(matched(made, ROWS), kept, strict=True):
        assert own or not ids, text


@given(st.lists(conditions, min_size=1, max_size=4), st.lists(conditions, min_size=1, max_size=4), st.floats(0, 1))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_pruned_advertisements_overlap_no_less(texts: list[str], sources: list[str], keep: float) -> None:
    made = rules(
        {f"r{at}": text for at, text in enumerate(texts)}, **{f"s{at}": text for at, text in enumerate(sources)}
    )
    pruned = made.advertisements.prune(keep=keep, schema=ROWS)
    conforming = {id: matched(rules({"yes": str(own)}), ROWS) for id, own in made.advertisements.items()}
    for id, own in pruned.items():
        now = matched(rules({"yes": str(own)}), ROWS)
        assert all(before <= after for before, after in zip(conforming[id], now, strict=True))
        before = set(made.advertisements.overlapping(id, schema=ROWS))
        assert before <= set(pruned.overlapping(id, schema=ROWS))
        assert pruned.any_overlapping(id, schema=ROWS) == bool(pruned.overlapping(id, schema=ROWS))
    certain = {pair.advertisement for pair in pruned.overlaps(schema=ROWS) if pair.certain}
    assert not any(pruned[id].is_pruned for id in certain)
    for id in made.subscriptions:
        assert set(made.advertisements.sources(id, schema=ROWS)) <= set(pruned.sources(id, schema=ROWS))
        assert pruned.any_source(id, schema=ROWS) == bool(pruned.sources(id, schema=ROWS))
