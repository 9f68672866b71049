"""What SQL reports for common mistakes, and for rules that it leaves out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import sparkrules
from sparkrules import RuleSet
from sparkrules.errors import RuleSetError
from tests.cli import process


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> Iterator[SparkSession]:
    before = spark.conf.get("spark.sparkrules.store")
    spark.conf.set("spark.sparkrules.store", str(tmp_path))
    made = RuleSet("alerts")
    made.subscribe("hot", "x > 1")
    made.publish(spark)
    spark.sql("SELECT 1 AS x, 2 AS y").createOrReplaceTempView("newcomer")
    yield spark
    spark.conf.set("spark.sparkrules.store", before)
    spark.conf.unset("spark.sparkrules.ruleset")
    spark.conf.unset("spark.sparkrules.invalidRules")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT * FROM match_subscriptions('alerts', newcomer)", "Write TABLE(newcomer)"),
        ("SELECT * FROM match_subscriptions(newcomer)", "Write TABLE(newcomer)"),
        ("SELECT * FROM match_subscriptions(newcomer) AS m WHERE x > 1", "Write TABLE(newcomer)"),
        ("SELECT * FROM (SELECT * FROM match_subscriptions(newcomer))", "Write TABLE(newcomer)"),
        ("SELECT * FROM match_subscriptions('alerts', 'newcomer')", "takes a table"),
        ("SELECT * FROM match_subscriptions('alerts')", "takes a table"),
        ("SELECT * FROM match_subscriptions()", "takes a table"),
        (
            "SELECT match_subscriptions('alerts') FROM newcomer",
            "Give columns to the call, match_subscriptions(",
        ),
        ("SELECT match_subscriptions('alrets', *) FROM newcomer", "Did you mean 'alerts'? There are: alerts."),
        ("SELECT match_subscriptions('quite another', *) FROM newcomer", "is not the name of a rule set"),
        ("SELECT match_subscriptions('unheard_of', *) FROM newcomer", "in {store}. There are: alerts."),
        ("SELECT match_subscriptions('alerts@9', *) FROM newcomer", "Its versions are 1 to 1."),
    ],
)
def test_a_query_that_is_wrong_is_answered_with_what_is_right(
    session: SparkSession, tmp_path: Path, query: str, message: str
) -> None:
    with pytest.raises(PySparkException, match=re.escape(message.replace("{store}", str(tmp_path)))):
        session.sql(query).collect()


def test_a_column_of_a_lateral_join_is_no_table(session: SparkSession) -> None:
    query = "SELECT * FROM newcomer, LATERAL (SELECT m.ids FROM (SELECT match_subscriptions('alerts', x) AS m))"
    assert session.sql(query).count() == 1
    assert session.sql("SELECT * FROM match_subscriptions(TABLE(newcomer))").count() == 0


def test_an_unknown_rule_set_in_python_is_answered_with_those_that_there_are(session: SparkSession) -> None:
    with pytest.raises(PySparkException, match="Did you mean 'alerts'"):
        sparkrules.match(session.table("newcomer"), "alert").collect()
    with pytest.raises(sparkrules.SparkRulesError, match="alerts"):
        RuleSet.load("alert", session.conf.get("spark.sparkrules.store"))


@pytest.mark.parametrize(
    ("store", "message"),
    [
        ("s3a://bucket/rules", "org.apache.hadoop:hadoop-aws:"),
        ("s3://bucket/rules", "The store s3a://bucket/rules cannot be reached"),
        ("gs://bucket/rules", "org.apache.hadoop:hadoop-gcp:"),
        ("s3a://key:sec/ret@bucket/rules", "The URL of the store contains credentials. Remove them"),
        ("abfss://c@account.dfs.core.windows.net/rules", "org.apache.hadoop:hadoop-azure:"),
        ("unheard-of://rules", "Add the file system of unheard-of://"),
    ],
)
def test_a_store_without_its_file_system(session: SparkSession, store: str, message: str) -> None:
    session.conf.set("spark.sparkrules.store", store)
    with pytest.raises(PySparkException, match=re.escape(message)):
        session.sql("SELECT match_subscriptions('alerts', *) FROM newcomer").collect()


def test_a_rules_dataframe_with_other_columns_names_them(session: SparkSession) -> None:
    with pytest.raises(RuleSetError, match="has no column id and no column where; it has: x, y"):
        RuleSet("r").subscribe_all(session.table("newcomer"))


def test_the_operator_counts_the_rules_that_it_leaves_out(session: SparkSession) -> None:
    made = RuleSet("some")
    made.subscribe_all({"hot": "x > 0", "typo": "nope > 1", "other": "nada = 'x'"})
    session.conf.set("spark.sparkrules.invalidRules", "skip")
    found = sparkrules.match(session.table("newcomer"), made).selectExpr("matches.ids")
    assert [row["ids"] for row in found.collect()] == [["hot"]]
    assert _metric(found._jdf.queryExecution().executedPlan(), "leftOut") == 2


def _metric(plan: object, name: str) -> int:
    """The value of a metric of the first operator that has it."""
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        if node.getClass().getSimpleName() == "AdaptiveSparkPlanExec":  # type: ignore[attr-defined]
            waiting.append(node.executedPlan())  # type: ignore[attr-defined]
            continue
        metrics = node.metrics()  # type: ignore[attr-defined]
        if metrics.contains(name):
            return int(metrics.apply(name).value())
        children = node.children()  # type: ignore[attr-defined]
        waiting += [children.apply(number) for number in range(children.size())]
    raise AssertionError(f"no operator has the metric {name}")


@pytest.mark.programs
def test_a_session_that_was_stopped_is_named() -> None:
    program = (
        "from pyspark.sql import SparkSession\nimport sparkrules\n"
        "spark = SparkSession.builder.master('local[1]').config('spark.ui.enabled', 'false').getOrCreate()\n"
        "df = spark.range(1)\nspark.stop()\nsparkrules.match(df, 'alerts')\n"
    )
    ended = process.run("-c", program)
    assert "RuleSetError: sparkrules.match: df belongs to a stopped Spark session" in ended.stderr
