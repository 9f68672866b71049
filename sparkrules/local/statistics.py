"""Statistics of a rule set: how the values of its attributes are distributed, and how often its predicates are true.

Contract: the constants of an attribute number its values by position: 0 for NULL, 1 below the first constant, 2 at it,
3 between it and the second, and so on; -1 if the value cannot be computed. `ranges` counts rows per attribute and
position; `tests` gives the positions at which a predicate is true. The measures of `distribution` follow from both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from sparkrules.errors import and_more
from sparkrules.local.distribution import Distribution, Search

_SHOWN = 20


@dataclass(frozen=True)
class Range:
    """A range of an attribute that contains rows.

    At a constant, `lower` equals `upper`. Between constants they are the bounds, or None for no bound. `named`: some
    rule has a predicate on the attribute that is true there.
    """

    position: int
    lower: str | None
    upper: str | None
    share: float
    named: bool

    def __str__(self) -> str:
        if self.position <= 0:
            return "error" if self.position < 0 else "NULL"
        if self.lower is not None and self.lower == self.upper:
            return self.lower
        return f"({'' if self.lower is None else self.lower}, {'' if self.upper is None else self.upper})"


@dataclass(frozen=True)
class AttributeStatistics:
    """One attribute: the ranges that contain rows, by position, and measures computed from them.

    `distribution` covers all positions from 0 and, last, the values that cannot be computed. `search` is how the plugin
    looks up values; `costs` is what the paper expects of each search, in comparisons. `microseconds` is how long it
    takes to compute the attribute for a row; None for a column.
    """

    attribute: str
    constants: int
    search: str
    ranges: tuple[Range, ...]
    distribution: Distribution
    selectivity: Mapping[str, float]
    microseconds: float | None = None

    @property
    def null_share(self) -> float:
        """The share of rows where the attribute is NULL."""
        return sum(found.share for found in self.ranges if found.position == 0)

    @property
    def error_share(self) -> float:
        """The share of rows where the attribute cannot be computed."""
        return sum(found.share for found in self.ranges if found.position < 0)

    @property
    def zero_share(self) -> float:
        """The share of rows whose value no rule names: the zero-subdomain D0."""
        return self.distribution.zero_share

    @property
    def a1(self) -> float:
        """Measure A1, counting ranges as the domain size: the share of ranges that no rule names."""
        return self.distribution.a1

    @property
    def a2(self) -> float:
        """Measure A2: A1 times the share of rows in these ranges."""
        return self.distribution.a2

    @property
    def costs(self) -> dict[Search, float]:
        """The expected number of comparisons of each search."""
        return self.distribution.costs()


@dataclass(frozen=True)
class Statistics:
    """What `RuleSet.analyze` found in `rows` rows. `print` shows the attributes, the most selective first."""

    rule_set: str
    version: int
    rows: int
    attributes: Mapping[str, AttributeStatistics]

    @cached_property
    def selectivity(self) -> dict[str, float]:
        """The share of rows for which each predicate is true."""
        return {text: share for a in self.attributes.values() for text, share in a.selectivity.items()}

    @cached_property
    def order(self) -> list[str]:
        """The attributes in descending order of measure A2, then A1."""
        return sorted(self.attributes, key=lambda name: (-self.attributes[name].a2, -self.attributes[name].a1, name))

    def __str__(self) -> str:
        shown = [self.attributes[name] for name in self.order[:_SHOWN]]
        rows: list[tuple[str, ...]] = [("attribute", "constants", "NULL", "no rule", "search", "rarest test")]
        rows += map(_line, shown)
        if any(found.microseconds is not None for found in shown):
            rows = [(*row, time) for row, time in zip(rows, ["time per call", *map(_time, shown)], strict=True)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [f"{self.rule_set}@{self.version}, {self.rows} rows"]
        lines += [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
        ]
        more = and_more(len(self.order) - _SHOWN, "attributes")
        return "\n".join([*lines, f"... {more}"] if more else lines)


def statistics_of(
    rule_set: str, version: int, ranges: pa.Table, tests: pa.Table, predicates: Sequence[str], uses: Sequence[int]
) -> Statistics:
    """Statistics from Spark's counts.

    `ranges` has the columns of the store's statistics, `tests` those of `subscription_tests`. For each
    predicate number in `tests`, `predicates` has the text and `uses` the number of rules.
    """
    total = int(ranges["total"][0].as_py()) if ranges.num_rows else 0
    counted: dict[str, list[tuple[int, str | None, str | None, int]]] = {}
    columns = (ranges[name].to_pylist() for name in ("attribute", "position", "lower", "upper", "rows"))
    for attribute, position, lower, upper, rows in zip(*columns, strict=True):
        counted.setdefault(attribute, []).append((position, lower, upper, rows))
    times = dict(zip(ranges["attribute"].to_pylist(), ranges["nanoseconds"].to_pylist(), strict=True))
    found = {}
    for attribute, own in _by_attribute(tests).items():
        texts = [predicates[number] for number in own.predicates]
        one = _attribute(attribute, own, texts, [uses[n] for n in own.predicates], counted.get(attribute, []), total)
        nanoseconds = times.get(attribute)
        found[attribute] = replace(one, microseconds=nanoseconds / 1000) if nanoseconds else one
    return Statistics(rule_set, version, total, found)


@dataclass
class _Tests:
    """The intervals of an attribute's predicates, one entry each. `predicates` may repeat a number."""

    positions: int
    search: str
    predicates: list[int]
    intervals: list[tuple[int, int] | None]


