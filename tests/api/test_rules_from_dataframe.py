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
