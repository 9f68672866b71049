"""The plugin finds scan filters by the codes of a table's columns, Python by the trees of rules: one specification.

- A filter is true for every row that some rule matches.
- It is no larger than the bounds, which are the same.
- Where every rule is a range or a list of values of a column, there is one.
"""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import sqlglot
from sqlglot import exp

from sparkrules.logic.implied_filter import MOST_DISJUNCTS, MOST_VALUES
from tests.spark.oracle import pairs_by_where, rule_set, settings
from tests.spark.test_scan_filter import ALWAYS, random_rule, written_by_arrow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BOUNDS = Path(__file__).parents[2] / "jars/src/main/scala/sparkrules/scan/ScanBounds.scala"


def filters(df: DataFrame, rules: dict[str, str], name: str) -> dict[str, str]:
    """The filter of each side as SQL, if it finds one."""
    spark = df.sparkSession
    made = rule_set(name, rules)
    made.publish(spark)
    df.createOrReplaceTempView("filtered")
    with settings(spark, **ALWAYS):
        matched = spark.sql(f"SELECT row, subscription_id FROM match_subscriptions('{name}', TABLE(filtered))")
        plan = matched._jdf.queryExecution().optimizedPlan()
        while plan.nodeName() not in ("Match", "LocalRelation"):
            plan = plan.children().head()
        # No rule can match: the optimizer has removed the table.
        found = {"plugin": "false"} if plan.nodeName() == "LocalRelation" else {}
        if not found and plan.scanFilter().isDefined():
            found = {"plugin": plan.scanFilter().get().sql()}
    own = made.scan_filter(schema=df)
    return found | ({} if own.sql == "TRUE" else {"python": own.sql})


def check(df: DataFrame, rules: dict[str, str], found: dict[str, str]) -> int:
    """What is wrong fails; gives how many rows are matched."""
    matched = {row for row, _ in pairs_by_where(df, rules)}
    df.createOrReplaceTempView("filtered")
    for side, sql in found.items():
        kept = {row.row for row in df.sparkSession.sql(f"SELECT row FROM filtered WHERE {sql}").collect()}
        assert matched <= kept, (side, sql, rules)
        parts, values = size(sql)
        assert parts <= MOST_DISJUNCTS, (side, sql)
        assert values <= MOST_VALUES, (side, sql)
    return len(matched)


def size(sql: str) -> tuple[int, int]:
    """How many disjuncts a condition has, and how many values its longest list."""
    tree = sqlglot.parse_one(sql, read="spark")
    return disjuncts(tree), max((len(own.expressions) for own in tree.find_all(exp.In)), default=0)


def disjuncts(tree: exp.Expression) -> int:
    tree = tree.unnest()
    return disjuncts(tree.left) + disjuncts(tree.right) if isinstance(tree, exp.Or) else 1


def test_the_bounds_are_the_same() -> None:
    bounds = dict(re.findall(r"val (\w+) = (\d+)", BOUNDS.read_text(encoding="utf-8")))
    assert bounds == {"Disjuncts": str(MOST_DISJUNCTS), "Values": str(MOST_VALUES)}


@pytest.mark.parametrize("seed", range(4))
def test_random_rules(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    written_by_arrow(tmp_path / "t", seed)
    df = spark.read.parquet(str(tmp_path / "t")).drop("Deep")
    chance = random.Random(seed)
    both = matched = 0
    for round in range(6):
        texts = [" AND ".join(random_rule(str, chance, 1) for _ in range(3)) for _ in range(chance.randrange(1, 4))]
        rules = dict(zip(map(str, range(len(texts))), texts, strict=True))
        found = filters(df, rules, f"both-{seed}-{round}")
        matched += check(df, rules, found)
        both += len(found) == 2
    assert both
    assert matched


@pytest.mark.parametrize("rules", [2, 40, 1_500])
def test_rules_of_one_column_have_a_filter(spark: SparkSession, rules: int) -> None:
    df = spark.range(60_000).selectExpr("id AS row", "CAST(id AS INT) AS i", "CAST(id % 5000 AS STRING) AS s")
    chance = random.Random(rules)

    def text() -> str:
        low = chance.randrange(60_000)
        return chance.choice(
            [f"i BETWEEN {low} AND {low + 3}", f"i = {low}", f"i > {low} AND i < {low + 9}", f"s = '{low % 5000}'"]
        )

    texts = {str(number): text() for number in range(rules)}
    found = filters(df, texts, f"boxes-{rules}")
    assert set(found) == {"plugin", "python"}
    # The rows that WHERE keeps for all rules at once would take minutes: those of some are enough.
    assert check(df, dict(list(texts.items())[:60]), found)
