"""A call becomes one operator in a plan, which reads and computes only what is used."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.spark.oracle import rule_set

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(scope="module", autouse=True)
def _table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    columns = ", ".join(f"id * {i} AS c{i}" for i in range(1, 120))
    path = str(tmp_path_factory.mktemp("wide") / "table")
    spark.range(100).selectExpr("id", *columns.split(", ")).write.parquet(path)
    spark.read.parquet(path).createOrReplaceTempView("wide")
    rule_set("plans", {"one": "c1 > 50", "two": "c1 > 50 AND c2 < 150", "three": "c3 = 3"}).publish(spark)


def executed(spark: SparkSession, query: str) -> str:
    text: str = spark.sql(query)._jdf.queryExecution().executedPlan().toString()
    return text


def test_two_calls_of_the_same_rules_are_one_operator(spark: SparkSession) -> None:
    query = "SELECT match_subscriptions('plans', *).ids, subscription_matches('plans', *) FROM wide"
    assert executed(spark, query).count("Match [plans@") == 1


def test_only_columns_that_rules_use_are_read(spark: SparkSession) -> None:
    plan = executed(spark, "SELECT match_subscriptions('plans', *).ids FROM wide")
    assert "ReadSchema: struct<c1:bigint,c2:bigint,c3:bigint>" in plan


def test_ids_alone_never_compute_overlaps(spark: SparkSession) -> None:
    assert "overlaps#" not in executed(spark, "SELECT m.ids FROM (SELECT match_subscriptions('plans', *) m FROM wide)")
    assert "overlaps#" not in executed(
        spark, "SELECT id FROM (SELECT *, match_subscriptions('plans', *) m FROM wide) WHERE size(m.ids) > 1"
    )
    assert "overlaps#" in executed(spark, "SELECT m.overlaps FROM (SELECT match_subscriptions('plans', *) m FROM wide)")


def test_matches_that_nobody_reads_are_not_computed(spark: SparkSession) -> None:
    assert "Match [" not in executed(spark, "SELECT id FROM (SELECT *, match_subscriptions('plans', *) m FROM wide)")


def test_filters_on_the_rows_columns_go_below_and_into_the_scan(spark: SparkSession) -> None:
    query = (
        "SELECT * FROM (SELECT *, match_subscriptions('plans', *).ids AS ids FROM wide) WHERE id < 7 AND size(ids) = 0"
    )
    plan = executed(spark, query)
    assert "PushedFilters: [IsNotNull(id), LessThan(id,7)]" in plan
    above, below = plan.split("Match [")
    assert "size(ids" in above
    assert "(id#" in below
    assert spark.sql(query).count() == 6


def test_a_filter_on_the_result_does_not_match_twice(spark: SparkSession) -> None:
    plan = executed(
        spark, "SELECT * FROM (SELECT *, match_subscriptions('plans', *) m FROM wide) WHERE size(m.ids) > 1"
    )
    assert plan.count("Match [") == 1


def test_explain_names_rule_set_version_and_size_and_broadcasts_nothing(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    def broadcasts() -> int:
        return int(spark.sparkContext.broadcast(0)._jbroadcast.id())

    rule_set("explained", {"one": "c1 > 50"}).publish(spark)
    # Broadcasts are numbered: one that was made in between would take a number.
    before = broadcasts()
    spark.sql("SELECT match_subscriptions('explained', *).ids FROM VALUES (1) AS t(c1)").explain()
    assert broadcasts() - before == 1
    assert "Match [explained@1, 1 rule]" in capsys.readouterr().out


def test_metrics_count_rows_and_matches(spark: SparkSession) -> None:
    df = spark.sql("SELECT match_subscriptions('plans', *).ids AS ids FROM wide")
    matches = sum(len(row.ids) for row in df.collect())
    plan = df._jdf.queryExecution().executedPlan()
    operator = plan
    while "Match" not in operator.nodeName():
        operator = operator.children().head()
    metrics = operator.metrics()
    assert metrics.apply("numOutputRows").value() == 100
    assert metrics.apply("matches").value() == matches == 49 + 24 + 1


def _operator(df: DataFrame) -> Any:
    operator = df._jdf.queryExecution().executedPlan()
    while not operator.nodeName().startswith("Match "):
        operator = operator.children().head()
    return operator


def test_the_operator_is_named_after_the_version_it_matches(spark: SparkSession) -> None:
    version = rule_set("named", {"one": "c1 > 50"}).publish(spark)
    df = spark.sql("SELECT match_subscriptions('named', *).ids FROM VALUES (1) AS t(c1)")
    assert _operator(df).nodeName() == f"Match named@{version}"


@pytest.fixture
def static_plans(spark: SparkSession) -> Iterator[None]:
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    yield
    spark.conf.unset("spark.sql.adaptive.enabled")


@pytest.mark.parametrize("answer", ["per row", "per match", "per rule"])
def test_metrics_tell_how_long_it_takes(spark: SparkSession, static_plans: None, answer: str) -> None:
    rule_set("timed", {f"r{n}": f"id % 97 = {n} AND length(concat('x', id % 50)) > 1" for n in range(97)}).publish(
        spark
    )
    rows = spark.range(0, 60_000, 1, 1).selectExpr("id", "id AS other")
    rows.createOrReplaceTempView("timed_rows")
    matched = "match_subscriptions('timed', TABLE(timed_rows))"
    query = {
        "per row": "SELECT id, match_subscriptions('timed', *).ids FROM timed_rows",
        "per match": f"SELECT id, subscription_id FROM {matched}",
        "per rule": f"SELECT subscription_id, count(*) FROM {matched} GROUP BY subscription_id",
    }[answer]
    spark.sql(query).write.format("noop").mode("overwrite").save()  # compiled, by Spark and by the JVM
    df = spark.sql(query)
    started = time.perf_counter()
    df.collect()
    elapsed = 1e9 * (time.perf_counter() - started)
    metrics = _operator(df).metrics()
    times = {name: metrics.apply(name).value() for name in ("setupTime", "matchTime", "writeTime")}
    assert min(times.values()) > 0
    # 60,000 rows of which each calls a function for each of its tests: not done in a millisecond.
    assert times["matchTime"] > 1e6
    # A row that is timed stands for at most 31, and may catch any pause of the machine.
    assert sum(times.values()) < 31 * elapsed


@pytest.mark.parametrize(
    ("condition", "written"),
    {
        "size(m.ids) > 0": 1,
        "array_contains(m.ids, 'one') AND id < 9": 1,
        "size(m.ids) >= 0": 4,
        "size(m.ids) < 1 OR id > 0": 4,
    }.items(),
)
def test_rows_that_are_dropped_for_want_of_a_match_are_not_written(
    spark: SparkSession, condition: str, written: int
) -> None:
    rules = rule_set("unwritten", {"one": "id = 1"})
    rules.publish(spark)
    matched = spark.sql(
        f"SELECT id, m.ids FROM (SELECT *, match_subscriptions(*) AS m FROM range(4)) WHERE {condition}"
    )
    expected = spark.range(4).selectExpr("id", "IF(id = 1, array('one'), array()) AS ids")
    kept = expected.where(condition.replace("m.ids", "ids")).collect()
    assert sorted(matched.collect()) == sorted(kept)
    node = matched._jdf.queryExecution().executedPlan()
    while "Match unwritten" not in node.nodeName():
        node = node.children().head()
    assert node.metrics().apply("numOutputRows").value() == written
