"""Spark's workers compile rules from a DataFrame to the same rule set as this process does."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from sparkrules import RuleSet
from sparkrules.catalyst import compile as parallel
from sparkrules.errors import RuleSetError
from sparkrules.index import to_tables


def test_partitions_make_one_rule_set(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "FEW", 100)
    rows = [(f"r{n}", f"price < {n % 40} AND lower(name) = 'x{n}'", n % 5) for n in range(900)]
    rows += [("bad", "price <", 0), ("évil", "rand() > 0.5", 0), (None, "a = 1", 0)]
    df = spark.createDataFrame(rows, "id string, `where` string, priority int").repartition(3, "id")
    again = spark.createDataFrame([(f"r{n}", "twice = 1", 9) for n in range(5)], df.schema)
    rules, here = RuleSet("alerts"), RuleSet("alerts")
    assert rules.subscribe_all(df.union(again)) == 900
    here.subscribe_all(rows)
    assert to_tables(rules._segment) == to_tables(here._segment)
    reasons = {rejected.id: rejected.reason for rejected in rules.rejected}
    assert reasons == {r.id: r.reason for r in here.rejected} | {
        f"r{n}": f"rule set 'alerts' already has a rule 'r{n}'; unsubscribe it first" for n in range(5)
    }


def test_a_table_without_the_columns_is_refused(spark: SparkSession) -> None:
    with pytest.raises(RuleSetError, match="no column where"):
        RuleSet("alerts").subscribe_all(spark.range(3))


@pytest.mark.parametrize("few", [100, 10_000])
def test_patterns_are_compiled_with_the_rules(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr(parallel, "FEW", few)
    columns = "id string, `where` string, count string, by array<string>, within string, at_least int, on_change string"
    rows: list[tuple[object, ...]] = [(f"r{n}", f"price < {n}", None, None, None, None, "k, l") for n in range(150)]
    rows += [(f"p{n}", None, f"r{n}", ["k"], "1 h", n + 1, None) for n in range(50)]
    rows += [("inline", None, '{"where": "price > 9"}', None, "1 h", 2, None)]
    rows += [("bad", None, "r1", ["k"], "1 month", 2, None), ("worse", "price <", None, None, None, None, "k")]
    df = spark.createDataFrame(rows, columns).repartition(3, "id")
    rules, here = RuleSet("alerts"), RuleSet("alerts")
    rules.count("r7", "r1", within="1 h", at_least=2)
    here.count("r7", "r1", within="1 h", at_least=2)
    names = [name.strip("` ").split("` ")[0].split(" ")[0] for name in columns.split(", ")]
    here.subscribe_all([dict(zip(names, row, strict=True)) | _cell(row[2]) for row in rows])
    assert rules.subscribe_all(df) == len(rows) - 3 == len(here) + 51
    assert dict(rules.patterns) == dict(here.patterns)
    assert set(rules.subscriptions) == set(here.subscriptions)
    assert "r7" not in rules
    assert {own.id: own.reason for own in rules.rejected} == {own.id: own.reason for own in here.rejected}
    assert {own.id for own in rules.rejected} == {"bad", "worse", "r7"}


def _cell(count: object) -> dict[str, object]:
    return {"count": {"where": "price > 9"}} if isinstance(count, str) and count.startswith("{") else {}
