"""A rule set: subscriptions by id, each a SQL WHERE text, collected in Python and published for Spark.

>>> rules = RuleSet("alerts")
>>> rules.subscribe("hot", "temperature > 30 AND NOT indoors", priority=5)
>>> rules.subscribe_all({"cold": "temperature < 0", "broken": "temperature >"})
1
>>> [rule.id for rule in rules], [rejected.id for rejected in rules.rejected]
(['hot', 'cold'], ['broken'])
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from sparkrules.catalyst.analyze import bound_tests, count_ranges
from sparkrules.catalyst.session import require_plugin, store_of
from sparkrules.errors import RuleSetError
from sparkrules.index import Explanation, Matches, Sharing, Statistics, explain, match, sharing, statistics_of
from sparkrules.published import PublishedSubscriptions
from sparkrules.rejected import Rejected
from sparkrules.row_truth import row_truth
from sparkrules.store import Store
from sparkrules.validity import instant_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

__all__ = ["Rejected", "RuleSet"]


class RuleSet(PublishedSubscriptions):
    """Subscriptions by id. `dialect` is the SQL dialect of their texts, `policy` bounds what they may contain.

    `default_validity` is for how long a subscription is valid that does not say until when: for ever, if it is None.
    """

    def match(
        self,
        table: pa.Table | pa.RecordBatch,
        *,
        unsupported: Literal["error", "skip"] = "error",
        at: datetime | None = None,
    ) -> Matches:
        """The matches of every row of an Arrow table, without Spark, of the rules that are valid `at` a time, or now.

        A subscription that only Spark can match (a derived attribute, a regular expression) is an error, or left out
        and named in `Matches.skipped` with `unsupported="skip"`.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "temperature > 30")
        >>> rules.match(pa.table({"temperature": [35, 20]})).ids.to_pylist()
        [['hot'], []]
        """
        return match(self.segment, table, unsupported=unsupported, at=instant_of(at))

    def explain(
        self,
        row: Mapping[str, Any] | Row,
        spark: SparkSession | None = None,
        ids: Iterable[str] | None = None,
        *,
        at: datetime | None = None,
    ) -> list[Explanation]:
        """Which parts of each subscription are true for a row, and so why it matches or not.

        With a session, Spark itself evaluates every predicate; without, numpy does, as in `match`. The row is a mapping
        of column to value or a Row of Spark. `ids` limits the answer to some subscriptions; a subscription that is not
        valid `at` the time (now, if none is given) is explained only if it is among them.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "temperature > 30 AND NOT indoors")
        >>> print(*rules.explain({"temperature": 35, "indoors": True}))
        hot does not match
          ✗ and
            ✗ indoors is false
            ✓ temperature > 30
        """
        segment, instant = self.segment, instant_of(at)
        valid = segment.valid_at(instant)
        chosen = segment.subscription_id[valid].tolist() if ids is None else list(ids)
        truth = row_truth(segment, row, self._predicates_of(chosen), spark)
        return explain(segment, truth, chosen, at=instant)

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

    def sharing(self, top: int = 10) -> Sharing:
        """How much the rules have in common, and the `top` parts that the most rules share.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "indoors AND temperature > 30 AND season = 'summer'")
        >>> rules.subscribe("dry", "indoors AND temperature > 30 AND humidity < 10")
        >>> rules.sharing().most_shared[0]
        (2, 'indoors is true and temperature > 30')
        """
        return sharing(self.segment, top)

    def _predicates_of(self, ids: list[str]) -> list[int]:
        segment, wanted = self.segment, set(ids)
        found: set[int] = set()
        for number, id in enumerate(segment.subscription_id.tolist()):
            if id in wanted:
                nodes = segment.descendants(int(segment.subscription_node[number]))
                found.update(segment.node_predicate[nodes].tolist())
        return sorted(found - {-1})
