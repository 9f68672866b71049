"""Spark's own answer, which defines what is right: a rule matches a row exactly when WHERE keeps the row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import sparkrules

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Pairs = set[tuple[int, str]]
RULES_PER_QUERY = 60


def pairs_by_where(df: DataFrame, rules: Mapping[str, str], key: str = "row") -> Pairs:
    """(row, rule) for every rule that is true, many rules to a query."""
    pairs: Pairs = set()
    ids = list(rules)
    for start in range(0, len(ids), RULES_PER_QUERY):
        batch = ids[start : start + RULES_PER_QUERY]
        truths = df.selectExpr(key, *(f"({rules[id]}) IS TRUE AS r{i}" for i, id in enumerate(batch)))
        for row in truths.collect():
            pairs.update((row[0], id) for i, id in enumerate(batch) if row[i + 1])
    return pairs


def pairs_by_plugin(df: DataFrame, rules: sparkrules.RuleSet, key: str = "row") -> Pairs:
    """The same from `match_subscriptions`."""
    matched = sparkrules.match(df, rules).selectExpr(key, "matches.ids").collect()
    assert all(len(ids) == len(set(ids)) for _, ids in matched), "an id was reported twice"
    return {(row, id) for row, ids in matched for id in ids}


def rule_set(name: str, rules: Mapping[str, str]) -> sparkrules.RuleSet:
    """A rule set of all these rules; none may be rejected."""
    made = sparkrules.RuleSet(name)
    made.subscribe_all(rules)
    assert made.rejected == []
    return made


def readable(pairs: Pairs, rules: Mapping[str, str]) -> list[str]:
    """Differences as a person wants to read them."""
    return sorted(f"row {row}: {rules[id]}" for row, id in pairs)
