"""The workload of section 5.2: rules of random predicates, and rows in which a given share of the rules is true.

The paper gives the share of rules that a row matches (0.2 %), but not the selectivities that lead to it. A *selectivity
model* fills that gap. Selectivities are independent of popularity in all of them, so a rule of l predicates with the
mean selectivity m is true with probability m^l, and the share determines m (0.17 for 3 to 5 predicates).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Draw = np.random.Generator
Floats = NDArray[np.float64]

SHORTEST = 3
MATCHED_SHARE = 0.002
MODELS: dict[str, Callable[[Draw, float, int], Floats]] = {
    "equal": lambda _, mean, count: np.full(count, mean),
    "uniform": lambda draw, mean, count: draw.uniform(0, 2 * mean, count),
    # Most predicates are nearly always false, some nearly always true.
    "extreme": lambda draw, mean, count: draw.beta(mean / 2, (1 - mean) / 2, count),
}


@dataclass(frozen=True)
class Settings:
    """One point of a figure."""

    rules: int
    predicates: int
    longest: int = 5
    zipf: float | None = 1.0
    """The exponent of the popularity of predicates; None: popularities uniform in [0, 1]."""


@dataclass(frozen=True)
class Workload:
    """Rules as lists of predicates; and for each predicate its selectivity, and the rows where it is true as bits."""

    rules: list[list[int]]
    selectivity: Floats
    true_rows: list[int]
    rows: int


def generate(settings: Settings, model: str, rows: int, draw: Draw) -> Workload:
    """Draw rules, selectivities and rows."""
    if settings.predicates < 2 * settings.longest:
        raise ValueError(f"{settings.predicates} predicates are too few for rules of up to {settings.longest}")
    lengths = draw.integers(SHORTEST, settings.longest + 1, settings.rules)
    mean = mean_selectivity(settings.longest)
    selectivity = np.clip(MODELS[model](draw, mean, settings.predicates), 0.0, 1.0)
    true_rows = []
    for own in selectivity.tolist():
        packed = np.packbits(draw.random(rows) < own)
        true_rows.append(int.from_bytes(packed.tobytes(), "big") >> -rows % 8)
    return Workload(_drawn_rules(settings, lengths, draw), selectivity, true_rows, rows)


def mean_selectivity(longest: int) -> float:
    """The mean selectivity at which rules of SHORTEST to `longest` predicates have the given share of matches.

    >>> round(mean_selectivity(5), 3)
    0.171
    """
    low, high = 0.0, 1.0
    lengths = np.arange(SHORTEST, longest + 1)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if np.mean(middle**lengths) < MATCHED_SHARE else (low, middle)
    return low


def _drawn_rules(settings: Settings, lengths: NDArray[np.int64], draw: Draw) -> list[list[int]]:
    if settings.zipf is None:
        weights = draw.random(settings.predicates)
    else:
        # In random order: a tie is broken by number, which must say nothing about popularity.
        weights = draw.permutation(np.arange(1, settings.predicates + 1) ** -settings.zipf)
    ends = np.cumsum(weights / weights.sum())
    drawn = np.minimum(np.searchsorted(ends, draw.random((settings.rules, settings.longest))), len(ends) - 1)
    rules = []
    for length, own in zip(lengths.tolist(), drawn.tolist(), strict=True):
        rule = dict.fromkeys(own[:length])
        while len(rule) < length:  # a predicate twice: draw again
            rule[min(int(np.searchsorted(ends, draw.random())), len(ends) - 1)] = None
        rules.append(list(rule))
    return rules
