"""Runs the rules of a workload in Spark, and counts calls in the functions themselves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import Accumulator
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import udf

import sparkrules
from benchmarks.measurement import WrongAnswer
from benchmarks.peers.plain_spark import match_by_case_when
from benchmarks.udfs.workload import FUNCTIONS, Workload
from sparkrules import Policy

FILES = 32


@dataclass(frozen=True)
class Run:
    """A query: how often it called each function, how long it took, and the sum of what its calls took."""

    calls: list[int]
    seconds: float
    seconds_in_calls: float


@dataclass(frozen=True)
class Counters:
    """What the functions count: how often each was called, and the seconds of all of them."""

    calls: list[Accumulator[int]]
    seconds: Accumulator[float]


@contextmanager
def slow_functions(spark: SparkSession, milliseconds: list[float]) -> Iterator[Counters]:
    """Functions f0, f1, ... that sleep."""
    context = spark.sparkContext
    counters = Counters([context.accumulator(0) for _ in milliseconds], context.accumulator(0.0))
    for number, own in enumerate(milliseconds):
        sleeping = _sleeping(counters.calls[number], counters.seconds, own / 1000)
        spark.udf.register(f"f{number}", udf(sleeping, "double"))
    try:
        yield counters
    finally:
        for number in range(len(milliseconds)):
            spark.sql(f"DROP TEMPORARY FUNCTION f{number}")


def _sleeping(calls: Accumulator[int], total: Accumulator[float], seconds: float) -> Callable[[float], float]:
    def wait(x: float) -> float:
        start = perf_counter()
        time.sleep(seconds)
        calls.add(1)
        total.add(perf_counter() - start)
        return x

    return lambda x: wait(x)  # Spark warns of type hints that are not those of a pandas UDF


def write_rows(work: Workload, directory: Path) -> str:
    """The rows as Parquet, in several files."""
    columns = {"product": work.products, "amount": work.amounts}
    table = pa.table(columns | {f"a{number}": own for number, own in enumerate(work.arguments)})
    directory.mkdir()
    size = -(-work.rows // FILES)
    for part in range(FILES):
        pq.write_table(table.slice(part * size, size), directory / f"{part:02}.parquet")
    return str(directory)


class Measured:
    """Queries on the rows of a workload. Each answer is compared with the number of matches that there must be."""

    def __init__(self, spark: SparkSession, work: Workload, counters: Counters) -> None:
        self.work, self._spark, self._counters = work, spark, counters
        costs = {f"f{number}": 1000 * own for number, own in enumerate(work.milliseconds)}
        self._policy = Policy(extra_functions=set(costs), costs=costs)
        self._rules = self._published("udfs", [rule.where for rule in work.rules])

    def where_needed(self, rows: DataFrame, expected: int) -> Run:
        """Match, with calls only where rules need them."""
        query = _counted(rows, self._rules)
        run = self._run(lambda: int(query.collect()[0][0] or 0), expected)
        if _metric(query, "calls") != sum(run.calls):
            raise WrongAnswer(f"the metric has {_metric(query, 'calls')} calls, and {sum(run.calls)} were made")
        return run

    def eager(self, rows: DataFrame, expected: int) -> Run:
        """Call all functions for every row first, and match the results."""
        results = [f"f{number}(a{number}) AS r{number}" for number in range(FUNCTIONS)]
        texts = [rule.where for rule in self.work.rules]
        for number in range(FUNCTIONS):
            texts = [text.replace(f"f{number}(a{number})", f"r{number}") for text in texts]
        query = _counted(rows.selectExpr("product", "amount", *results), self._published("udf_results", texts))
        return self._run(lambda: int(query.collect()[0][0] or 0), expected)

    def case_when(self, rows: DataFrame, expected: int) -> Run:
        """Plain Spark, with a CASE WHEN for each rule."""
        texts = [(str(number), rule.where) for number, rule in enumerate(self.work.rules)]
        return self._run(lambda: match_by_case_when(rows, texts), expected)

    def _published(self, name: str, texts: list[str]) -> sparkrules.RuleSet:
        rules = sparkrules.RuleSet(name, policy=self._policy)
        rules.subscribe_all((str(number), text) for number, text in enumerate(texts))
        rules.publish(self._spark, force=True)
        return rules

    def _run(self, query: Callable[[], int], expected: int) -> Run:
        before, in_calls = [own.value for own in self._counters.calls], self._counters.seconds.value
        start = perf_counter()
        found = query()
        seconds = perf_counter() - start
        if found != expected:
            raise WrongAnswer(f"{found} matches instead of {expected}")
        calls = [own.value - known for own, known in zip(self._counters.calls, before, strict=True)]
        return Run(calls, seconds, self._counters.seconds.value - in_calls)


def _counted(rows: DataFrame, rules: sparkrules.RuleSet) -> DataFrame:
    return sparkrules.match(rows, rules).selectExpr("sum(size(matches.ids))")


def _metric(query: DataFrame, name: str) -> int:
    plan = query._jdf.queryExecution().executedPlan()
    while not plan.nodeName().startswith("Match"):
        plan = plan.children().apply(0)
    return int(plan.metrics().apply(name).value())
