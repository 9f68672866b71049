"""Python functions in rules: called where a rule still needs them, once, and in order of cost."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql.functions import udf
from pyspark.sql.pandas.functions import pandas_udf

import sparkrules
from sparkrules.sql import Policy
from tests.spark.oracle import pairs_by_plugin, pairs_by_where, rule_set, settings

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import DataFrame, SparkSession

FUNCTIONS = ("f", "g", "h")
ALLOWED = Policy(extra_functions=FUNCTIONS)


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    """Distinct values of x and y in each row, so that no two calls are equal."""
    return spark.sql(
        "SELECT CAST(id AS INT) AS row, CAST(id % 100 AS INT) AS a, IF(id % 7 = 0, NULL, CAST(id % 3 AS INT)) AS b, "
        "CAST(id AS INT) AS x, CAST(id + 5000 AS INT) AS y FROM range(0, 2000, 1, 2)"
    ).localCheckpoint()


@pytest.fixture(autouse=True)
def _no_functions_stay(spark: SparkSession) -> Iterator[None]:
    yield
    for name in FUNCTIONS:
        spark.sql(f"DROP TEMPORARY FUNCTION IF EXISTS {name}")


def counting(spark: SparkSession, name: str, function: Callable[[Any], Any] = lambda x: x) -> Accumulator[int]:
    """Registers a function that counts its calls."""
    calls = spark.sparkContext.accumulator(0)

    def counted(x: int | None) -> Any:
        calls.add(1)
        return function(x)

    spark.udf.register(name, udf(counted, "int"))
    return calls


def collecting(spark: SparkSession, name: str, function: Callable[[Any], Any]) -> Accumulator[list[Any]]:
    """Registers a function that notes its arguments."""
    from pyspark.accumulators import AccumulatorParam

    class Lists(AccumulatorParam[list[Any]]):
        def zero(self, value: list[Any]) -> list[Any]:
            return []

        def addInPlace(self, value1: list[Any], value2: list[Any]) -> list[Any]:  # noqa: N802
            value1.extend(value2)
            return value1

    arguments = spark.sparkContext.accumulator([], Lists())

    def noted(x: int | None) -> Any:
        arguments.add([x])
        return function(x)

    spark.udf.register(name, udf(noted, "int"))
    return arguments


def test_rows_that_cheap_predicates_decide_are_not_sent(spark: SparkSession, df: DataFrame) -> None:
    calls = counting(spark, "f")
    rules = {f"rule {i}": f"a = 7 AND f(x) > {i}" for i in range(0, 2000, 20)}
    matched = pairs_by_plugin(df, rule_set("asked", rules, ALLOWED))
    assert calls.value == 20  # 1 % of the rows
    assert matched == pairs_by_where(df, rules)


def test_a_function_waits_for_cheaper_ones(spark: SparkSession, df: DataFrame) -> None:
    f, g, h = (counting(spark, name) for name in FUNCTIONS)
    rules = {"r": "f(x) < 100 AND g(y) > 5050 AND h(x) > 0 AND b = 1"}
    policy = Policy(extra_functions=FUNCTIONS, costs={"h": 10, "f": 100, "g": 1000})
    matched = pairs_by_plugin(df, rule_set("asked", rules, policy))
    calls = (h.value, f.value, g.value)
    assert matched == pairs_by_where(df, rules)
    with_b = df.where("b = 1").count()
    assert calls == (with_b, df.where("b = 1 AND x > 0").count(), df.where("b = 1 AND x > 0 AND x < 100").count())


def test_what_decides_more_rules_for_its_price_is_called_first(spark: SparkSession, df: DataFrame) -> None:
    f, g = counting(spark, "f"), counting(spark, "g")
    rules = {f"both {i}": f"f(x) < 10 AND g(y) > {i}" for i in range(2)}
    rules |= {f"g alone {i}": f"a = 1 AND g(y) = {i}" for i in range(20)}
    pairs_by_plugin(df, rule_set("asked", rules, ALLOWED))
    assert (f.value, g.value) == (2000, 2000)  # equal costs: g serves more rules
    with_costs = Policy(extra_functions=FUNCTIONS, costs={"f": 1, "g": 1000})
    pairs_by_plugin(df, rule_set("asked", rules, with_costs))
    assert (f.value - 2000, g.value - 2000) == (2000, 10 + 20 - 1)


def test_a_rule_that_is_true_anyway_needs_no_call(spark: SparkSession, df: DataFrame) -> None:
    calls = counting(spark, "f")
    rules = {"or": "a < 99 OR f(x) > 0", "nested": "(a < 50 OR f(x) > 3) AND (b IS NULL OR a >= 0 OR f(x) > 5)"}
    assert pairs_by_plugin(df, rule_set("asked", rules, ALLOWED)) == pairs_by_where(df, rules)
    rules = {"or": "a < 99 OR f(x) > 0"}
    before = calls.value
    pairs_by_plugin(df, rule_set("asked", rules, ALLOWED))
    assert calls.value - before == 20


def test_a_branch_that_cannot_be_true_needs_no_call(spark: SparkSession, df: DataFrame) -> None:
    f, g = counting(spark, "f"), counting(spark, "g")
    rules = {"r": "(f(x) > 5 OR a = 3) AND (b = 1 AND g(y) > 7 OR a = 4)"}
    policy = Policy(extra_functions=FUNCTIONS, costs={"f": 1, "g": 10})
    matched = pairs_by_plugin(df, rule_set("asked", rules, policy))
    # a = 3: the second part is open where b = 1; a = 4: the first part is; else both are, where b = 1.
    assert f.value == df.where("a <> 3 AND (b = 1 OR a = 4)").count()
    assert g.value == df.where("a <> 4 AND b = 1 AND (x > 5 OR a = 3)").count()
    assert matched == pairs_by_where(df, rules)


@pytest.mark.parametrize(
    ("rule", "needed"),
    [
        ("CASE WHEN a = 1 THEN f(x) ELSE 0 END > 3", "a = 1"),
        ("coalesce(b, f(x)) = 1", "b IS NULL"),
        ("IF(a < 10, f(x) + f(y), 1) > 100", "a < 10"),
        ("b + f(x) > 3", "b IS NOT NULL"),
    ],
)
def test_a_value_needs_a_call_only_where_it_is_computed(
    spark: SparkSession, df: DataFrame, rule: str, needed: str
) -> None:
    arguments = collecting(spark, "f", lambda x: x)
    matched = pairs_by_plugin(df, rule_set("asked", {"r": rule}, ALLOWED))
    assert sorted(set(arguments.value)) == sorted(
        {value for row in df.where(needed).collect() for value in ([row.x, row.y] if "f(y)" in rule else [row.x])}
    )
    assert len(arguments.value) == len(set(arguments.value))
    assert matched == pairs_by_where(df, {"r": rule})


def test_equal_calls_are_made_once(spark: SparkSession, df: DataFrame) -> None:
    calls = counting(spark, "f")
    rules = {f"rule {i}": f"f(x) > {i} AND row >= 0 OR f(X) = {-i}" for i in range(50)}
    rules |= {f"other {i}": f"f(x) = {i} OR f(x + 0) IN (1, {i}) OR f(a) = {i}" for i in range(20)}
    pairs_by_plugin(df, rule_set("asked", rules, ALLOWED))
    # The values of a are among those of x in the first of two partitions.
    assert calls.value == 2000 + 100
    everything = {f"rule {i}": f"f(a) > {i}" for i in range(50)}
    before = calls.value
    pairs_by_plugin(df, rule_set("asked", everything, ALLOWED))
    assert calls.value - before == 100 * 2  # 100 values in each of two partitions


def test_a_call_within_another_is_made_once(spark: SparkSession, df: DataFrame) -> None:
    f, g = counting(spark, "f"), counting(spark, "g", lambda x: x + 1)
    rules = {"f": "a < 50 AND f(x) > 3", "g": "a >= 25 AND g(f(x)) % 2 = 0", "both": "f(f(x)) = 7 OR g(f(x) + 1) < 9"}
    matched = pairs_by_plugin(df, rule_set("asked", {id: rules[id] for id in ("f", "g")}, ALLOWED))
    assert (f.value, g.value) == (2000, 1500)
    assert matched == pairs_by_where(df, {id: rules[id] for id in ("f", "g")})
    assert pairs_by_plugin(df, rule_set("asked", rules, ALLOWED)) == pairs_by_where(df, rules)


def brute_force(rules: list[Any], row: dict[str, int | None], functions: dict[str, Callable[[Any], Any]]) -> set[str]:
    """The calls that can still decide a rule if no call has been made: a rule is `and`, `or`, or a predicate."""

    def partial(rule: Any) -> bool | set[str] | None:
        kind = rule[0]
        if kind == "cheap":
            return row[rule[1]] is not None and row[rule[1]] < rule[2]  # type: ignore[operator]
        if kind == "call":
            return {rule[1]}
        children = [partial(child) for child in rule[1]]
        decisive = kind == "or"
        if any(child is decisive for child in children):
            return decisive
        open_ones = [child for child in children if isinstance(child, set)]
        return set().union(*open_ones) if open_ones else not decisive

    needed: set[str] = set()
    for rule in rules:
        found = partial(rule)
        if isinstance(found, set):
            needed |= found
    return needed


def as_sql(rule: Any) -> str:
    if rule[0] == "cheap":
        return f"{rule[1]} < {rule[2]}"
    if rule[0] == "call":
        return f"{rule[1]}(x) < {rule[2]}"
    return "(" + f" {rule[0].upper()} ".join(map(as_sql, rule[1])) + ")"


def random_rule(rng: random.Random, depth: int) -> Any:
    if depth == 0 or rng.random() < 0.3:
        if rng.random() < 0.5:
            return ("cheap", rng.choice("ab"), rng.randrange(0, 101) if rng.random() < 0.5 else rng.randrange(3))
        return ("call", rng.choice(FUNCTIONS), rng.randrange(5))
    return (rng.choice(["and", "or"]), [random_rule(rng, depth - 1) for _ in range(rng.randrange(2, 4))])


@pytest.mark.parametrize("seed", range(6))
def test_random_rules_call_what_brute_force_says(spark: SparkSession, seed: int) -> None:
    """All calls cost the same here, so which is made first differs; a call that no rule needs is never made."""
    rng = random.Random(seed)
    df = spark.sql(
        "SELECT CAST(id AS INT) AS row, CAST(id * 37 % 100 AS INT) AS a, CAST(id AS INT) AS x, "
        "IF(id % 7 = 0, NULL, CAST(id % 3 AS INT)) AS b FROM range(0, 60, 1, 1)"
    ).localCheckpoint()
    functions: dict[str, Callable[[Any], Any]] = {
        name: (lambda x, k=k: None if x % 11 == 0 else x * k % 7) for k, name in enumerate(FUNCTIONS, 2)
    }
    noted = {name: collecting(spark, name, function) for name, function in functions.items()}
    rules = [random_rule(rng, 3) for _ in range(8)]
    texts = {f"rule {i}": as_sql(rule) for i, rule in enumerate(rules)}
    matched = pairs_by_plugin(df, rule_set("asked", texts, ALLOWED))
    made = {name: list(accumulator.value) for name, accumulator in noted.items()}
    assert matched == pairs_by_where(df, texts)
    for row in df.collect():
        needed = brute_force(rules, row.asDict(), functions)
        called = {name for name in FUNCTIONS if row.x in made[name]}
        assert called <= needed, (row, texts)
        assert (needed == set()) == (called == set()), (row, texts)
    for name in FUNCTIONS:
        assert len(made[name]) == len(set(made[name]))


def kinds() -> dict[str, Any]:
    def pandas_function(x: pd.Series) -> pd.Series:
        return x * 2

    def pandas_iterator(parts: Iterator[pd.Series]) -> Iterator[pd.Series]:
        for part in parts:
            yield part * 2

    pandas_iterator.__annotations__ = {"parts": Iterator[pd.Series], "return": Iterator[pd.Series]}
    pandas_function.__annotations__ = {"x": pd.Series, "return": pd.Series}
    return {
        "plain": udf(lambda x: None if x is None else x * 2, "int", useArrow=False),
        "arrow-optimised": udf(lambda x: None if x is None else x * 2, "int", useArrow=True),
        "pandas": pandas_udf(pandas_function, "int"),  # type: ignore[call-overload]
        "pandas iterator": pandas_udf(pandas_iterator, "int"),  # type: ignore[call-overload]
    }


@pytest.mark.parametrize("kind", ["plain", "arrow-optimised", "pandas", "pandas iterator"])
def test_every_kind_of_function(spark: SparkSession, df: DataFrame, kind: str) -> None:
    spark.udf.register("f", kinds()[kind])
    spark.udf.register("g", udf(lambda x: None if x is None else x + 1, "int"))
    rules = {
        text: text
        for text in (
            "a = 7 AND f(x) > 100",
            "f(b) IS NULL",
            "g(f(x)) = 21 OR f(g(x)) = 22",
            "f(x + 1) IN (2, 4) OR f(3) = 6 AND a = 1",
            "f(f(x)) % 8 = 0 AND NOT f(x) BETWEEN 10 AND 1000",
        )
    }
    assert pairs_by_plugin(df, rule_set("asked", rules, ALLOWED)) == pairs_by_where(df, rules)


def test_an_arrow_function(spark: SparkSession, df: DataFrame) -> None:
    functions = pytest.importorskip("pyspark.sql.functions")
    if not hasattr(functions, "arrow_udf"):
        pytest.skip("this PySpark has no arrow_udf")

    def twice(x: pa.Array) -> pa.Array:
        import pyarrow.compute

        return pyarrow.compute.multiply(x, 2)

    twice.__annotations__ = {"x": pa.Array, "return": pa.Array}
    spark.udf.register("f", functions.arrow_udf(twice, "int"))
    rules = {"r": "a = 7 AND f(x) > 100", "s": "f(b) IS NULL"}
    assert pairs_by_plugin(df, rule_set("asked", rules, ALLOWED)) == pairs_by_where(df, rules)


def test_a_call_that_raises_is_unknown_for_its_row(spark: SparkSession, df: DataFrame) -> None:
    def fails_sometimes(x: int) -> int:
        if x % 1000 == 3:
            raise ValueError(f"{x} is no good")
        return x

    spark.udf.register("f", udf(fails_sometimes, "int"))
    texts = {"f": "f(x) >= 0", "not f": "NOT f(x) < 0", "or": "f(x) = 1 OR b = 0", "a": "a = 3"}
    rules = rule_set("asked", texts, ALLOWED)
    matched = pairs_by_plugin(df, rules)
    failing = {3, 1003}
    assert {row for row, rule in matched if rule == "f"} == set(range(2000)) - failing
    assert {row for row, rule in matched if rule == "not f"} == set(range(2000)) - failing
    assert {row for row, rule in matched if rule == "a"} == set(range(3, 2000, 100))
    assert {row for row, rule in matched if rule == "or"} == {row.row for row in df.where("x = 1 OR b = 0").collect()}
    errors = sparkrules.rule_errors(df, rules).collect()
    assert {row.row for row in errors} == failing
    assert {row.message for row in errors if row.row == 1003} == {"f(x): ValueError: 1003 is no good"}
    with settings(spark, spark_sparkrules_strict="true"), pytest.raises(PySparkException, match="is no good"):
        pairs_by_plugin(df, rules)


def test_a_function_that_always_raises_leaves_the_other_rules(spark: SparkSession, df: DataFrame) -> None:
    def fails(x: int) -> int:
        raise KeyError("no such thing")

    spark.udf.register("f", fails, "int")
    rules = rule_set("asked", {"f": "f(x) > 1", "fine": "a > 1", "nested": "f(f(x)) > 1 AND a = 0 AND x < 50"}, ALLOWED)
    assert {rule for _, rule in pairs_by_plugin(df, rules)} == {"fine"}
    assert {row.message for row in sparkrules.rule_errors(df.limit(3), rules).collect()} >= {
        "f(x): KeyError: 'no such thing'"
    }


def over_batches(function: Callable[[int], int]) -> Any:
    def of_batch(x: pd.Series) -> pd.Series:
        return x.map(function)

    of_batch.__annotations__ = {"x": pd.Series, "return": pd.Series}
    return pandas_udf(of_batch, "int")  # type: ignore[call-overload]


def test_a_function_over_batches_that_raises_for_a_row(spark: SparkSession, df: DataFrame) -> None:
    spark.udf.register("f", over_batches(lambda x: 10 // (x - 70)))
    rules = rule_set("asked", {"f": "f(x) IS NOT NULL AND a < 80"}, ALLOWED)
    assert {row for row, _ in pairs_by_plugin(df, rules)} == {row for row in range(2000) if row % 100 < 80} - {70}


def test_a_function_over_batches_that_always_raises_ends_the_query(spark: SparkSession, df: DataFrame) -> None:
    spark.udf.register("f", over_batches(lambda x: 10 // (x - x)))
    rules = rule_set("asked", {"f": "f(x) > 1 AND a < 5", "fine": "a > 1"}, ALLOWED)
    df = df.coalesce(1)
    with pytest.raises(PySparkException, match=r"f\(x\) has failed each of the first 5 times.*by zero"):
        pairs_by_plugin(df, rules)
    spark.udf.register("f", over_batches(lambda x: 10 // (x % 2)))
    too_often = r"f\(x\) has failed more than 2 times in a task.*by zero"
    with settings(spark, spark_sparkrules_pythonFailures="2"), pytest.raises(PySparkException, match=too_often):
        pairs_by_plugin(df, rules)


def test_arguments_that_cannot_be_computed(spark: SparkSession, df: DataFrame) -> None:
    spark.udf.register("f", udf(lambda x: x, "int"))
    rules = rule_set("asked", {"division": "f(100 DIV a) >= 0", "a": "a = 0"}, ALLOWED)
    matched = pairs_by_plugin(df, rules)
    assert {row for row, rule in matched if rule == "division"} == {row for row in range(2000) if row % 100}
    assert any("zero" in row.message.lower() for row in sparkrules.rule_errors(df, rules).collect())


@pytest.mark.parametrize("most", [0, 7, 10_000])
def test_a_limit_of_calls(spark: SparkSession, df: DataFrame, most: int) -> None:
    calls = counting(spark, "f")
    policy = Policy(extra_functions=FUNCTIONS, max_calls=most)
    rules = rule_set("asked", {"f": "f(x) >= 0 AND a < 50", "a": "a = 1"}, policy)
    matched = pairs_by_plugin(df, rules)
    assert calls.value == min(most, 1000)
    assert len({row for row, rule in matched if rule == "f"}) == min(most, 1000)
    assert len({row for row, rule in matched if rule == "a"}) == 20
    if most == 7:
        message = "f(x): not called, because the query has made as many calls as it may"
        assert {row.message for row in sparkrules.rule_errors(df, rules).collect()} == {message}


def test_metrics_and_explain(spark: SparkSession, df: DataFrame) -> None:
    counting(spark, "f")
    counting(spark, "g")
    rules = rule_set("asked", {"f": "a = 7 AND f(x) >= 0", "g": "a = 8 AND g(x) > 5 AND f(x) > 2"}, ALLOWED)
    query = sparkrules.match(df, rules)
    text = query._jdf.queryExecution().toString()
    assert "asks Python where a rule needs it: f(x) for 2 rules, then g(x) for 1 rule" in text
    query.collect()
    metrics = query._jdf.queryExecution().executedPlan()
    found = {name: find_metric(metrics, name) for name in ("calls", "callsSaved", "callsRefused", "pythonTime")}
    assert (found["calls"], found["callsSaved"], found["callsRefused"]) == (20 + 20 + 20, 4000 - 60, 0)
    assert found["pythonTime"] > 0


def find_metric(plan: Any, name: str) -> int:
    metrics = plan.metrics()
    if metrics.contains(name):
        return int(metrics.apply(name).value())
    children = plan.children()
    if children.isEmpty():
        raise KeyError(name)
    return find_metric(children.head(), name)


def test_analyze_measures_calls(spark: SparkSession, df: DataFrame) -> None:
    import time

    def slow(x: int) -> int:
        time.sleep(0.002)
        return x

    spark.udf.register("f", udf(slow, "int"))
    rules = rule_set("asked", {"f": "a = 7 AND f(x) >= 0"}, ALLOWED)
    rules.publish(spark)
    microseconds = rules.analyze(df.limit(50)).attributes["f(x)"].microseconds
    assert microseconds is not None
    assert microseconds >= 2000
