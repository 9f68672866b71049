"""How the paper chooses a search, and divides a domain into elementary ranges: see `sparkrules.local.distribution`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from sparkrules.local.distribution import Distribution, Floats, Search

SEARCHES: tuple[Search, ...] = get_args(Search)


def choose_search(distribution: Distribution, among: Sequence[Search] = SEARCHES) -> Search:
    """The search with the fewest expected comparisons.

    >>> choose_search(Distribution([0.02, 0.17, 0.01, 0.80], [1, 0, 3, 4]), ["most probable first", "binary"])
    'most probable first'
    """
    costs = distribution.costs()
    return min(among, key=costs.__getitem__)


def elementary_ranges(
    low: float, high: float, profiles: Sequence[tuple[float, float]]
) -> tuple[Floats, NDArray[np.int64]]:
    """The ranges into which the bounds of `profiles` cut the domain from low to high.

    Returns their bounds, one more than there are ranges, and how many profiles name each range.

    >>> bounds, named = elementary_ranges(-30, 50, [(35, 50), (30, 50), (-30, -20)])
    >>> bounds.tolist(), named.tolist()
    ([-30.0, -20.0, 30.0, 35.0, 50.0], [1, 0, 1, 2])
    """
    cuts = np.unique(
        np.clip(np.array([low, high, *(bound for pair in profiles for bound in pair)], np.float64), low, high)
    )
    named = np.zeros(len(cuts), np.int64)
    for start, end in profiles:
        named[np.searchsorted(cuts, max(start, low))] += 1
        named[np.searchsorted(cuts, min(end, high))] -= 1
    return cuts, np.cumsum(named)[:-1]
