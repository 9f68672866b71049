"""NULL everywhere it can occur, contradictions, repetition and exclusive or: true is what WHERE keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.spark.predicate_rows import predicate_rows as predicate_rows
from tests.spark.predicate_rows import same

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def test_null_at_every_position(df: DataFrame) -> None:
    same(
        df,
        [
            "NULL",
            "NULL AND a > 0",
            "NULL OR a > 0",
            "NOT NULL",
            "(a > 0) = NULL",
            "(a > 0) <=> NULL",
            "a IS NULL",
            "a IS NOT NULL",
            "(a > 3) IS NULL",
            "(a > 3) IS UNKNOWN",
            "(a > 3) IS NOT UNKNOWN",
            "(a > b) IS TRUE",
            "(a > b) IS NOT TRUE",
            "c IS FALSE",
            "c IS NOT FALSE",
            "c IS TRUE OR c IS FALSE",
            "(c AND a > 3) IS NULL",
            "(c OR a > 3) IS NOT FALSE",
            "NULL IS NULL",
            "NULL IS NOT NULL",
            "CAST(NULL AS BOOLEAN)",
            "a + NULL > 3",
            "isnull(a)",
            "isnotnull(s)",
            "equal_null(a, NULL)",
            "equal_null(a, b)",
            "c",
            "c = true",
            "c <> true",
            "c <=> false",
        ],
    )


def test_contradictions_tautologies_and_repetition(df: DataFrame) -> None:
    same(
        df,
        [
            "a > 5 AND a < 5",
            "a > 3 OR a <= 3",
            "a = a",
            "a <> a",
            "a <=> a",
            "true",
            "false",
            "1 = 1",
            "1 = 2",
            "a = 1 AND a = 5",
            "a IN (1) AND a NOT IN (1)",
            "a > 3 AND a > 3 AND a > 3",
            "(a > 3 OR b > 3) AND (a > 3 OR b > 3)",
            "(a > 3 AND b > 3) OR (b > 3 AND a > 3) OR a > 3",
            "NOT NOT NOT a > 3",
            "!(a > 3)",
            "! c",
            "((((a > 3))))",
            "lower(s) = 'x' OR lower(s) = 'xyz' OR length(lower(s)) = 2",
            "(a + b > 3 AND c) OR (a + b > 3 AND NOT c)",
        ],
    )


def test_exclusive_or(df: DataFrame) -> None:
    same(
        df,
        [
            "(a > 3) <> (b > 3)",
            "(a > 3) != (c)",
            "(a > 3) = (b > 3)",
            "NOT ((a > 3) <> (b > 3))",
            "(a > 3) <> (b > 3) <> (c)",
            "((a > 3) <> (b > 3)) <> (s = 'x')",
            "(a > 3) <> true",
            "(a > 3) = false",
            "(a > 3 OR c) <> (b > 3 AND c)",
            "(a > 3) <=> (b > 3)",
            "(a > 3) <=> c",
        ],
    )


def test_xor_between_conditions_is_one_or_the_other(df: DataFrame) -> None:
    """Spark has no XOR, so its meaning is written out for the oracle."""
    rules = {
        "xor": "a > 3 XOR b > 3",
        "of three": "a > 3 XOR b > 3 XOR c",
        "in brackets": "NOT (a > 3 XOR (c OR b > 3))",
    }
    written = {
        "xor": "(a > 3) <> (b > 3)",
        "of three": "((a > 3) <> (b > 3)) <> c",
        "in brackets": "NOT ((a > 3) <> (c OR b > 3))",
    }
    from tests.spark.oracle import pairs_by_plugin, pairs_by_where, rule_set

    assert pairs_by_plugin(df, rule_set("xor", rules)) == pairs_by_where(df, written)
