"""Spark's own answer, which is correct by definition: a rule matches a row exactly when WHERE keeps the row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from py4j.java_gateway import is_instance_of
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

import sparkrules
from sparkrules.sql import DEFAULT_POLICY, Policy
from tests.spark.java_errors import plain_java_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Pairs = set[tuple[int, str]]
RULES_PER_QUERY = 60


def pairs_by_where(df: DataFrame, rules: Mapping[str, str], key: str = "row") -> Pairs:
    """(row, rule) for every rule that is true, many rules to a query.

    Spark must not look for common subexpressions of the rules: it takes `f = 0.0` and `f = -0.0` for the same and, in
    generated code, then computes neither.
    """
    pairs: Pairs = set()
    with settings(df.sparkSession, spark_sql_subexpressionElimination_enabled="false"):
        for batch in batches(rules, RULES_PER_QUERY):
            for row in truths_of(df, batch, key).collect():
                pairs.update((row[0], id) for i, id in enumerate(batch) if row[i + 1])
    return pairs


def pairs_by_filter(df: DataFrame, rules: Mapping[str, str], key: str = "row") -> Pairs:
    """The same from a WHERE for each rule, several in one query: what the optimizer makes of the rule as a filter."""
    pairs: Pairs = set()
    for batch in batches(rules, 20):
        filtered = [df.where(text).selectExpr(key, f"{number} AS rule") for number, text in enumerate(batch.values())]
        ids = list(batch)
        # One task for all: with its few rows, starting a task would be most of the work of a filter.
        pairs.update((row, ids[rule]) for row, rule in reduce(DataFrame.unionAll, filtered).coalesce(1).collect())
    return pairs


def pairs_by_python(df: DataFrame, rules: sparkrules.RuleSet, key: str = "row") -> Pairs:
    """The same from the engine that needs no plugin."""
    matched = sparkrules.match(df, rules, engine="python").selectExpr(key, "matches.ids").collect()
    return {(row, id) for row, ids in matched for id in ids}


def disagreements(df: DataFrame, texts: Iterable[str], name: str) -> list[str]:
    """Where the plugin, or the Python engine, differs from WHERE on these rules."""
    rules = {text: text for text in texts}
    truth, made = pairs_by_filter(df, rules), rule_set(name, rules)
    return [
        f"{engine}: {difference}"
        for engine, pairs in (("plugin", pairs_by_plugin), ("python", pairs_by_python))
        for difference in differences(pairs(df, made), truth, rules)
    ]


def truths_of(df: DataFrame, rules: Mapping[str, str], key: str = "row") -> DataFrame:
    """The key, and a column for each rule: whether it is true."""
    return df.selectExpr(key, *(f"({text}) IS TRUE AS r{i}" for i, text in enumerate(rules.values())))


def pairs_by_plugin(df: DataFrame, rules: sparkrules.RuleSet, key: str = "row") -> Pairs:
    """The same from `match_subscriptions`. Under pushDown=always only rows with a match are asked for."""
    asked = sparkrules.match(df, rules).selectExpr(key, "matches.ids")
    is_pushed = df.sparkSession.conf.get("spark.sparkrules.pushDown", "auto") == "always"
    matched = (asked.where("size(ids) > 0") if is_pushed else asked).collect()
    assert all(len(ids) == len(set(ids)) for _, ids in matched), "an id was reported twice"
    return {(row, id) for row, ids in matched for id in ids}


def rule_set(
    name: str, rules: Mapping[str, str], policy: Policy = DEFAULT_POLICY, store: Path | None = None
) -> sparkrules.RuleSet:
    """A rule set of all these rules; none may be rejected."""
    made = sparkrules.RuleSet(name, policy=policy, store=store)
    made.subscribe_all(rules)
    assert made.rejected == []
    return made


def readable(pairs: Pairs, rules: Mapping[str, str]) -> list[str]:
    """Differences as a person wants to read them."""
    return sorted(f"row {row}: {rules[id]}" for row, id in pairs)


def differences(ours: Pairs, truth: Pairs, rules: Mapping[str, str]) -> list[str]:
    """What is missing and what is too much, as a person wants to read it."""
    missing = [f"not matched, {text}" for text in readable(truth - ours, rules)]
    return missing + [f"wrongly matched, {text}" for text in readable(ours - truth, rules)]


def compared(
    df: DataFrame, rules: Mapping[str, str], name: str = "compared", policy: Policy = DEFAULT_POLICY
) -> list[str]:
    """The differences between the plugin and WHERE for all these rules; Spark must accept each, and none may raise."""
    return differences(pairs_by_plugin(df, rule_set(name, rules, policy)), pairs_by_where(df, rules), rules)


def accepted_by_where(df: DataFrame, rules: Mapping[str, str]) -> dict[str, str]:
    """The rules that Spark's analyzer takes for conditions on this table.

    The analyzer resolves hundreds in one plan and leaves the others unresolved; where it throws instead, halves are
    tried.
    """
    df.createOrReplaceTempView("accepted_by_where")
    accepted: dict[str, str] = {}
    for batch in batches(rules, 400):
        accepted |= _accepted(df.sparkSession, batch)
    return accepted


def _accepted(spark: SparkSession, rules: dict[str, str]) -> dict[str, str]:
    state = spark._jsparkSession.sessionState()
    columns = ", ".join(f"({text}) IS TRUE AS r{i}" for i, text in enumerate(rules.values()))
    try:
        plan = state.analyzer().execute(state.sqlParser().parsePlan(f"SELECT {columns} FROM accepted_by_where"))
    except (PySparkException, Py4JJavaError):
        if len(rules) == 1:
            return {}
        return {
            id: text for half in batches(rules, (len(rules) + 1) // 2) for id, text in _accepted(spark, half).items()
        }
    expressions = plan.expressions()
    return {id: text for i, (id, text) in enumerate(rules.items()) if expressions.apply(i).resolved()}


def raising(df: DataFrame, rules: Mapping[str, str]) -> bool:
    """Whether one of these rules fails at run time."""
    try:
        with plain_java_errors():
            truths_of(df, rules).collect()
    except Py4JJavaError as error:
        if not is_instance_of(df.sparkSession._sc._gateway, error.java_exception, "org.apache.spark.SparkThrowable"):
            raise
        return True
    return False


def rules_in_plan(df: DataFrame) -> int:
    """How many rules the matching operator of a plan has: those that Spark accepts on its input."""
    plan = df._jdf.queryExecution().executedPlan().toString()
    found = re.search(r"Match \[\S+, (\d+) rules?", plan)
    assert found is not None
    return int(found[1])


@contextmanager
def settings(spark: SparkSession, **values: str) -> Iterator[None]:
    """Session settings for a while: `ansi`, `zone`, `case` or, with _ for a dot, any other."""
    names = {"ansi": "spark.sql.ansi.enabled", "zone": "spark.sql.session.timeZone", "case": "spark.sql.caseSensitive"}
    keys = {names.get(key, key.replace("_", ".")): value for key, value in values.items()}
    before = {key: spark.conf.get(key, None) for key in keys}
    for key, value in keys.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)


def batches(rules: Mapping[str, str], size: int) -> Iterator[dict[str, str]]:
    """The rules, so many at a time."""
    ids = list(rules)
    for start in range(0, len(ids), size):
        yield {id: rules[id] for id in ids[start : start + size]}
