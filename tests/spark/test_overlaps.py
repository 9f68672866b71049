"""Overlap sets from the plugin equal those of the brute-force definition in `sparkrules.index.overlap`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sparkrules
from sparkrules.demo.auctions import auction_rows, auction_rules

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_overlap_sets_equal_the_definition(spark: SparkSession, tmp_path_factory: object) -> None:
    rules = sparkrules.RuleSet("overlapping")
    rules.subscribe_all(auction_rules(300))
    rules.subscribe("often", "bids = 0 OR price < 20", priority=3)
    rules.subscribe("also", "(price < 20 OR bids = 0) AND condition = 'used'", priority=-1)
    rows = auction_rows(300)
    defined = rules.match(rows).overlaps.to_pylist()
    df = spark.createDataFrame(rows.to_pandas())
    got = {row.auction: row.matches.overlaps for row in sparkrules.match(df, rules).collect()}
    assert [got[i] for i in range(300)] == defined
    assert sum(map(len, defined)) > 300


def test_the_overlap_of_a_match_is_everyone_it_shares_a_set_with(spark: SparkSession) -> None:
    rules = sparkrules.RuleSet("per_match")
    rules.subscribe_all({"ab": "a = 1 AND b = 2", "bc": "b = 2 AND c = 3", "cd": "c = 3 AND d = 4", "alone": "d > 0"})
    df = spark.sql("SELECT 1 AS a, 2 AS b, 3 AS c, 4 AS d")
    got = {row.subscription_id: row.overlap for row in sparkrules.matches(df, rules).collect()}
    assert got == {"ab": ["bc"], "bc": ["ab", "cd"], "cd": ["bc"], "alone": []}
