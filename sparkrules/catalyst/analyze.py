"""Counts, in Spark, how the values of a rule set's attributes are distributed. Plain SQL, so Connect works too."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from sparkrules.catalyst.dataframe import Rules
from sparkrules.catalyst.session import require_plugin, store_of
from sparkrules.errors import RuleSetError
from sparkrules.local import BoundPredicate, Statistics, predicate_table, statistics_of
from sparkrules.rules.table_schema import is_char
from sparkrules.sql import Predicate
from sparkrules.store import Store
from sparkrules.store.statistics_file import COUNTED_PREDICATES, STATISTICS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# A row yields a range for each attribute and each string predicate. Spark counts this many in seconds.
_MOST_RANGES = 50_000_000
_FEWEST_ROWS = 1_000


@dataclass(frozen=True)
class Counted:
    """Rows per range of each attribute, and where the predicates of the rules are true: see `statistics_of`.

    `tests` refers to `predicates` by number; `uses` counts the rules that have each predicate.
    """

    ranges: pa.Table
    tests: pa.Table
    predicates: Sequence[Predicate]
    uses: Sequence[int]


def analyze(rules: Rules, df: DataFrame, rows: int, seed: int) -> Statistics:
    """Count the values of a published rule set's attributes, and store the counts. See `RuleSet.analyze`."""
    if rows < 1:
        raise RuleSetError(f"a sample has at least one row, not {rows}")
    require_plugin(df.sparkSession)
    store = Store(store_of(df.sparkSession))
    version = rules._publication.version_in(store)
    if version is None:
        raise RuleSetError(f"rule set {rules.name!r} is not in {store.path} as it is now: publish it first")
    ranges = count_ranges(df, f"{rules.name}@{version}", rows, seed)
    number = store.analyzed(rules.name, ranges) if ranges.num_rows else None
    # After storing the counts: the predicates must reflect how values are looked up from now on.
    counted = counted_values(df, store, rules.name, version, ranges)
    if number is not None:
        store.analyzed_predicates(rules.name, number, predicate_positions(df, counted))
    return statistics_of(rules.name, version, ranges, counted.tests, [*map(str, counted.predicates)], counted.uses)


def counted_values(df: DataFrame, store: Store, name: str, version: int, ranges: pa.Table) -> Counted:
    """The counts, and the predicates of that version as planned now, by statistics if any are stored."""
    tests = bound_tests(df, f"{name}@{version}")
    _, segments = store.load(name, version)
    predicates = [predicate for segment in segments for predicate in segment.forest.all_predicates()]
    uses = [
        use for segment in segments for use in segment.forest.nodes.use_count[segment.forest.node_of_predicate].tolist()
    ]
    # A rule that Spark accepts only as a whole has a predicate of its own there, numbered after the others.
    own = pc.less(tests["predicate"], len(predicates))
    return Counted(ranges, tests.filter(own), predicates, uses)


def predicate_positions(df: DataFrame, counted: Counted) -> pa.Table:
    """Where the predicates are true, in the store's columns: see `CountedPredicates`."""
    return predicate_table(_bound_predicates(counted, _padded_columns(df)), COUNTED_PREDICATES)


def _bound_predicates(counted: Counted, padded: Collection[str]) -> Iterator[BoundPredicate]:
    """The predicates with the slot and the positions of each, without those on `padded` columns.

    Spark pads a CHAR(n) and what it is compared with. It does so by the whole comparison, BETWEEN included, and not by
    the predicates that it consists of: rows that were counted for these say nothing about the rule.
    """
    names = ("predicate", "attribute", "type", "positions", "first", "last")
    found: dict[int, BoundPredicate] = {}
    for number, slot, type_, positions, first, last in zip(
        *(counted.tests[name].to_pylist() for name in names), strict=True
    ):
        if number not in found:
            found[number] = BoundPredicate(counted.predicates[number], slot, type_, positions, [])
        if first is not None:
            found[number].intervals.append((first, last))
    for bound in found.values():
        named = bound.predicate.attribute.lower().replace("``", "`")
        if not any(column in named for column in padded):
            yield bound


def _padded_columns(df: DataFrame) -> set[str]:
    """The names of the CHAR(n) columns and fields, lower case."""
    found: set[str] = set()
    stack = list(df.schema.fields)
    while stack:
        field = stack.pop()
        if is_char(field):
            found.add(field.name.lower())
        stack += getattr(field.dataType, "fields", [])
    return found


def count_ranges(df: DataFrame, rule_set: str, rows: int, seed: int) -> pa.Table:
    """Count how many of about `rows` rows fall in each range of each attribute, in the store's columns.

    With very many attributes, fewer rows are sampled.
    """
    call = f"subscription_ranges('{rule_set}', *)"
    first = df.limit(1).selectExpr(f"size({call}) AS attributes").head()
    if first is None or first["attributes"] == 0:
        return STATISTICS.empty_table()
    wanted = min(rows, max(_MOST_RANGES // first["attributes"], _FEWEST_ROWS))
    counted = (
        _sample(df, wanted, seed)
        .selectExpr(f"inline({call})")
        .groupBy("attribute", "position", "lower", "upper")
        .count()
        .orderBy("attribute", "position")
        .toArrow()
    )
    counts = counted["count"].to_pylist()
    totals: dict[str, int] = {}
    for attribute, count in zip(counted["attribute"].to_pylist(), counts, strict=True):
        totals[attribute] = totals.get(attribute, 0) + count
    total = max(totals.values(), default=0)
    columns = [*(counted[name].to_pylist() for name in STATISTICS.names[:4]), counts, [total] * len(counts)]
    return pa.table([pa.array(c, field.type) for c, field in zip(columns, STATISTICS, strict=True)], schema=STATISTICS)


def bound_tests(df: DataFrame, rule_set: str) -> pa.Table:
    """The positions of its attribute at which each predicate is true: the columns of `subscription_tests`."""
    return df.limit(1).selectExpr(f"inline(subscription_tests('{rule_set}', *))").toArrow()


def _sample(df: DataFrame, rows: int, seed: int) -> DataFrame:
    count = df.count()
    return df if count <= rows else df.sample(fraction=rows / count, seed=seed)
