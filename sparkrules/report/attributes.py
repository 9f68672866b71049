"""The attributes of the rules: how many rules use each, the distribution of their values, where predicates are true.

Contract: values are numbered by position, see `sparkrules.local.statistics`. A chart has a limited number of bins. A
bin is a few neighbouring positions or, if no rule compares the attribute by order, one of the most frequent values. A
predicate is drawn from the first bin in which it is true to the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparkrules.catalyst import Counted
from sparkrules.index import Segment
from sparkrules.local import AttributeStatistics, statistics_of

_MOST = 60
_BINS = 30
_VALUES = 20
_SPANS = 14
_LONGEST = 100
_RANGES = ("<", ">", "<=", ">=", "startswith", "like")


@dataclass(frozen=True)
class Bin:
    """Some values: the share of rows that have them, and how many predicates are true there."""

    label: str
    share: float
    tests: int


@dataclass(frozen=True)
class Span:
    """A predicate that `rules` rules have, and the first and last bin in which it is true."""

    text: str
    rules: int
    first: int
    last: int


@dataclass(frozen=True)
class Attribute:
    """An attribute: the number of distinct predicates on it, and the number of rules that use it."""

    name: str
    tests: int
    rules: int


@dataclass(frozen=True)
class Distribution:
    """The distribution of an attribute's values, computed by Spark; `uses` counts a predicate once per rule.

    `search` is how the plugin looks up a value, and `comparisons` the expected number of comparisons.
    """

    name: str
    tests: int
    uses: int
    bins: Sequence[Bin]
    spans: Sequence[Span]
    null_share: float
    search: str
    comparisons: float


def attributes_of(segment: Segment) -> list[Attribute]:
    """All attributes, those used by the most rules first."""
    users = segment.forest.users.take(segment.forest.node_of_predicate)
    attribute = np.repeat(segment.forest.predicates.attribute, users.lengths)
    pairs = np.unique(attribute.astype(np.int64) * max(len(segment.rules.priority), 1) + users.values)
    rules = np.bincount(pairs // max(len(segment.rules.priority), 1), minlength=len(segment.forest.attributes))
    tests = np.bincount(segment.forest.predicates.attribute, minlength=len(segment.forest.attributes))
    order = np.lexsort((np.arange(len(rules)), -tests, -rules))
    return [Attribute(segment.forest.attributes[n], int(tests[n]), int(rules[n])) for n in order.tolist()]


def distributions_of(counted: Counted) -> tuple[list[Distribution], int]:
    """The distributions of the most used attributes, and the number of rows in the sample."""
    statistics = statistics_of("", 0, counted.ranges, counted.tests, [*map(str, counted.predicates)], counted.uses)
    tests: dict[str, list[_Test]] = {}
    names = ("predicate", "attribute", "positions", "first", "last")
    for number, name, positions, first, last in zip(*(counted.tests[n].to_pylist() for n in names), strict=True):
        predicate = counted.predicates[number]
        single = predicate.constants[0].text if len(predicate.constants) == 1 else None
        own = _Test(number, str(predicate), predicate.operator, single, counted.uses[number], positions, first, last)
        tests.setdefault(name, []).append(own)
    found = [_distribution(statistics.attributes[name], own) for name, own in tests.items()]
    found.sort(key=lambda attribute: (-attribute.uses, -attribute.tests, attribute.name))
    return found[:_MOST], statistics.rows


@dataclass(frozen=True)
class _Test:
    number: int
    text: str
    operator: str
    constant: str | None
    uses: int
    positions: int
    first: int | None
    last: int | None

    def constants(self) -> Iterable[tuple[int, str]]:
        """The position of its constant, if it follows from where the predicate is true."""
        if self.first is None or self.last is None or self.constant is None:
            return
        places = {"=": self.first, ">=": self.first, ">": self.first - 1, "<": self.last + 1, "<=": self.last}
        if self.operator in places:
            yield places[self.operator], self.constant


def _distribution(statistics: AttributeStatistics, tests: list[_Test]) -> Distribution:
    positions = tests[0].positions
    rows = np.zeros(positions)
    labels = {place: text for test in tests for place, text in test.constants()}
    for found in statistics.ranges:
        if 0 <= found.position < positions:
            rows[found.position] += found.share
            if found.position > 0 and found.position % 2 == 0 and found.lower is not None:
                labels[found.position] = found.lower
            elif found.position % 2:
                labels |= {found.position - 1: found.lower} if found.lower is not None else {}
                labels |= {found.position + 1: found.upper} if found.upper is not None else {}
    true = np.zeros(positions + 1, np.int64)
    for test in tests:
        if test.first is not None and test.last is not None:
            true[test.first] += test.uses
            true[test.last + 1] -= test.uses
    cover = np.cumsum(true)[:-1]
    in_order = any(test.operator in _RANGES for test in tests)
    groups = _neighbours(positions) if in_order else _frequent(rows, cover)
    bins = [
        Bin(_label(group, labels, positions), float(rows[group].sum()), int(cover[group].max())) for group in groups
    ]
    rest = np.setdiff1d(np.arange(1, positions), np.concatenate([*groups, np.empty(0, np.int64)]))
    if len(rest):
        bins.append(Bin("anything else", float(rows[rest].sum()), int(cover[rest].max())))
    return Distribution(
        statistics.attribute,
        len({test.number for test in tests}),
        sum({test.number: test.uses for test in tests}.values()),
        bins,
        _spans(statistics.attribute, tests, groups) if in_order else (),
        statistics.null_share,
        statistics.search,
        min(statistics.costs.values()),
    )


def _neighbours(positions: int) -> list[NDArray[np.int64]]:
    """All positions except NULL's, in as many groups as a chart can show."""
    return [group for group in np.array_split(np.arange(1, positions), min(_BINS, max(positions - 1, 1))) if len(group)]


def _frequent(rows: NDArray[np.float64], cover: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The constants with the most rows, then with the most rules."""
    constants = np.arange(2, len(rows), 2)
    order = constants[np.lexsort((constants, -cover[constants], -rows[constants]))][:_VALUES]
    return [np.array([place]) for place in order.tolist()]


def _spans(name: str, tests: list[_Test], groups: list[NDArray[np.int64]]) -> list[Span]:
    """The predicates that most rules have, without the attribute's name, which is shown beside them."""
    starts = np.array([group[0] for group in groups])
    spans: list[Span] = []
    for test in sorted(tests, key=lambda test: (-test.uses, test.number)):
        # True only for NULL, or never: there is nothing to draw.
        if test.first is not None and test.last is not None and test.last > 0 and len(spans) < _SPANS:
            first, last = np.searchsorted(starts, [max(test.first, 1), test.last], side="right") - 1
            spans.append(Span(_shortened(test.text.removeprefix(f"{name} ")), test.uses, int(first), int(last)))
    return spans


def _label(group: NDArray[np.int64], labels: dict[int, str], positions: int) -> str:
    first, last = int(group[0]), int(group[-1])
    if first == last and first % 2 == 0:
        return _shortened(labels.get(first, "?"))
    lower = labels.get(first if first % 2 == 0 else first - 1)
    upper = labels.get(last if last % 2 == 0 else last + 1)
    if lower is None and first <= 1:
        return f"below {_shortened(upper)}" if upper is not None and last < positions - 1 else "any value"
    if upper is None and last >= positions - 1:
        return f"above {_shortened(lower)}" if lower is not None else "any value"
    return f"{_shortened(lower or '?')} – {_shortened(upper or '?')}"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
