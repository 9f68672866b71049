"""The whole path on whatever PySpark is installed: `make test-versions` runs this file on every supported minor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from pyspark.sql.functions import udf
from pyspark.sql.pandas.functions import pandas_udf

import sparkrules
from sparkrules.sql import Policy
from tests.spark.logins import DETECTED, alerts, detected, detected_in_stream, logins
from tests.spark.oracle import pairs_by_plugin, pairs_by_where, rule_set, settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.smoke
ROCKS_DB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
RULES = {
    "cheap": "price < 10",
    "cheap-and-new": "price < 10 AND state = 'new'",
    "no-price": "price IS NULL",
    "odd": "NOT (state IN ('new', 'used')) OR price BETWEEN 5.5 AND 7",
    "text": "state LIKE 'n%' AND contains(lower(name), 'pot')",
    "derived": "price * 2 > quantity AND NOT sold",
    "opaque": "price > quantity",
    "today": "day <= current_date()",
    "every": "true",
}


@pytest.fixture(scope="module")
def books(spark: SparkSession) -> DataFrame:
    rows = [
        (0, 5.0, "new", "Pot", 3, False),
        (1, 12.5, "used", "kettle", 30, True),
        (2, None, None, None, None, None),
        (3, float("nan"), "", "teaPOT", 0, False),
        (4, 6.0, "newer", "pan", 6, None),
    ]
    df = spark.createDataFrame(rows, "row INT, price DOUBLE, state STRING, name STRING, quantity INT, sold BOOLEAN")
    return df.selectExpr("*", "DATE'2020-01-01' AS day")


def test_matches_equal_where(books: DataFrame) -> None:
    assert pairs_by_plugin(books, rule_set("smoke", RULES)) == pairs_by_where(books, RULES)


def test_the_python_engine_gives_the_same(books: DataFrame) -> None:
    # Among them one that fails on some rows, and one that fails by its constants.
    failing = {"cast": "CAST(state AS INT) IS NULL", "cast or not": "CAST(name AS INT) > 5 OR row = 1"}
    rules = rule_set(
        "smoke_python", RULES | failing | {"constant": "quantity IN (3, 1 / 0)", "pattern": "name RLIKE '('"}
    )
    python, plugin = (
        [(row.row, row.matches) for row in sparkrules.match(books, rules, engine=engine).orderBy("row").collect()]
        for engine in ("python", "plugin")
    )
    assert python == plugin
    assert [row for row, matches in python if "cast" in matches.ids] == [2]


def test_sql_function_and_table_function(spark: SparkSession, books: DataFrame) -> None:
    rule_set("smoke", RULES).publish(spark)
    books.createOrReplaceTempView("books")
    first = spark.sql("SELECT match_subscriptions(*) AS m FROM books WHERE row = 0").collect()[0].m
    assert first.ids == ["cheap", "cheap-and-new", "derived", "every", "opaque", "text", "today"]
    assert first.overlaps == [["cheap", "cheap-and-new"]]
    flat = spark.sql("SELECT * FROM match_subscriptions('smoke', TABLE(books)) WHERE row = 0").collect()
    assert [(row.subscription_id, row.overlap) for row in flat][:2] == [
        ("cheap", ["cheap-and-new"]),
        ("cheap-and-new", ["cheap"]),
    ]


def test_a_filter_on_the_result_matches_once(spark: SparkSession, books: DataFrame) -> None:
    matched = sparkrules.match(books, rule_set("smoke", RULES)).where("size(matches.ids) > 3 AND price < 100")
    plan = matched.select("row", "matches.ids")._jdf.queryExecution().executedPlan().toString()
    assert plan.count("Match [smoke@") == 1
    assert sorted(row.row for row in matched.collect()) == [0, 4]


def test_a_stream_is_matched(spark: SparkSession, books: DataFrame, tmp_path_factory: pytest.TempPathFactory) -> None:
    source = tmp_path_factory.mktemp("source")
    books.write.mode("overwrite").parquet(str(source))
    stream = spark.readStream.schema(books.schema).parquet(str(source))
    query = (
        sparkrules.match(stream, rule_set("smoke", RULES))
        .writeStream.format("memory")
        .queryName("smoke_stream")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    streamed = {(row.row, id) for row in spark.table("smoke_stream").collect() for id in row.matches.ids}
    assert streamed == pairs_by_where(books, RULES)


def test_patterns_are_detected(spark: SparkSession, tmp_path: Path) -> None:
    assert detected(logins(spark), alerts("smoke_logins")) == DETECTED
    with settings(spark, spark_sql_streaming_stateStore_providerClass=ROCKS_DB):
        assert detected_in_stream(logins(spark), alerts("smoke_logins"), tmp_path) == DETECTED


def test_python_functions_are_called_where_rules_need_them(spark: SparkSession, books: DataFrame) -> None:
    calls = spark.sparkContext.accumulator(0)

    def rounded(price: float | None) -> int | None:
        calls.add(1)
        return None if price is None or price != price else 10 // (int(price) - 12)

    def size(text: pd.Series) -> pd.Series:
        return text.str.len()

    spark.udf.register("rounded", udf(rounded, "int"))
    spark.udf.register("size_of", pandas_udf(size, "int"))  # type: ignore[call-overload]
    # Spark 4.0 gives it 3.0 if another row of the batch has NULL.
    spark.udf.register("shown", udf(lambda n, text: f"{str(n)[:1]}-{text}", "string", useArrow=True))
    policy = Policy(extra_functions={"rounded", "size_of", "shown"})
    rules = {
        "behind": "row < 2 AND rounded(price) < 0",
        "pandas": "size_of(state) = 3 OR row = 3",
        "nested": "quantity IS NOT NULL AND shown(size_of(name), upper(state)) LIKE '3-N%'",
    }
    # The second row's fails: 12.5 is no price.
    means = rules | {"behind": "row < 1"}
    made = rule_set("smoke_calls", rules, policy)
    assert pairs_by_plugin(books, made) == pairs_by_where(books, means)
    assert calls.value <= 2 + 2, "it fails once, and is then asked for row by row"
    overlaps = {row.row: row.matches.overlaps for row in sparkrules.match(books, made).collect()}
    assert set(overlaps) == set(range(5))
    failed = sparkrules.rule_errors(books, made).collect()
    assert [(row.row, row.subscription_id) for row in failed] == [(1, "behind")]
    assert "ZeroDivisionError" in failed[0].message
    spark.udf.register("rounded", udf(lambda price: 1, "int"))  # nothing that counts in later queries


def test_rules_that_do_not_fit_the_table_are_named(spark: SparkSession, books: DataFrame) -> None:
    from pyspark.errors import AnalysisException

    rules = rule_set("unfit", {"good": "price > 1", "bad-column": "prise > 1", "bad-type": "map(1, 2) > price"})
    with pytest.raises(AnalysisException, match="2 rules of unfit@") as caught:
        sparkrules.match(books, rules).collect()
    message = str(caught.value)
    assert "'bad-column': there is no column prise" in message
    assert "'bad-type': " in message
    assert "spark.sparkrules.invalidRules=skip" in message
