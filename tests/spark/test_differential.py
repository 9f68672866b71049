"""`match_subscriptions` gives Spark's own answer, for every rule and every row."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.spark.all_types import all_types, random_rules
from tests.spark.oracle import pairs_by_plugin, pairs_by_where, readable, rule_set

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_random_rules_over_all_types_match_as_where_does(spark: SparkSession, ansi: str) -> None:
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        df = all_types(spark)
        rules = random_rules(400)
        truth = pairs_by_where(df, rules)
        ours = pairs_by_plugin(df, rule_set("differential", rules))
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")
    assert readable(ours - truth, rules) == []
    assert readable(truth - ours, rules) == []
    assert len(truth) > 5_000, "rules that match nothing prove nothing"


def test_the_numpy_matcher_gives_the_same_where_it_can(spark: SparkSession) -> None:
    df = all_types(spark).drop("tags", "props", "st")
    rules = {id: text for id, text in random_rules(1_500).items() if not re.search(r"\b(tags|props|st)\b", text)}
    table = df.toArrow()
    matches = rule_set("numpy", rules).match(table, unsupported="skip")
    known = {id: text for id, text in rules.items() if id not in matches.skipped}
    truth = pairs_by_where(df, known)
    listed = zip(table["row"].to_pylist(), matches.ids.to_pylist(), strict=True)
    ours = {(row, id) for row, ids in listed for id in ids}
    assert readable(ours - truth, known) == []
    assert readable(truth - ours, known) == []
    assert len(known) > 150, "most rules of plain columns and constants need no Spark"
