"""`RuleSet.selectivity`: what was counted in the sample lies within the bounds, whatever the rules and the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given
from hypothesis import seed as seeded
from hypothesis import settings as hypothesis_settings

import sparkrules
from sparkrules import Selectivities, Selectivity
from sparkrules.store import Store
from tests.fuzz.compare import Case, cases
from tests.spark.all_types import all_types, random_rules
from tests.spark.oracle import accepted_by_where, pairs_by_plugin, pairs_by_where, rule_set, settings

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

ROWS = 200


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    return all_types(spark, ROWS)


@pytest.fixture
def store(spark: SparkSession, tmp_path: Path) -> Iterator[Store]:
    with settings(
        spark,
        spark_sparkrules_store=str(tmp_path),
        spark_sparkrules_ruleset="",
        spark_sparkrules_invalidRules="skip",
    ):
        yield Store(tmp_path)


def outside(found: Selectivities, hits: Counter[str], rows: int) -> list[str]:
    """The rules whose counted share is not within the bounds, readable."""
    return [
        f"{id}: {hits[id] / rows} is not within {estimate}"
        for id, estimate in found.items()
        if not estimate.min <= hits[id] / rows <= estimate.max or not estimate.min <= estimate.avg <= estimate.max
    ]


def differing(found: Selectivities, spark: SparkSession, name: str) -> list[str]:
    """The rules for which the catalog says something else, readable."""
    table = {row["id"]: Selectivity(*row[1:]) for row in spark.table(f"sparkrules.{name}.selectivity").collect()}
    assert table.keys() >= found.keys()
    return [
        f"{id}: {own}, but {table[id]} in the catalog"
        for id, own in found.items()
        if (own.min, own.max) != (table[id].min, table[id].max) or own.avg != pytest.approx(table[id].avg, abs=1e-12)
    ]


def hits_of(df: DataFrame, rules: sparkrules.RuleSet) -> Counter[str]:
    return Counter(id for _, id in pairs_by_plugin(df, rules))


def test_counted_shares_lie_within_the_bounds(spark: SparkSession, store: Store) -> None:
    """Random tables and rules, half of which come after the analysis."""
    exact = Counter[str]()

    @seeded(3)
    @hypothesis_settings(max_examples=6, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(cases(24))
    def holds(case: Case) -> None:
        with settings(spark, spark_sql_ansi_enabled=str(case.ansi).lower(), spark_sql_session_timeZone=case.zone):
            df = case.table.dataframe(spark)
            rules = sparkrules.RuleSet("random")
            rules.subscribe_all((text, text) for text in list(case.rules)[::2])
            rules.publish(spark, force=True)
            rules.analyze(df)
            for later in ((), list(case.rules)[1::2]):
                rules.subscribe_all((text, text) for text in later)
                rules.publish(spark)
                left_out = {row["subscription_id"] for row in sparkrules.left_out(df, rules).collect()}
                rules.unsubscribe_all(left_out & set(rules.subscriptions))
                found = rules.selectivity()
                hits = hits_of(df, rules)
                assert outside(found, hits, case.table.rows) == []
                assert outside(found.by_formula, hits, case.table.rows) == []
                assert found.width <= found.by_formula.width
                assert differing(found, spark, "random") == []
                exact["rules"] += len(found)
                exact["exact"] += sum(estimate.min == estimate.max for estimate in found.values())

    holds()
    assert exact["exact"] > exact["rules"] / 4  # bounds that are always 0 and 1 would hold, too


def test_rules_of_all_types(df: DataFrame, spark: SparkSession, store: Store) -> None:
    texts = accepted_by_where(df, random_rules(150, seed=11))
    old, new = dict(list(texts.items())[:75]), dict(list(texts.items())[75:])
    rules = rule_set("types", old)
    rules.publish(spark)
    rules.analyze(df)
    rules.subscribe_all(new)
    rules.publish(spark)
    hits = Counter(id for _, id in pairs_by_where(df, texts))
    found = rules.selectivity()
    assert outside(found, hits, ROWS) == []
    assert found.width <= found.by_formula.width
    assert differing(found, spark, "types") == []
    for id in (*list(old)[:3], *list(new)[:3]):
        assert rules.selectivity(id) == found[id]


def test_several_predicates_of_one_attribute_are_counted(spark: SparkSession, store: Store) -> None:
    df = spark.range(100).selectExpr("id AS a", "id % 10 AS b", "IF(id < 20, NULL, 'x') AS s").localCheckpoint()
    rules = rule_set(
        "counted",
        {
            "between": "a BETWEEN 20 AND 39",
            "either": "a < 10 OR a >= 95 OR a IN (50, 51)",
            "never": "a > 50 AND a < 30",
            "always": "s IS NULL OR s IS NOT NULL",
            "two": "a BETWEEN 20 AND 39 AND b < 5",
            "nested": "(b = 1 OR b = 2) AND b <> 2 AND a < 50",
        },
    )
    rules.publish(spark)
    rules.analyze(df)
    found = rules.selectivity()
    assert {id: tuple(own) for id, own in found.items()} == {
        "between": (0.2, 0.2, 0.2),
        "either": (0.17, 0.17, 0.17),
        "never": (0, 0, 0),
        "always": (1, 1, 1),
        "two": (0, 0.1, 0.2),
        "nested": (0, pytest.approx(0.05), 0.1),
    }
    assert found.by_formula["between"] == pytest.approx((0.2, 0.32, 0.4))
    assert found.by_formula["never"] == pytest.approx((0, 0.147, 0.3))
    assert (found.rows, repr(found)) == (100, "Selectivities(6 rules, 100 rows counted)")
    assert str(found).splitlines()[:3] == [
        "6 rules, 100 rows counted",
        "id            min       avg       max",
        "always   100.00 %  100.00 %  100.00 %",
    ]
    assert found.to_arrow().to_pylist()[0] == {"id": "always", "min": 1.0, "avg": 1.0, "max": 1.0}


def test_new_constants_divide_the_ranges_that_were_counted(spark: SparkSession, store: Store) -> None:
    df = spark.range(100).selectExpr(
        "id AS a", "CAST(id AS STRING) AS s", "date_add(DATE'2024-01-01', CAST(id AS INT)) AS d"
    )
    old = {"a": "a < 40 OR a = 60", "s": "s >= '5'", "d": "d < DATE'2024-02-10'"}
    rules = rule_set("divided", old)
    rules.publish(spark)
    rules.analyze(df)
    new = {
        "inside": "a < 20",
        "above": "a <= 70",
        "at": "a >= 60",
        "point": "a = 61",
        "none of these": "a NOT IN (60, 61)",
        "text": "s > '7'",
        "date": "d >= DATE'2024-03-01'",
        "other": "a % 2 = 0",
    }
    rules.subscribe_all(new)
    rules.publish(spark)
    bounds = {id: (own.min, own.max) for id, own in rules.selectivity().items() if id in new}
    assert bounds == {
        "inside": (0, 0.4),  # 40 rows below 40
        "above": (0.61, 1),
        "at": (0.4, 0.4),
        "point": (0, 0.39),
        "none of these": (0.6, 0.99),
        "text": (0, 0.54),  # above '5'
        "date": (0, 0.59),
        "other": (0, 1),
    }
    assert outside(rules.selectivity(), hits_of(df.selectExpr("a AS row", "*"), rules), 100) == []
    assert differing(rules.selectivity(), spark, "divided") == []


def test_values_that_are_null_or_cannot_be_computed(spark: SparkSession, store: Store) -> None:
    df = spark.createDataFrame([(0, "1"), (1, "x"), (2, "7"), (3, None)], "row INT, s STRING")
    rules = rule_set("errors", {"a": "CAST(s AS INT) > 5", "b": "CAST(s AS INT) <= 5 OR s IS NULL", "c": "s = 'x'"})
    with settings(spark, spark_sql_ansi_enabled="true"):
        rules.publish(spark)
        rules.analyze(df)
        rules.subscribe_all({"d": "CAST(s AS INT) IS NOT NULL", "e": "CAST(s AS INT) > 1", "f": "s IS NOT NULL"})
        rules.publish(spark)
        found = rules.selectivity()
        assert outside(found, hits_of(df, rules), 4) == []
    assert [found[id].max for id in "acf"] == [0.25, 0.25, 0.75]
    assert found["d"] == (0, 0.95, 1)
    assert (found["e"].min, found["e"].max) == (0.25, 0.5)


def test_char_columns_are_not_estimated_from_their_predicates(spark: SparkSession, store: Store) -> None:
    spark.sql("DROP TABLE IF EXISTS padded")
    spark.sql("CREATE TABLE padded (row INT, c CHAR(5)) USING parquet")
    spark.sql("INSERT INTO padded VALUES (0, 'ab'), (1, 'abc'), (2, 'ac'), (3, 'x')")
    df = spark.table("padded")
    rules = rule_set("padded", {"a": "c BETWEEN 'ab' AND 'ac'", "b": "c = 'ab'", "c": "c >= 'ab' AND c <= 'ac'"})
    rules.publish(spark)
    assert rules.analyze(df).rows == 4
    rules.subscribe("d", "c < 'ac'")
    rules.publish(spark)
    assert outside(rules.selectivity(), hits_of(df, rules), 4) == []
    spark.sql("DROP TABLE padded")


def test_without_statistics_nothing_is_certain(spark: SparkSession, store: Store) -> None:
    rules = rule_set("unknown", {"a": "i > 5 AND s = 'x'", "b": "true", "c": "false", "d": "i > 5 AND i < 3"})
    assert rules.selectivity("a") == pytest.approx((0, 1 / 30, 1))
    rules.publish(spark)
    found = rules.selectivity()
    assert (found.rows, found["b"], found["c"]) == (0, (1, 1, 1), (0, 0, 0))
    assert (found["d"].min, found["d"].max) == (0, 1)
    assert "no rows counted: guesses" in str(found)
    assert differing(found, spark, "unknown") == []


def test_statistics_of_an_older_version_of_sparkrules(df: DataFrame, spark: SparkSession, store: Store) -> None:
    """It stored no predicates: then nothing is known of them."""
    rules = rule_set("older", {"a": "i > 1"})
    rules.publish(spark)
    rules.analyze(df)
    ranges = store.statistics("older")
    assert rules.selectivity("a").min == rules.selectivity("a").max
    assert ranges is not None
    store.analyzed("older", ranges)
    assert rules.selectivity("a") == pytest.approx((0, 1 / 3, 1))
    assert differing(rules.selectivity(), spark, "older") == []


def test_damaged_predicates_are_named(df: DataFrame, spark: SparkSession, store: Store) -> None:
    from pyspark.errors import PySparkException

    rules = rule_set("damaged", {"a": "i > 1"})
    rules.publish(spark)
    rules.analyze(df)
    file = store.path / "damaged" / "statistics" / "1.predicates.arrow"
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(sparkrules.CorruptStore, match=r"1\.predicates\.arrow is damaged.*analyse the rule set again"):
        rules.selectivity()
    with pytest.raises(PySparkException, match=r"1\.predicates\.arrow is damaged.*analyse the rule set again"):
        spark.table("sparkrules.damaged.selectivity").collect()
    file.unlink()
    with pytest.raises(sparkrules.CorruptStore, match=r"1\.predicates\.arrow is missing"):
        rules.selectivity("a")


def test_the_catalog_estimates_every_version(df: DataFrame, spark: SparkSession, store: Store) -> None:
    rules = rule_set("versions", {"a": "i > 1", "b": "i < 1"})
    rules.publish(spark)
    rules.analyze(df)
    first = rules.selectivity()
    rules.unsubscribe("a")
    rules.subscribe("c", "i = 1")
    rules.publish(spark, merge="none")
    table = "sparkrules.versions.selectivity"
    assert [row.id for row in spark.table(table).select("id").orderBy("id").collect()] == ["b", "c"]
    assert differing(rules.selectivity(), spark, "versions") == []
    old = spark.sql(f"SELECT max, id FROM {table} VERSION AS OF 1").collect()
    assert {(row.id, row.max) for row in old} == {(id, own.max) for id, own in first.items()}
