"""Constants that the binder reads without Spark's parser or analyzer, such as lower('ABC'): the answer is Spark's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sparkrules
from tests.spark.oracle import (
    accepted_by_where,
    compared,
    disagreements,
    pairs_by_plugin,
    pairs_by_where,
    rule_set,
    rules_in_plan,
    settings,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TEXTS = [
    "abc",
    "ABC",
    "",
    "it's",
    r"a\b",
    r"a\\b",
    "a%c",
    "a_c",
    "ss",
    "ß",
    "İ",
    "i̇",
    "1",
    "01",
    "2024-01-02",
    "${x}",
    "a'",
    "SS",
    "ı",
    "I",
    "ὀδυσσεύς",
    "ὈΔΥΣΣΕΎΣ",
    "ς",
    "ﬁ",
    "FI",
    "ǆ",
    "ǅ",
    "Ǆ",
    "ŉ",
    "ʼN",
    "K",
    "k",
    "𐐨",
    "𐐀",
    "\u00e9",
    "e\u0301",
    "É",
    "\n",
    "a\nbc",
    "\x00",
    "?",
    "abc ",
    'a""b',
    'a"b',
]
CONSTANTS = [
    "lower('ABC')",
    "upper('abc')",
    "lower('')",
    r"lower('IT\'S')",
    "lower('IT''S')",
    "lower('A' 'BC')",
    r"lower('A\\B')",
    r"lower('A\\\\B')",
    r"lower('\u0041bc')",
    r"lower('A\%C')",
    r"upper('\141bc')",
    "lower('A\nBC')",
    "lower('İ')",
    "upper('İ')",
    "upper('ß')",
    "lower('I')",
    "upper('i')",
    "lower('ı')",
    "upper('ı')",
    "lower('ὈΔΥΣΣΕΎΣ')",
    "upper('ὀδυσσεύς')",
    "lower('Σ')",
    "upper('ﬁ')",
    "upper('ǅ')",
    "lower('ǅ')",
    "upper('ŉ')",
    "lower('\u212a')",
    "lower('𐐀')",
    "upper('𐐨')",
    "upper('é')",
    "upper('e\u0301')",
    r"lower('\0')",
    r"lower('\n')",
    r"lower('\uD800')",
    r"lower('\U00010400')",
    "lower('ABC ')",
    """lower('A""B')""",
    """lower('A"B')""",
    r"""lower('A\"B')""",
    r"lower('A\\')",
    "lower('--A')",
    "lower('/*A')",
    "lower(r'A\\B')",
    'lower("ABC")',
    "LOWER('ABC')",
    "lower( 'ABC' )",
    "lcase('ABC')",
    "lower(CAST(NULL AS STRING))",
    "lower('ABC' COLLATE UTF8_BINARY)",
    "lower('ABC' COLLATE UTF8_LCASE)",
    "upper('ß' COLLATE UNICODE)",
    "lower('1')",
    "upper('2024-01-02')",
    "lower(NULL)",
    "lower(upper('aBc'))",
    "concat('a', 'bc')",
    "lower(concat('A', 'B', 'C'))",
    "trim('  abc ')",
    "nullif('a', 'a')",
    "cast(1 AS STRING)",
]
COMPARED = ["s", "lower(s)", "c", "l"]


def _rules(constants: list[str]) -> list[str]:
    found = [f"{attribute} = {constant}" for attribute in COMPARED for constant in constants]
    found += [f"i = {c}" for c in ("lower('1')", "upper('01')", "concat('1', '')")]
    found += [f"d = {c}" for c in ("lower('2024-01-02')", "concat('2024-01', '-02')")]
    found += [f"{name}(s, {constant})" for name in ("contains", "startswith") for constant in constants]
    found += [f"NOT endswith(lower(s), {constant})" for constant in constants]
    found += [f"s LIKE {constant}" for constant in ("lower('A%C')", "lower('A_C')", r"lower('A\\%C')")]
    found += [
        "s RLIKE lower('A.C')",
        "NOT s RLIKE upper('^a')",
        "s < lower('B')",
        "s >= upper('b')",
        "s <=> lower('ABC')",
    ]
    return [
        *found,
        "s IN (lower('ABC'), upper('ss'), 'x')",
        "s NOT IN (lower('ABC'), NULL)",
        "c IN (lower('ABC'), 'x')",
    ]


@pytest.fixture(scope="module")
def rows(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DataFrame]:
    place = Path(tmp_path_factory.mktemp("constants")) / "rows"
    spark.sql(
        "CREATE TABLE constants (row INT, s STRING, c CHAR(4), l STRING COLLATE UTF8_LCASE, i INT, d DATE) "
        f"USING parquet LOCATION '{place}'"
    )
    values = spark.createDataFrame([(n, text) for n, text in enumerate([*TEXTS, None])], "row INT, s STRING")
    values.createOrReplaceTempView("constant_values")
    spark.sql(
        "INSERT INTO constants SELECT row, s, left(s, 4), s COLLATE UTF8_LCASE, try_cast(s AS INT), "
        "try_cast(s AS DATE) FROM constant_values"
    )
    yield spark.table("constants")
    spark.sql("DROP TABLE constants")


def test_computed_strings_are_those_that_spark_computes(rows: DataFrame) -> None:
    assert disagreements(rows, _rules(CONSTANTS), "constants") == []


def test_also_without_ansi(rows: DataFrame) -> None:
    with settings(rows.sparkSession, ansi="false"):
        rules = [*_rules(CONSTANTS), "i = lower('X')", "s IN (lower('ABC'), 1)", "s IN (lower('01'), 1)"]
        assert compared(rows, {text: text for text in rules}, "legacy_constants") == []


def test_icu_or_java_converts_case_as_the_session_says(rows: DataFrame) -> None:
    with settings(rows.sparkSession, spark_sql_icu_caseMappings_enabled="false"):
        assert compared(rows, {text: text for text in _rules(CONSTANTS)}, "java_constants") == []


def test_lists_with_several_collations_are_taken_as_spark_takes_them(rows: DataFrame) -> None:
    others = ["'x' COLLATE UTF8_LCASE", "CAST('x' AS STRING COLLATE UTF8_LCASE)", "'ABC' COLLATE UTF8_BINARY", "NULL"]
    computed = ["lower('ABC')", "lower('ABC' COLLATE UTF8_BINARY)", "lower(CAST('ABC' AS STRING))"]
    texts = [
        f"{attribute} IN ({constant}, {other})"
        for attribute in ("s", "l", "hex(i)", "lower(s)")
        for constant in computed
        for other in others
    ]
    rules = {text: text for text in texts}
    accepted = accepted_by_where(rows, rules)
    assert 0 < len(accepted) < len(rules)
    with settings(rows.sparkSession, spark_sparkrules_invalidRules="skip"):
        assert rules_in_plan(sparkrules.match(rows, rule_set("collations", rules))) == len(accepted)
    assert compared(rows, accepted, "accepted_collations") == []


def test_escapes_that_the_parser_keeps_are_kept(rows: DataFrame) -> None:
    texts = [r"s = lower('A\\B')", r"s = lower('A\B')", r"contains(s, upper('\141'))", "s = lower('ABC')"]
    with settings(rows.sparkSession, spark_sql_parser_escapedStringLiterals="true"):
        assert compared(rows, {text: text for text in texts}, "kept_escapes") == []


def test_what_looks_like_a_variable_stays_what_it_is(rows: DataFrame) -> None:
    texts = ["s = lower('${x}')", "s = lower('${X}')", "contains(s, lower('${X'))", "s = lower('$x')"]
    with settings(rows.sparkSession, x="ABC"):
        ours = pairs_by_plugin(rows, rule_set("variables", {text: text for text in texts}))
        with settings(rows.sparkSession, spark_sql_variable_substitute="false"):
            assert ours == pairs_by_where(rows, {text: text for text in texts}) != set()


def test_decimals_have_the_types_that_the_parser_gives_them(rows: DataFrame) -> None:
    numbers = [
        "1.0",
        "01.50",
        "-0.0",
        "0.1",
        "-1.25",
        "123456789012345678.5",
        "1.000000000000000001",
        "2.",
        ".5",
        "1e0",
    ]
    found = [f"i {operator} {number}" for operator in ("=", "<", ">=") for number in numbers]
    found += [f"cast(i AS DECIMAL(5, 2)) {operator} {number}" for operator in ("=", "<") for number in numbers]
    assert compared(rows, {text: text for text in found}, "decimals") == []
