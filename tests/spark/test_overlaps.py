"""Overlap sets from the plugin equal those of the brute-force definition in `tests.specification.overlap`."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

import sparkrules
from sparkrules.demo.auctions import auction_rows, auction_rules
from tests.spark.oracle import settings
from tests.spark.versions import VersionWriter
from tests.specification.overlap import overlap_sets

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def test_overlap_sets_equal_the_definition(spark: SparkSession, tmp_path_factory: object) -> None:
    rules = sparkrules.RuleSet("overlapping")
    rules.subscribe_all(auction_rules(300))
    rules.subscribe("often", "bids = 0 OR price < 20", priority=3)
    rules.subscribe("also", "(price < 20 OR bids = 0) AND condition = 'used'", priority=-1)
    rows = auction_rows(300)
    found = rules.match(rows)
    (block,) = found.blocks()
    defined = [
        [list(group.ids) for group in overlap_sets(rules._segment, block.truth.row(row), found.subscriptions.row(row))]
        for row in range(300)
    ]
    assert found.overlaps.to_pylist() == defined
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


def test_a_group_is_found_wherever_its_members_meet(spark: SparkSession) -> None:
    """At a predicate in only one OR, at a true predicate below a false node, at a rule that is part of another."""
    rules = sparkrules.RuleSet("meetings")
    rules.subscribe_all(
        {
            "either": "a = 1 OR b = 2",
            "either and c": "(a = 1 OR b = 2) AND c = 3",
            "both or d": "a = 1 AND b = 7 OR d = 4",
            "both or e": "a = 1 AND b = 7 OR e = 5",
            "alone": "f = 6",
        }
    )
    df = spark.sql("SELECT 1 AS a, 2 AS b, 3 AS c, 4 AS d, 5 AS e, 6 AS f")
    (row,) = sparkrules.match(df, rules).collect()
    assert row.matches.overlaps == [
        ["both or d", "both or e", "either", "either and c"],
        ["either", "either and c"],
    ]


def random_conditions(chance: random.Random, count: int) -> dict[str, str]:
    """Conditions that share much: made of a few tests, and of a few conditions made of these."""
    tests = [f"{name} {operator} {value}" for name in "abc" for operator in ("=", ">", "<>") for value in (1, 2)]
    tests += ["s LIKE '%x%'", "s = ''", "s IS NULL", "a IS NOT NULL", "NOT coalesce(b > 1, false)"]

    def condition(parts: list[str], depth: int) -> str:
        if depth == 0 or chance.random() < 0.3:
            return chance.choice(parts)
        word = chance.choice([" AND ", " OR "])
        return "(" + word.join(condition(parts, depth - 1) for _ in range(chance.randrange(2, 4))) + ")"

    shared = tests + [condition(tests, 2) for _ in range(12)]
    return {f"r{i}": condition(shared, chance.randrange(4)) for i in range(count)}


def rows_with_nulls(spark: SparkSession) -> DataFrame:
    return spark.sql(
        "SELECT monotonically_increasing_id() AS row, * FROM VALUES (NULL), (1), (2), (3) AS a(a) "
        "CROSS JOIN (VALUES (NULL), (1), (2)) AS b(b) CROSS JOIN (VALUES (NULL), (1), (3)) AS c(c) "
        "CROSS JOIN (VALUES (NULL), (''), ('axb')) AS s(s)"
    ).localCheckpoint()


def by_brute_force(df: DataFrame, rules: sparkrules.RuleSet) -> dict[int, list[list[str]]]:
    """Spark says of every node whether it is true, and the definition makes groups of that."""
    segment = rules._segment
    nodes = [f"({segment.forest.tree(node)}) IS TRUE" for node in range(len(segment.forest.nodes.level))]
    truths: dict[int, list[bool]] = {}
    for start in range(0, len(nodes), 100):
        for row in df.selectExpr("row", *nodes[start : start + 100]).collect():
            truths.setdefault(row[0], []).extend(row[1:])
    roots = [int(node) for node in segment.forest.roots]
    return {
        row: [
            list(group.ids)
            for group in overlap_sets(segment, true, [number for number, root in enumerate(roots) if true[root]])
        ]
        for row, true in truths.items()
    }


def with_keys(chance: random.Random, conditions: dict[str, str]) -> dict[str, str]:
    """The conditions, most for one value of a column: rules for different values exclude each other."""
    forms = ("{0}", "a = {1} AND {0}", "a IN ({1}) AND ({0} OR b = 1)", "a <=> {1} AND {0}", "s = '' AND {0}", "true")
    return {
        id: chance.choice(forms).format(f"({condition})", chance.randrange(1, 4))
        for id, condition in conditions.items()
    }


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_overlap_sets_of_random_rules_equal_brute_force(spark: SparkSession, seed: int) -> None:
    chance = random.Random(seed)
    texts = random_conditions(chance, 90)
    if seed > 3:
        texts = with_keys(chance, texts)
    rules = sparkrules.RuleSet("random_overlaps")
    rules.subscribe_all(texts)
    df = rows_with_nulls(spark)
    expected = by_brute_force(df, rules)
    assert sum(map(len, expected.values())) > 500
    assert {row.row: row.matches.overlaps for row in sparkrules.match(df, rules).collect()} == expected

    writer = VersionWriter(spark, f"random_overlaps_in_parts_{seed}")
    ids = list(texts)
    cuts = [(0, 40), (40, 70), (70, 80), (80, 90)]
    writer.publish(*(writer.segment({id: texts[id] for id in ids[start:end]}) for start, end in cuts))
    with settings(spark, spark_sparkrules_partRules="30"):
        got = {row.row: row.matches.overlaps for row in sparkrules.match(df, writer.rule_set).collect()}
    assert got == expected


def test_rows_that_thousands_of_rules_match(spark: SparkSession) -> None:
    """Groups of all sizes: thousands of members, many of equal size that begin alike, and hundreds of pairs."""
    rules = sparkrules.RuleSet("many_matches")
    rules.subscribe_all(
        {
            f"r{i}": f"a > 0 AND (b > {i % 7} OR c = {i % 3}) AND d <> {i % 1250}"
            + (" AND e > 0" if i % 25 else "")
            + (f" AND (f > {i} OR g IN (1, {i % 40}))" if i % 2 else "")
            for i in range(2600)
        }
    )
    df = spark.sql(
        "SELECT * FROM VALUES (0, 1, 8, 1, 7, 1, 3000, 1), (1, 1, 3, 1, 7, 1, 1000, NULL), (2, 1, NULL, 2, 9, 1, 0, 1),"
        " (3, 1, 9, NULL, NULL, 1, 1, 1), (4, 1, 9, 0, 0, NULL, 9000, 5) AS t(row, a, b, c, d, e, f, g)"
    )
    expected = by_brute_force(df, rules)
    assert sum(map(len, expected.values())) > 1000
    assert {row.row: row.matches.overlaps for row in sparkrules.match(df, rules).collect()} == expected


@pytest.mark.parametrize(
    "rules", [{}, {"always": "true"}, {"always": "true", "as well": "(TRUE)", "too": "1 = 1", "never": "false"}]
)
def test_rules_without_tests(spark: SparkSession, rules: dict[str, str]) -> None:
    made = sparkrules.RuleSet("without_tests")
    made.subscribe_all(rules)
    df = rows_with_nulls(spark).limit(1)
    expected = by_brute_force(df, made)[0] if rules else []
    assert [row.matches.overlaps for row in sparkrules.match(df, made).collect()] == [expected]
