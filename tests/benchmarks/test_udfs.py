"""The benchmark of slow functions, small: its schedules are those of the specification, and its answers are right."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.udfs import counting
from benchmarks.udfs.__main__ import HEAD, lines
from benchmarks.udfs.workload import FUNCTIONS, generate
from tests.spark.oracle import settings
from tests.specification import schedules

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

rules = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=3, unique=True), max_size=6)
truths = st.lists(st.booleans(), min_size=6, max_size=6)


@given(rules, truths, st.lists(st.integers(1, 9), min_size=6, max_size=6))
def test_the_oracle_takes_the_cheapest_proof(made: list[list[int]], row: list[bool], costs: list[int]) -> None:
    own = [{number: row[number] for number in rule} for rule in made]
    called = counting.oracle(own, costs)
    assert proves(called, own)
    others = chain.from_iterable(combinations(range(6), size) for size in range(7))
    assert sum(costs[number] for number in called) == min(
        sum(costs[number] for number in other) for other in others if proves(set(other), own)
    )


def proves(called: set[int], own: list[dict[int, bool]]) -> bool:
    return all(called.issuperset(rule) or any(not rule[number] for number in called & rule.keys()) for rule in own)


@given(rules, truths)
def test_naive_is_that_of_the_specification(made: list[list[int]], row: list[bool]) -> None:
    own = [{number: row[number] for number in rule} for rule in made]
    asked = schedules.naive({str(number): rule for number, rule in enumerate(made)}, row.__getitem__).asked
    assert counting.naive(own, []) == set(asked)


def test_the_table_has_all_ways_and_every_answer_is_right(spark: SparkSession, tmp_path: Path) -> None:
    work = replace(generate(12, 3, 200), milliseconds=[0.001] * FUNCTIONS)
    with settings(spark, spark_sparkrules_store=str(tmp_path / "store"), spark_sql_adaptive_enabled="false"):
        table = [line.split("|")[1:-1] for line in lines(spark, work, 3, 40, tmp_path / "rows")]
    assert {len(row) for row in table} == {len(HEAD)}
    calls = {row[HEAD.index("way")].strip(): float(row[HEAD.index("calls/row")]) for row in table}
    assert list(calls) == ["eager", "CASE WHEN", "naive", "sparkrules", "oracle"]
    assert calls["eager"] == calls["CASE WHEN"] == len({number for rule in work.rules for number in rule.thresholds})
    assert 0 < calls["oracle"] <= calls["sparkrules"] < calls["eager"] / 2
