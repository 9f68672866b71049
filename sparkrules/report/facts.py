"""The content of a report, gathered from the rules and, if there are rows, from Spark."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from sparkrules.catalyst import Rules, count_ranges, counted_values, predicate_positions, require_plugin, store_of
from sparkrules.index import Segment, Sharing, sharing
from sparkrules.lint import Report
from sparkrules.local import CountedPredicates, Selectivities
from sparkrules.patterns import Pattern
from sparkrules.report.attributes import Attribute, Distribution, attributes_of, distributions_of
from sparkrules.report.catalogue import Catalogue
from sparkrules.report.detections import Detections, count_detections
from sparkrules.report.hits import Hits, count_hits, matched
from sparkrules.report.matrix import MOST_RULES, Matrix, matrix_of_rows, matrix_of_tests
from sparkrules.report.rejected_by_table import NOTHING, RejectedByTable, rejected_by_table
from sparkrules.report.together import OverTime, Together, count_together
from sparkrules.sql import OPERATORS, Rejected
from sparkrules.store import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# `lint` takes minutes for 100,000 rules; everything else takes seconds.
MOST_LINTED = 20_000
MOST_FILTERED = 200_000
_SAMPLE, _SMALLEST_SAMPLE = 20_000, 2_000
# This many values are looked up in seconds. Each string pattern is looked up separately.
_VALUES = 10_000_000
_PATTERNS = np.isin(OPERATORS, [word for word in OPERATORS if re.search("like|contains|with", word)])
_MOST_SHARED = 15

Say = Callable[[str], Any]


class ReportedFilter(Protocol):
    """What a report needs from a scan filter: see `sparkrules.ScanFilter`."""

    @property
    def sql(self) -> str: ...

    @property
    def share(self) -> float: ...

    @property
    def blamed(self) -> tuple[str, ...]: ...


class ReportedRules(Rules, Protocol):
    """What a report needs from a rule set: see `sparkrules.RuleSet`."""

    @property
    def rejected(self) -> list[Rejected]: ...

    @property
    def patterns(self) -> Mapping[str, Pattern]: ...

    def selectivity(self) -> Selectivities: ...

    def lint(self, schema: pa.Schema | None = None) -> Report: ...

    def scan_filter(self, *, schema: pa.Schema | None = None) -> ReportedFilter: ...


@dataclass(frozen=True, eq=False)
class Facts:
    """The content of a report. Without rows, `hits` and `over_time` are None. `lint` is None if lint did not run."""

    name: str
    version: int | None
    made: datetime
    rules: int
    invalid: int
    inactive: int
    catalogue: Catalogue
    rejected: Sequence[Rejected]
    lint: Report | None
    matrix: Matrix
    sharing: Sharing
    levels: Sequence[int]
    attributes: Sequence[Attribute]
    hits: Hits | None = None
    rejected_by_table: RejectedByTable = NOTHING
    distributions: Sequence[Distribution] = ()
    sampled: int = 0
    time: str | None = None
    zone: str = ""
    over_time: OverTime | None = None
    scan_filter: ReportedFilter | None = None
    patterns: Mapping[str, Pattern] = field(default_factory=dict)
    detections: Detections | None = None

    @property
    def never(self) -> int | None:
        """The number of rules that did not hit."""
        return None if self.hits is None else self.rules - len(self.hits.by_rule)


def gather(
    rules: ReportedRules, df: DataFrame | None, time: str | None, schema: pa.Schema | None, lint: bool | None, say: Say
) -> Facts:
    """Gather the content of a report; `say` receives a message before each step."""
    made = datetime.now(timezone.utc)
    hits: Hits | None = None
    unfit = NOTHING
    together: Together | None = None
    detections: Detections | None = None
    distributions: Sequence[Distribution] = ()
    chosen: list[str] = []
    version, zone, sampled = rules._publication.version, "", 0
    if df is not None:
        require_plugin(df.sparkSession)
        store = store_of(df.sparkSession)
        version = rules._publication.version_in(store) or rules._publication.publish(store)
        rule_set = f"{rules.name}@{version}"
        zone = str(df.sparkSession.conf.get("spark.sql.session.timeZone"))
        say("matching rows")
        hits = count_hits(df, rule_set, time)
        texts = dict(zip(rules._segment.rules.id.tolist(), rules._segment.rules.where.tolist(), strict=True))
        unfit = rejected_by_table(matched(df, rule_set, None), texts)
        chosen = [id for id, _ in sorted(hits.by_rule.items(), key=lambda item: (-item[1], item[0]))[:MOST_RULES]]
        say("counting what hits together")
        together = count_together(df, rule_set, chosen, hits, time)
        if rules.patterns and time is not None:
            say("detecting patterns")
            detections = count_detections(df, rule_set, rules.patterns, time, hits)
        say("looking where values lie")
        ranges = count_ranges(df, rule_set, _sample(rules._segment), 0)
        counted = counted_values(df, Store(store), rules.name, version, ranges)
        distributions, sampled = distributions_of(counted)
        known = CountedPredicates(ranges, predicate_positions(df, counted))
    segment = rules._segment
    estimates = rules.selectivity() if df is None else Selectivities(segment, known)
    valid = segment.rules.valid_at(made)
    live = np.array([status is None for status in segment.rules.status.tolist()], bool)
    catalogue = Catalogue(
        segment, None if hits is None else hits.by_rule, valid & live, estimates if estimates.rows else None
    )
    say("looking for what rules have in common")
    everything = len(catalogue.ids) == len(segment.rules.priority)
    wants_lint = len(segment.rules.priority) <= MOST_LINTED if lint is None else lint
    if wants_lint:
        say("looking for mistakes in rules")
    return Facts(
        rules.name,
        version,
        made,
        len(segment.rules.priority),
        int((live & ~valid).sum()),
        int((~live).sum()),
        catalogue,
        rules.rejected,
        rules.lint(schema) if wants_lint else None,
        matrix_of_tests(catalogue) if together is None else matrix_of_rows(catalogue, together.pairs, chosen),
        sharing(segment, _MOST_SHARED, catalogue.forest if everything else None),
        np.bincount(segment.forest.nodes.level, minlength=1)[1:].tolist(),
        attributes_of(segment),
        hits,
        unfit,
        distributions,
        sampled,
        time,
        zone,
        None if together is None else together.over_time,
        rules.scan_filter(schema=schema) if len(segment.rules.priority) <= MOST_FILTERED else None,
        rules.patterns,
        detections,
    )


def _sample(segment: Segment) -> int:
    """The number of rows to sample for the distribution of values."""
    values = len(segment.forest.attributes) + int(_PATTERNS[segment.forest.predicates.operator].sum())
    return min(_SAMPLE, max(_SMALLEST_SAMPLE, _VALUES // max(values, 1)))
