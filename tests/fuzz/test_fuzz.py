"""A fixed-seed run of the fuzzer; `make fuzz` runs it for as long as you like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fuzz.run import fuzz

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_random_rules_over_random_tables_agree_with_where(spark: SparkSession) -> None:
    tally = fuzz(spark, seed=20, examples=10, most_rules=20)
    assert tally.counts["pairs compared"] > 1_000
    assert tally.counts["matches"] > 100
    assert tally.counts["rules that call Python functions"] > 0
