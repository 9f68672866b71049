"""What rules did in the queries that used them: rows, matches, errors and a share of the time, per rule."""

from __future__ import annotations

import re
import uuid
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparkrules.errors import RuleSetError

if TYPE_CHECKING:
    from datetime import datetime

    from pyspark.sql import Row, SparkSession

_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,200}")


@dataclass(frozen=True)
class RuleRun:
    """What the rules of a version did in one query, or in one micro-batch of a stream."""

    run: int
    """A number; later runs of the application have greater ones."""
    ruleset: str
    version: int
    started: datetime
    execution: int | None
    """The number that the Spark UI shows for the query under *SQL / DataFrame*."""
    query: str | None
    """The `id` of the streaming query."""
    batch: int | None
    """The number of its micro-batch."""
    rows: int
    """The rows that were matched."""
    matches: int
    errors: int
    """The values that could not be computed, and so were unknown."""
    milliseconds: float
    """An estimate of the time to match the rows, in all tasks together."""
    rules: int
    """How many rules the version has."""
    rules_hit: int
    """How many of them matched a row."""
    hits: dict[str, int]
    """Per rule: the rows that it matched. Highest first."""
    rule_errors: dict[str, int]
    """Per rule: the values that it needs which could not be computed."""
    time_shares: dict[str, float]
    """Per rule: an estimate of its share of `milliseconds`, from 0 to 1."""


class RuleMetrics:
    """Counts what rules do in the queries of a DataFrame: give it to `match` or `matches`, then read it.

        seen = sparkrules.RuleMetrics()
        sparkrules.match(df, rules, observe=seen).write.parquet("out")
        seen.get["hits"]        # {"hot": 40, "frost": 2}

    It counts each row that is matched once: a task that fails and is repeated does not count twice. A DataFrame that is
    computed twice, because two actions use it and it is not cached, counts for both. It has a `name`, under which SQL
    finds the same numbers: `SELECT * FROM subscription_metrics('name')`.
    """

    def __init__(self, name: str | None = None) -> None:
        self.name = uuid.uuid4().hex if name is None else checked_name(name)
        self._spark: SparkSession | None = None

    def __repr__(self) -> str:
        return f"RuleMetrics({self.name!r})"

    @property
    def get(self) -> dict[str, Any]:
        """The sums of all runs: `rows`, `matches`, `errors`, `milliseconds`, and per rule `hits`, `rule_errors` and
        `time_shares`. All are 0 before the first task has finished."""
        runs = self.runs
        milliseconds = sum(run.milliseconds for run in runs)
        hits: Counter[str] = Counter()
        errors: Counter[str] = Counter()
        spent: dict[str, float] = {}
        for run in runs:
            hits.update(run.hits)
            errors.update(run.rule_errors)
            for rule, share in run.time_shares.items():
                spent[rule] = spent.get(rule, 0.0) + share * run.milliseconds
        return {
            "rows": sum(run.rows for run in runs),
            "matches": sum(run.matches for run in runs),
            "errors": sum(run.errors for run in runs),
            "milliseconds": milliseconds,
            "hits": dict(hits.most_common()),
            "rule_errors": dict(errors.most_common()),
            "time_shares": _highest_first({rule: own / milliseconds for rule, own in spent.items()}),
        }

    @property
    def runs(self) -> list[RuleRun]:
        """One for each query, or micro-batch of a stream, that has used it, the oldest first. Spark's driver remembers
        the last thousand of an application."""
        if self._spark is None:
            raise RuleSetError(
                "these metrics are of no query: give them to one, sparkrules.match(..., observe=metrics)"
            )
        return runs_where(self._spark, f"observe = '{self.name}'")

    def _observe(self, spark: SparkSession) -> str:
        """The name for a call in this session."""
        self._spark = spark
        return self.name


def runs_where(spark: SparkSession, condition: str) -> list[RuleRun]:
    """The runs that the application remembers and that fulfil a condition over `subscription_metrics`."""
    found = spark.sql(f"SELECT * FROM subscription_metrics() WHERE {condition} ORDER BY run").collect()
    return [_run(row) for row in found]


def checked_name(name: str) -> str:
    """A name under which SQL can find the metrics."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise RuleSetError(
            f"{name!r} is not a name for metrics: it has at most 200 letters, digits and characters of '_.:-'"
        )
    return name


def observed_name(spark: SparkSession, observe: RuleMetrics | str | None) -> str | None:
    """The name under which a call counts its matches, if it does."""
    if observe is None:
        return None
    if isinstance(observe, RuleMetrics):
        return observe._observe(spark)
    if isinstance(observe, str):
        return checked_name(observe)
    raise RuleSetError(f"observe={observe!r} is neither sparkrules.RuleMetrics() nor a name")


def _run(row: Row) -> RuleRun:
    fields = {name: row[name] for name in row.__fields__ if name not in ("observe", "counts")}
    counts = row["counts"]
    return RuleRun(
        **fields,
        hits={count.subscription_id: count.hits for count in counts if count.hits},
        rule_errors=_highest_first({count.subscription_id: count.errors for count in counts if count.errors}),
        time_shares=_highest_first({count.subscription_id: count.time_share for count in counts if count.time_share}),
    )


def _highest_first(values: dict[str, Any]) -> dict[str, Any]:
    return dict(sorted(values.items(), key=lambda item: (-item[1], item[0])))
