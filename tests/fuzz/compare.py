"""One random case: a table, rules over it, and whether the plugin and Spark's WHERE agree on every pair."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hypothesis import strategies as st
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql.functions import col

import sparkrules
from sparkrules.errors import RuleSetError
from tests.fuzz.functions import ALLOWED, register
from tests.fuzz.rules import rules
from tests.fuzz.tables import Table, tables
from tests.spark.oracle import Pairs, pairs_by_filter, pairs_by_python, pairs_by_where, settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PYTHON_ONE_IN = 8  # cases; it takes seconds
CALLS = 20  # in a hundred values, of the cases that call Python functions
FILTERS = 3


@dataclass(frozen=True)
class Case:
    table: Table
    rules: dict[str, str]
    """Each with a WHERE that means the same: itself, unless it has row functions."""

    ansi: bool
    zone: str
    calls: bool


@dataclass
class Tally:
    """What a run has seen."""

    counts: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        return ", ".join(f"{count:,} {what}" for what, count in sorted(self.counts.items()))


@st.composite
def cases(draw: st.DrawFn, most_rules: int) -> Case:
    table = draw(tables())
    # From few to many, so that a difference shrinks to one rule.
    count = draw(st.sampled_from([1, most_rules // 2, most_rules]))
    calls = draw(st.booleans())
    texts = dict(draw(rules(table, CALLS if calls else 0)) for _ in range(count))
    zone = draw(st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Asia/Kathmandu"]))
    return Case(table, texts, draw(st.booleans()), zone, calls)


def differences(spark: SparkSession, case: Case, tally: Tally) -> list[str]:
    """Every pair on which they differ, readable; empty if they agree."""
    spark.conf.set("spark.sql.ansi.enabled", str(case.ansi).lower())
    spark.conf.set("spark.sql.session.timeZone", case.zone)
    spark.conf.set("spark.sparkrules.invalidRules", "skip")
    try:
        return _differences(spark, case, tally)
    finally:
        for key in ("spark.sql.ansi.enabled", "spark.sql.session.timeZone", "spark.sparkrules.invalidRules"):
            spark.conf.unset(key)


def _differences(spark: SparkSession, case: Case, tally: Tally) -> list[str]:
    if case.calls:
        register(spark)
    df = case.table.dataframe(spark)
    accepted = {text for text, where in case.rules.items() if _accepts(df, where)}
    rule_set = sparkrules.RuleSet("fuzz", policy=ALLOWED)
    rule_set.subscribe_all((text, text) for text in case.rules)
    rejected = {rule.where: rule.reason for rule in rule_set.rejected}
    found = [f"Spark accepts, the front end rejects ({rejected[text]}): {text}" for text in accepted & rejected.keys()]
    known = {text: text for text in case.rules if text not in rejected}

    matched = sparkrules.match(df, rule_set).selectExpr("row", "matches.ids")
    bound = subscriptions_of(matched, "fuzz") if known else 0
    ours = {(row, id) for row, ids in matched.collect() for id in ids}
    # A condition that is NULL as it stands never matches; Spark asks for a cast, we do not.
    if bound < len(accepted & known.keys()):
        found.append(f"Spark accepts {len(accepted & known.keys())} of the rules, the plugin {bound}: {sorted(known)}")
    found += [f"matched, though Spark rejects it: {text}" for text in {id for _, id in ours} - accepted]
    found += _with_scan_filters(df, rule_set, list(known), ours, tally)

    truth, failing = truth_of(df, {text: case.rules[text] for text in known if text in accepted})
    if case.table.seed % PYTHON_ONE_IN == 0:
        found += _by_python(df, rule_set, truth, failing, tally)
    # Spark's optimizer may treat a filter in another way than what is selected.
    alone = {text: case.rules[text] for text in list(known)[:FILTERS] if text in accepted and text not in failing}
    found += [f"selected is not filtered, row {row}: {text}" for row, text in _filtered(df, alone, truth)]
    differ = {(row, text) for row, text in ours ^ truth if text in accepted and text not in failing}
    found += [_readable(df, row, text, (row, text) in ours) for row, text in sorted(differ)]

    tally.counts["cases"] += 1
    tally.counts["rules that call Python functions"] += sum("udf_" in text for text in known)
    tally.counts["rules"] += len(case.rules)
    tally.counts["rules that Spark rejects"] += len(case.rules) - len(accepted)
    tally.counts["rules that fail at run time (left out)"] += len(failing)
    tally.counts["pairs compared"] += case.table.rows * (len(known) - len(failing))
    tally.counts["matches"] += len(truth)
    return found


def _accepts(df: DataFrame, text: str) -> bool:
    try:
        df.where(text)
    except AnalysisException:
        return False
    return True


def _by_python(df: DataFrame, rules: sparkrules.RuleSet, truth: Pairs, failing: set[str], tally: Tally) -> list[str]:
    """Where the engine without the plugin differs."""
    try:
        ours = pairs_by_python(df, rules)
    except RuleSetError as error:
        if "cannot be sent to Spark's Python workers" in str(error):
            return []
        raise
    tally.counts["cases with the Python engine"] += 1
    differ = {(row, text) for row, text in ours ^ truth if text not in failing}
    return ["Python engine: " + _readable(df, row, text, (row, text) in ours) for row, text in sorted(differ)]


def _with_scan_filters(
    df: DataFrame, rules: sparkrules.RuleSet, texts: list[str], ours: Pairs, tally: Tally
) -> list[str]:
    """Where a query for some of the rules differs if it gives the source a filter."""
    found = []
    for some in ({text for text in texts if hash(text) % 7 == 0}, set(texts[:1]), set(texts[-3:])):
        with settings(df.sparkSession, spark_sparkrules_pushDown="always"):
            matched = sparkrules.matches(df, rules).where(col("subscription_id").isin(list(some)))
            filtered = {(row, id) for row, id in matched.select("row", "subscription_id").collect()}
            plan = matched._jdf.queryExecution().optimizedPlan().toString()
        tally.counts["queries with a scan filter"] += ", scan filter: " in plan
        differ = filtered ^ {(row, id) for row, id in ours if id in some}
        found += [f"with a scan filter, row {row}: {text}" for row, text in sorted(differ)]
    return found


def _filtered(df: DataFrame, rules: dict[str, str], truth: Pairs) -> Pairs:
    try:
        return pairs_by_filter(df, rules) ^ {(row, text) for row, text in truth if text in rules}
    except PySparkException:  # fails as a filter, and not where it is selected
        return set()


def subscriptions_of(matched: DataFrame, name: str) -> int:
    plan = matched._jdf.queryExecution().optimizedPlan().toString()
    counted = re.search(rf"Match \[{name}@\d+, (\d+) rules?\]", plan)
    return int(counted[1]) if counted else 0


def truth_of(df: DataFrame, texts: dict[str, str], key: str = "row") -> tuple[Pairs, set[str]]:
    """Spark's pairs, and the rules that fail on some row: those are found by halving."""
    try:
        return pairs_by_where(df, texts, key), set()
    except PySparkException:
        if len(texts) == 1:
            return set(), set(texts)
    ids = list(texts)
    halves = (ids[: len(ids) // 2], ids[len(ids) // 2 :])
    answers = [truth_of(df, {id: texts[id] for id in half}, key) for half in halves]
    return answers[0][0] | answers[1][0], answers[0][1] | answers[1][1]


def _readable(df: DataFrame, row: int, text: str, ours: bool) -> str:
    values = df.where(f"row = {row}").collect()[0].asDict()
    return f"{'we match, Spark does not' if ours else 'Spark matches, we do not'}: {text}\n    on {values}"
