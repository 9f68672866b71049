"""The order of Sub-Order for tens of thousands of rules: `sub_order` of the specification, by arrays.

Pairs of rules are enumerated predicate by predicate, and their cost differences computed for many pairs at once. With
popular predicates, the number of pairs is quadratic in the number of rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.schedules.workload import Floats
from tests.specification.schedules import Estimates, Paths

Ints = NDArray[np.int32]
_AT_ONCE = 200_000


def sub_order(rules: Sequence[Sequence[int]], selectivity: Floats) -> list[tuple[int, ...]]:
    """The sorted chains of the rules, in the order in which Sub-Order evaluates them. Costs are equal."""
    estimates = Estimates(selectivity.tolist())
    chains = [estimates.sorted_chain(rule) for rule in rules]
    weights, before, after = saving_edges(chains, selectivity)
    order = np.lexsort((after, before, weights))
    paths = Paths(len(chains))
    has_next, has_previous = np.zeros(len(chains), bool), np.zeros(len(chains), bool)
    for start in range(0, len(order), _AT_ONCE):
        some = order[start : start + _AT_ONCE]
        some = some[~has_next[before[some]] & ~has_previous[after[some]]]
        for one, other in zip(before[some].tolist(), after[some].tolist(), strict=True):
            if paths.join(one, other):
                has_next[one] = has_previous[other] = True
    return [chains[number] for number in paths.order()]


def saving_edges(chains: Sequence[Sequence[int]], selectivity: Floats) -> tuple[Floats, Ints, Ints]:
    """The edges between rules that share predicates, in the direction that saves: weight, rule before, rule after."""
    table = np.full((max(map(len, chains)), len(chains)), -1, np.int32)
    for number, chain in enumerate(chains):
        table[: len(chain), number] = chain
    weights, befores, afters = [np.empty(0)], [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for one, other, predicate in _pairs(table, len(selectivity)):
        differences, first_shared = cost_differences(table[:, one], table[:, other], selectivity)
        # A pair that shares several predicates is enumerated at each of them, and counts at the first.
        for sign, before, after in ((1, one, other), (-1, other, one)):
            chosen = (sign * differences < 0) & (first_shared == predicate)
            weights.append(sign * differences[chosen])
            befores.append(before[chosen])
            afters.append(after[chosen])
    return np.concatenate(weights), np.concatenate(befores), np.concatenate(afters)


def cost_differences(one: Ints, other: Ints, selectivity: Floats) -> tuple[Floats, Ints]:
    """`cost_difference` of the specification for many pairs of chains, and the first predicate that each pair shares.

    Each column is a chain, padded with -1.

    >>> table = np.array([[0, 1], [1, -1]], np.int32)
    >>> [own.tolist() for own in cost_differences(table[:, :1], table[:, 1:], np.array([0.5, 0.5]))]
    [[0.5], [1]]
    """
    shared_one, shared_other = np.zeros(one.shape, bool), np.zeros(other.shape, bool)
    places = []
    for at_one, at_other in np.ndindex(len(one), len(other)):
        pairs = np.flatnonzero((one[at_one] == other[at_other]) & (one[at_one] >= 0))
        shared_one[at_one, pairs] = shared_other[at_other, pairs] = True
        places.append((at_one, at_other, pairs))
    reached_one, cost_one = _above(one, shared_one, selectivity)
    reached_other, cost_other = _above(other, shared_other, selectivity)
    differences = np.zeros(one.shape[1])
    first_shared = np.full(one.shape[1], -1, np.int32)
    for at_one, at_other, pairs in places:
        shared = one[at_one, pairs]
        saved = reached_other[at_other, pairs] * cost_one[at_one, pairs]
        saved -= reached_one[at_one, pairs] * cost_other[at_other, pairs]
        differences[pairs] += (1 - selectivity[shared]) * saved
        first_shared[pairs] = np.where(first_shared[pairs] < 0, shared, first_shared[pairs])
    return differences, first_shared


def _above(chains: Ints, shared: NDArray[np.bool_], selectivity: Floats) -> tuple[Floats, Floats]:
    """P and C' of every place of every chain."""
    reached, cost = np.ones(chains.shape), np.zeros(chains.shape)
    unshared_reached = np.ones(chains.shape[1])
    for place in range(len(chains) - 1):
        own = selectivity[chains[place]]  # that of any predicate for padding, below which there is nothing to compute
        reached[place + 1] = reached[place] * own
        cost[place + 1] = cost[place] + np.where(shared[place], 0.0, unshared_reached)
        unshared_reached *= np.where(shared[place], 1.0, own)
    return reached, cost


def _pairs(table: Ints, predicates: int) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Pairs of rules with a predicate that they share, many at a time."""
    rule, place = np.nonzero(table.T >= 0)
    own_predicates = table[place, rule]
    users = rule[np.argsort(own_predicates, kind="stable")].astype(np.int32)
    ends = np.cumsum(np.bincount(own_predicates, minlength=predicates))
    waiting: list[tuple[Ints, Ints, Ints]] = []
    size = 0
    for predicate, (start, end) in enumerate(zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)):
        own = users[start:end]
        step = max(1, _AT_ONCE // max(1, len(own)))
        for at in range(0, len(own) - 1, step):
            one, other = np.nonzero(np.arange(at, min(at + step, len(own)))[:, None] < np.arange(len(own)))
            waiting.append((own[at + one], own[other], np.full(len(one), predicate, np.int32)))
            size += len(one)
            if size >= _AT_ONCE:
                yield _together(waiting)
                waiting, size = [], 0
    if waiting:
        yield _together(waiting)


def _together(waiting: list[tuple[Ints, Ints, Ints]]) -> tuple[Ints, Ints, Ints]:
    one, other, predicate = (np.concatenate(own) for own in zip(*waiting, strict=True))
    return one, other, predicate
