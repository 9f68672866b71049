"""A report counts the detections that `sparkrules.detect` returns."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import sparkrules
from sparkrules.report.detections import MOST_KEYS
from sparkrules.report.facts import Facts, gather
from sparkrules.report.script_facts import script_facts
from sparkrules.report.time_buckets import bucket_of
from tests.report.worlds import SCRIPT, alerts, patterned, readings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    return readings(spark)


@pytest.fixture(scope="module")
def facts(rows: DataFrame) -> Facts:
    return gather(patterned("detected"), rows, "at", None, False, lambda _: None)


@pytest.fixture(scope="module")
def truth(rows: DataFrame, facts: Facts) -> list[Any]:
    return sparkrules.detect(rows, "detected", time="at").collect()


def test_detections_are_counted_per_pattern_and_bucket(facts: Facts, truth: list[Any]) -> None:
    own = facts.detections
    assert own is not None
    assert own.width == timedelta(hours=3)
    expected = Counter((row.pattern, bucket_of(row.end, own.width)) for row in truth if row.kind != "suppressed")
    counted = {
        (id, own.first + place): times
        for id, found in own.by_pattern.items()
        for place, times in enumerate(found.times)
        if times
    }
    assert counted == expected
    assert own.total == expected.total()
    assert set(own.by_pattern) == set(patterned().patterns)
    never = {id for id, found in own.by_pattern.items() if not found.detections}
    assert never == {"unheard of"}


def test_suppressed_detections_are_counted_apart(facts: Facts, truth: list[Any]) -> None:
    assert facts.detections is not None
    suppressed: Counter[str] = Counter()
    for row in truth:
        if row.kind == "suppressed":
            suppressed[row.pattern] += row["count"]
    assert set(suppressed) == {"no frost"}
    assert {id: own.suppressed for id, own in facts.detections.by_pattern.items() if own.suppressed} == suppressed


def test_the_keys_with_the_most_detections(facts: Facts, truth: list[Any]) -> None:
    assert facts.detections is not None
    by_key: defaultdict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    for row in truth:
        by_key[row.pattern][tuple(row.key[name] for name in facts.patterns[row.pattern].by)] += row.kind != "suppressed"
    for id, own in facts.detections.by_pattern.items():
        assert own.keys == len(by_key[id])
        expected = dict(by_key[id])
        assert {key: sum(times) for key, times in own.top_keys.items()} == expected
        assert [sum(times) for times in own.top_keys.values()] == sorted(expected.values(), reverse=True)
    assert list(facts.detections.by_pattern["heat wave"].top_keys) == [()]
    assert {len(key) for key in facts.detections.by_pattern["odd"].top_keys} == {2}


def test_only_some_keys_are_named(rows: DataFrame) -> None:
    rules = sparkrules.RuleSet("keys")
    rules.subscribe("any", "id >= 0")
    rules.count("each", "any", by=["id"], within="1 hour", at_least=1)
    facts = gather(rules, rows, "at", None, False, lambda _: None)
    assert facts.detections is not None
    own = facts.detections.by_pattern["each"]
    with_time = rows.where("at IS NOT NULL").count()
    assert (own.detections, own.keys, len(own.top_keys)) == (with_time, with_time, MOST_KEYS)
    assert sum(sum(times) for times in own.top_keys.values()) == MOST_KEYS


def test_a_time_may_be_a_date_or_a_text(rows: DataFrame, facts: Facts) -> None:
    assert facts.detections is not None
    others = rows.selectExpr("*", "CAST(at AS STRING) AS text", "CAST(at AS DATE) AS day")
    texts = gather(patterned("detected"), others, "text", None, False, lambda _: None).detections
    assert texts is not None
    assert texts.by_pattern == facts.detections.by_pattern
    days = gather(patterned("detected"), others, "day", None, False, lambda _: None).detections
    assert days is not None
    expected = sparkrules.detect(others.selectExpr("*", "CAST(day AS TIMESTAMP) AS ts"), "detected", time="ts")
    assert days.total == expected.where("kind <> 'suppressed'").count()


def test_patterns_without_times_are_listed(rows: DataFrame, tmp_path: Path) -> None:
    rules = patterned("listed")
    without_rows = rules.report(tmp_path / "without.html").read_text(encoding="utf-8")
    assert "hot, then frost, by city, within 1 day" in without_rows
    assert "There are also 7 patterns over several rows." in without_rows
    assert SCRIPT not in without_rows
    without_time = rules.report(tmp_path / "time.html", rows, lint=False).read_text(encoding="utf-8")
    assert "name a column of times" in without_time
    assert 'id="detections"' not in without_time


def test_no_row_has_a_time(rows: DataFrame, tmp_path: Path) -> None:
    timeless = rows.where("at IS NULL")
    assert timeless.count() == 4
    page = patterned("listed").report(tmp_path / "page.html", timeless, time="at", lint=False)
    assert page.read_text(encoding="utf-8").count("No row has a time in the column at") == 2  # hits, and patterns


def test_without_patterns_nothing_is_said_of_them(rows: DataFrame, tmp_path: Path) -> None:
    facts = gather(alerts("plain"), rows, "at", None, False, lambda _: None)
    assert facts.detections is None
    assert script_facts(facts)["detections"] is None
    page = alerts("plain").report(tmp_path / "page.html", rows, time="at", lint=False).read_text(encoding="utf-8")
    body = page[page.index("<body") : page.index('id="facts"')]
    assert "attern" not in body
