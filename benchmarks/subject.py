"""A workload in a session, ready to be measured: its rules are published, its rows are on disk."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from pyspark.sql import DataFrame, SparkSession

from benchmarks.cache import CachedRows, CachedRules
from benchmarks.workloads.workload import Workload
from sparkrules.catalyst.session import STORE_SETTING


@dataclass(frozen=True)
class Sample:
    """The first rows of a workload."""

    df: DataFrame
    rows: int


class Subject:
    """Queries over a workload's rows."""

    def __init__(self, spark: SparkSession, workload: Workload, rules: CachedRules, rows: CachedRows) -> None:
        self.spark, self.workload, self.rules, self._rows = spark, workload, rules, rows
        spark.conf.set(STORE_SETTING, str(rules.store))

    def sample(self, rows: int) -> Sample:
        """At least `rows` of the first rows, or all. A new DataFrame each time: Spark would not run one twice."""
        files, count = self._rows.first(rows)
        return Sample(self.spark.read.parquet(*files), count)

    def matched(self, df: DataFrame) -> DataFrame:
        """The ids that match each row."""
        return df.selectExpr(f"match_subscriptions('{self.rules.name}', *).ids AS ids")

    def matches(self, df: DataFrame) -> int:
        """The total number of matches in all rows."""
        return int(self.matched(df).selectExpr("coalesce(sum(size(ids)), 0)").collect()[0][0])

    def matches_by_rule(self, df: DataFrame) -> dict[str, int]:
        """The number of matches of each rule that has any."""
        counted = self.matched(df).selectExpr("explode(ids) AS id").groupBy("id").count()
        return {row["id"]: row["count"] for row in counted.collect()}

    def bind(self) -> float:
        """Seconds to plan the first query that uses the rules."""
        df = self.sample(1).df
        start = perf_counter()
        self.matched(df)._jdf.queryExecution().executedPlan()
        return perf_counter() - start
