"""The share of rows for which an expression is true, estimated from the shares of its predicates.

The measure of Bittner and Hinze, "Generalizing Subscriptions" (2005), section 4: the smallest share that is possible,
the share if the parts were independent, and the largest share that is possible.

| of a and b | min | avg | max |
|---|---|---|---|
| a AND b | max(0, a + b - 1) | a * b | min(a, b) |
| a OR b | max(a, b) | a + b - a * b | min(1, a + b) |

The paper prints the minimum of AND as a `min`; the bound is the `max`. However the parts depend on each other, the true
share is never below `min` and never above `max`, provided that this holds for the predicates.

>>> a, b = Selectivity.exactly(0.7), Selectivity.exactly(0.6)
>>> print(Selectivity.all_of([a, b]), Selectivity.any_of([a, b]), sep="; ")
0.3 to 0.6, probably 0.42; 0.7 to 1, probably 0.88
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

from sparkrules.sql.tree import Node, Predicate


class Selectivity(NamedTuple):
    """The share of rows for which an expression is true: at least `min`, probably `avg`, at most `max`."""

    min: float
    avg: float
    max: float

    @staticmethod
    def exactly(share: float) -> Selectivity:
        """A share that was counted."""
        return Selectivity(share, share, share)

    @staticmethod
    def guessed(share: float) -> Selectivity:
        """A share that is only a guess: any other is possible."""
        return Selectivity(0.0, share, 1.0)

    @staticmethod
    def all_of(parts: Iterable[Selectivity]) -> Selectivity:
        """The AND of the parts; without parts it is always true."""
        mins, avgs, maxs = _columns(parts)
        return _ordered(max(0.0, math.fsum(mins) - (len(mins) - 1)), math.prod(avgs), min(maxs, default=1.0))

    @staticmethod
    def any_of(parts: Iterable[Selectivity]) -> Selectivity:
        """The OR of the parts; without parts it is never true."""
        mins, avgs, maxs = _columns(parts)
        none = math.prod(1.0 - avg for avg in avgs)
        return _ordered(max(mins, default=0.0), 1.0 - none, min(1.0, math.fsum(maxs)))

    def degradation(self, general: Selectivity) -> float:
        """How much less selective a more general expression is: the largest difference of the three (section 5.1)."""
        return max(abs(theirs - own) for own, theirs in zip(self, general, strict=True))

    def __str__(self) -> str:
        if self.min == self.max:
            return f"{self.min:.3g}"
        return f"{self.min:.3g} to {self.max:.3g}, probably {self.avg:.3g}"


def selectivity_of(tree: Node, predicate: Callable[[Predicate], Selectivity]) -> Selectivity:
    """The selectivity of a tree by the formulas alone, given that of its predicates. Shared nodes are computed once.

    >>> from sparkrules.sql import parse_rule
    >>> tree = parse_rule("a = 1 AND (b = 2 OR c = 3)")
    >>> selectivity_of(tree, lambda _: Selectivity.exactly(0.5))
    Selectivity(min=0.0, avg=0.375, max=0.5)
    """
    known: dict[int, Selectivity] = {}
    stack = [tree]
    while stack:
        node = stack[-1]
        if isinstance(node, Predicate):
            known[id(node)] = predicate(node)
        elif open_children := [child for child in node.children if id(child) not in known]:
            stack += open_children
            continue
        else:
            parts = [known[id(child)] for child in node.children]
            known[id(node)] = Selectivity.all_of(parts) if node.operator == "and" else Selectivity.any_of(parts)
        stack.pop()
    return known[id(tree)]


# Shares to guess where nothing was counted. What a rule names is rare; what is searched for in a string is rarer.
_GUESSES = {
    "=": 0.1,
    "<=>": 0.1,
    "<": 1 / 3,
    "<=": 1 / 3,
    ">": 1 / 3,
    ">=": 1 / 3,
    "is null": 0.05,
    "is true": 0.5,
    "is false": 0.45,
    "is not true": 0.5,
    "is not false": 0.55,
    "like": 0.02,
    "ilike": 0.02,
    "rlike": 0.02,
    "contains": 0.02,
    "startswith": 0.02,
    "endswith": 0.02,
    "in network": 0.02,
    "in list": 0.02,
}


def guess(operator: str, constants: int) -> Selectivity:
    """The selectivity of a predicate with this operator and number of constants, if nothing was counted.

    >>> guess("=", 1), guess("not in", 3)
    (Selectivity(min=0.0, avg=0.1, max=1.0), Selectivity(min=0.0, avg=0.7, max=1.0))
    """
    share = _GUESSES.get(operator)
    if share is None:
        positive = {"<>": "=", "is not null": "is null"}.get(operator, operator.removeprefix("not "))
        share = min(0.1 * constants, 0.5) if positive == "in" else _GUESSES[positive]
        share = share if positive == operator else 1 - share
    return Selectivity.guessed(share)


def _columns(parts: Iterable[Selectivity]) -> tuple[tuple[float, ...], ...]:
    listed = list(parts)
    return tuple(zip(*listed, strict=True)) if listed else ((), (), ())


def _ordered(least: float, likely: float, most: float) -> Selectivity:
    """Rounding never puts the average outside the bounds, nor the lower bound above the upper."""
    least = min(least, most)
    return Selectivity(least, min(max(likely, least), most), most)
