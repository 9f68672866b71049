"""A subscription matches from one instant until another."""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from sparkrules import RuleSet
from sparkrules.errors import RuleSetError

T = datetime(2026, 1, 31, 12, 0, 0, 5, tzinfo=timezone.utc)
NAIVE = T.replace(tzinfo=None, hour=0, microsecond=0)
TICK = timedelta(microseconds=1)
ROW = pa.table({"a": [1]})


def matching(rules: RuleSet, at: datetime | None = None) -> list[str]:
    ids: list[str] = rules.match(ROW, at=at).ids.to_pylist()[0]
    return ids


@pytest.fixture
def rules() -> RuleSet:
    made = RuleSet("alerts")
    made.subscribe("always", "a = 1")
    made.subscribe("from", "a = 1", valid_from=T)
    made.subscribe("until", "a = 1", valid_until=T)
    made.subscribe("both", "a = 1", valid_from=T, valid_until=T + TICK)
    return made


@pytest.mark.parametrize("stored", [False, True])
def test_the_begin_belongs_to_it_and_the_end_does_not(rules: RuleSet, stored: bool, tmp_path: Path) -> None:
    if stored:
        rules.store = tmp_path
        rules.publish()
        rules = RuleSet.load("alerts", tmp_path)
    assert matching(rules, T - TICK) == ["always", "until"]
    assert matching(rules, T) == ["always", "both", "from"]
    assert matching(rules, T + TICK) == ["always", "from"]
    assert matching(rules, T.astimezone(timezone(timedelta(hours=5)))) == ["always", "both", "from"]


def test_without_a_time_it_is_now() -> None:
    rules = RuleSet("alerts")
    now = datetime.now(timezone.utc)
    rules.subscribe("now", "a = 1", valid_from=now - timedelta(hours=1), valid_until=now + timedelta(hours=1))
    rules.subscribe("past", "a = 1", valid_until=now - timedelta(hours=1))
    rules.subscribe("future", "a = 1", valid_from=now + timedelta(hours=1))
    assert matching(rules) == ["now"]
    assert [e.id for e in rules.explain({"a": 1})] == ["now"]


def test_a_rule_that_is_not_valid_need_not_be_possible(rules: RuleSet) -> None:
    rules.subscribe("spark only", "a RLIKE 'x'", valid_until=T)
    rules.subscribe("no column", "b = 1", valid_until=T)
    assert matching(rules, T) == ["always", "both", "from"]


def test_an_explanation_says_that_it_is_not_valid(rules: RuleSet) -> None:
    (explained,) = rules.explain({"a": 1}, ids=["until"], at=T)
    assert (explained.matched, explained.valid, explained.root.truth) == (False, False, True)
    assert str(explained).startswith("until is not valid at that time")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"valid_from": NAIVE}, "valid_from 2026-01-31 00:00:00 has no time zone"),
        ({"valid_until": NAIVE}, "valid_until 2026-01-31 00:00:00 has no time zone"),
        ({"valid_from": T, "valid_until": T}, "is not after valid_from"),
        ({"valid_from": T, "valid_until": T - TICK}, "is not after valid_from"),
        ({"valid_from": "soon"}, "valid_from is an instant such as 2026-01-31T12:00:00"),
        ({"valid_from": "2026-01-31T12:00:00"}, "has no time zone"),
        ({"valid_from": 17}, "is a datetime with a time zone, not 17"),
        ({"valid_from": T.date()}, "is a datetime with a time zone"),
        ({"valid_from": math.nan}, "is a datetime with a time zone"),
        ({"valid_from": pd.NaT}, "is a datetime with a time zone"),
        ({"valid_until": datetime.max.replace(tzinfo=timezone(timedelta(hours=-5)))}, "out of range"),
    ],
)
def test_a_time_that_makes_no_sense_is_refused(fields: dict[str, Any], problem: str) -> None:
    rules = RuleSet("alerts")
    with pytest.raises(RuleSetError, match=problem):
        rules.subscribe("a", "a = 1", **fields)
    assert rules.subscribe_all([{"id": "b", "where": "a = 1", **fields}]) == 0
    assert problem.split(" 2026")[0] in rules.rejected[0].reason
    with pytest.raises(RuleSetError):
        rules.match(ROW, at=NAIVE)


