"""What is expensive is computed at most once per row, and only for rows where a rule needs it; costs are declared or
measured.

`CAST(s AS INT)` and `element_at` fail in every row here, so the metric of errors counts how often they are computed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sparkrules
from sparkrules import Policy, RuleSet
from sparkrules.store import Store
from tests.spark.oracle import pairs_by_plugin, pairs_by_where, rule_set, settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = 600
WIDE = " OR ".join(f"(b = {i} AND c = {i} AND a < {i + 3})" for i in range(9))
COLUMNS = [
    "CAST(id AS INT) AS row",
    "CAST(id % 5 AS INT) AS a",
    "IF(id % 7 = 0, NULL, CAST(id % 3 AS INT)) AS b",
    "CAST(id % 11 AS INT) AS c",
    "CAST(id % 100 AS DOUBLE) AS d",
    "concat('x', id) AS s",
]
COSTS = Policy(costs={"element_at": 3})

# Rules of one query, and the rows where one of them needs the value of the cast.
SHAPES = {
    "behind a predicate": (["a = 1 AND CAST(s AS INT) = 5"], "a = 1"),
    "written first": (["CAST(s AS INT) = 5 AND a = 1"], "a = 1"),
    "behind one that often holds": (["c >= 1 AND CAST(s AS INT) = 5"], "c >= 1"),
    "behind several": (["a = 1 AND b = 2 AND c < 9 AND CAST(s AS INT) = 5"], "a = 1 AND b = 2 AND c < 9"),
    "in an OR": (["a = 1 AND (b = 2 OR CAST(s AS INT) = 5)"], "a = 1 AND NOT b <=> 2"),
    "an OR alone": (["a = 1 OR b = 2 OR CAST(s AS INT) = 5"], "NOT a = 1 AND NOT b <=> 2"),
    "nested": (["c > 3 AND (a = 1 OR (b = 2 AND NOT CAST(s AS INT) > 5))"], "c > 3 AND NOT a = 1 AND b = 2"),
    "shared": (
        ["a = 1 AND CAST(s AS INT) = 5", "a = 1 AND CAST(s AS INT) < 0", "a = 1 AND c = 2 AND CAST(s AS INT) > 7"],
        "a = 1",
    ),
    "beside others": (["a = 1 AND CAST(s AS INT) = 5", "a = 1", "a = 2 OR c = 3", "a = 1 AND b = 2"], "a = 1"),
    "a large tree": (
        [f"a = 1 AND ({WIDE} OR element_at(array(s), c + 2) = '5')"],
        "a = 1 AND NOT (b <=> c AND b < 9)",
    ),
}


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    return spark.range(ROWS).selectExpr(*COLUMNS).localCheckpoint()


@pytest.fixture(scope="module")
def batches(rows: DataFrame, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """The same rows from a columnar source."""
    path = str(tmp_path_factory.mktemp("costs") / "rows")
    rows.write.parquet(path)
    return rows.sparkSession.read.parquet(path)


def counted(df: DataFrame, name: str, top: str = "") -> tuple[int, int]:
    """How often a value could not be computed, and how many predicates were tested."""
    matched = df.selectExpr(f"match_subscriptions('{name}', *{top}).ids")
    matched.collect()
    node = matched._jdf.queryExecution().executedPlan()
    while not node.nodeName().startswith("Match"):
        node = node.children().head()
    return node.metrics().apply("errors").value(), node.metrics().apply("tested").value()


def same_as_where(df: DataFrame, texts: list[str], rules: RuleSet) -> bool:
    tried = [text.replace("CAST(s", "try_cast(s").replace("element_at", "try_element_at") for text in texts]
    return pairs_by_plugin(df, rules) == pairs_by_where(df, {str(i): text for i, text in enumerate(tried)})


def published(spark: SparkSession, name: str, texts: list[str], policy: Policy | None = None) -> RuleSet:
    rules = rule_set(name, {str(i): text for i, text in enumerate(texts)}, policy or Policy())
    rules.publish(spark)
    return rules


def test_a_value_is_computed_once_and_only_where_a_rule_needs_it(rows: DataFrame, batches: DataFrame) -> None:
    for number, (shape, (texts, needed)) in enumerate(SHAPES.items()):
        wanted = rows.where(needed).count()
        assert 0 < wanted < ROWS, shape
        rules = published(rows.sparkSession, f"lazy{number}", texts, COSTS)
        found = {kind: counted(df, rules.name)[0] for kind, df in (("rows", rows), ("batches", batches))}
        assert found == {"rows": wanted, "batches": wanted}, shape
        assert counted(rows, rules.name, ", top => 1")[0] <= wanted, shape
        assert same_as_where(rows, texts, rules), shape


def test_statistics_do_not_make_it_less_lazy(rows: DataFrame, spark: SparkSession) -> None:
    # As far as the sample knows, the cheap predicate is always true, and the cast nearly always fails to be 5.
    texts = ["c >= 1 AND CAST(s AS INT) = 5"]
    rules = published(spark, "lazy_analysed", texts)
    rules.analyze(rows.where("c >= 1"))
    assert counted(rows, "lazy_analysed")[0] == rows.where("c >= 1").count()
    assert same_as_where(rows, texts, rules)


MANY = [f"d > {i / 2 - 150}D AND length(s) = {i}" for i in range(400)]


def test_declared_costs_change_the_order(rows: DataFrame, spark: SparkSession) -> None:
    def tested(policy: Policy) -> float:
        rules = published(spark, "declared", MANY, policy)
        assert same_as_where(rows, MANY, rules)
        return counted(rows, "declared")[1] / ROWS

    # By itself, the length is looked up once for all rules. If it is expensive, everything else comes first.
    assert tested(Policy()) < 30
    assert tested(Policy(costs={"LENGTH": 5_000})) > 100


def test_costs_belong_to_the_version(rows: DataFrame, spark: SparkSession) -> None:
    store = Store(spark.conf.get("spark.sparkrules.store"))
    rules = published(spark, "kept_costs", MANY, Policy(costs={"length": 5_000}))
    assert store.manifest("kept_costs").costs == {"length": 5_000}
    assert counted(rows, "kept_costs")[1] > 100 * ROWS
    # Whoever changes the rules keeps them, in Python and in SQL, unless a policy says otherwise.
    loaded = RuleSet.load("kept_costs", store)
    loaded.unsubscribe("7")
    loaded.publish(spark)
    spark.sql("CALL sparkrules.unsubscribe('kept_costs', '8')")
    assert store.manifest("kept_costs").costs == {"length": 5_000}
    again = RuleSet.load("kept_costs", store, policy=Policy(costs={"length": 0.1, "upper": 3}))
    again.publish(spark)
    assert store.manifest("kept_costs").costs == {"length": 0.1, "upper": 3}
    # The segments are the same, but not what was compiled of them.
    assert counted(rows, "kept_costs")[1] < 30 * ROWS
    spark.sql(f"CALL sparkrules.rollback('kept_costs', {rules.version})")
    assert store.manifest("kept_costs").costs == {"length": 5_000}
    assert counted(rows, "kept_costs")[1] > 100 * ROWS


def test_analyze_measures_what_is_computed(rows: DataFrame, spark: SparkSession) -> None:
    slow = "levenshtein(sha2(s, 512), sha2(concat(s, 'y'), 512))"
    texts = [f"d > {i / 2 - 150}D AND {slow} = {i}" for i in range(400)]
    texts += ["a = 1 AND lower(s) = 'x7'", "s RLIKE '[a-z]9+'"]
    rules = published(spark, "measured", texts)
    before = counted(rows, "measured")[1]
    statistics = rules.analyze(rows)
    times = {name: found.microseconds for name, found in statistics.attributes.items()}
    assert [name for name, time in times.items() if time is None] == [name for name in times if len(name) == 1]
    (measured,) = (time for name, time in times.items() if name.startswith("levenshtein") and time is not None)
    (quick,) = (time for name, time in times.items() if name.startswith("lower") and time is not None)
    assert measured > 20 * quick > 0
    assert "time per call" in str(statistics)
    assert counted(rows, "measured")[1] > before + 50 * ROWS
    # Spark would compute it for every rule: minutes, for values that a column can have.
    truth = pairs_by_where(
        rows.selectExpr("*", f"{slow} AS slow").localCheckpoint(),
        {str(i): text.replace(slow, "slow") for i, text in enumerate(texts)},
    )
    assert pairs_by_plugin(rows, rules) == truth
    # What users say counts more than what was measured.
    cheap = RuleSet.load("measured", policy=Policy(costs={"levenshtein": 0.05}), store=rules.store)
    cheap.publish(spark)
    assert counted(rows, "measured")[1] < before + 20 * ROWS


def test_statistics_without_times_are_read(spark: SparkSession, rows: DataFrame, tmp_path: Path) -> None:
    from sparkrules.store import statistics_file

    with settings(spark, spark_sparkrules_store=str(tmp_path)):
        rules = published(spark, "older", ["a = 1 AND lower(s) = 'x6'"])
        rules.analyze(rows)
        store = Store(tmp_path)
        found = store.statistics("older")
        assert found is not None
        assert any(found["nanoseconds"].to_pylist())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(statistics_file, "STATISTICS", statistics_file._BEFORE_TIMES)
            store.analyzed("older", found)
        older = store.statistics("older")
        assert older is not None
        assert older.drop_columns("nanoseconds").equals(found.drop_columns("nanoseconds"))
        assert set(older["nanoseconds"].to_pylist()) == {0}
        shown = spark.sql("SELECT count(nanoseconds) AS times, count(*) AS ranges FROM sparkrules.older.statistics")
        assert shown.first() == (0, older.num_rows)
        assert pairs_by_plugin(rows, rules) == {(6, "0")}


def test_opaque_calls_and_searches_have_costs_too(rows: DataFrame, spark: SparkSession) -> None:
    texts = ["upper(s) RLIKE 'X[0-9]+' AND c >= 0", "levenshtein(s, concat(s, 'y')) > a AND c >= 0"]
    costs = {"upper": 100, "rlike": 70, "levenshtein": 50, "concat": 8}
    rules = published(spark, "opaque_costs", texts, Policy(costs=costs))
    assert same_as_where(rows, texts, rules)
    assert len(sparkrules.rule_costs(rows.where("c < 0"), rules).collect()) == 0
