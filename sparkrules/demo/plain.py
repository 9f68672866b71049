"""The alternative without sparkrules: a column per rule. The same answer, on a sample that Spark can still plan."""

from __future__ import annotations

import time
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

import sparkrules
from sparkrules.demo.auctions import auction_rules

RULES = 100
ROWS = 20_000

Found = dict[int, list[str]]


@dataclass(frozen=True)
class Comparison:
    """Both answers for the same rules and rows, and the seconds that each took."""

    rules: int
    rows: int
    matches: int
    our_seconds: float
    plain_seconds: float
    same: bool


def compare_with_plain_spark(spark: SparkSession, auctions: DataFrame, seed: int) -> Comparison:
    """Match a sample of the auctions against a sample of the rules, both ways."""
    sample = auctions.where(f"auction < {ROWS}")
    rules = list(auction_rules(RULES, seed))
    rows = sample.count()

    begun = time.perf_counter()
    conditions = (f"CASE WHEN {rule.where} THEN '{rule.id}' END" for rule in rules)
    ids = f"array_compact(array({', '.join(conditions)}))"
    plain = _collected(sample.selectExpr("auction", f"{ids} AS ids"))
    plain_seconds = time.perf_counter() - begun

    begun = time.perf_counter()
    ours = sparkrules.RuleSet("sample", store=spark.conf.get("spark.sparkrules.store"))
    ours.subscribe_all(rules)
    ours.publish()
    matched = _collected(sparkrules.match(sample, ours).selectExpr("auction", "matches.ids"))
    our_seconds = time.perf_counter() - begun

    matches = sum(map(len, matched.values()))
    return Comparison(len(rules), rows, matches, our_seconds, plain_seconds, matched == plain)


def _collected(df: DataFrame) -> Found:
    return {row["auction"]: sorted(row["ids"]) for row in df.where("size(ids) > 0").collect()}
