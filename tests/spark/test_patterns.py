"""LIKE and regular expressions match as WHERE does, whatever the pattern."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tests.spark.oracle import compared
from tests.spark.predicate_rows import predicate_rows as predicate_rows
from tests.spark.predicate_rows import same

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def test_like_with_every_kind_of_pattern(df: DataFrame) -> None:
    patterns = [
        "'x%'",
        "'%y%'",
        "'%'",
        "''",
        "'_'",
        "'a\\%b'",
        "'a\\_b'",
        "'a\\\\\\\\b'",
        "'%\n%'",
        "'ä%'",
        "NULL",
        "'__%'",
    ]
    texts = [
        f"s {negated}{operator} {p}" for p in patterns for operator in ("LIKE", "ILIKE") for negated in ("", "NOT ")
    ]
    same(
        df,
        [*texts, "s LIKE concat('x', '%')", "lower(s) LIKE 'ä%'"],
    )


def test_like_with_escape(df: DataFrame) -> None:
    same(
        df,
        [
            "s LIKE 'a!%b' ESCAPE '!'",
            "s LIKE 'a#_b' ESCAPE '#'",
            "s NOT LIKE 'a!%b' ESCAPE '!'",
            "s ILIKE 'A!%B' ESCAPE '!'",
            "s LIKE '100!%' ESCAPE '!' OR s LIKE '100%'",
            "s LIKE 'a\\b' ESCAPE '!'",
        ],
    )


def test_like_any_and_all(df: DataFrame) -> None:
    lists = ["('x%', '%z')", "('x%', NULL)", "('%')", "('a\\%b', 'q')", "(NULL)", "('x%', '%y%', concat(a, '%'))"]
    same(
        df,
        [
            f"s {negated}{operator} {quantifier} {patterns}"
            for patterns in lists
            for quantifier in ("ANY", "SOME", "ALL")
            for operator in ("LIKE", "ILIKE")
            for negated in ("", "NOT ")
        ],
    )


def test_regular_expressions(df: DataFrame) -> None:
    patterns = [
        "'^x'",
        "'z$'",
        "'(?i)^XYZ$'",
        "'(?iu)ÄPFEL'",
        "'(?s)e.b'",
        "'e.b'",
        "'(?m)^break'",
        "'[^x]'",
        "''",
        "NULL",
    ]
    patterns += [
        "'.*x.*'",
        "'(?iu).*(y|pf).*'",
        "'.*'",
        "'.*?x'",
        "'^.*z'",
        "'\\\\.*'",
        "'a\\\\\\\\b'",
        "r'a\\\\b'",
        "'.*|q'",
    ]
    operators = ["RLIKE", "REGEXP", "NOT RLIKE"]
    calls = [
        "rlike(s, '^x')",
        "regexp_like(s, 'y')",
        "regexp(s, 'Z')",
        "s RLIKE s",
        "'xyz' RLIKE s",
        "lower(s) RLIKE 'ss'",
    ]
    same(df, [*(f"s {operator} {pattern}" for operator in operators for pattern in patterns), *calls[:3], calls[5]])
    same(df.where("s NOT LIKE '%\\\\%'"), calls[3:5])


def test_strings_one_after_the_other_in_columns_that_repeat(spark: SparkSession) -> None:
    """In columnar batches with dictionaries, in more than one batch, with line terminators and letters of two cases."""
    words = [
        "",
        "ab",
        "ba",
        "AB",
        "ab ba",
        "ab1ba",
        "ba12ab",
        "ab\n",
        "abba\r\n",
        "ab\u2028",
        "K1ab",
        "\u212aab",
        "äbab",
    ]
    texts = [None, *(first + second for first in words for second in words), "ab" * 200]
    rows = [(i, texts[i * i % len(texts)]) for i in range(9_000)]
    patterns = ["%ab%ba%", "ab%ab", "%ab%ab%ab%", "%a_b%", "%b%a", "ab%ba%1%"]
    regexes = [
        "ab[0-9]+ba",
        "ab.*ba$",
        "(?i)ab.*K",
        "(?iu)k\\\\d*ab",
        "^ab.*ab$",
        "ab\\\\n$",
        "ba$",
        "[ä-ö]b.*ab",
        "(?s)ab.*ab",
    ]
    tests = [f"s LIKE '{p}'" for p in patterns] + [f"s RLIKE '{r}'" for r in regexes]
    tests += ["lower(s) LIKE '%ab%ba%'", "upper(s) = 'ABBA'", "lower(s) = 'abba'", "endswith(lower(s), 'ba')"]
    rules = {rule: rule for test in tests for rule in (test, f"NOT ({test})")}
    with TemporaryDirectory() as directory:
        spark.createDataFrame(rows, "row INT, s STRING").coalesce(1).write.parquet(f"{directory}/rows")
        assert compared(spark.read.parquet(f"{directory}/rows"), rules, "ordered") == []
