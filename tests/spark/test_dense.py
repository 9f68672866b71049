"""If enough rules match often, they are evaluated for many rows at once. The answer is the same."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

import sparkrules
from tests.spark.oracle import Pairs, differences, pairs_by_plugin, pairs_by_where, rule_set, rules_in_plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = 700  # two full chunks and a part
RULES = 2_500
SEED = 20


def random_test(random: random.Random) -> str:
    number = random.randint(0, 9)
    return random.choice(
        [
            f"a < {random.randint(0, 100)}",
            f"a >= {random.randint(0, 100)}",
            f"b BETWEEN {number} AND {number + random.randint(0, 5)}",
            f"b <> {number}",
            f"b NOT IN ({number}, {number + 2}, NULL)",
            f"b IN ({number}, {number + 3})",
            f"x > {number / 3}",
            "x = double('NaN')",
            "x <= -0.0",
            f"s < '{random.choice('abcdefg')}'",
            f"s = '{random.choice('abcdefg')}'",
            "s IS NULL",
            "a IS NOT NULL",
            "f",
            "NOT f",
            "f IS NOT TRUE",
            f"b <=> {random.choice(['NULL', number])}",
        ]
    )


def rule_of(random: random.Random, depth: int = 3) -> str:
    if depth == 0 or random.random() < 0.2:
        return random_test(random)
    parts = [rule_of(random, depth - 1) for _ in range(random.randint(2, 3))]
    joined = random.choice([" OR ", " OR ", " AND "]).join(f"({part})" for part in parts)
    return f"NOT ({joined})" if random.random() < 0.2 else joined


@pytest.fixture(scope="module")
def rules() -> dict[str, str]:
    chance = random.Random(SEED)
    return {f"r{i}": rule_of(chance) for i in range(RULES)}


@pytest.fixture(scope="module")
def published(rules: dict[str, str]) -> sparkrules.RuleSet:
    return rule_set("dense", rules)


@pytest.fixture(scope="module")
def with_sparse(rules: dict[str, str]) -> sparkrules.RuleSet:
    """The rules, a hundred that match few rows, and one with a priority."""
    made = rule_set("dense-and-sparse", {**rules, **{f"s{i}": f"a = {i} AND s = 'a'" for i in range(100)}})
    made.subscribe("first", "a IS NOT NULL", priority=1)
    return made


@pytest.fixture(scope="module")
def plain(spark: SparkSession) -> DataFrame:
    chance = random.Random(SEED)

    def one_of(*values: Any) -> Any:
        return None if chance.random() < 0.1 else chance.choice(values)

    rows = [
        (
            i,
            one_of(*range(100)),
            one_of(*range(15)),
            one_of(float("nan"), -0.0, 0.0, 1.5, -2.0, float("inf")),
            one_of("", *"abcdefgh", "ab"),
            one_of(True, False),
        )
        for i in range(ROWS)
    ]
    return spark.createDataFrame(rows, "row BIGINT, a INT, b INT, x DOUBLE, s STRING, f BOOLEAN").coalesce(1)


@pytest.fixture(scope="module", params=["rows", "columns"])
def table(request: pytest.FixtureRequest, plain: DataFrame, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    if request.param == "rows":
        return plain
    path = str(tmp_path_factory.mktemp("dense") / "table")
    plain.write.parquet(path)
    return plain.sparkSession.read.parquet(path)


@pytest.fixture(scope="module")
def sample(rules: dict[str, str]) -> dict[str, str]:
    """The rules that Spark is asked for, too."""
    return dict(list(rules.items())[::12])


@pytest.fixture(scope="module")
def truth(plain: DataFrame, sample: dict[str, str]) -> Pairs:
    return pairs_by_where(plain, sample)


def rules_at_once(df: DataFrame) -> int:
    """How many rules of a query's program are evaluated for many rows at once."""
    node = df._jdf.queryExecution().executedPlan()
    while not node.nodeName().startswith("Match "):
        node = node.children().head()
    count: int = len(node.spec().rules().parts().head().program().code().dense().rules())
    return count


def test_many_rows_at_once_give_the_answer_of_where(
    table: DataFrame, rules: dict[str, str], published: sparkrules.RuleSet, sample: dict[str, str], truth: Pairs
) -> None:
    query = sparkrules.match(table, published).selectExpr("row", "matches.ids")
    assert rules_in_plan(query) == RULES
    assert rules_at_once(query) > RULES // 2
    ours = pairs_by_plugin(table, published)
    assert len(ours) > RULES * ROWS / 10
    assert not differences({pair for pair in ours if pair[1] in sample}, truth, rules)


def test_every_rule_agrees_with_the_matcher_in_python(
    table: DataFrame, rules: dict[str, str], published: sparkrules.RuleSet
) -> None:
    rows = table.toArrow()
    matches = published.match(rows, unsupported="skip")
    assert len(matches.skipped) < RULES / 2
    theirs = {
        (row, id) for row, ids in zip(rows["row"].to_pylist(), matches.ids.to_pylist(), strict=True) for id in ids
    }
    ours = {(row, id) for row, id in pairs_by_plugin(table, published) if id not in matches.skipped}
    assert not differences(ours, theirs, rules)


def test_ids_stay_in_order(table: DataFrame, with_sparse: sparkrules.RuleSet) -> None:
    rows = sparkrules.match(table, with_sparse).selectExpr("matches.ids").collect()
    for (ids,) in rows:
        assert ids == [id for id in ids if id == "first"] + sorted(id for id in ids if id != "first")
    assert any(id.startswith("s") for (ids,) in rows for id in ids)


def test_a_row_of_a_join_is_matched_too(spark: SparkSession, table: DataFrame, published: sparkrules.RuleSet) -> None:
    """A call in a condition over both sides of a join has no operator of its own."""
    published.publish(spark)
    table.limit(20).createOrReplaceTempView("some")
    expected = spark.sql("SELECT row, match_subscriptions('dense', row, a, b, x, s, f).ids AS ids FROM some").collect()
    joined = spark.sql(
        "SELECT l.row, count(*) AS n FROM some l JOIN (SELECT 1 AS one) r ON size(match_subscriptions('dense', "
        "named_struct('a', a, 'b', b + one - one, 'x', x, 's', s, 'f', f)).ids) > 100 GROUP BY l.row"
    ).collect()
    assert {row for row, _ in joined} == {row for row, ids in expected if len(ids) > 100}
