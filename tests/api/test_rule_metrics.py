"""What rules did, counted while queries run: in classic sessions and in Connect sessions."""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sparkrules
from sparkrules import RuleMetrics, RuleRun, RuleSet
from sparkrules.errors import RuleSetError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

HOSTILE = "<script>alert('1')</script>\nINFO all is well"


@pytest.fixture(scope="module")
def rules() -> RuleSet:
    made = RuleSet("counted")
    made.subscribe("odd", "n % 2 = 1", priority=1)
    made.subscribe("small", "n < 10", priority=3)
    made.subscribe("never", "n < 0")
    made.subscribe("failing", "CAST(s AS INT) > 5")
    made.subscribe("text", "s LIKE '%7%' AND n > 3", priority=2)
    made.subscribe(HOSTILE, "n = 5")
    return made


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    return spark.range(0, 300, 1, 3).selectExpr("CAST(id AS INT) AS n", "IF(id % 3 = 0, 'x', CAST(id AS STRING)) AS s")


def grouped(df: DataFrame, rules: RuleSet, top: int | None = None) -> dict[str, int]:
    found = sparkrules.match(df, rules, top=top).selectExpr("explode(matches.ids) AS id").groupBy("id").count()
    return {row[0]: row[1] for row in found.collect()}


@pytest.mark.parametrize("top", [None, 1])
def test_hits_are_what_grouping_the_ids_gives(df: DataFrame, rules: RuleSet, top: int | None) -> None:
    seen, per_match, none_read = RuleMetrics(), RuleMetrics(), RuleMetrics()
    sparkrules.match(df, rules, top=top, observe=seen).collect()
    sparkrules.matches(df, rules, top=top, observe=per_match).groupBy("subscription_id").count().collect()
    sparkrules.match(df, rules, top=top, observe=none_read).select("n").collect()
    truth = grouped(df, rules, top)
    assert len(truth) == 5 - (top == 1)
    for metrics in (seen, per_match, none_read):
        got = metrics.get
        assert got["hits"] == truth
        assert (got["rows"], got["matches"]) == (300, sum(truth.values()))
        (run,) = metrics.runs
        assert (run.ruleset, run.version, run.rules, run.rules_hit) == ("counted", 1, 6, len(truth))
        assert run.query is None


def test_errors_and_times_are_those_of_the_rules_that_need_the_value(df: DataFrame, rules: RuleSet) -> None:
    seen = RuleMetrics()
    sparkrules.match(df, rules, observe=seen).collect()
    got = seen.get
    assert got["errors"] == 100
    assert got["rule_errors"] == {"failing": 100}
    assert got["milliseconds"] > 0
    shares = got["time_shares"]
    assert {"odd", "failing"} <= set(shares) <= {"odd", "failing", "text"}  # what is looked up has no time of its own
    assert max(shares, key=shares.__getitem__) == "failing"
    assert 0 < sum(shares.values()) <= 1


def test_each_action_counts_and_a_name_is_found_from_sql(spark: SparkSession, df: DataFrame, rules: RuleSet) -> None:
    seen = RuleMetrics("by.name-1")
    matched = sparkrules.match(df, rules, observe=seen)
    assert seen.get["rows"] == 0
    matched.count()
    matched.orderBy("s").collect()  # Spark computes the rows twice: a sample of them decides how they are sorted
    assert [run.rows for run in seen.runs] == [300, 300]
    sparkrules.match(df.limit(7), rules, observe="by.name-1").collect()
    found = spark.sql("SELECT sum(rows), max(run) > min(run) FROM subscription_metrics('by.name-1')").first()
    assert found is not None
    assert tuple(found) == (607, True)
    assert seen.get["rows"] == 607


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the listeners have logged; other parts have loggers of their own."""
    return [record.getMessage() for record in caplog.records if record.name == "sparkrules"]


def test_a_stream_reports_each_micro_batch(
    spark: SparkSession, rules: RuleSet, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    runs: list[RuleRun] = []
    incoming = tmp_path / "in"
    incoming.mkdir()
    for n in range(3):
        path = incoming / f"{n}.json"
        path.write_text("".join(f'{{"n": {i}, "s": "x"}}\n' for i in range(10 * n, 10 * n + 5)))
        os.utime(path, (n, n))  # the oldest first
    stream = spark.readStream.schema("n INT, s STRING").option("maxFilesPerTrigger", 1).json(str(incoming))
    seen = RuleMetrics()
    listeners = [sparkrules.log_matches(spark, runs.append), sparkrules.log_matches(spark, top=2)]
    try:
        with caplog.at_level(logging.INFO, logger="sparkrules"):
            query = (
                sparkrules.match(stream, rules, observe=seen)
                .writeStream.format("noop")
                .option("checkpointLocation", str(tmp_path / "checkpoint"))
                .queryName("counted")
                .trigger(availableNow=True)
                .start()
            )
            query.awaitTermination(120)
            until = time.monotonic() + 60
            while (len(runs) < 3 or len(logged(caplog)) < 3) and time.monotonic() < until:
                time.sleep(0.1)
    finally:
        for listener in listeners:
            spark.streams.removeListener(listener)
    assert [run.batch for run in runs] == [0, 1, 2]
    assert runs == seen.runs
    assert {run.query for run in runs} == {str(query.id)}
    batch = spark.read.schema("n INT, s STRING").json(str(incoming))
    summed = {rule: sum(run.hits.get(rule, 0) for run in runs) for rule in seen.get["hits"]}
    assert summed == grouped(batch, rules)
    lines = sorted(logged(caplog))
    assert lines == [
        "counted@1, batch 0 of counted: 5 rows, 7 matches of 2 of 6 rules; most: small 5, odd 2; 5 errors: failing 5",
        "counted@1, batch 1 of counted: 5 rows, 2 matches of 1 of 6 rules; most: odd 2; 5 errors: failing 5",
        "counted@1, batch 2 of counted: 5 rows, 2 matches of 1 of 6 rules; most: odd 2; 5 errors: failing 5",
    ]


def test_what_cannot_be_counted_is_said(spark: SparkSession, df: DataFrame, rules: RuleSet) -> None:
    with pytest.raises(RuleSetError, match="observe needs the plugin"):
        sparkrules.match(df, rules, observe=RuleMetrics(), engine="python")
    with pytest.raises(RuleSetError, match="is not a name for metrics"):
        RuleMetrics("it's")
    with pytest.raises(RuleSetError, match=r"neither sparkrules.RuleMetrics\(\) nor a name"):
        sparkrules.matches(df, rules, observe=3)  # type: ignore[arg-type]
    with pytest.raises(RuleSetError, match="these metrics are of no query"):
        _ = RuleMetrics().runs
    with pytest.raises(RuleSetError, match="top=-1 is not a number of rules"):
        sparkrules.log_matches(spark, top=-1)
