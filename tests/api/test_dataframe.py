"""The DataFrame functions, and the parts of a rule set that need Spark, in a classic session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

import sparkrules
from sparkrules import RuleSet
from sparkrules.errors import RuleSetError
from sparkrules.store import Store


@pytest.fixture
def rules() -> RuleSet:
    made = RuleSet("weather")
    made.subscribe("hot", "temperature > 30 AND NOT indoors", priority=5)
    made.subscribe("cold", "temperature < 0")
    return made


@pytest.fixture
def df(spark: SparkSession) -> DataFrame:
    rows = [(35.0, False), (35.0, True), (-1.0, None)]
    return spark.createDataFrame(rows, "temperature double, indoors boolean")


@pytest.fixture
def own_store(spark: SparkSession, tmp_path: Path) -> Iterator[Store]:
    before = spark.conf.get("spark.sparkrules.store")
    spark.conf.set("spark.sparkrules.store", str(tmp_path))
    yield Store(tmp_path)
    spark.conf.set("spark.sparkrules.store", before)
    spark.conf.unset("spark.sparkrules.ruleset")


def test_match_adds_a_column_with_ids_and_overlaps(df: DataFrame, rules: RuleSet, own_store: Store) -> None:
    found = sparkrules.match(df, rules, output="found`s")
    assert found.columns == ["temperature", "indoors", "found`s"]
    assert found.collect() == [
        Row(35.0, False, Row(ids=["hot"], overlaps=[])),
        Row(35.0, True, Row(ids=[], overlaps=[])),
        Row(-1.0, None, Row(ids=["cold"], overlaps=[])),
    ]


def test_matches_has_a_row_per_match(df: DataFrame, rules: RuleSet, own_store: Store) -> None:
    found = sparkrules.matches(df, rules)
    assert found.columns == ["temperature", "indoors", "subscription_id", "priority", "overlap"]
    assert found.collect() == [Row(35.0, False, "hot", 5, []), Row(-1.0, None, "cold", 0, [])]


def test_a_rule_set_is_published_only_when_it_has_changed(df: DataFrame, rules: RuleSet, own_store: Store) -> None:
    sparkrules.match(df, rules)
    sparkrules.matches(df, rules)
    assert own_store.versions("weather") == [1]
    rules.unsubscribe("cold")
    assert [row.matches.ids for row in sparkrules.match(df, rules).collect()] == [["hot"], [], []]
    assert own_store.versions("weather") == [1, 2]


def test_a_published_set_is_used_by_name_and_version(df: DataFrame, rules: RuleSet, own_store: Store) -> None:
    rules.store = own_store.path
    rules.publish()
    rules.unsubscribe("hot")
    rules.publish()
    for name, expected in (("weather", ["cold"]), ("weather@1", ["cold", "hot"]), ("weather@2", ["cold"])):
        assert sorted(row.subscription_id for row in sparkrules.matches(df, name).collect()) == expected


def test_publishing_with_a_session_makes_it_the_sessions_rule_set(
    spark: SparkSession, df: DataFrame, rules: RuleSet, own_store: Store, tmp_path: Path
) -> None:
    assert rules.publish(spark) == 1
    assert own_store.versions("weather") == [1]
    assert df.selectExpr("match_subscriptions(*).ids AS ids").first() == Row(ids=["hot"])
    rules.store = tmp_path / "other"
    rules.publish(spark)
    assert spark.conf.get("spark.sparkrules.store") == str(tmp_path / "other")


@pytest.mark.parametrize("name", ["wea'ther", "weather@", "weather@x", "", "a b"])
def test_a_name_cannot_bring_in_other_sql(df: DataFrame, name: str) -> None:
    with pytest.raises(sparkrules.SparkRulesError, match=r"is not a (name|version)"):
        sparkrules.match(df, name)


def test_a_column_that_is_taken_is_refused(df: DataFrame) -> None:
    with pytest.raises(RuleSetError, match="has a column 'Indoors' already"):
        sparkrules.match(df, "weather", output="Indoors")
    with pytest.raises(RuleSetError, match="has a column 'priority' already"):
        sparkrules.matches(df.withColumnRenamed("indoors", "PRIORITY"), "weather")


def test_rules_are_read_from_a_dataframe(spark: SparkSession) -> None:
    rules = RuleSet("from_table")
    source = spark.sql(
        """SELECT * FROM VALUES
           ('a', 'x = 1', 3, map('owner', 'ops'), 0), ('b', 'x >', NULL, NULL, 0), ('c', 'x = 2', NULL, NULL, 0)
           AS t(id, `where`, priority, metadata, other)"""
    )
    assert rules.subscribe_all(source) == 2
    assert [rejected.id for rejected in rules.rejected] == ["b"]
    assert (rules.subscriptions["a"].priority, rules.subscriptions["a"].metadata) == (3, {"owner": "ops"})
    with pytest.raises(RuleSetError, match="the DataFrame has no column where; it has: id"):
        rules.subscribe_all(source.select("id"))


class TestExplaining:
    def test_spark_says_what_every_part_is(self, spark: SparkSession) -> None:
        rules = RuleSet("explained")
        rules.subscribe("shout", "upper(name) = name AND NOT contains(name, 'it\\'s') AND tags[0] IN ('a', 'b')")
        rules.subscribe("none", "missing IS NULL AND missing <=> NULL AND NOT (missing <=> 1)")
        rules.subscribe("sum", "price * 2 > 2.5 AND price NOT BETWEEN 5 AND 6")
        row = Row(name="HI", tags=["b"], missing=None, price=1.5)
        assert {e.id: e.matched for e in rules.explain(row, spark)} == {"shout": True, "none": True, "sum": True}
        other = {"name": "IT's", "tags": [], "missing": 1, "price": 5.5}
        assert not any(e.matched for e in rules.explain(other, spark))

    def test_a_part_that_fails_is_not_true(self, spark: SparkSession) -> None:
        rules = RuleSet("explained")
        rules.subscribe("number", "CAST(name AS INT) = 1")
        rules.subscribe("x", "name = 'x'")
        assert {e.id: e.matched for e in rules.explain({"name": "x"}, spark)} == {"number": False, "x": True}

    def test_a_column_the_row_lacks_is_an_error(self, spark: SparkSession) -> None:
        rules = RuleSet("explained")
        rules.subscribe("x", "name = 'x'")
        with pytest.raises(RuleSetError, match=r"\(name\) = 'x': .*UNRESOLVED_COLUMN"):
            rules.explain({"nmae": "x"}, spark)
