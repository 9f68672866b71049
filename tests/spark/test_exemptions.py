"""A rule with exemptions matches where Spark's WHERE keeps `(rule) AND (condition) IS NOT TRUE`."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

import pytest

import sparkrules
from tests.spark.oracle import differences, pairs_by_plugin, pairs_by_python, pairs_by_where, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONDITIONS = [
    "s = 'a'",
    "s <> 'a' AND n > 1",
    "NOT (s LIKE 'a%' OR n IN (1, NULL))",
    "s > 5",
    "n = '7x'",
    "lower(s) = 'a' OR b",
    "b IS NULL OR NOT b",
    "n + 1 > 2 AND s RLIKE '^[ab]'",
    "cidr_contains('10.0.0.0/8', s)",
    "at_least(1, n > 1, b)",
    "concat(s, 'x') = 'ax' AND n NOT BETWEEN 2 AND 5",
]
PAST, FUTURE = datetime(2020, 1, 1, tzinfo=timezone.utc), datetime(2100, 1, 1, tzinfo=timezone.utc)


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_all_engines_match_as_where_does(spark: SparkSession, ansi: str) -> None:
    texts = ["a", "b", "A", "7", "10.0.0.1", "", None]
    rows = [(text, n, b) for text in texts for n in (1, 2, 7, None) for b in (True, False, None)]
    df = spark.createDataFrame([(place, *row) for place, row in enumerate(rows)], "row INT, s STRING, n INT, b BOOLEAN")
    rules, truth = sparkrules.RuleSet("exempted"), {}
    for number, condition in enumerate(CONDITIONS):
        plain = condition.replace("at_least(1, n > 1, b)", "(n > 1 OR b)")
        for name, until in (("always", None), ("still", FUTURE), ("over", PAST)):
            id = f"{number} {name}"
            rules.subscribe(id, "n >= 1 OR s IS NULL")
            rules.exempt(id, condition, until=until)
            kept = f" AND ({plain}) IS NOT TRUE" if until != PAST else ""
            truth[id] = f"(n >= 1 OR s IS NULL){kept}"
    with settings(spark, ansi=ansi):
        # A comparison that fails in ANSI mode is no match; alone, each rule is tried.
        own = {id: text for id, text in truth.items() if ansi == "false" or id[0] not in "34"}
        kept = pairs_by_where(df, own)
        found = {pair for pair in pairs_by_plugin(df, rules) if pair[1] in own}
        assert differences(found, kept, own) == []
        found = {pair for pair in pairs_by_python(df, rules) if pair[1] in own}
        assert differences(found, kept, own) == []
    assert len(kept) > 500
    (explained,) = rules.explain({"s": "a", "n": 1, "b": None}, spark, ids=["0 still"])
    assert "exempt where s = 'a' until 2100" in str(explained)
    stored = spark.sql("SELECT exemptions FROM sparkrules.exempted.subscriptions WHERE id = '0 always'")
    assert "s = 'a'" in stored.head().exemptions  # type: ignore[union-attr]
