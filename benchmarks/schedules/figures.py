"""Figures 4 to 8 of the paper: what is varied, and what is measured at each point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from benchmarks.schedules import evaluations
from benchmarks.schedules.order import sub_order
from benchmarks.schedules.workload import Settings, Workload, generate
from tests.specification.schedules import Estimates, refuting_order


@dataclass(frozen=True)
class Evaluations:
    """Predicates evaluated per row, and between which bounds.

    `present`: the predicates that some rule has; `cover`: by an oracle; `floor`: no schedule can do with fewer.
    """

    present: float
    naive: float
    sequential: float
    sub_order: float
    by_predicate: float
    cover: float
    floor: float


# The uniform popularities of figure 4 and the exponents of figure 8 are the settings' `zipf`.
FIGURES: dict[int, list[Settings]] = {
    4: [Settings(rules, 40_000, zipf=None) for rules in (2_000, 10_000, 20_000, 40_000, 80_000)],
    5: [Settings(rules, 40_000) for rules in (2_000, 10_000, 20_000, 40_000, 80_000)],
    6: [Settings(20_000, predicates) for predicates in (2_000, 5_000, 10_000, 20_000, 30_000)],
    7: [Settings(20_000, 5_000, longest=longest) for longest in (5, 7, 9, 11)],
    8: [Settings(20_000, 5_000, zipf=zipf) for zipf in (None, 0.8, 1.0, 1.2)],
}
# The values that the text gives: naive, Sequential and Sub-Order. The figures themselves are lost.
PAPER: dict[int, dict[Settings, tuple[int | None, int | None, int | None]]] = {
    4: {FIGURES[4][-1]: (None, 7761, 7037)},
    6: {FIGURES[6][-1]: (16251, 3267, 1977)},
    7: {FIGURES[7][0]: (None, 1593, None), FIGURES[7][-1]: (None, 1784, None)},
}


@dataclass(frozen=True)
class Run:
    """How large, and how often."""

    scale: float
    rows: int
    repeat: int
    model: str
    cover_rows: int = 3

    def measure(self, figure: int) -> list[Evaluations]:
        """Every point of a figure, each the mean over `repeat` workloads."""
        return [_mean([self._measure(settings, seed) for seed in range(self.repeat)]) for settings in FIGURES[figure]]

    def _measure(self, settings: Settings, seed: int) -> Evaluations:
        scaled = replace(
            settings, rules=round(settings.rules * self.scale), predicates=round(settings.predicates * self.scale)
        )
        return evaluate(generate(scaled, self.model, self.rows, np.random.default_rng(seed)), self.cover_rows)


def evaluate(work: Workload, cover_rows: int) -> Evaluations:
    """Count what every schedule evaluates in a workload."""
    by_number = {str(number): rule for number, rule in enumerate(work.rules)}
    order = refuting_order(by_number, Estimates(work.selectivity.tolist()))
    return Evaluations(
        present=len({predicate for rule in work.rules for predicate in rule}),
        naive=evaluations.per_row(work, evaluations.naive(work)),
        sequential=evaluations.per_row(work, evaluations.sequential(work)),
        sub_order=evaluations.per_row(work, evaluations.linked_chains(work, sub_order(work.rules, work.selectivity))),
        by_predicate=evaluations.per_row(work, evaluations.by_predicate(work, order)),
        cover=float(np.mean([len(evaluations.greedy_cover(work, row)) for row in range(cover_rows)])),
        floor=evaluations.disjoint_rules(work),
    )


def _mean(measured: Sequence[Evaluations]) -> Evaluations:
    return Evaluations(**{own.name: _mean_of(measured, own.name) for own in fields(Evaluations)})


def _mean_of(measured: Sequence[Evaluations], name: str) -> float:
    return float(np.mean([getattr(own, name) for own in measured]))
