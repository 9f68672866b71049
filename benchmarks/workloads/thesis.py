"""The workload of the A-Tree thesis, chapter 5: subscriptions of L predicates, 20 attributes, values 1..2,000,000.

It keeps to two parameters of the thesis, and measures them: SNPS, the share of a subscription's inner nodes that others
have as well, and SMPE, the share of subscriptions that an event matches.

A subscription is two expressions of L/2 predicates under a root. For SNPS, each comes from pool A, whose few
expressions are used again and again, or from pool B, where each is new. How often A is used is determined by search.

SMPE needs events that fit the subscriptions. With `>`, constants are uniform and the events' values are so high that
enough predicates are true; how high is determined by search. With `=`, independent values would never be equal. So
there are *interests*, each a value for every attribute. A subscription asks for the values of one interest. An event
has them too, except that each value is replaced with a probability of 5 %. So there are near misses, and SMPE decides
the number of interests. With equal constants, subscriptions of an interest share small subexpressions whatever the
pools are: if there are many, SNPS can exceed its target. `at_size` then gives some of them constants of their own,
which no event has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.workloads import boolean_trees
from benchmarks.workloads.boolean_trees import (
    Leaf,
    Tree,
    random_operator,
    random_tree,
    shared_nodes_per_subscription,
    sql,
    truth,
)
from benchmarks.workloads.workload import RuleText, Workload

ATTRIBUTES = 20
LARGEST = 2_000_000
_HALVES = (range(1, 1 + ATTRIBUTES // 2), range(1 + ATTRIBUTES // 2, 1 + ATTRIBUTES))  # so that predicates never clash
NOISE = 0.05
_USES_OF_A = 10  # how often an expression of pool A is used
_TRIED = 2_000  # number of subscriptions and events for the search of how high values are
_SEARCHED = 10_000  # number of subscriptions for the searches of `at_size` and `many_subscriptions`

Values = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Mix:
    """A kind of subscription: its predicates, the frequencies of AND, OR and XOR, and its targets."""

    name: str
    predicates: int
    operators: tuple[float, float, float]
    comparison: str
    snps: float
    smpe: float
    private: float = 0.0
    """The share of subscriptions that ask for values of their own."""

    @property
    def interests(self) -> int:
        """The number of interests; with `>` there is one, since no values have to be equal."""
        if self.comparison == ">":
            return 1
        return max(1, round((1 - self.private) * (1 - NOISE) ** self.predicates / self.smpe))


CONJUNCTIVE, WITH_OR, WITH_XOR = (1.0, 0.0, 0.0), (0.8, 0.2, 0.0), (0.6, 0.3, 0.1)
# SNPS and SMPE of the thesis's experiments: 5.4 for the conjunctions, 5.5 and 5.6 for the others.
MIXES = (
    Mix("and6", 6, CONJUNCTIVE, "=", snps=0.38, smpe=0.001),
    Mix("and10", 10, CONJUNCTIVE, "=", snps=0.38, smpe=0.001),
    Mix("and14", 14, CONJUNCTIVE, "=", snps=0.38, smpe=0.001),
    Mix("or10", 10, WITH_OR, ">", snps=0.5, smpe=0.15),
    Mix("xor10", 10, WITH_XOR, ">", snps=0.18, smpe=0.15),
)


def thesis(size: int) -> list[Workload]:
    """`size` subscriptions of each mix."""
    return [_workload(mix, size) for mix in MIXES]


def _workload(mix: Mix, size: int) -> Workload:
    def measured() -> dict[str, str]:
        return {"SNPS": f"{shared_nodes_per_subscription(subscriptions(mix, size)):.0%} for {mix.snps:.0%}"}

    return Workload(
        family="thesis",
        variant=mix.name,
        size=size,
        rules=lambda: _texts(mix, size),
        rows=lambda count: table(events(mix, count)),
        generators=(__file__, boolean_trees.__file__),
        rows_name=f"thesis_{mix.name}",
        traits={"L": str(mix.predicates), "SMPE asked for": f"{mix.smpe:.1%}"},
        measured_traits=measured,
    )


@lru_cache(maxsize=1)
def subscriptions(mix: Mix, count: int, seed: int = 0) -> list[Tree]:
    """Subscriptions with the target SNPS, as far as possible."""
    return list(_draw(mix, count, _use_of_a(mix, count, seed), seed))


def at_size(mix: Mix, count: int) -> Mix:
    """The mix for so many subscriptions: without `private` ones, unless they would share too much."""
    if mix.comparison == ">":
        return mix
    least = shared_nodes_per_subscription(_draw(_sample(mix, count), min(count, _SEARCHED), 0.0, 0))
    return replace(mix, private=max(0.0, 1 - mix.snps / least))


def many_subscriptions(mix: Mix, count: int, seed: int = 0) -> Iterator[Tree]:
    """Subscriptions of a mix `at_size`, where searching among all of them would take too long."""
    from_a = 0.0 if mix.private else _use_of_a(_sample(mix, count), min(count, _SEARCHED), seed)
    return _draw(mix, count, from_a, seed)


def _sample(mix: Mix, count: int) -> Mix:
    """The same with fewer subscriptions and as many fewer interests, so that they share as much."""
    return replace(mix, smpe=mix.smpe * max(1.0, count / _SEARCHED)) if mix.comparison == "=" else mix


@lru_cache
def _use_of_a(mix: Mix, count: int, seed: int) -> float:
    """How many of the two expressions of a subscription come from pool A, on average."""
    low, high = 0.0, 2.0
    for _ in range(7):
        middle = (low + high) / 2
        if shared_nodes_per_subscription(_draw(mix, count, middle, seed)) > mix.snps:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def _draw(mix: Mix, count: int, from_a: float, seed: int) -> Iterator[Tree]:
    """Subscriptions in which, on average, `from_a` of the two expressions come from pool A."""
    random = Random(seed)  # numpy is too slow at drawing one number at a time
    interests = _interests(mix).tolist()
    pool_size = max(1, round(count * from_a / 2 / _USES_OF_A / mix.interests))
    pool: dict[tuple[int, int, int], Tree] = {}
    chances = (min(1.0, from_a), max(0.0, from_a - 1.0))  # of the first half, of the second

    def expression(interest: int, half: int) -> Tree:
        attributes = random.sample(_HALVES[half], mix.predicates // 2)
        if mix.comparison == "=" and interest >= 0:
            leaves: list[Leaf] = [(i, "=", interests[interest][i - 1]) for i in attributes]
        else:
            leaves = [(i, mix.comparison, random.randrange(1, LARGEST)) for i in attributes]
        return random_tree(leaves, mix.operators, random)

    def half_of(interest: int, half: int) -> Tree:
        if random.random() >= chances[half]:
            return expression(interest, half)
        key = (interest, half, random.randrange(pool_size))
        if key not in pool:
            pool[key] = expression(interest, half)
        return pool[key]

    for _ in range(count):
        interest = -1 if mix.private and random.random() < mix.private else random.randrange(mix.interests)
        root = random_operator(mix.operators, random)
        yield root, half_of(interest, 0), half_of(interest, 1)


def events(mix: Mix, count: int, seed: int = 0) -> Values:
    """Events with the target SMPE: a row for each event, a column for each attribute."""
    random = np.random.default_rng((seed, 2))
    if mix.comparison == ">":
        return _high_values(random, count, _height(mix))
    interests = _interests(mix)
    values = interests[random.integers(mix.interests, size=count)]
    others = interests[random.integers(mix.interests, size=values.shape), np.arange(ATTRIBUTES)]
    return np.where(random.random(values.shape) < NOISE, others, values)


def _interests(mix: Mix) -> Values:
    return np.random.default_rng(3).integers(1, LARGEST, (mix.interests, ATTRIBUTES), endpoint=True)


@lru_cache
def _height(mix: Mix) -> float:
    """The height of the events' values at which subscriptions match as often as the target."""
    tried = list(_draw(mix, _TRIED, 0.0, seed=4))

    def smpe(height: float) -> float:
        values = _high_values(np.random.default_rng(5), _TRIED, height)
        return float(np.mean([truth(tree, values).mean() for tree in tried]))

    low, high = 0.01, 100.0
    for _ in range(20):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if smpe(middle) < mix.smpe else (low, middle)
    return float(np.sqrt(low * high))


def _high_values(random: np.random.Generator, count: int, height: float) -> Values:
    return np.ceil(LARGEST * random.random((count, ATTRIBUTES)) ** (1 / height)).astype(np.int64).clip(1)


def _texts(mix: Mix, size: int) -> Iterator[RuleText]:
    for number, tree in enumerate(subscriptions(mix, size)):
        yield f"{mix.name}-{number}", sql(tree)


def table(values: Values) -> pa.Table:
    """Events as rows."""
    columns = {f"a{i + 1}": pa.array(values[:, i].astype(np.int32)) for i in range(ATTRIBUTES)}
    return pa.table({"event": pa.array(np.arange(len(values))), **columns})
