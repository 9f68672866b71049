"""A rule set: subscriptions by id, each a SQL WHERE text, collected in Python and published for Spark.

>>> rules = RuleSet("alerts")
>>> rules.subscribe("hot", "temperature > 30 AND NOT indoors", priority=5)
>>> rules.subscribe_all({"cold": "temperature < 0", "broken": "temperature >"})
1
>>> [rule.id for rule in rules], [rejected.id for rejected in rules.rejected]
(['hot', 'cold'], ['broken'])
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
from tqdm import tqdm

from sparkrules.catalyst.analyze import bound_tests, count_ranges
from sparkrules.catalyst.session import RULE_SET_SETTING, STORE_SETTING, require_plugin, store_of
from sparkrules.errors import DuplicateId, RuleSetError, UnknownId
from sparkrules.index import (
    Explanation,
    Matches,
    Rule,
    Segment,
    Statistics,
    build_segment,
    explain,
    match,
    statistics_of,
    to_tables,
)
from sparkrules.row_truth import row_truth
from sparkrules.rule_fields import check_id, check_metadata, check_priority, check_where
from sparkrules.rule_sources import RuleRow, read_rules
from sparkrules.sql import DEFAULT_POLICY, Policy, RuleError, called_functions, parse_rule, spark_sql
from sparkrules.store import Store, check_name, local_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession


@dataclass(frozen=True)
class Rejected:
    """A rule that `subscribe_all` has set aside, and why; line and column count from 1 and are of its text."""

    id: str
    where: str
    reason: str
    line: int | None = None
    column: int | None = None


class RuleSet:
    """Subscriptions by id. `dialect` is the SQL dialect of their texts, `policy` bounds what they may contain."""

    def __init__(self, name: str, dialect: str = "spark", policy: Policy = DEFAULT_POLICY) -> None:
        self.name = check_name(name)
        self.dialect = dialect
        self.policy = policy
        self.rejected: list[Rejected] = []
        self._rules: dict[str, Rule] = {}
        self._segment: Segment | None = None
        self._versions: dict[Path, int] = {}  # per store, the version that has exactly these rules

    def __repr__(self) -> str:
        return f"RuleSet({self.name!r}, {len(self)} subscriptions)"

    def __len__(self) -> int:
        return len(self._rules)

    def __contains__(self, id: object) -> bool:
        return id in self._rules

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules.values())

    @property
    def subscriptions(self) -> dict[str, Rule]:
        """The subscriptions by id, in order of arrival."""
        return dict(self._rules)

    def subscribe(self, id: str, where: str, priority: int = 0, metadata: Mapping[str, object] | None = None) -> None:
        """Add a rule. Raises `RuleError` if its text is not accepted, `DuplicateId` if there is one with this id.

        >>> RuleSet("alerts").subscribe("hot", "temperature > ")
        Traceback (most recent call last):
        ...
        sparkrules.sql.errors.RuleError: ...
        """
        rule = self._rule_of(RuleRow(id, where, priority, metadata))
        self._check_new(rule.id, {})
        self._rules[rule.id] = rule
        self._changed()

    def unsubscribe(self, id: str) -> None:
        """Remove a rule. Raises `UnknownId` if there is none with this id."""
        if id not in self._rules:
            raise UnknownId(f"rule set {self.name!r} has no subscription {id!r}")
        del self._rules[id]
        self._changed()

    def subscribe_all(self, source: object) -> int:
        """Add all rules of a source, and return how many were accepted; the others are set aside in `rejected`.

        The source is an iterable of `(id, where)`, `(id, where, priority, metadata)` or dictionaries; a mapping of id
        to text; a Spark DataFrame or pyarrow table with the columns `id`, `where` and, if wanted, `priority` and
        `metadata`; or the path of a `.csv`, `.jsonl` or `.yaml` file with such fields. If it cannot be read to its
        end, none of its rules is added. On a terminal, a progress bar appears after a second.
        """
        rows, count = read_rules(source)
        added: dict[str, Rule] = {}
        rejected: list[Rejected] = []
        for row in tqdm(rows, total=count, desc=self.name, unit=" rules", delay=1, disable=None, leave=False):
            try:
                rule = self._rule_of(row)
                self._check_new(rule.id, added)
            except (RuleError, RuleSetError) as error:
                rejected.append(_rejected(row, error))
            else:
                added[rule.id] = rule
        self.rejected += rejected
        if added:
            self._rules |= added
            self._changed()
        return len(added)

    @property
    def segment(self) -> Segment:
        """The index of these rules, built when it is first asked for after a change."""
        if self._segment is None:
            functions = frozenset[str]().union(*(called_functions(rule.tree) for rule in self))
            self._segment = build_segment(self, functions)
        return self._segment

    def publish(self, spark: SparkSession | None = None, store: str | os.PathLike[str] | None = None) -> int:
        """Publish the rules as the next version of this rule set, and return the version.

        The store is `store`, else that of the session (`spark.sparkrules.store`), else the default one. With a session,
        its settings then name this store and this rule set, so that `SELECT match_subscriptions(*) FROM t` uses it.
        """
        if store is None and spark is not None:
            store = store_of(spark)
        target = Store(store)
        version = target.publish(self.name, to_tables(self.segment))
        self._versions[target.path] = version
        if spark is not None:
            spark.conf.set(STORE_SETTING, str(target.path))
            spark.conf.set(RULE_SET_SETTING, self.name)
        return version

    def version_in(self, store: str | os.PathLike[str]) -> int | None:
        """The version of the store that this object published or loaded, unless the rules have changed since."""
        return self._versions.get(local_path(store))

    @classmethod
    def load(
        cls,
        name: str,
        store: str | os.PathLike[str] | None = None,
        version: int | None = None,
        *,
        dialect: str = "spark",
        policy: Policy = DEFAULT_POLICY,
    ) -> RuleSet:
        """A published rule set, by default its newest version. `dialect` and `policy` are for rules added to it."""
        source = Store(store)
        manifest, segments = source.load(name, version)
        rules = cls(name, dialect, policy)
        for segment in segments:
            for number, id in enumerate(segment.subscription_id.tolist()):
                rules._rules[id] = Rule(
                    id,
                    segment.where[number],
                    segment.tree(int(segment.subscription_node[number])),
                    int(segment.priority[number]),
                    check_metadata(segment.metadata[number]),
                    segment.sql[number],
                )
        if len(segments) == 1:
            rules._segment = segments[0]
        rules._versions[source.path] = manifest.version
        return rules

    def match(self, table: pa.Table | pa.RecordBatch, *, unsupported: Literal["error", "skip"] = "error") -> Matches:
        """The matches of every row of an Arrow table, without Spark.

        A subscription that only Spark can match (a derived attribute, a regular expression) is an error, or left out
        and named in `Matches.skipped` with `unsupported="skip"`.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "temperature > 30")
        >>> rules.match(pa.table({"temperature": [35, 20]})).ids.to_pylist()
        [['hot'], []]
        """
        return match(self.segment, table, unsupported=unsupported)

    def explain(
        self, row: Mapping[str, Any] | Row, spark: SparkSession | None = None, ids: Iterable[str] | None = None
    ) -> list[Explanation]:
        """Which parts of each subscription are true for a row, and so why it matches or not.

        With a session, Spark itself evaluates every predicate; without, numpy does, as in `match`. The row is a mapping
        of column to value or a Row of Spark. `ids` limits the answer to some subscriptions.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "temperature > 30 AND NOT indoors")
        >>> print(*rules.explain({"temperature": 35, "indoors": True}))
        hot does not match
          ✗ and
            ✓ temperature > 30
            ✗ indoors is false
        """
        chosen = list(self._rules) if ids is None else list(ids)
        truth = row_truth(self.segment, row, self._predicates_of(chosen), spark)
        return explain(self.segment, truth, chosen)

    def analyze(self, df: DataFrame, rows: int = 100_000, seed: int = 0) -> Statistics:
        """Count where the values of the rules' attributes lie, in a sample of about `rows` rows, and store that.

        The plugin then plans with it, this version and those to come; the answers of a query never depend on it. The
        rules must have been published to the session's store. Of a DataFrame without rows nothing is stored.

            print(rules.analyze(spark.table("readings")))
        """
        if rows < 1:
            raise RuleSetError(f"a sample has at least one row, not {rows}")
        require_plugin(df.sparkSession)
        store = Store(store_of(df.sparkSession))
        version = self.version_in(store.path)
        if version is None:
            raise RuleSetError(f"rule set {self.name!r} is not in {store.path} as it is now: publish it first")
        ranges = count_ranges(df, f"{self.name}@{version}", rows, seed)
        if ranges.num_rows:
            store.analyzed(self.name, ranges)
        tests = bound_tests(df, f"{self.name}@{version}")
        _, segments = store.load(self.name, version)
        predicates = [str(predicate) for segment in segments for predicate in segment.predicates()]
        uses = [use for segment in segments for use in segment.use_count[segment.leaf_of_predicate].tolist()]
        return statistics_of(self.name, version, ranges, tests, predicates, uses)

    def _predicates_of(self, ids: list[str]) -> list[int]:
        segment, wanted = self.segment, set(ids)
        found: set[int] = set()
        for number, id in enumerate(segment.subscription_id.tolist()):
            if id in wanted:
                nodes = segment.descendants(int(segment.subscription_node[number]))
                found.update(segment.node_predicate[nodes].tolist())
        return sorted(found - {-1})

    def _rule_of(self, row: RuleRow) -> Rule:
        id, where = check_id(row.id), check_where(row.where)
        priority, metadata = check_priority(row.priority), check_metadata(row.metadata)
        try:
            sql = spark_sql(where, dialect=self.dialect, policy=self.policy)
            tree = parse_rule(sql, policy=self.policy)
        except RuleError as error:
            error.id = id
            raise
        return Rule(id, where, tree, priority, metadata, None if sql == where else sql)

    def _check_new(self, id: str, added: Mapping[str, Rule]) -> None:
        if id in self._rules or id in added:
            raise DuplicateId(f"rule set {self.name!r} has a subscription {id!r} already; unsubscribe it first")

    def _changed(self) -> None:
        self._segment = None
        self._versions.clear()


def _rejected(row: RuleRow, error: RuleError | RuleSetError) -> Rejected:
    id, where = ("" if value is None else str(value) for value in (row.id, row.where))
    if isinstance(error, RuleError):
        return Rejected(id, where, error.reason, error.line, error.column)
    return Rejected(id, where, str(error))
