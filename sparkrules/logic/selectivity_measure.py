"""The selectivity of subscriptions (Bittner and Hinze 2005, section 4), for many trees at once.

| | minimum | average | maximum |
|---|---|---|---|
| a AND b | max(0, a + b - 1) | ab | min(a, b) |
| a OR b | max(a, b) | a + b - ab | min(1, a + b) |

The paper prints min(0, a + b - 1) for the minimum of AND. Its own example, (0.7, 0.77, 1), shows that max is meant.
The degradation of a pruning is the largest absolute difference of the three (section 5.1): the share of
additional rows.
"""

from __future__ import annotations

import numpy as np

from sparkrules.logic.pruning import Floats, Operands, Triples


class SelectivityMeasure:
    """The `Measure` of subscriptions."""

    def both(self, a: Triples, b: Triples) -> Triples:
        """`a AND b`."""
        return Triples(np.maximum(0.0, a.min + b.min - 1.0), a.avg * b.avg, np.minimum(a.max, b.max))

    def either(self, a: Triples, b: Triples) -> Triples:
        """`a OR b`."""
        return Triples(np.maximum(a.min, b.min), a.avg + b.avg - a.avg * b.avg, np.minimum(1.0, a.max + b.max))

    def all_of(self, operands: Operands) -> Triples:
        """The AND of each junction's operands."""
        low, mean, high = operands.values
        least = np.maximum(0.0, operands.sum(low - 1.0) + 1.0)
        return Triples(least, operands.product(mean), operands.least(high))

    def any_of(self, operands: Operands) -> Triples:
        """The OR of each junction's operands."""
        low, mean, high = operands.values
        return Triples(operands.greatest(low), 1.0 - operands.product(1.0 - mean), np.minimum(1.0, operands.sum(high)))

    def all_others(self, operands: Operands) -> Triples:
        """For each operand, the AND of the others."""
        low, mean, high = operands.values
        least = np.clip(operands.sum_of_others(low - 1.0) + 1.0, 0.0, 1.0)
        return Triples(least, operands.product_of_others(mean), np.minimum(1.0, operands.least_of_others(high)))

    def any_others(self, operands: Operands) -> Triples:
        """For each operand, the OR of the others."""
        low, mean, high = operands.values
        return Triples(
            np.maximum(0.0, operands.greatest_of_others(low)),
            1.0 - operands.product_of_others(1.0 - mean),
            np.clip(operands.sum_of_others(high), 0.0, 1.0),
        )

    def degradation(self, before: Triples, after: Triples) -> Floats:
        """The largest absolute difference."""
        differences = [now - then for then, now in zip(before, after, strict=True)]
        largest: Floats = np.maximum.reduce(differences)
        return largest
