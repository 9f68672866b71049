"""The similarity of each pair of some rules, which the report shows as a matrix.

With rows: the rows that both rules hit, as a share of the rows that at least one of them hits. Without rows: the
predicates that both rules have, as a share of those that at least one of them has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparkrules.index import PREDICATE
from sparkrules.report.catalogue import Catalogue

MOST_RULES = 30
_RULES_PER_PART = 6


@dataclass(frozen=True)
class Matrix:
    """`rules` are places in the catalogue, similar rules next to each other. `pairs` has two places, the number of
    common rows (or predicates), and the share. `of_rows` tells whether rows or predicates are counted."""

    of_rows: bool
    rules: Sequence[int]
    pairs: Sequence[tuple[int, int, int, float]]


def matrix_of_rows(catalogue: Catalogue, pairs: Mapping[tuple[str, str], int], chosen: Sequence[str]) -> Matrix:
    """The matrix of the rows that the chosen rules hit together."""
    hits = catalogue.hits or {}
    found = {
        (catalogue.places[a], catalogue.places[b]): (rows, rows / (hits[a] + hits[b] - rows))
        for (a, b), rows in pairs.items()
    }
    return _matrix([catalogue.places[id] for id in chosen], found, of_rows=True)


def matrix_of_tests(catalogue: Catalogue) -> Matrix:
    """The matrix of the predicates of rules that have much in common."""
    chosen = _related(catalogue)
    tests = {place: _tests(catalogue, place) for place in chosen}
    found = {}
    for number, a in enumerate(chosen):
        for b in chosen[number + 1 :]:
            both = len(tests[a] & tests[b])
            if both:
                found[a, b] = both, both / len(tests[a] | tests[b])
    return _matrix(chosen, found, of_rows=False)


def _matrix(chosen: Sequence[int], found: Mapping[tuple[int, int], tuple[int, float]], *, of_rows: bool) -> Matrix:
    place = {rule: number for number, rule in enumerate(chosen)}
    shares = np.zeros((len(chosen), len(chosen)))
    for (a, b), (_, share) in found.items():
        shares[place[a], place[b]] = shares[place[b], place[a]] = share
    pairs = [(a, b, count, round(share, 4)) for (a, b), (count, share) in found.items()]
    # A rule that has nothing in common with any other would only be an empty line.
    meeting = [number for number in _alike_together(shares) if shares[number].any()]
    return Matrix(of_rows, [chosen[number] for number in meeting], pairs)


def _alike_together(shares: NDArray[np.float64]) -> list[int]:
    """An order in which each rule is followed by the remaining one most similar to it or to a recent one."""
    left, order = list(range(len(shares))), []
    best = np.zeros(len(shares))
    while left:
        following = max(left, key=lambda number: (best[number], -number))
        left.remove(following)
        order.append(following)
        best = np.maximum(0.8 * best, shares[following])
    return order


def _related(catalogue: Catalogue) -> list[int]:
    """A few rules for each of the shared parts that best characterize the rule set."""
    forest, most = catalogue.forest, MOST_RULES
    if len(catalogue.ids) <= most:
        return list(range(len(catalogue.ids)))
    shared = np.flatnonzero((forest.nodes.use_count > 1) & (forest.nodes.operator != PREDICATE))
    # Large parts that many rules have come first.
    weight = forest.nodes.use_count[shared].astype(np.int64) * forest.nodes.children.lengths[shared]
    chosen: dict[int, None] = {}
    of_root = {root: place for place, root in reversed(list(enumerate(catalogue.roots.tolist())))}
    parents = forest.parents
    for node in shared[np.argsort(-weight, kind="stable")].tolist():
        above, seen, found = [node], {node}, 0
        while above and found < _RULES_PER_PART and len(chosen) < most:
            current = above.pop()
            if current in of_root and of_root[current] not in chosen:
                chosen[of_root[current]] = None
                found += 1
            new = [parent for parent in parents.row(current).tolist()[:100] if parent not in seen]
            seen.update(new)
            above += new
        if len(chosen) == most:
            break
    for place in range(len(catalogue.ids)):
        if len(chosen) == most:
            break
        chosen[place] = None
    return list(chosen)


def _tests(catalogue: Catalogue, place: int) -> set[int]:
    forest = catalogue.forest
    below = forest.descendants(int(catalogue.roots[place]))
    return {node for node in below if forest.nodes.operator[node] == PREDICATE}
