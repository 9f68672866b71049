"""A report counts what Spark's own WHERE counts."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sparkrules import RuleSet
from sparkrules.errors import RuleSetError
from sparkrules.report.facts import Facts, gather
from sparkrules.report.time_buckets import MOST, bucket_of, bucket_width
from tests.report.worlds import RULES, alerts, readings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    return readings(spark)


@pytest.fixture(scope="module")
def facts(rows: DataFrame) -> Facts:
    return gather(alerts("facts"), rows, "at", None, True, lambda _: None)


@pytest.fixture(scope="module")
def truth(rows: DataFrame) -> list[tuple[set[str], datetime | None]]:
    """Per row, the rules that Spark's WHERE keeps it for, and its time."""
    tested = rows.selectExpr("at", *(f"({text}) IS TRUE AS `{id}`" for id, text in RULES.items()))
    return [({id for id in RULES if row[id]}, row["at"]) for row in tested.collect()]


def test_hits_are_counted_per_rule(facts: Facts, truth: list[tuple[set[str], datetime | None]]) -> None:
    assert facts.hits is not None
    assert facts.hits.by_rule == Counter(id for ids, _ in truth for id in ids)
    assert facts.hits.rows == len(truth)
    assert facts.hits.matched_rows == sum(bool(ids) for ids, _ in truth)
    assert facts.never == len(RULES) - len(facts.hits.by_rule) == 2


def test_estimates_contain_what_was_counted(facts: Facts) -> None:
    assert facts.hits is not None
    assert facts.catalogue.estimates is not None
    assert facts.catalogue.estimates.rows == facts.hits.rows
    for id, estimate in facts.catalogue.estimates.items():
        assert estimate.min <= facts.hits.by_rule.get(id, 0) / facts.hits.rows <= estimate.max, id
    assert facts.catalogue.estimates["frost"].min == facts.hits.by_rule["frost"] / facts.hits.rows
    assert facts.catalogue.estimates["impossible"].max == 0


def test_every_row_that_matches_passes_the_scan_filter(facts: Facts, rows: DataFrame) -> None:
    assert facts.hits is not None
    assert facts.scan_filter is not None
    passing = rows if facts.scan_filter.blamed else rows.where(facts.scan_filter.sql)
    whole = " OR ".join(f"({text})" for text in RULES.values())
    assert passing.where(whole).count() == rows.where(whole).count() == facts.hits.matched_rows


def test_rules_come_by_hits(facts: Facts) -> None:
    assert facts.hits is not None
    counts = [facts.hits.by_rule.get(id, 0) for id in facts.catalogue.ids]
    assert counts == sorted(counts, reverse=True)
    assert sorted(facts.catalogue.ids) == sorted(RULES)


def test_pairs_hit_the_same_rows(facts: Facts, truth: list[tuple[set[str], datetime | None]]) -> None:
    expected = Counter(pair for ids, _ in truth for pair in combinations(sorted(ids), 2))
    ids = facts.catalogue.ids
    assert {tuple(sorted((ids[a], ids[b]))): count for a, b, count, _ in facts.matrix.pairs} == expected
    hits = Counter(id for ids, _ in truth for id in ids)
    for a, b, both, share in facts.matrix.pairs:
        assert share == pytest.approx(both / (hits[ids[a]] + hits[ids[b]] - both), abs=1e-4)


