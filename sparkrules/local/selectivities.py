"""The selectivities of rules: what `RuleSet.selectivity` returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
import pyarrow as pa

from sparkrules.errors import and_more
from sparkrules.index import Segment
from sparkrules.index.arrow_arrays import texts_to_arrow
from sparkrules.local.counted_predicates import CountedPredicates, guesses
from sparkrules.logic.forest_selectivity import Estimates, PredicateEstimates, node_estimates
from sparkrules.logic.selectivity import Selectivity

_SHOWN = 20


class Selectivities(Mapping[str, Selectivity]):
    """The selectivity of every rule, by id. `print` shows the rules that probably match the most rows first.

    `rows` is how many rows were counted; 0 if there are no statistics, and all shares are guesses. `by_formula` has the
    estimates without the ranges of attributes. `width` is the mean of `max - min`: the smaller, the more is known.
    """

    def __init__(self, segment: Segment, counted: CountedPredicates | None) -> None:
        self.rows = 0 if counted is None else counted.rows
        known = guesses(segment.forest) if counted is None else counted.estimates(segment.forest)
        self._init(segment, known)

    def _init(self, segment: Segment, known: PredicateEstimates) -> None:
        self._segment = segment
        self._known = known
        self._estimates: Estimates = node_estimates(segment.forest, known).take(segment.forest.roots)

    @cached_property
    def by_formula(self) -> Selectivities:
        """The estimates that the formulas alone give, without counting the ranges of one attribute together."""
        plain = object.__new__(Selectivities)
        plain.rows = self.rows
        plain._init(self._segment, self._known.by_formula())
        return plain

    @property
    def width(self) -> float:
        """The mean of `max - min`."""
        return float(np.mean(self._max - self._min)) if len(self) else 0.0

    def to_arrow(self) -> pa.Table:
        """A row per rule: `id`, `min`, `avg`, `max`."""
        columns = (self._min, self._estimates.share, self._max)
        return pa.table(
            [texts_to_arrow(self._segment.rules.id.tolist()), *map(pa.array, columns)],
            names=["id", "min", "avg", "max"],
        )

    def __getitem__(self, id: str) -> Selectivity:
        return self._estimates[self._numbers[id]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._segment.rules.id.tolist())

    def __len__(self) -> int:
        return len(self._segment.rules)

    def __contains__(self, id: object) -> bool:
        return id in self._numbers

    def __str__(self) -> str:
        ids, largest = self._segment.rules.id, np.argsort(-self._estimates.share, kind="stable")[:_SHOWN].tolist()
        lines: list[tuple[str, ...]] = [("id", "min", "avg", "max")]
        lines += [(str(ids[number]), *map(_percent, self._estimates[number])) for number in largest]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in lines]
        more = and_more(len(self) - _SHOWN, "rules")
        counted = f"{self.rows:,} rows counted" if self.rows else "no rows counted: guesses"
        return "\n".join([f"{len(self):,} rules, {counted}", *text, *([f"... {more}"] if more else [])])

    def __repr__(self) -> str:
        return f"Selectivities({len(self):,} rules, {self.rows:,} rows counted)"

    @property
    def _min(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return self._estimates.least / self._estimates.rows

    @property
    def _max(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return self._estimates.most / self._estimates.rows

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {id: number for number, id in enumerate(self._segment.rules.id.tolist())}


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"
