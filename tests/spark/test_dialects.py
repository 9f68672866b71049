"""Translated rules do in Spark what the documentation of their dialect says they do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException

from sparkrules.sql import spark_sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Dialect, rule, and what it is there; each where Spark's own reading of a similar text differs, or might.
CASES = [
    ("postgres", "'a\nb' ~ 'a.b'", True),  # . is any character
    ("postgres", "'ab\n' ~ 'b$'", False),  # $ is the end, not the last line
    ("postgres", "'xab' ~ 'a'", True),
    ("postgres", "'a$b' ~ 'a\\$b'", True),
    ("postgres", "'a|b' ~ '^a[|]b$'", None),
    ("snowflake", "'xab' RLIKE 'a'", False),  # the whole text
    ("snowflake", "'xab' RLIKE 'x.*|y'", True),
    ("snowflake", "'xab' RLIKE 'y|x'", False),
    ("bigquery", "REGEXP_CONTAINS('ab\\n', r'b$')", False),
    ("bigquery", "REGEXP_CONTAINS('xab', r'a')", True),
    ("mysql", "'xab' REGEXP 'a'", True),
    ("mysql", "'ab\\n' REGEXP 'b$'", True),  # as ICU does
    ("postgres", "'a' || NULL IS NULL", True),
    ("postgres", "CONCAT('a', NULL) = 'a'", True),
    ("tsql", "CONCAT('a', NULL) = 'a'", True),
    ("mysql", "CONCAT('a', NULL) IS NULL", True),
    ("postgres", "'a%' LIKE 'a\\%'", True),
    ("postgres", "'ab' LIKE 'a\\%'", False),
    ("postgres", "'a\\' = 'a\\'", True),
    ("mysql", "'a%' LIKE 'a\\%'", True),
    ("mysql", "'ab' LIKE 'a\\%'", False),
    ("mysql", "CHAR_LENGTH('\\\\') = 1", True),
    ("mysql", "'a\\tb' = 'a\tb'", True),
    ("bigquery", "'a%' LIKE 'a\\\\%'", True),
    ("bigquery", "LENGTH(r'\\n') = 2", True),
    ("snowflake", "'a%' LIKE 'a^%' ESCAPE '^'", True),
    ("tsql", "'a%' LIKE 'a!%' ESCAPE '!'", True),
    ("mysql", "NULL <=> NULL", True),
    ("mysql", "NOT (1 <=> NULL)", True),
    ("postgres", "NULL IS NOT DISTINCT FROM NULL", True),
    ("snowflake", "EQUAL_NULL(NULL, NULL)", True),
    ("mysql", "TRUE || FALSE", True),
    ("mysql", "7 DIV 2 = 3", True),
    ("mysql", "-7 DIV 2 = -3", True),
    ("mysql", "-7 % 2 = -1", True),
    ("postgres", "-7 % 2 = -1", True),
    ("bigquery", "7 / 2 = 3.5", True),
    ("bigquery", "DIV(-7, 2) = -3", True),
    ("postgres", "2.5::numeric(10, 0) = 3", True),
    ("postgres", "(-2.5)::numeric(10, 0) = -3", True),
    ("snowflake", "2.5::number = 3", True),
    ("tsql", "CAST(2.9 AS int) = 2", True),
    ("tsql", "CAST(-2.9 AS int) = -2", True),
    ("postgres", "DATE_TRUNC('month', DATE '2020-02-20') = DATE '2020-02-01'", True),
    ("bigquery", "DATE_TRUNC(DATE '2020-02-20', MONTH) = DATE '2020-02-01'", True),
    ("postgres", "DATE '2020-01-31' + INTERVAL '1 month' = DATE '2020-02-29'", True),
    ("mysql", "DATE '2020-01-31' + INTERVAL 1 MONTH = DATE '2020-02-29'", True),
    ("postgres", "EXTRACT(YEAR FROM DATE '2020-02-20') = 2020", True),
    ("tsql", "DATEPART(month, CAST('2020-02-20' AS date)) = 2", True),
    ("postgres", "SUBSTRING('abcd' FROM 2 FOR 2) = 'bc'", True),
    ("postgres", "POSITION('c' IN 'abc') = 3 AND STRPOS('abc', 'x') = 0", True),
    ("mysql", "INSTR('abc', 'c') = 3 AND LOCATE('c', 'abc') = 3", True),
    ("postgres", "GREATEST(1, NULL, 3) = 3", True),
    ("postgres", "3 BETWEEN SYMMETRIC 5 AND 1", True),
    ("snowflake", "ZEROIFNULL(NULL) = 0 AND NVL(NULL, 2) = 2", True),
    ("tsql", "N'é' = 'é' AND 2 != 3", True),
    ("postgres", "$$it's$$ = 'it''s'", True),
    ("bigquery", "STARTS_WITH('abc', 'ab') AND ENDS_WITH('abc', 'bc')", True),
    ("mysql", '"a" \'b\' = "ab"', True),
    ("postgres", "NULL NOT IN (1, 2) IS NULL", None),
    ("mysql", "((1, NULL) = (2, NULL)) IS FALSE", True),  # Spark's structs would be equal or not, and never unknown
    ("mysql", "((1, NULL) <> (1, 2)) IS NULL", True),
    ("mysql", "((1, NULL) < (2, 1))", True),
    ("mysql", "(1, NULL) <=> (1, NULL)", True),
    ("snowflake", "((1, NULL) IN ((1, 2))) IS NULL", True),
    ("postgres", "(NULL, 1) IS NULL", False),
    ("postgres", "(NULL, 1) IS NOT NULL", False),
    ("snowflake", "GREATEST(1, NULL) IS NULL", True),
    ("mysql", "LEAST(1, NULL) IS NULL", True),
    ("bigquery", "GREATEST(1, NULL) IS NULL", True),
    ("tsql", "GREATEST(1, NULL) = 1", True),
    ("snowflake", "CONCAT_WS(',', 'a', NULL) IS NULL", True),
    ("mysql", "CONCAT_WS(',', 'a', NULL, 'b') = 'a,b'", True),
    ("tsql", "LEN('ab  ') = 2", True),
    ("tsql", "LEFT('abc', 2) = 'ab' AND RIGHT('abc', 2) = 'bc'", True),
    ("tsql", "DATEADD(month, 1, CAST('2020-01-31' AS date)) = CAST('2020-02-29' AS date)", True),
    ("tsql", "DATEDIFF(day, CAST('2020-01-31' AS date), CAST('2020-02-01' AS date)) = 1", True),
    ("mysql", "DATE_SUB(DATE '2020-03-31', INTERVAL 1 MONTH) = DATE '2020-02-29'", True),
    ("mysql", "DAYOFWEEK(DATE '2020-02-02') = 1", True),
    ("postgres", "EXTRACT(DOW FROM DATE '2020-02-02') = 0", True),
    ("postgres", "CEIL('NaN'::float8) = 'NaN'::float8", True),
    ("postgres", "FLOOR(1e30::float8) = 1e30", True),
    ("postgres", "CEIL(-1.5) = -1 AND FLOOR(-1.5) = -2", True),
    ("postgres", "7 / 2.0 = 3.5 AND 1 / 3.0 < 0.34", True),
    ("mysql", "7 / 2 = 3.5", True),
    ("snowflake", "7 / 2 = 3.5", True),
    ("postgres", "E'a\\nb' = 'a\nb'", True),
    ("postgres", "'aXb' SIMILAR TO 'a_b' AND NOT 'aXbc' SIMILAR TO 'a_b'", True),
    ("postgres", "'AB' ~* 'b$'", True),
    ("postgres", "RTRIM('abab', 'b') = 'aba' AND LTRIM('  a') = 'a'", True),
]


def test_translations(spark: SparkSession) -> None:
    cases = [case for case in CASES if case[2] is not None]
    tests = [f"({spark_sql(text, dialect=dialect)}) IS TRUE" for dialect, text, _ in cases]
    row = spark.range(1).selectExpr(*tests).head()
    assert row is not None
    wrong = [(case, test) for case, test, found in zip(cases, tests, row, strict=True) if found != case[2]]
    assert wrong == []


@pytest.mark.parametrize(
    ("dialect", "column"), [("postgres", '"na""me`"'), ("tsql", '[na"me`]'), ("mysql", '`na"me```')]
)
def test_quoted_names_reach_the_column(spark: SparkSession, dialect: str, column: str) -> None:
    df = spark.createDataFrame([(1,)], ['na"me`'])
    assert df.where(spark_sql(f"{column} = 1", dialect=dialect)).count() == 1


@pytest.mark.parametrize("dialect", ["postgres", "mysql", "tsql", "snowflake", "bigquery"])
def test_what_is_joined_is_a_text_or_refused(spark: SparkSession, dialect: str) -> None:
    df = spark.sql("SELECT * FROM VALUES ('a', 1, true, 1.0D), (NULL, NULL, NULL, NULL) AS t(s, n, p, x)")
    skips = dialect in ("postgres", "tsql")
    assert df.where(spark_sql("CONCAT(s, 'b') = 'ab'", dialect=dialect)).count() == 1
    assert df.where(spark_sql("CONCAT(s, 'b') = 'b'", dialect=dialect)).count() == int(skips)
    for column in ("n", "p", "x"):
        with pytest.raises(AnalysisException, match="STRING"):
            df.where(spark_sql(f"CONCAT(s, {column}) = 'x'", dialect=dialect)).count()


def test_a_name_with_a_dollar_reaches_the_column(spark: SparkSession) -> None:
    df = spark.createDataFrame([(1,)], ["a$b"])
    for dialect in ("postgres", "mysql", "snowflake"):
        assert df.where(spark_sql("a$b = 1", dialect=dialect)).count() == 1
