"""Plain Spark: one CASE WHEN per rule, a hundred per query, which is about as many as it plans well."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from benchmarks.workloads.workload import RuleText
from tests.spark.oracle import settings

RULES_PER_QUERY = 100


def match_by_case_when(df: DataFrame, rules: Sequence[RuleText]) -> int:
    """The number of matches; the ids are the same as those of sparkrules.

    With this many rules, the method that Spark generates for a stage is too long for Java to compile, and the search
    for common subexpressions finds none worth its cost. Without both, Spark is twice as fast.
    """
    cases = ", ".join(f"CASE WHEN {where} THEN '{id}' END" for id, where in rules)
    with settings(
        df.sparkSession, spark_sql_codegen_wholeStage="false", spark_sql_subexpressionElimination_enabled="false"
    ):
        ids = df.selectExpr(f"array_compact(array({cases})) AS ids")
        return int(ids.selectExpr("coalesce(sum(size(ids)), 0)").collect()[0][0])
