"""Functions registered in the session: in SQL, for the JVM, in Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from pyspark.sql.pandas.functions import pandas_udf

import sparkrules
from sparkrules.sql import Policy
from tests.spark.oracle import compared, pairs_by_plugin, rule_set, settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ALLOWED = Policy(extra_functions={"add_one", "twice", "is_big", "joined", "as_array", "asks"})


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    values = "(0, 1, 'x'), (1, 5, NULL), (2, NULL, 'y'), (3, -7, 'x'), (4, 100, 'z')"
    return spark.sql(f"SELECT * FROM VALUES {values} AS t(row, a, s)").coalesce(1).localCheckpoint()


@pytest.fixture(autouse=True)
def _no_functions_stay(spark: SparkSession) -> Iterator[None]:
    yield
    for name in ALLOWED.extra_functions:
        spark.sql(f"DROP TEMPORARY FUNCTION IF EXISTS {name}")


def all_as_where(df: DataFrame, *texts: str) -> None:
    assert compared(df, {text: text for text in texts}, "udfs", ALLOWED) == []


def test_functions_written_in_sql(spark: SparkSession, df: DataFrame) -> None:
    spark.sql("CREATE TEMPORARY FUNCTION add_one(x INT) RETURNS INT RETURN x + 1")
    spark.sql("CREATE TEMPORARY FUNCTION is_big(x INT, y INT DEFAULT 3) RETURNS BOOLEAN RETURN add_one(x) > y")
    all_as_where(
        df,
        "add_one(a) > 5",
        "add_one(add_one(a)) = 7",
        "5 < add_one(a) AND s IS NULL",
        "a > add_one(4)",
        "add_one(a) IN (2, 6)",
        "NOT is_big(a)",
        "is_big(a, 5) OR s = 'x'",
        "is_big(length(s), row)",
    )


def test_a_function_written_in_sql_next_to_rules_that_do_not_fit(spark: SparkSession, df: DataFrame) -> None:
    spark.sql("CREATE TEMPORARY FUNCTION add_one(x INT) RETURNS INT RETURN x + 1")
    rules = {"good": "add_one(a) = 6", "no column": "nowhere > 1", "no type": "map(1, 2) > 1", "both": "add_one(q) = 6"}
    with settings(spark, spark_sparkrules_invalidRules="skip"):
        assert pairs_by_plugin(df, rule_set("udfs", rules, ALLOWED)) == {(1, "good")}


def test_a_function_that_asks_a_table_is_refused(spark: SparkSession, df: DataFrame) -> None:
    spark.range(3).createOrReplaceTempView("asked")
    spark.sql("CREATE TEMPORARY FUNCTION asks(x INT) RETURNS BOOLEAN RETURN x < (SELECT max(id) FROM asked)")
    with pytest.raises(Exception, match="it contains a subquery"):
        sparkrules.match(df, rule_set("udfs", {"asks": "asks(a)"}, ALLOWED)).collect()


def test_a_jvm_function(spark: SparkSession, df: DataFrame) -> None:
    """One of Spark's own Scala functions, registered the way a user would register one."""
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql.functions import array

    vectors = df.select("row", "a", array_to_vector(array(df.row.cast("double"), df.a.cast("double"))).alias("v"))
    vectors = vectors.where("a IS NOT NULL").localCheckpoint()
    register_scala_function(spark, "as_array")
    all_as_where(vectors, "as_array(v)[0] > 1", "as_array(v)[1] = 5.0 OR a = 1", "NOT as_array(v)[0] IN (0, 3)")


def register_scala_function(spark: SparkSession, name: str) -> None:
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    field = jvm.java.lang.Class.forName("org.apache.spark.sql.ml.InternalFunctionRegistration$").getDeclaredField(
        "vectorToArrayUdf"
    )
    field.setAccessible(True)
    owner = getattr(jvm.org.apache.spark.sql.ml, "InternalFunctionRegistration$")
    spark._jsparkSession.udf().register(name, field.get(getattr(owner, "MODULE$")))


@pytest.mark.parametrize("arrow", ["true", "false"])
def test_python_functions(spark: SparkSession, df: DataFrame, arrow: str) -> None:
    with settings(spark, spark_sql_execution_pythonUDF_arrow_enabled=arrow):
        spark.udf.register("twice", lambda x: None if x is None else 2 * x, "int")
        spark.udf.register("is_big", lambda x: x is not None and x > 3, "boolean")
        spark.udf.register("joined", lambda x, s: f"{x}-{s}", "string")
        all_as_where(
            df,
            "twice(a) > 5",
            "twice(a) = 10 OR s = 'x'",
            "twice(a) IS NULL",
            "is_big(a)",
            "NOT is_big(a) AND a IS NOT NULL",
            "twice(twice(a)) = 20",
            "joined(a, s) LIKE '1%'",
            "joined(twice(a), upper(s)) = '2-X'",
            "twice(a + 1) > a",
            "a BETWEEN 0 AND 10 AND length(joined(a, s)) = 3",
        )


def test_a_pandas_function(spark: SparkSession, df: DataFrame) -> None:
    def twice(x: pd.Series) -> pd.Series:
        return x * 2

    spark.udf.register("twice", pandas_udf(twice, "double"))  # type: ignore[call-overload]
    all_as_where(df, "twice(a) > 5", "NOT twice(a) > 5", "twice(a) IS NULL OR s = 'x'")


@pytest.mark.parametrize("register", ["python", "sql"])
def test_a_function_registered_anew_is_used_by_the_next_query(
    spark: SparkSession, df: DataFrame, register: str
) -> None:
    def define(addend: int) -> None:
        if register == "python":
            spark.udf.register("add_one", lambda x: None if x is None else x + addend, "int")
        else:
            spark.sql(f"CREATE OR REPLACE TEMPORARY FUNCTION add_one(x INT) RETURNS INT RETURN x + {addend}")

    rules = rule_set("udfs", {"six": "add_one(a) = 6"}, ALLOWED)
    define(1)
    matched = sparkrules.match(df, rules).selectExpr("row", "matches.ids")
    assert seen(matched) == [1]
    define(5)
    assert seen(sparkrules.match(df, rules).selectExpr("row", "matches.ids")) == [0]
    define(1)
    assert seen(sparkrules.match(df, rules).selectExpr("row", "matches.ids")) == [1]


def seen(df: DataFrame) -> list[int]:
    return [row.row for row in df.collect() if row.ids]
