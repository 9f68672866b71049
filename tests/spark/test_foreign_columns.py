"""Columns of other libraries: read as rows, as by any other operator of Spark, and freed as Spark frees them.

jars/src/test/scala/sparkrules/plan/ForeignSource.scala is a data source with such columns.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError

import sparkrules
from sparkrules.catalyst.scala_compiler import compile_once
from sparkrules.catalyst.spark_home import find_spark_home
from tests.spark.oracle import differences, pairs_by_where, rule_set
from tests.spark.test_scan_filter import QUERIES, executed, pairs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "jars" / "src" / "test" / "scala" / "sparkrules" / "plan" / "ForeignSource.scala"
RULES = {
    text: text
    for text in (
        *("n > 50", "n IS NULL AND b", "n IN (3, 4, 99)", "s = 'text 3'", "s LIKE '%7'", "s IS NULL OR s > 'text 8'"),
        *("d > 15", "d = 0", "d IS NULL", "e > 80.5", "e = 4.25 AND s <> 'text 4'", "b", "NOT b AND n < 10"),
        *("a IS NULL", "size(a) = 2", "exists(a, x -> x IS NULL)", "a[0] = 5", "t.x = 3", "t.y = 'inner 2'"),
        *("t IS NULL", "t.y IS NULL AND t IS NOT NULL", "coalesce(s, t.y) = 'inner 0'"),
        *("concat(s, t.y) LIKE '%3inner%'", "s RLIKE '1[0-5]$' AND t.y RLIKE '[135]$'", "lower(s) = 'text 11'"),
    )
}


@pytest.fixture(scope="module")
def foreign(spark: SparkSession) -> Callable[[str], DataFrame]:
    """A table of a kind."""
    plugin = Path(sparkrules.jar_path())
    jar = compile_once("foreign", [SOURCE], ROOT / "build" / "scala", find_spark_home(), plugin, root=SOURCE.parent)
    spark.sql(f"ADD JAR '{jar}'")
    rule_set("foreign", RULES).publish(spark)

    def table(kind: str) -> DataFrame:
        df = spark.read.format("sparkrules.plan.ForeignSource").option("kind", kind).load()
        df.createOrReplaceTempView(f"foreign_{kind}")
        return df

    return table


@pytest.mark.parametrize("kind", ["plain", "reused", "freed", "mixed"])
def test_the_same_matches_as_where(spark: SparkSession, foreign: Callable[[str], DataFrame], kind: str) -> None:
    truth = pairs_by_where(foreign(kind), RULES)
    assert {id for _, id in truth} == set(RULES)
    for query in ("table function", "explode"):
        text = QUERIES[query].format("foreign", f"foreign_{kind}")
        assert "ColumnarToRow" not in executed(spark, text)
        assert differences(pairs(spark, text), truth, RULES) == []


def test_columns_are_freed(spark: SparkSession, foreign: Callable[[str], DataFrame]) -> None:
    foreign("freed")
    system = spark._jvm.java.lang.System
    for name in ("foreign.made", "foreign.closed"):
        system.clearProperty(name)
    spark.sql(QUERIES["table function"].format("foreign", "foreign_freed")).collect()
    assert system.getProperty("foreign.made") == system.getProperty("foreign.closed") == str(2 * 6 * 8)


def test_a_column_that_cannot_be_read_is_no_value_that_a_rule_cannot_compute(
    spark: SparkSession, foreign: Callable[[str], DataFrame]
) -> None:
    foreign("late")
    with pytest.raises(Py4JJavaError, match="the file is gone"):
        pairs(spark, QUERIES["table function"].format("foreign", "foreign_late"))


def test_an_operator_of_another_library_keeps_what_makes_rows_of_its_columns(
    spark: SparkSession, foreign: Callable[[str], DataFrame]
) -> None:
    library = _of_jar(spark, "sparkrules.plan.ElsewhereStrategy")
    library.addTo(spark._jsparkSession)
    try:
        truth = pairs_by_where(foreign("elsewhere"), RULES)
        text = QUERIES["table function"].format("foreign", "foreign_elsewhere")
        plan = executed(spark, text)
        assert plan.index("ColumnarToRow") < plan.index("Elsewhere")
        assert differences(pairs(spark, text), truth, RULES) == []
        assert truth
    finally:
        library.removeFrom(spark._jsparkSession)


def _of_jar(spark: SparkSession, name: str) -> Any:
    """An object of the jar that was added."""
    jvm = spark._jvm
    loader = jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader()
    return jvm.java.lang.Class.forName(f"{name}$", True, loader).getField("MODULE$").get(None)
