"""Without Spark, lint reports the same missing columns and the same strings that cannot be converted as Spark."""

from __future__ import annotations

import contextlib
import random
import re

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from sparkrules import RuleSet
from sparkrules.index.rule import Rule
from sparkrules.lint import lint_errors
from sparkrules.lint.readable import unreadable
from sparkrules.sql import RuleError, parse_rule
from tests.lint import test_schema_errors as examples

COLUMNS = (
    "kind string, price int, cost decimal(10, 2), ratio double, used boolean, day date, at timestamp, "
    "addr struct<city: string, floor: int>, tags array<string>, extra map<string, string>"
)
TYPES = {
    "integer": ["tinyint", "int", "bigint"],
    "decimal": ["decimal(10, 2)"],
    "double": ["float", "double"],
    "boolean": ["boolean"],
    "date": ["date"],
    "timestamp": ["timestamp", "timestamp_ntz"],
}
LISTED = """
 12 |+12|-.5|.|+|1.|1e5|1E+5|1d|2F|0x1p3|NaN|nan|-inf|+Infinity|infinityy|cheap|12abc|1,5|1 2|٣|true|T|yes|Y|1|0
no|maybe|on|2025-13-45|2025-02-30|2024-02-29|2023-02-29|2025|2025-1|2025-1-5|12025-01-01|-2025-01-01|+2025-01-01
25-01-01|2025-01-01T|2025-01-01 |2025-01-01Tx|2025-01-01 10|2025-01-01 10:|2025-01-01 10:0|2025-01-01 10:00:00.
2025-1-1T1:2:3.4+5|2025-01-01 24:00:00|2025-01-01 10:60:00|2025-01-01 10:00:60|2025/01/01|01/02/2025|31.12.2025
20250101|2025-01-01Z|T10:00|10:00|10|T10|10:00:00 UTC|2025-01-01 10:00:00 Europe/Rome|2025-01-01 10:00:00x|1e|e5
--5|0x|0xFF|today|now|epoch|now UTC|yesterday|soon|\u00a05|\u20285|5\x7f|\x005|\t7\r|2025-00-01|2025-01-00
0000-01-01|9999999-12-31|99999999-01-01"""
PIECES = [
    "2025",
    "-",
    "-",
    "1",
    "13",
    "30",
    "0",
    ":",
    " ",
    "T",
    ".",
    "+",
    "Z",
    "e",
    "true",
    "n",
    "NaN",
    "inf",
    "d",
    "\t",
]


def test_a_text_that_is_called_unreadable_is_null_to_spark(spark: SparkSession) -> None:
    drawn = random.Random(1)
    texts = {*re.split("[|\n]", LISTED)}
    texts |= {"".join(drawn.choices(PIECES, k=drawn.randint(0, 7))) for _ in range(3000)}
    kinds = [(family, kind) for family, own in TYPES.items() for kind in own]
    columns = [f"try_cast(text AS {kind}) IS NOT NULL AS c{number}" for number, (_, kind) in enumerate(kinds)]
    rows = spark.createDataFrame([(text,) for text in sorted(texts)], "text string").selectExpr("text", *columns)
    wrong, known = [], 0
    for text, *is_read in rows.collect():
        for (family, kind), read in zip(kinds, is_read, strict=True):
            said = unreadable(text, family)
            known += said is not None
            if said is not None and read:
                wrong.append((text, kind, said))
    assert wrong == []
    assert known > 1000


@pytest.fixture(scope="module")
def schema(spark: SparkSession) -> pa.Schema:
    from sparkrules.rules.table_schema import arrow_schema

    return arrow_schema(spark.createDataFrame([], COLUMNS))


def _parameters(test: object) -> list[str]:
    (mark,) = test.pytestmark  # type: ignore[attr-defined]
    return [case if isinstance(case, str) else case[0] for case in mark.args[1]]


@pytest.mark.parametrize(
    "text",
    [
        *_parameters(examples.test_a_text_whose_quotes_were_forgotten),
        *_parameters(examples.test_columns_that_the_table_lacks),
        *_parameters(examples.test_what_is_no_column_is_not_missing),
    ],
)
def test_columns_are_missing_where_spark_misses_them(spark: SparkSession, schema: pa.Schema, text: str) -> None:
    found = lint_errors([Rule("r", text, parse_rule(text))], schema).of("unknown column")
    try:
        spark.createDataFrame([], COLUMNS).where(text).schema  # noqa: B018
        missed = False
    except PySparkException as error:
        missed = (error.getCondition() or "").startswith(("UNRESOLVED_COLUMN", "FIELD_NOT_FOUND"))
        if not missed:
            raise
    assert bool(found) == missed


@pytest.mark.parametrize(
    "text",
    [
        *_parameters(examples.test_constants_that_are_no_value_of_the_column),
        *_parameters(examples.test_types_that_spark_does_not_compare),
        *_parameters(examples.test_letters_of_the_wrong_case),
        "at > DATE '2025-13-45'",
    ],
)
def test_impossible_tests_are_true_for_no_row(spark: SparkSession, text: str) -> None:
    row = (
        "SELECT 'Login' kind, 5 price, CAST(5 AS DECIMAL(10, 2)) cost, 5D ratio, used, DATE '2025-06-01' day, "
        "TIMESTAMP '2025-06-01 00:00:00' at, struct('Rome' AS city, 5 AS floor) addr, array('a') tags, "
        "map('a', 'b') extra FROM VALUES (true), (false), (NULL) AS t(used)"
    )
    with contextlib.suppress(PySparkException):  # in ANSI mode it fails; a rule that fails is true for no row
        assert spark.sql(row).where(text).collect() == []


def test_no_column_is_seen_in_the_examples_of_sparks_functions(spark: SparkSession, schema: pa.Schema) -> None:
    """They select from nothing, so none of their names is a column."""
    texts: dict[str, str] = {}
    infos = spark.sparkContext._jvm.org.apache.spark.sql.api.python.PythonSQLUtils.listBuiltinFunctionInfos()
    for info in infos:
        for number, sql in enumerate(re.findall(r"> SELECT (.*);", info.getExamples())):
            if " AS S, S " in sql:  # a name for the columns that follow, which only SELECT has
                continue
            text = f"({sql}) IS NULL"
            with contextlib.suppress(RuleError):
                parse_rule(text)
                texts[f"{info.getName()} {number}"] = text
    rules = RuleSet("examples")
    accepted = rules.subscribe_all(texts)
    assert accepted > 300
    assert [(own.ids, own.message) for own in lint_errors(rules, schema).of("unknown column")] == []
