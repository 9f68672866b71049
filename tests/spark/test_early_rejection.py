"""A row without a value that every rule needs is rejected after one predicate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.spark.oracle import compared, rule_set

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = range(8)
RULES = {f"r{i}": f"kind IN ('a', 'b{i}') AND c{i} = {i}" for i in COLUMNS}


def predicates_tested(spark: SparkSession, kind: str) -> float:
    """Predicates tested per row, of a thousand rows of a kind."""
    columns = ", ".join(f"id % 9 AS c{i}" for i in COLUMNS)
    rows = spark.range(1000).selectExpr("id", f"{kind} AS kind", *columns.split(", "))
    rows.createOrReplaceTempView("kinds")
    matched = spark.sql("SELECT match_subscriptions('kinds', *).ids FROM kinds")
    matched.collect()
    node = matched._jdf.queryExecution().executedPlan()
    assert node.nodeName().startswith("Match kinds@")
    return float(node.metrics().apply("tested").value()) / 1000


def test_other_rows_cost_one_predicate(spark: SparkSession) -> None:
    rule_set("kinds", RULES).publish(spark)
    assert predicates_tested(spark, "'z'") == 1
    assert predicates_tested(spark, "CAST(NULL AS STRING)") == 1
    assert predicates_tested(spark, "'a'") > 1


def test_the_answer_is_that_of_where(spark: SparkSession) -> None:
    kinds = ["'a'", "'b1'", "'b7'", "'z'", "NULL", "''"]
    kind = f"element_at(array({', '.join(kinds)}), CAST(id % {len(kinds)} AS INT) + 1)"
    rows = spark.range(500).selectExpr("id AS row", f"{kind} AS kind", *(f"id % 11 AS c{i}" for i in COLUMNS))
    assert compared(rows, RULES, "kinds-compared") == []
    # One that needs nothing of it: no row can be rejected early.
    assert compared(rows, {**RULES, "any kind": "c3 = 3", "no kind": "kind IS NULL AND c1 > 8"}, "kinds-open") == []
