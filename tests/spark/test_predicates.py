"""Comparisons, lists and ranges match as WHERE does, with NULL on every side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.spark.oracle import compared
from tests.spark.predicate_rows import predicate_rows as predicate_rows
from tests.spark.predicate_rows import same

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def test_in_lists(df: DataFrame) -> None:
    same(
        df,
        [
            f"{test} {negated}IN {members}"
            for test, members in [
                ("a", "(1, 5)"),
                ("a", "(1, NULL)"),
                ("a", "(NULL)"),
                ("a", "(NULL, NULL, 5, 5)"),
                ("a", "(b)"),
                ("a", "(b, 5, NULL)"),
                ("a", "(1, 5.5, -7.0)"),
                ("NULL", "(a, 5)"),
                ("5", "(a, b)"),
                ("a + b", "(1, 6)"),
                ("s", "('x', '', NULL)"),
                ("c", "(true, NULL)"),
                ("d", "(0.0, DOUBLE('NaN'))"),
                ("(a, b)", "((1, 5), (5, 6))"),
                ("tags", "(array('x'), array())"),
                ("a > 3", "(true)"),
                ("NULL", "(NULL)"),
                ("1", "(1, NULL)"),
            ]
            for negated in ("", "NOT ")
        ],
    )


def test_in_with_twenty_thousand_constants(df: DataFrame) -> None:
    numbers = ", ".join(str(3 * i + 1) for i in range(20_000))
    texts = ", ".join(f"'{chr(97 + i % 26)}{i}'" for i in range(20_000))
    rules = {
        "numbers": f"a IN ({numbers}, 5)",
        "none of the texts": f"NOT s IN ({texts}, 'xyz')",
    }
    assert compared(df, rules, "in_20k") == []


def test_comparisons_of_columns_and_constants_on_either_side(df: DataFrame) -> None:
    operators = ["=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>"]
    sides = [
        ("a", "b"),
        ("5", "a"),
        ("a", "5"),
        ("a + 1", "b * 2"),
        ("NULL", "a"),
        ("b", "NULL"),
        ("1", "2"),
        ("NULL", "NULL"),
    ]
    sides += [("d", "a"), ("'x'", "s"), ("length(s)", "a"), ("-a", "7"), ("a", "- 7"), ("a", "-(7)"), ("~a", "6")]
    same(df, [f"{left} {operator} {right}" for operator in operators for left, right in sides])


def test_distinct_from_with_null_on_every_side(df: DataFrame) -> None:
    sides = ["a", "b", "5", "NULL", "s", "'x'", "c", "tags"]
    pairs = [(left, right) for left in sides for right in sides if "tags" not in (left, right) or left == right]
    numbers = [(left, right) for left, right in pairs if not {left, right} & {"s", "'x'", "c"}]
    texts = [(left, right) for left, right in pairs if not {left, right} & {"a", "b", "5", "c", "tags"}]
    same(
        df,
        [
            f"{left} IS {negated}DISTINCT FROM {right}"
            for left, right in [*numbers, *texts, ("c", "NULL"), ("c", "true"), ("NULL", "c")]
            for negated in ("", "NOT ")
        ],
    )


def test_between(df: DataFrame) -> None:
    same(
        df,
        [
            f"{value} {negated}BETWEEN {low} AND {high}"
            for value, low, high in [
                ("a", "0", "5"),
                ("a", "5", "0"),
                ("a", "NULL", "5"),
                ("a", "0", "NULL"),
                ("a", "b", "5"),
                ("a", "b - 1", "b + 1 * 2"),
                ("3", "a", "b"),
                ("NULL", "a", "b"),
                ("s", "'a'", "'y'"),
                ("d", "-1", "1.5"),
                ("length(s)", "1", "a"),
                ("a", "1.5", "'6'"),
            ]
            for negated in ("", "NOT ")
        ],
    )