def _by_attribute(tests: pa.Table) -> dict[str, _Tests]:
    found: dict[str, _Tests] = {}
    names = ("predicate", "attribute", "positions", "search", "first", "last")
    for predicate, attribute, positions, search, first, last in zip(
        *(tests[n].to_pylist() for n in names), strict=True
    ):
        own = found.setdefault(attribute, _Tests(positions, search, [], []))
        own.predicates.append(predicate)
        own.intervals.append(None if first is None else (first, last))
    return found


def _attribute(
    attribute: str,
    tests: _Tests,
    texts: list[str],
    uses: list[int],
    counted: list[tuple[int, str | None, str | None, int]],
    total: int,
) -> AttributeStatistics:
    size = tests.positions + 1  # plus the error, last: -1 is both its position and its index
    rows = np.zeros(size)
    for position, _, _, count in counted:
        rows[position] += count
    before = np.concatenate([[0.0], np.cumsum(rows)])
    named = np.zeros(size + 1)
    selectivity = dict.fromkeys(texts, 0.0)
    for text, use, interval in zip(texts, uses, tests.intervals, strict=True):
        if interval is not None:
            first, last = interval
            named[first] += use
            named[last + 1] -= use
            selectivity[text] += float(before[last + 1] - before[first]) / max(total, 1)
    profiles = np.cumsum(named)[:-1]
    places = np.arange(size)
    inside = (places > 0) & (places < tests.positions)
    distribution = Distribution(rows, profiles, inside, inside & (places % 2 == 0))
    ranges = tuple(
        Range(place, lower, upper, count / total, bool(profiles[place] > 0))
        for place, lower, upper, count in sorted(counted, key=lambda entry: entry[0])
    )
    return AttributeStatistics(attribute, tests.positions // 2 - 1, tests.search, ranges, distribution, selectivity)


def _line(found: AttributeStatistics) -> tuple[str, ...]:
    rarest = min(found.selectivity.items(), key=lambda item: item[1])
    return (
        _short(found.attribute),
        str(found.constants),
        _percent(found.null_share),
        _percent(found.zero_share),
        found.search,
        f"{_short(rarest[0])} {_percent(rarest[1])}",
    )


def _time(found: AttributeStatistics) -> str:
    if found.microseconds is None:
        return ""
    return f"{found.microseconds:,.0f} us" if found.microseconds >= 100 else f"{found.microseconds:.2g} us"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _short(text: str, length: int = 40) -> str:
    return text if len(text) <= length else text[: length - 3] + "..."
