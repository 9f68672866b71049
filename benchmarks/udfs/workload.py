"""Rules that call slow functions behind cheap predicates, and rows for them.

A rule names a product; half of the rules also have a limit for the amount. Then it has one to three predicates of
results of functions, `f3(a3) > 0.9`. Functions are drawn by Zipf's law, in random order of their costs. A function
returns its argument after a while, so that the truth of all predicates is known without calling it. Arguments are
random numbers: no two calls of a function are equal, which would save more.

How many rules a row is about decides what can be saved: a row has one product, and the fewer rules are about it, the
fewer calls any schedule needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

FUNCTIONS = 20
CHEAPEST, DEAREST = 0.1, 10.0  # milliseconds
LIMITS = (0.25, 0.5, 0.75)
THRESHOLDS = (0.5, 0.7, 0.9, 0.97)
MOST_CALLS = 3


@dataclass(frozen=True)
class UdfRule:
    """A conjunction: the product, at least so large an amount, and per function a threshold for its result."""

    product: int
    limit: float | None
    thresholds: dict[int, float]

    @property
    def where(self) -> str:
        limit = [] if self.limit is None else [f"amount > {self.limit}D"]
        calls = [f"f{number}(a{number}) > {threshold}D" for number, threshold in self.thresholds.items()]
        return " AND ".join([f"product = {self.product}", *limit, *calls])


@dataclass(frozen=True)
class Workload:
    """Rules, and rows as columns: `arguments` has one for each function, `milliseconds` what it takes."""

    rules: list[UdfRule]
    milliseconds: list[float]
    products: NDArray[np.int64]
    amounts: NDArray[np.float64]
    arguments: NDArray[np.float64]

    @property
    def rows(self) -> int:
        return len(self.products)

    def first(self, rows: int) -> Workload:
        """The same rules with fewer rows."""
        return replace(
            self,
            products=self.products[:rows],
            amounts=self.amounts[:rows],
            arguments=self.arguments[:, :rows],
        )

    def cost(self, calls: Sequence[float]) -> float:
        """The milliseconds that so many calls of each function take."""
        return sum(count * own for count, own in zip(calls, self.milliseconds, strict=True))


def generate(rules: int, rules_per_row: float, rows: int, seed: int = 1) -> Workload:
    """Draw rules and rows.

    >>> work = generate(100, 5, 10)
    >>> work.rules[0].where
    'product = 4 AND amount > 0.75D AND f8(a8) > 0.9D AND f10(a10) > 0.7D AND f0(a0) > 0.5D'
    """
    draw = np.random.default_rng(seed)
    products = max(1, round(rules / rules_per_row))
    costs = np.geomspace(CHEAPEST, DEAREST, FUNCTIONS)
    popularity = draw.permutation(1 / np.arange(1, FUNCTIONS + 1))
    made = []
    for _ in range(rules):
        called = draw.choice(
            FUNCTIONS, draw.integers(1, MOST_CALLS + 1), replace=False, p=popularity / popularity.sum()
        )
        limit = float(draw.choice(LIMITS)) if draw.random() < 0.5 else None
        made.append(
            UdfRule(
                int(draw.integers(products)), limit, {int(number): float(draw.choice(THRESHOLDS)) for number in called}
            )
        )
    return Workload(
        made,
        costs.round(3).tolist(),
        draw.integers(0, products, rows),
        draw.random(rows),
        draw.random((FUNCTIONS, rows)),
    )
