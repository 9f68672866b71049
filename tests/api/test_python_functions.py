"""Rules that call Python functions registered by the client, which a server calls for rows that need them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import udf

import sparkrules
from sparkrules import Policy, RuleSet

RULES = {
    "behind": "a > 6 AND noted(a) > 7",
    "either": "s = 'x' OR noted(a) = 3",
    "nested": "s = 'y' AND length(shown(noted(a), s)) = 3",
    "cheap": "a > 8",
}


@pytest.fixture
def calls(spark: SparkSession, tmp_path: Path) -> Path:
    """A file that grows by one byte with each call of `noted`. Workers run on this machine."""
    file = tmp_path / "calls"
    file.touch()

    def noted(x: int | None) -> int | None:
        with file.open("ab") as out:
            os.write(out.fileno(), b".")
        return x

    spark.udf.register("noted", udf(noted, "int"))
    spark.udf.register("shown", udf(lambda x, s: f"{x}-{s}", "string", useArrow=True))
    return file


@pytest.fixture
def df(spark: SparkSession) -> DataFrame:
    rows = [(row, row % 10, "xyz"[row % 3]) for row in range(60)]
    return spark.createDataFrame(rows, "row int, a int, s string")


def test_they_are_called_for_the_rows_that_need_them(df: DataFrame, calls: Path) -> None:
    rules = RuleSet("asking", policy=Policy(extra_functions={"noted", "shown"}))
    rules.subscribe_all(RULES)
    truth = {(row.row, id) for id, text in RULES.items() for row in df.where(text).collect()}
    before = calls.stat().st_size
    matched = sparkrules.match(df, rules).selectExpr("row", "matches.ids").collect()
    assert {(row, id) for row, ids in matched for id in ids} == truth
    # Every row needs one, except where `either` and all others are decided; equal arguments are asked for once a task.
    assert 10 <= calls.stat().st_size - before <= 2 * 10
    overlapping = sparkrules.matches(df, rules).groupBy("subscription_id").count().collect()
    assert {row.subscription_id: row["count"] for row in overlapping} == {
        id: sum(other == id for _, other in truth) for id in RULES
    }
    before = calls.stat().st_size
    rules.unsubscribe("either")
    rules.unsubscribe("nested")
    left = sparkrules.match(df, rules).selectExpr("row", "matches.ids").collect()
    assert {(row, id) for row, ids in left for id in ids} == {(r, id) for r, id in truth if id in ("behind", "cheap")}
    assert 3 <= calls.stat().st_size - before <= 2 * 3