@pytest.mark.parametrize("text", ["2026-01-31T12:00:00.000005Z", "2026-01-31 13:00:00.000005+01:00"])
def test_times_come_from_all_sources(text: str, tmp_path: Path) -> None:
    (tmp_path / "rules.csv").write_text(f"id,where,valid_from,valid_until\na,a = 1,{text},\n")
    (tmp_path / "rules.jsonl").write_text(f'{{"id": "a", "where": "a = 1", "valid_from": "{text}"}}\n')
    (tmp_path / "rules.yaml").write_text(f"a:\n  where: a = 1\n  valid_from: '{text}'\n")
    table = pa.table(
        {"id": ["a"], "where": ["a = 1"], "VALID_FROM": pa.array([T], pa.timestamp("us", "Europe/Berlin"))}
    )
    for source in (
        [("a", "a = 1", None, None, text)],
        [{"id": "a", "where": "a = 1", "valid_from": pd.Timestamp(T)}],
        table,
        *(tmp_path / f"rules.{kind}" for kind in ("csv", "jsonl", "yaml")),
    ):
        rules = RuleSet("alerts")
        assert rules.subscribe_all(source) == 1, rules.rejected
        assert (rules.subscriptions["a"].valid_from, rules.subscriptions["a"].valid_until) == (T, None)


def test_a_timestamp_without_zone_is_rejected() -> None:
    rules = RuleSet("alerts")
    naive = pa.array([T.replace(tzinfo=None)], pa.timestamp("us"))
    assert rules.subscribe_all(pa.table({"id": ["a"], "where": ["a = 1"], "valid_until": naive})) == 0
    assert "has no time zone" in rules.rejected[0].reason


class TestDefaultValidity:
    def test_it_is_for_rules_that_do_not_say(self, tmp_path: Path) -> None:
        rules = RuleSet("alerts", default_validity=timedelta(days=7))
        before = datetime.now(timezone.utc)
        rules.subscribe("silent", "a = 1")
        rules.subscribe("begins", "a = 1", valid_from=T)
        rules.subscribe("says", "a = 1", valid_until=T)
        rules.subscribe_all({"all": "a = 1"})
        until = {id: rule.valid_until for id, rule in rules.subscriptions.items()}
        for id in ("silent", "all"):
            assert before <= until[id] - timedelta(days=7) <= datetime.now(timezone.utc)  # type: ignore[operator]
        assert (until["begins"], until["says"]) == (T + timedelta(days=7), T)

    def test_it_is_published_and_loaded(self, tmp_path: Path) -> None:
        rules = RuleSet("alerts", default_validity=timedelta(hours=1))
        rules.store = tmp_path
        rules.publish()
        loaded = RuleSet.load("alerts", tmp_path)
        assert loaded.default_validity == timedelta(hours=1)
        loaded.subscribe("a", "a = 1")
        assert loaded.subscriptions["a"].valid_until is not None
        loaded.default_validity = None
        loaded.publish()
        assert RuleSet.load("alerts", tmp_path).default_validity is None

    def test_who_changes_it_and_who_does_not_agree(self, tmp_path: Path) -> None:
        RuleSet("alerts", store=tmp_path).publish()
        one, other = RuleSet.load("alerts", tmp_path), RuleSet.load("alerts", tmp_path)
        one.default_validity = timedelta(days=1)
        one.publish()
        other.subscribe("a", "a = 1")
        other.publish()
        assert RuleSet.load("alerts", tmp_path).default_validity == timedelta(days=1)

    @pytest.mark.parametrize("span", [timedelta(0), timedelta(days=-1), timedelta(seconds=1.5), 60])
    def test_a_span_that_makes_no_sense_is_refused(self, span: Any) -> None:
        with pytest.raises(RuleSetError, match="whole seconds"):
            RuleSet("alerts", default_validity=span)
