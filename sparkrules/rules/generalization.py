"""Conditions that are true wherever some rule is, and have fewer predicates: rules that are pruned, or one filter."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import numpy as np

from sparkrules.index import Segment
from sparkrules.index.chosen import has_status
from sparkrules.index.forest import Forest
from sparkrules.logic.implied_filter import implied_filter
from sparkrules.logic.pruning import Triples
from sparkrules.rules.collection import RuleCollection
from sparkrules.rules.pruned import Extent, pruned_segment
from sparkrules.rules.scan_filter import ScanFilter
from sparkrules.rules.table_schema import TableSchema, arrow_schema
from sparkrules.rules.validity import instant_of


class Generalization:
    """What is more general than the rules of a rule set. `shares` estimates the predicates of a forest."""

    def __init__(self, rules: RuleCollection, shares: Callable[[Forest], Triples]) -> None:
        self._rules = rules
        self._shares = shares

    def pruned(self, extent: Extent, schema: TableSchema | None) -> Segment:
        """The rules with fewer predicates. See `RuleSet.prune`."""
        return pruned_segment(self._rules.content.segment, self._shares, extent, arrow_schema(schema))

    def scan_filter(
        self, at: datetime | None, schema: TableSchema | None, *, disjuncts: int, values: int
    ) -> ScanFilter:
        """A condition that all rules imply. See `RuleSet.scan_filter`."""
        segment = self._rules.content.segment
        valid = np.flatnonzero(segment.rules.valid_at(instant_of(at)) & has_status(segment.rules)).tolist()
        share = self._shares(segment.forest).avg.__getitem__
        types = arrow_schema(schema)
        found = implied_filter(segment.forest, valid, share, types, disjuncts=disjuncts, values=values)
        return ScanFilter.of(found, segment)
