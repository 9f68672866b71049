"""`RuleSet.backtest`: rows gained and lost are those of Spark's WHERE."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from sparkrules import RuleSet, RuleSetError, SparkRulesError, Store
from sparkrules.catalyst import ChangedRule

BEFORE = {
    "same": "t > 10",
    "wider": "t > 20",
    "other": "t BETWEEN 3 AND 12",
    "removed": "lower(place) = 'attic'",
    "never": "t > 1000",
}
AFTER = {**BEFORE, "wider": "t > 15", "other": "t BETWEEN 8 AND 30", "added": "t IS NULL"}
del AFTER["removed"]


@pytest.fixture
def store(spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    """A store of its own, to see what a backtest leaves there."""
    before = spark.conf.get("spark.sparkrules.store")
    spark.conf.set("spark.sparkrules.store", str(tmp_path))
    yield tmp_path
    spark.conf.set("spark.sparkrules.store", str(before))


@pytest.fixture
def df(spark: SparkSession) -> DataFrame:
    return spark.range(40).selectExpr(
        "nullif(id % 37, 0) AS t",
        "elt(1 + id % 3, 'Attic', 'cellar', NULL) AS place",
        "map('a', id) AS m",
        "id AS after",
    )


def rule_set(rules: dict[str, str]) -> RuleSet:
    made = RuleSet("tried")
    assert made.subscribe_all(rules) == len(rules)
    return made


def test_rows_are_gained_and_lost_as_where_says(df: DataFrame, store: Path) -> None:
    assert rule_set(BEFORE).publish(store=store) == 1
    found = rule_set(AFTER).backtest(df, against="tried@1", samples=100)
    assert found.against == "tried@1"
    changed = {}
    for id in sorted({*BEFORE, *AFTER}):
        old, new = BEFORE.get(id, "false"), AFTER.get(id, "false")
        gained = [row["after"] for row in df.where(f"({new}) AND NOT coalesce(({old}), false)").collect()]
        lost = [row["after"] for row in df.where(f"({old}) AND NOT coalesce(({new}), false)").collect()]
        if gained or lost:
            changed[id] = (sorted(gained), sorted(lost), df.where(f"({new}) AND ({old})").count())
    assert set(changed) == {"wider", "other", "removed", "added"}
    assert {own.id: (own.gained, own.lost, own.kept) for own in found} == {
        id: (len(gained), len(lost), kept) for id, (gained, lost, kept) in changed.items()
    }
    assert found.unchanged == 1
    for own in found:
        # Two rows may be in the same group, of which one is shown.
        gained, lost, _ = changed[own.id]
        for shown, rows in ((own.gained_rows, gained), (own.lost_rows, lost)):
            assert {row["after"] for row in shown} <= set(rows)
            assert len(rows) * 0.7 <= len(shown) <= len(rows)
    assert found["added"].gained_rows[0] == {"t": None, "place": "Attic", "m": {"a": 0}, "after": 0}
    assert found["same"] == ChangedRule("same")
    sizes = [own.gained + own.lost for own in found]
    assert sizes == sorted(sizes, reverse=True)


def test_nothing_is_published_under_the_name(df: DataFrame, store: Path) -> None:
    rules = rule_set(BEFORE)
    rules.publish(store=store)
    loaded = RuleSet.load("tried", store)
    assert len(loaded.backtest(df)) == 0  # known as version 1: no copy is needed
    assert Store(store).rule_sets() == ["tried"]
    loaded.unsubscribe("wider")
    found = loaded.backtest(df, samples=0)
    assert [(own.id, own.gained, own.lost_rows) for own in found] == [("wider", 0, ())]
    assert (Store(store).versions("tried"), loaded.version) == ([1], None)
    assert Store(store).rule_sets() == ["tried", "tried.backtest"]


def test_against_a_rule_set_that_is_not_published(df: DataFrame, store: Path) -> None:
    found = rule_set(AFTER).backtest(df, against=rule_set(BEFORE), samples=2)
    assert found.against == "tried"
    assert {own.id for own in found} == {"wider", "other", "removed", "added"}
    assert all(len(own.gained_rows) <= 2 and len(own.lost_rows) <= 2 for own in found)
    assert str(found["wider"]).startswith(
        f"wider: {found['wider'].gained} gained, 0 lost, {found['wider'].kept} kept\n"
    )


def test_what_cannot_be_compared(spark: SparkSession, df: DataFrame, store: Path) -> None:
    with pytest.raises(SparkRulesError, match="tried"):
        rule_set(AFTER).backtest(df)
    with pytest.raises(RuleSetError, match="not a version of a rule set: write 'tried@12'"):
        rule_set(AFTER).backtest(df, against="tried@newest")
    with pytest.raises(RuleSetError, match="is a stream"):
        rule_set(AFTER).backtest(spark.readStream.format("rate").load(), against=rule_set(BEFORE))
    with pytest.raises(RuleSetError, match="samples=-1"):
        rule_set(AFTER).backtest(df, against=rule_set(BEFORE), samples=-1)
