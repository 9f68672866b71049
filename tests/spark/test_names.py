"""Column names in any case, in backticks, with dots and nested, resolve as in WHERE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.spark.oracle import compared, settings
from tests.spark.predicate_rows import predicate_rows as predicate_rows
from tests.spark.predicate_rows import same

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def test_names_in_any_case_and_in_backticks(df: DataFrame) -> None:
    same(
        df,
        [
            "A > 3",
            "`A` > 3",
            "`a` > 3 AND B < 6",
            "LOWER(S) = 'x'",
            "get(Tags, 1) = 'x' AND size(TAGS) > 0",
            "PROPS['k'] = 1",
        ],
    )


def test_names_that_need_backticks(spark: SparkSession) -> None:
    names = [
        "a.b",
        "a b",
        "größe",
        "select",
        "from",
        "a`b",
        "order",
        "1st",
        "user",
        "timestamp",
        "x-y",
        "名前",
        "null",
        " ",
    ]
    quoted = ["`" + name.replace("`", "``") + "`" for name in names]
    values = ", ".join(
        f"({row}, {', '.join(str((row * i) % 7) for i in range(1, len(names) + 1))})" for row in range(12)
    )
    table = spark.sql(f"SELECT * FROM VALUES {values} AS t(row, {', '.join(quoted)})").localCheckpoint()
    rules = {
        text: text
        for name in quoted
        for text in (f"{name} > 3", f"t.{name} = 2", f"NOT {name} IN (1, 2)", f"-{name} < 0")
    }
    rules |= {text: text for text in ("user > 3", "timestamp = 2", "`a.b` + `a b` > `select`")}
    assert compared(table.alias("t"), rules, "names") == []


def test_nested_fields_and_columns_with_dots(spark: SparkSession) -> None:
    table = spark.sql(
        "SELECT * FROM VALUES (0, named_struct('b', 1, 'c d', named_struct('e', 'x'), 'L', array(1, 2)), 5), "
        "(1, named_struct('b', NULL, 'c d', NULL, 'L', NULL), 1), (2, NULL, NULL) AS t(row, a, `a.b`)"
    ).localCheckpoint()
    texts = [
        "a.b = 1",
        "`a.b` = 1",
        "a.b < `a.b`",
        "a.`c d`.e = 'x'",
        "t.a.b = 1",
        "A.B = 1",
        "a.b IS NULL",
        "a.l[1] = 2",
    ]
    texts += ["a IS NULL", "a.`c d` IS NULL", "a.b <=> NULL", "a.l IS NOT NULL AND `a.b` = 5"]
    rules = {text: text for text in texts}
    assert compared(table.alias("t"), rules, "nested") == []


def test_a_case_sensitive_session(spark: SparkSession) -> None:
    with settings(spark, case="true"):
        table = spark.sql("SELECT * FROM VALUES (0, 1, 2), (1, 2, 1), (2, NULL, 1) AS t(row, a, A)").localCheckpoint()
        rules = {
            text: text for text in ["a = 1", "A = 1", "a < A", "`A` = 2", "a = 1 OR A = 1", "t.A IS NULL", "A IN (2)"]
        }
        assert compared(table.alias("t"), rules, "case_sensitive") == []