def test_rules_that_hit_equally_often_are_compared_whatever_their_priority(
    rows: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sparkrules.report.facts.MOST_RULES", 2)
    rules = RuleSet("equally")
    for id, priority in (("a", 0), ("b", 0), ("c", 9)):
        rules.subscribe(id, "temperature < 0", priority)
    facts = gather(rules, rows, None, None, False, lambda _: None)
    assert facts.catalogue.ids == ["c", "a", "b"]
    assert [(facts.catalogue.ids[a], facts.catalogue.ids[b], share) for a, b, _, share in facts.matrix.pairs] == [
        ("a", "b", 1.0)
    ]


def test_hits_over_time(facts: Facts, truth: list[tuple[set[str], datetime | None]]) -> None:
    own = facts.over_time
    assert own is not None
    assert own.width == timedelta(hours=3)
    expected: Counter[int] = Counter()
    of_hot: Counter[int] = Counter()
    for ids, at in truth:
        if at is not None:
            expected[bucket_of(at, own.width)] += len(ids)
            of_hot[bucket_of(at, own.width)] += "hot" in ids
    numbers = range(own.first, own.first + len(own.rows))
    assert own.hits == [expected[number] for number in numbers]
    assert own.by_rule["hot"] == [of_hot[number] for number in numbers]
    assert sum(own.rows) + own.rows_without_time == len(truth)
    assert own.rows_without_time == 4


def test_where_values_lie(facts: Facts, rows: DataFrame) -> None:
    (own,) = [found for found in facts.distributions if found.name == "temperature"]
    total = rows.count()
    assert own.null_share == pytest.approx(rows.where("temperature IS NULL").count() / total)
    assert sum(found.share for found in own.bins) + own.null_share == pytest.approx(1)
    by_label = {found.label: found for found in own.bins}
    assert by_label["below -40.0"].share == 0
    assert by_label["10.0 – 30.0"].share == pytest.approx(
        rows.where("temperature > 10 AND temperature < 30").count() / total
    )
    (hot,) = [span for span in own.spans if span.text == "> 30"]
    assert hot.rules == 4
    assert [found.label for found in own.bins[hot.first : hot.last + 1]] == [
        "30.0 – 60.0",
        "60.0",
        "60.0 – 1000",
        "1000",
        "above 1000",
    ]


def test_what_rules_test_and_share(facts: Facts) -> None:
    assert {own.name: own.rules for own in facts.attributes} == {
        "temperature": 8,
        "city": 2,
        "indoors": 2,
        "status": 1,
    }
    assert (2, "indoors is false and temperature > 30") in facts.sharing.most_shared
    assert sum(facts.levels) == facts.sharing.nodes


def test_without_rows_there_is_what_needs_none() -> None:
    facts = gather(alerts(), None, None, None, True, lambda _: None)
    assert facts.hits is None
    assert facts.version is None
    assert not facts.matrix.of_rows
    ids = facts.catalogue.ids
    common = {tuple(sorted((ids[a], ids[b]))): (count, share) for a, b, count, share in facts.matrix.pairs}
    assert common["hot", "hot here"] == (2, 0.6667)
    assert ("frost", "silent") not in common


def test_a_dataframe_without_rows(spark: SparkSession, rows: DataFrame) -> None:
    facts = gather(alerts("facts"), rows.limit(0), "at", None, False, lambda _: None)
    assert facts.hits is not None
    assert (facts.hits.rows, facts.hits.by_rule, facts.never) == (0, {}, len(RULES))
    assert facts.over_time is None


def test_a_report_stores_no_statistics(spark: SparkSession, facts: Facts) -> None:
    assert spark.sql("SELECT * FROM sparkrules.facts.statistics").count() == 0


@pytest.mark.parametrize(("time", "said"), [("id", "is of type int"), ("no such", "no such")])
def test_a_time_that_is_none(rows: DataFrame, time: str, said: str) -> None:
    with pytest.raises(RuleSetError, match=said):
        gather(alerts("facts"), rows, time, None, False, lambda _: None)


def test_a_time_may_be_a_text_with_a_zone(rows: DataFrame) -> None:
    texts = rows.selectExpr("*", "IF(id = 7, 'soon', date_format(at, \"yyyy-MM-dd'T'HH:mm:ssXXX\")) AS text")
    facts = gather(alerts("facts"), texts, "text", None, False, lambda _: None)
    assert facts.over_time is not None
    assert facts.over_time.rows_without_time == 5
    assert facts.over_time.width == timedelta(hours=3)


@pytest.mark.parametrize(
    "span", [timedelta(0), timedelta(seconds=59), timedelta(minutes=61), timedelta(days=60), timedelta(days=200_000)]
)
def test_a_span_is_cut_into_few_buckets(span: timedelta) -> None:
    first = datetime(1969, 12, 31, 23, 59, 59)  # noqa: DTZ001  # local time
    width = bucket_width(first, first + span)
    assert 1 <= bucket_of(first + span, width) - bucket_of(first, width) + 1 <= MOST


def test_rules_that_do_not_fit_the_rows_are_named(spark: SparkSession, rows: DataFrame, tmp_path: Path) -> None:
    rules = RuleSet("unfit")
    rules.subscribe_all({"fits": "temperature > 30", "misspelt": "temprature > 30", "odd": "size(temperature) > 3"})
    spark.conf.set("spark.sparkrules.invalidRules", "skip")
    try:
        found = gather(rules, rows, None, None, False, lambda _: None).rejected_by_table
        page = rules.report(tmp_path / "report.html", rows).read_text(encoding="utf-8")
    finally:
        spark.conf.unset("spark.sparkrules.invalidRules")
    assert found.count == 2
    assert {rule.id: rule.where for rule in found.named} == {
        "misspelt": "temprature > 30",
        "odd": "size(temperature) > 3",
    }
    assert "there is no column temprature" in page
    assert "2 rules do not fit the rows, and were left out of the match" in page
    assert "and 2 left out" in page


def test_every_rule_fits(facts: Facts) -> None:
    assert facts.rejected_by_table.count == 0
