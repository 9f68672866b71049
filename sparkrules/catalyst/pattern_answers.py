"""What a rule set answers about its patterns: what they find in a table, and which of their steps a row fulfils."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sparkrules.catalyst.row_truth import row_truth
from sparkrules.index import build_segment
from sparkrules.local import Detections, PatternExplanation, detect, explain, explain_pattern
from sparkrules.patterns import Pattern
from sparkrules.rules.arguments import a_table, a_text, checked, one_of
from sparkrules.rules.frames import Frame, as_arrow
from sparkrules.rules.pattern_methods import PatternMethods
from sparkrules.rules.restricted import predicates_of, restricted_segment
from sparkrules.rules.table_schema import TableSchema, arrow_schema
from sparkrules.rules.validity import instant_of

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession


class PatternAnswers(PatternMethods):
    """The methods of a rule set that are about its patterns: those that define them, and those that find them."""

    @checked(table=a_table, time=a_text, id=a_text, unsupported=one_of("error", "skip"))
    def detect(
        self,
        table: Frame,
        *,
        time: str,
        id: str | None = None,
        unsupported: Literal["error", "skip"] = "error",
        at: datetime | None = None,
        schema: TableSchema | None = None,
    ) -> Detections:
        """What the patterns find in the rows of a table, without Spark; see `match` for the table and the options.

        `time` names the column with the time of a row, a timestamp. The last of them is the end of time: what would be
        decided later is not reported. With `id`, the name of a column, the rows of a detection are named.

        >>> import pyarrow as pa
        >>> from sparkrules import RuleSet
        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "temperature > 30", on_change=["sensor"])
        >>> times = pa.array([0, 1, 2, 3, 4], pa.timestamp("s", "UTC"))
        >>> table = pa.table({"at": times, "sensor": ["a"] * 5, "temperature": [29, 31, 35, 28, 32]})
        >>> [found["end"].second for found in rules.detect(table, time="at")]
        [1, 4]
        """
        patterns = self._collection.patterns
        own = self._collection.content.chosen()
        terms = (term for pattern in patterns.values() for term in pattern.terms)
        named = np.isin(own.rules.id, [term.rule for term in terms if term.rule is not None])
        return detect(
            list(patterns.values()),
            restricted_segment(own, np.flatnonzero(named).astype(np.int32)),
            build_segment(patterns.conditions()),
            as_arrow(table),
            time=time,
            id=id,
            unsupported=unsupported,
            at=instant_of(at),
            schema=arrow_schema(schema),
            most_rows=self._collection.policy.max_pattern_rows,
        )

    def _explained_pattern(
        self, pattern: Pattern, row: Mapping[str, Any] | Row, spark: SparkSession | None, at: datetime
    ) -> PatternExplanation:
        named = [term.rule for term in pattern.terms if term.rule is not None and term.rule in self._collection.content]
        known = self._collection.patterns.conditions()
        conditions = build_segment(own for own in known if own.id in pattern.conditions)
        found = []
        for segment, ids in ((self._collection.content.segment, named), (conditions, list(pattern.conditions))):
            truth = row_truth(segment, row, predicates_of(segment, ids), spark)
            found.append({own.id: own for own in explain(segment, truth, ids, at=at)})
        return explain_pattern(pattern, *found)
