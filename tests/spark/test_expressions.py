"""Conditional expressions, arithmetic, calls, arrays, maps and lambdas match as WHERE does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.spark.oracle import settings
from tests.spark.predicate_rows import predicate_rows as predicate_rows
from tests.spark.predicate_rows import same

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def test_conditional_expressions(df: DataFrame) -> None:
    same(
        df,
        [
            "CASE WHEN a > 3 THEN 'big' WHEN a > 0 THEN 'small' END = 'small'",
            "CASE a WHEN 5 THEN 'five' WHEN 1 THEN NULL ELSE s END = 'x'",
            "CASE WHEN c THEN a > 3 ELSE b > 3 END",
            "CASE WHEN c THEN NULL ELSE true END",
            "CASE WHEN c THEN a ELSE d END > 1",
            "COALESCE(c, a > 0, true)",
            "COALESCE(a, b, 5) = 5",
            "IF(c, a, b) > 1",
            "IF(a > 3, c, NULL)",
            "NULLIF(a, 5) IS NULL",
            "NULLIF(s, '') = 'x'",
            "NVL(a, 0) = 0",
            "NVL2(a, b, 5) = 5",
            "IFNULL(s, 'none') = 'none'",
            "greatest(a, b) = 6",
            "least(a, 5, NULL) = 1",
        ],
    )


def test_arithmetic_and_nested_calls(df: DataFrame) -> None:
    with settings(df.sparkSession, ansi="false"):
        same(
            df,
            [
                "a + b * 2 > 10",
                "(a + b) * 2 > 10",
                "a / b > 1",
                "a % 2 = 1",
                "a DIV 2 = 3",
                "a - -7 = 0",
                "a + 2147483647 < 0",
                "a & 5 = 5",
                "a | 1 = 1",
                "a ^ 1 = 4",
                "a << 1 = 10",
                "- a > 0",
                "a * 1.5 = 7.5",
                "a / 0 IS NULL",
                "abs(a) = 7",
                "length(trim(upper(concat(s, ' ', s)))) > 3",
                "substring(lower(s), 1, 1) = 'x'",
                "substring(s FROM 2 FOR 1) = 'y'",
                "s || 'y' = 'xy'",
                "concat_ws('-', s, NULL, 'x') = '-x'",
                "regexp_replace(s, '[a-z]', '') = ''",
                "CAST(s AS INT) = 5",
                "s::int = 5",
                "TRY_CAST(s AS INT) IS NULL",
                "round(d) = 2",
                "isnan(d)",
                "d = d",
                "hash(s) % 2 = 0",
                "to_json(named_struct('a', a)) = '{\"a\":5}'",
                "EXTRACT(YEAR FROM DATE'2020-02-29') = 2020 AND a = 5",
                "position('y' IN s) = 2",
                "size(split(s, '')) > 2",
            ],
        )


def test_arrays_maps_and_lambdas(df: DataFrame) -> None:
    with settings(df.sparkSession, ansi="false"):
        same(
            df,
            [
                "array_contains(tags, 'x')",
                "array_contains(array(1, 5), a)",
                "tags[0] = 'x'",
                "tags[5] IS NULL",
                "tags[a] = 'x'",
                "element_at(tags, -1) = 'xyz'",
                "props['k'] = 1",
                "props['k'] IS NULL",
                "props[s] > 0",
                "map_contains_key(props, 'q')",
                "exists(tags, x -> x = 'x')",
                "exists(tags, x -> x = s)",
                "forall(tags, x -> length(x) = 1)",
                "size(filter(tags, x -> x IS NOT NULL AND x > 'a')) = 1",
                "aggregate(transform(tags, x -> length(x)), 0, (n, x) -> n + coalesce(x, 0)) = a",
                "tags = array('x')",
                "tags IS NULL",
                "array_join(tags, ',') LIKE '%x%'",
                "cardinality(props) = 1",
            ],
        )
