"""CHAR(n): Spark pads the shorter side of a comparison with blanks, and knows from a column's metadata where."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sparkrules
from sparkrules.local.matcher import NeedsSpark
from tests.spark.oracle import disagreements, pairs_by_filter, pairs_by_plugin, rule_set, settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COMPARISONS = [
    "c5 = 'ab'",
    "c5 <> 'ab'",
    "NOT (c5 = 'ab')",
    "'ab' = c5",
    "c5 = 'ab     '",
    "c5 <> 'abcdefgh'",
    "c5 = 'abcde'",
    "c5 > 'ab'",
    "c5 >= 'ab'",
    "c5 < 'ab '",
    "c5 <= 'ab'",
    "c5 <=> 'ab'",
    "NOT (c5 <=> 'ab')",
    "c5 <=> NULL",
    "c5 = NULL",
    "c5 IS DISTINCT FROM 'ab'",
    "c5 IN ('ab', 'x')",
    "c5 IN ('ab')",
    "c5 IN ('abcde', 'ab', 'abcdefg')",
    "c5 NOT IN ('ab', 'x')",
    "c5 NOT IN ('ab', 'abcdefgh')",
    "c5 IN ('ab', NULL)",
    "c5 IN (NULL, 'x', 'ab')",
    "c5 NOT IN ('ab', NULL)",
    "c5 IN ('ab', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'abcde')",
    "c5 BETWEEN 'ab' AND 'ac'",
    "c5 NOT BETWEEN 'ab' AND 'ac'",
    "c5 >= 'ab' AND c5 <= 'ac'",
    "s = 'ac' AND c5 BETWEEN 'ab' AND 'ac' OR v5 = 'x'",
    "c5 = concat('a', 'b')",
    "c5 IN (concat('a', 'b'), 'x')",
    "c5 = ''",
    "c5 = c2",
    "c5 <> c2",
    "c5 < c2",
    "c2 <=> c5",
    "c5 IN (c2, c5)",
    "c5 = v5",
    "c5 = s",
    "s = 'ab'",
    "v5 = 'ab'",
    "v5 IN ('ab', 'ab   ')",
    "c5 LIKE 'ab'",
    "c5 LIKE 'ab%'",
    "c5 RLIKE '^ab$'",
    "length(c5) = 5",
    "trim(c5) = 'ab'",
    "upper(c5) = 'AB'",
    "c5 || 'x' = 'ab   x'",
    "coalesce(c5, 'zz') = 'ab'",
    "nullif(c5, 'ab') IS NULL",
    "CASE c5 WHEN 'ab' THEN true ELSE false END",
    "if(c5 = 'ab', true, NULL)",
    "(c5 = 'ab') = (c2 = 'ab')",
    "st.c = 'ab'",
    "st.c = 'ab   '",
    "st.c = c5",
    "st.c IN ('ab', 'q    ')",
    "get(a, 0) = 'ab'",
    "get(a, 0) = 'ab '",
    "a = array('ab')",
    "array_contains(a, 'ab ')",
    "exists(a, e -> e = 'ab')",
    "m['k'] = 'ab'",
    "coll = 'AB'",
    "coll IN ('AB', 'X')",
    "coll BETWEEN 'AB' AND 'AC'",
    "st.c BETWEEN 'ab' AND 'ac'",
    "st.c NOT BETWEEN 'ab' AND 'q'",
    "get(a, 0) BETWEEN 'ab' AND 'abc'",
]

BETWEENS = [
    "NOT (c5 BETWEEN 'ab' AND 'ac')",
    "NOT c5 NOT BETWEEN 'ab' AND 'ac'",
    "(c5) BETWEEN 'ab' AND 'ac'",
    "`c5` between 'ab' and ('ac')",
    "C5 BETWEEN 'ab' AND 'ac'",
    "char_columns.c5 BETWEEN 'ab' AND 'ac'",
    "c5 NOT BETWEEN concat('a', 'b') AND 'ac'",
    "c5 BETWEEN 'ab' AND NULL",
    "c5 NOT BETWEEN 'ac' AND 'ab'",
    "c5 BETWEEN 'ab' AND s",
    "s BETWEEN c5 AND 'b'",
    "'ab' BETWEEN c5 AND 'b'",
    "between(c5, 'ab', 'ac')",
    "c5 >= 'ab' AND between(c5, 'ab', 'ac')",
    "((row < 3 AND NOT (c5 BETWEEN 'ab' AND 'ac')) OR c2 = 'a') AND s IS NOT NULL",
    "(c5 BETWEEN 'ab' AND 'ac') = (c2 = 'ab')",
    "(c5 BETWEEN 'ab' AND 'ac') <> TRUE",
    "CASE WHEN c5 BETWEEN 'ab' AND 'ac' THEN true ELSE c5 >= 'b' END",
    "c5 BETWEEN 'ab' AND 'ac' AND c5 >= 'ab' AND c5 <= 'ac'",
    "c5 >= 'ab' AND c5 <= 'ac' AND c2 NOT BETWEEN 'a' AND 'ab'",
]
NO_BETWEENS = [
    "c5 >= 'ab' AND s <> 'c5 BETWEEN'",
    "c5 >= 'ab' AND row BETWEEN 0 AND 4",
    "c5 >= 'ab' AND v5 BETWEEN 'ab' AND 'ac'",
    "c5 >= 'ab' AND c5 <= 'zz' AND s <> 'x BETWEEN a AND b'",
]


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> Iterator[str]:
    spark.sql(
        "CREATE TABLE char_columns (row INT, c5 CHAR(5), c2 CHAR(2), v5 VARCHAR(5), s STRING, "
        "st STRUCT<c: CHAR(5), x: INT>, a ARRAY<CHAR(3)>, m MAP<STRING, CHAR(3)>, coll CHAR(4) COLLATE UTF8_LCASE) "
        "USING parquet"
    )
    spark.sql(
        "INSERT INTO char_columns VALUES "
        "(0, 'ab', 'ab', 'ab', 'ab', named_struct('c', 'ab', 'x', 1), array('ab'), map('k', 'ab'), 'ab'), "
        "(1, 'abcde', 'cd', 'ab   ', 'ab   ', named_struct('c', 'q', 'x', 2), array('x', 'abc'), map(), 'x'), "
        "(2, '', '', '', '', named_struct('c', NULL, 'x', 3), array(), map('k', ''), ''), "
        "(3, 'ac', 'a', 'ac', 'ac', NULL, array(NULL), NULL, 'Ab  '), "
        "(4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)"
    )
    yield "char_columns"
    spark.sql("DROP TABLE char_columns")


def test_every_comparison(spark: SparkSession, table: str) -> None:
    assert disagreements(spark.table(table), COMPARISONS, "chars") == []


def test_between_is_not_padded(spark: SparkSession, table: str) -> None:
    """Unlike the two comparisons that BETWEEN stands for, which other rules may have."""
    assert disagreements(spark.table(table), [*BETWEENS, *NO_BETWEENS, *COMPARISONS], "chars_between") == []


def test_between_elsewhere_in_the_text_changes_nothing(spark: SparkSession, table: str) -> None:
    """In a string, about other columns: the comparison with the CHAR(n) stays one that rules share."""
    assert disagreements(spark.table(table), NO_BETWEENS, "no_between") == []
    made = rule_set("no_between_shared", {text: text for text in NO_BETWEENS})
    df = spark.table(table)
    for matched in (sparkrules.match(df, made), sparkrules.match(df, made, engine="python")):
        (row,) = matched.where("row = 0").selectExpr("matches.*").collect()
        assert [sorted(group) for group in row.overlaps] == [sorted(NO_BETWEENS)]


@pytest.mark.parametrize(
    "setting",
    [
        {"spark.sql.readSideCharPadding": "false"},
        {"spark.sql.readSideCharPadding": "false", "spark.sql.legacy.noCharPaddingInPredicate": "true"},
        {"spark.sql.legacy.charVarcharAsString": "true"},
        {"spark.sql.ansi.enabled": "false"},
    ],
)
def test_the_settings_of_reading(spark: SparkSession, table: str, setting: dict[str, str]) -> None:
    """The rule set is unchanged and was compiled without the setting. That program must not be reused."""
    with settings(spark, **setting):
        assert disagreements(spark.table(table), COMPARISONS, "chars") == []


def test_views_aliases_and_expressions(spark: SparkSession, table: str) -> None:
    spark.sql(
        "CREATE OR REPLACE TEMPORARY VIEW char_view AS "
        f"SELECT row, c5 AS k, upper(c5) AS up, struct(c5, c2) AS both, c2, c5 AS `a``b` FROM {table}"
    )
    texts = [
        "k = 'ab'",
        "k IN ('ab', 'abcdefg')",
        "k = c2",
        "up = 'AB'",
        "both.c5 = 'ab'",
        "both.c5 = concat('a', 'b')",
        "both.c5 = both.c2",
        "k = both.c5",
        "K BETWEEN 'ab' AND 'ac'",
        "both.c5 BETWEEN 'ab' AND 'ac'",
        "`a``b` BETWEEN 'ab' AND 'ac'",
        "`A``B` NOT BETWEEN 'ab' AND 'ac'",
    ]
    assert disagreements(spark.table("char_view"), texts, "char_view") == []


def test_every_call(spark: SparkSession, table: str) -> None:
    """A struct for a row, the table function, and the rows of a join."""
    rules = {text: text for text in COMPARISONS if "st." not in text}
    made = rule_set("char_calls", rules)
    made.publish(spark)
    truth = pairs_by_filter(spark.table(table), rules)
    asked = spark.sql(
        f"SELECT row, match_subscriptions('char_calls', struct(row, c5, c2, v5, s, a, m, coll)).ids FROM {table}"
    )
    assert {(row, id) for row, ids in asked.collect() for id in ids} == truth
    listed = spark.sql(f"SELECT row, subscription_id FROM match_subscriptions('char_calls', TABLE({table}))")
    assert {(row, id) for row, id in listed.collect()} == truth


def test_streams(spark: SparkSession, table: str, tmp_path: Path) -> None:
    rules = {text: text for text in ("c5 = 'ab'", "c5 IN ('ab', 'abcdefg')", "c5 = c2", "c5 <> 'ab'")}
    made = rule_set("char_stream", rules)
    stream = sparkrules.match(spark.readStream.table(table), made).selectExpr("row", "matches.ids")
    query = (
        stream.writeStream.format("memory")
        .queryName("char_stream")
        .option("checkpointLocation", str(tmp_path))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination(60)
    query.stop()
    found = {(row, id) for row, ids in spark.table("char_stream").collect() for id in ids}
    written = (
        spark.readStream.table(table)
        .where("c5 = 'ab'")
        .writeStream.format("memory")
        .queryName("char_where")
        .option("checkpointLocation", str(tmp_path / "where"))
        .trigger(availableNow=True)
        .start()
    )
    written.awaitTermination(60)
    written.stop()
    assert {row for row, id in found if id == "c5 = 'ab'"} == {row.row for row in spark.table("char_where").collect()}
    assert found == pairs_by_filter(spark.table(table), rules)


def test_numpy_refuses_what_is_padded(spark: SparkSession, table: str) -> None:
    rows = spark.table(table).select("row", "c5", "v5", "st").toArrow()
    for text in ("c5 = 'ab'", "c5 IN ('ab', 'x')", "c5 LIKE 'ab%'"):
        with pytest.raises(NeedsSpark, match=r"only Spark knows how CHAR\(5\) compares"):
            rule_set("char_numpy", {"it": text}).match(rows)
    answered = {"null": "c5 IS NULL", "varchar": "v5 = 'ab'", "field": "st.x = 1"}
    assert rule_set("varchar_numpy", answered).match(rows).ids.to_pylist()[0] == ["field", "varchar"]


def test_the_same_rules_on_other_columns(spark: SparkSession, table: str) -> None:
    """What is compiled for a CHAR(n) is not used for a string column of the same name."""
    made = rule_set("char_or_not", {"it": "c5 = 'ab'"})
    plain = spark.table(table).selectExpr("row", "concat(c5, '') AS c5")
    frames: list[DataFrame] = [spark.table(table), plain, spark.table(table)]
    assert [len(pairs_by_plugin(df, made)) for df in frames] == [1, 0, 1]
