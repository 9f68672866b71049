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
from sparkrules import Selectivities
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
            rules.subscribe_all((text, text) for text in case.rules[::2])
            rules.publish(spark, force=True)
            rules.analyze(df)
            for later in ((), case.rules[1::2]):
                rules.subscribe_all((text, text) for text in later)
                rules.publish(spark)
                left_out = {row["subscription_id"] for row in sparkrules.left_out(df, rules).collect()}
                rules.unsubscribe_all(left_out & set(rules.subscriptions))
                found = rules.selectivity()
                hits = hits_of(df, rules)
                assert outside(found, hits, case.table.rows) == []
                assert outside(found.by_formula, hits, case.table.rows) == []
                assert found.width <= found.by_formula.width
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
    for id in (*list(old)[:3], *list(new)[:3]):
        assert rules.selectivity(id) == found[id]
