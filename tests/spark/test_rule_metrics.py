"""The counts of rules in all plans: several parts, columns, retries of what Spark computes twice; and their bounds."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException

import sparkrules
from sparkrules import RuleMetrics
from tests.spark.oracle import settings
from tests.spark.test_dense import rule_of
from tests.spark.versions import VersionWriter

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(scope="module")
def parted(spark: SparkSession) -> str:
    """A rule set of several parts, with removed rules."""
    writer = VersionWriter(spark, "counted_parts")
    first = writer.segment(
        {f"a{i}": f"n % 50 = {i}" for i in range(40)} | {"wide": "n >= 0", "cast": "CAST(s AS INT) > 1"}
    )
    second = writer.segment({f"b{i}": f"n < {i * 10} AND s RLIKE '^[x1]'" for i in range(30)})
    third = writer.segment({"c1": "s = 'x'", "c2": "length(s) > 1"})
    writer.publish(first, second, third, removed=["a3", "a4", "b7"])
    return "counted_parts"


@pytest.fixture(scope="module")
def rows(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """Read from Parquet, in batches of columns."""
    path = str(tmp_path_factory.mktemp("rows") / "rows")
    made = spark.range(0, 400, 1, 3).selectExpr("CAST(id AS INT) AS n", "IF(id % 4 = 0, 'x', CAST(id AS STRING)) AS s")
    made.write.parquet(path)
    return spark.read.parquet(path)


@pytest.mark.parametrize("is_columnar", [True, False])
@pytest.mark.parametrize("top", [None, 2])
def test_parts_and_removed_rules(
    spark: SparkSession, parted: str, rows: DataFrame, top: int | None, is_columnar: bool
) -> None:
    seen, counted = RuleMetrics(), RuleMetrics()
    with settings(
        spark,
        spark_sparkrules_partRules="20",
        spark_sql_parquet_enableVectorizedReader=str(is_columnar).lower(),
    ):
        found = sparkrules.match(rows, parted, top=top, observe=seen).select("matches.ids").collect()
        per_rule = sparkrules.matches(rows, parted, top=top, observe=counted).groupBy("subscription_id").count()
        grouped = {row[0]: row[1] for row in per_rule.collect()}
    assert len(grouped) > 5
    truth = Counter(id for row in found for id in row.ids)
    assert truth == grouped == seen.get["hits"] == counted.get["hits"]
    (run,) = seen.runs
    assert (run.rows, run.matches, run.rules, run.rules_hit) == (400, sum(truth.values()), 71, len(truth))
    assert run.rule_errors == {"cast": 100}
    assert set(run.time_shares) >= {"cast", "c2"}
    assert not {"a3", "b7"} & set(run.time_shares)


def test_dense_rules(spark: SparkSession) -> None:
    chance = random.Random(3)
    rules = sparkrules.RuleSet("counted_dense")
    rules.subscribe_all({f"r{i}": rule_of(chance) for i in range(1500)})
    columns = ("id % 100 AS a", "id % 11 AS b", "id / 7 AS x", "IF(id % 5 = 0, NULL, 'c') AS s", "id % 2 = 1 AS f")
    df = spark.range(0, 300, 1, 2).selectExpr("id", *columns)
    seen = RuleMetrics()
    matched = sparkrules.match(df, rules, observe=seen)
    truth = Counter(id for row in matched.select("matches.ids").collect() for id in row.ids)
    assert truth.total() > 100_000
    assert seen.get["hits"] == truth


def test_what_is_computed_again_counts_once(spark: SparkSession, parted: str, rows: DataFrame) -> None:
    seen = RuleMetrics()
    matched = sparkrules.match(rows.repartition(4), parted, observe=seen)
    assert sum(1 for _ in matched.toLocalIterator()) == 400  # after the execution has ended, for Spark
    assert [run.rows for run in seen.runs] == [400]
    cached = matched.cache()
    assert cached.count() == cached.where("size(matches.ids) > 0").count() == 400
    cached.unpersist()
    assert [run.rows for run in seen.runs] == [400, 400]
    assert len(matched.collect()) == len(matched.collect()) == 400  # planned once, executed twice
    assert [run.rows for run in seen.runs] == [400] * 4


def test_a_limit_counts_what_was_matched(spark: SparkSession, parted: str, rows: DataFrame) -> None:
    seen = RuleMetrics()
    sparkrules.match(rows.coalesce(1), parted, observe=seen).limit(5).collect()
    assert 5 <= seen.get["rows"] < 400


def test_nothing_is_counted_unless_it_is_wanted(spark: SparkSession, parted: str, rows: DataFrame) -> None:
    def runs() -> list[tuple[int, int]]:
        found = spark.sql("SELECT run, size(counts) FROM subscription_metrics() ORDER BY run").collect()
        return [(row[0], row[1]) for row in found]

    before = runs()
    with settings(spark, spark_sparkrules_ruleMetrics="0"):
        sparkrules.match(rows, parted).collect()
        assert runs() == before
        seen = RuleMetrics()
        sparkrules.match(rows, parted, observe=seen).collect()
        assert len(seen.get["hits"]) > 20
    with settings(spark, spark_sparkrules_ruleMetrics="2"):
        sparkrules.match(rows, parted).collect()
    assert 2 <= runs()[-1][1] <= 6  # two by matches, two by errors, two by time
    with (
        settings(spark, spark_sparkrules_ruleMetrics="-1"),
        pytest.raises(PySparkException, match="a number, 0 or more"),
    ):
        sparkrules.match(rows, parted).collect()


def test_a_run_without_a_task_is_none(spark: SparkSession, parted: str) -> None:
    matched = sparkrules.match(spark.range(1).selectExpr("CAST(id AS INT) AS n", "'x' AS s"), parted, observe="planned")
    matched._jdf.queryExecution().executedPlan().execute()
    assert spark.sql("SELECT * FROM subscription_metrics('planned')").collect() == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("observe => ''", "observe => '' is not a name of at most 200 characters"),
        ("observe => 3", "observe => 3 is not a name"),
        ("observe => repeat('x', 3)", "is not a name"),
        (f"observe => '{'x' * 201}'", "is not a name"),
        ("observe => 'a', OBSERVE => 'b'", "two arguments 'observe'"),
        ("observes => 'a'", "no argument 'observes'. It takes top => 3.* and observe => 'nightly'"),
    ],
)
def test_wrong_names(spark: SparkSession, parted: str, arguments: str, message: str) -> None:
    with pytest.raises(PySparkException, match=message):
        spark.sql(f"SELECT match_subscriptions('{parted}', *, {arguments}) FROM range(1)")
    with pytest.raises(PySparkException, match="subscription_errors has no argument 'observe'"):
        spark.sql(f"SELECT subscription_errors('{parted}', *, observe => 'a') FROM range(1)")
    with pytest.raises(PySparkException, match="subscription_metrics takes a name"):
        spark.sql("SELECT * FROM subscription_metrics(3)")


def test_any_text_is_a_name_in_sql(spark: SparkSession, rows: DataFrame) -> None:
    rules = sparkrules.RuleSet("counted_sql")
    rules.subscribe("it's", "n < 3")
    rules.publish(spark)
    rows.createOrReplaceTempView("counted_rows")
    spark.sql("SELECT * FROM match_subscriptions('counted_sql', TABLE(counted_rows), observe => \"x'y\\n\")").collect()
    found = spark.sql(
        'SELECT observe, counts.hits, counts.subscription_id FROM subscription_metrics("x\'y\\n")'
    ).first()
    assert found is not None
    assert tuple(found) == ("x'y\n", [3], ["it's"])
