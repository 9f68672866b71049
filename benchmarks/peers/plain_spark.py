"""Plain Spark: one CASE WHEN per rule, a hundred of them to a query, which is about as many as it plans well."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from benchmarks.workloads.workload import RuleText

RULES_PER_QUERY = 100


def match_by_case_when(df: DataFrame, rules: Sequence[RuleText]) -> int:
    """The number of matches; the ids are those that sparkrules would give."""
    cases = ", ".join(f"CASE WHEN {where} THEN '{id}' END" for id, where in rules)
    ids = df.selectExpr(f"array_compact(array({cases})) AS ids")
    return int(ids.selectExpr("coalesce(sum(size(ids)), 0)").collect()[0][0])
