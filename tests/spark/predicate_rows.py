"""Rows for every form of predicate, and the comparison of the plugin with WHERE on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pytest

from tests.spark.oracle import compared

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TEXTS = [
    None,
    "",
    "x",
    "X",
    "xyz",
    "a%b",
    "a_b",
    "a\\b",
    "line\nbreak",
    "ß",
    "SS",
    "ÄPFEL",
    "äpfel",
    "100%",
    "x ",
    "5",
]


@pytest.fixture(scope="module", name="df")
def predicate_rows(spark: SparkSession) -> DataFrame:
    """For a module to import: texts, numbers, truths and collections, each with NULL."""
    numbers = [None, 0, 1, 5, -7, 6, 40]
    rows = [
        (
            row,
            text,
            numbers[row % 7],
            numbers[(row // 2) % 7],
            [None, True, False][row % 3],
            [None, 0.0, float("nan"), 1.5, -0.5][row % 5],
            [None, [], ["x"], ["a", None, "xyz"], ["5", "x"]][row % 5],
            [None, {}, {"k": 1}, {"k": None, "q": 5}][row % 4],
        )
        for row, text in enumerate(_TEXTS * 3)
    ]
    schema = "row INT, s STRING, a INT, b INT, c BOOLEAN, d DOUBLE, tags ARRAY<STRING>, props MAP<STRING, INT>"
    return spark.createDataFrame(rows, schema).coalesce(1).localCheckpoint()


def same(df: DataFrame, texts: Iterable[str]) -> None:
    """Each text, its negation, and both next to other conditions."""
    forms = ("{}", "NOT ({})", "({}) AND a > 0", "a = 5 OR NOT ({})")
    rules = {rule: rule for text in texts for rule in (form.replace("{}", text) for form in forms)}
    assert compared(df, rules, "predicates") == []
