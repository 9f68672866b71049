"""The overlapping rank of advertisements (Bittner and Hinze 2006, sections 5.3 and 5.4), and their pruning by it.

The rank of a predicate of an advertisement says how strongly it excludes the registered subscriptions:

    rank(n) = 1 / |assoc| * sum over the violating predicates p of n: assoc(p) / sqrt(matches(p) + 1)

assoc(p) is the number of subscriptions that contain p, |assoc| the sum of that for all p, and matches(p) the number of
rows for which p was true: a predicate that is seldom true decides more.

| | minimum | average | maximum |
|---|---|---|---|
| a AND b | max(a, b) | a + b - ab | min(1, a + b) |
| a OR b | min(a, b) | a + b - ab | min(1, a + b) |

The degradation of a pruning is the largest relative loss of the three; where nothing can be lost, 0.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sparkrules.index.forest import Forest
from sparkrules.logic.advertisements import OverlapIndex
from sparkrules.logic.pruning import Floats, Operands, Prunings, Triples
from sparkrules.sql.tree import Predicate


class RankMeasure:
    """The `Measure` of advertisements."""

    def both(self, a: Triples, b: Triples) -> Triples:
        """`a AND b`."""
        return Triples(np.maximum(a.min, b.min), *_together(a, b))

    def either(self, a: Triples, b: Triples) -> Triples:
        """`a OR b`."""
        return Triples(np.minimum(a.min, b.min), *_together(a, b))

    def all_of(self, operands: Operands) -> Triples:
        """The AND of each junction's operands."""
        return Triples(operands.greatest(operands.values.min), *_of_all(operands))

    def any_of(self, operands: Operands) -> Triples:
        """The OR of each junction's operands."""
        return Triples(operands.least(operands.values.min), *_of_all(operands))

    def all_others(self, operands: Operands) -> Triples:
        """For each operand, the AND of the others."""
        return Triples(np.maximum(0.0, operands.greatest_of_others(operands.values.min)), *_of_others(operands))

    def any_others(self, operands: Operands) -> Triples:
        """For each operand, the OR of the others."""
        return Triples(np.minimum(1.0, operands.least_of_others(operands.values.min)), *_of_others(operands))

    def degradation(self, before: Triples, after: Triples) -> Floats:
        """The largest relative loss."""
        losses = [
            np.divide(then - now, then, out=np.zeros_like(then), where=then > 0.0)
            for then, now in zip(before, after, strict=True)
        ]
        largest: Floats = np.maximum.reduce(losses)
        return largest


def _together(a: Triples, b: Triples) -> tuple[Floats, Floats]:
    return a.avg + b.avg - a.avg * b.avg, np.minimum(1.0, a.max + b.max)


def _of_all(operands: Operands) -> tuple[Floats, Floats]:
    _, mean, high = operands.values
    return 1.0 - operands.product(1.0 - mean), np.minimum(1.0, operands.sum(high))


def _of_others(operands: Operands) -> tuple[Floats, Floats]:
    _, mean, high = operands.values
    return 1.0 - operands.product_of_others(1.0 - mean), np.clip(operands.sum_of_others(high), 0.0, 1.0)


def predicate_ranks(predicates: Iterable[Predicate], subscriptions: OverlapIndex, matches: Floats) -> Floats:
    """The rank of some predicates of advertisements. `matches` has a number for each predicate of the subscriptions."""
    associations = subscriptions.associations.lengths
    weight = associations / np.sqrt(matches + 1.0)
    total = max(int(associations.sum()), 1)
    return np.array([weight[subscriptions.violating(own)].sum() for own in predicates], np.float64) / total


def advertisement_prunings(advertisements: Forest, subscriptions: OverlapIndex, matches: Floats) -> Prunings:
    """The prunings of the trees of advertisements, in the order of the *advertisement degradation queue* (5.5)."""
    ranks = predicate_ranks(advertisements.all_predicates(), subscriptions, matches)
    return Prunings.of(advertisements, Triples(ranks, ranks, ranks), RankMeasure())
