"""The measures of Hinze and Bittner, "Efficient Distribution-Based Event Filtering" (2002), for one attribute.

Contract: the constants of an attribute divide its domain D into elementary ranges. P_e is the distribution of the
values of events (rows) over the ranges, P_p the distribution of profiles (subscriptions). Ranges that no profile names
(P_p = 0) form the zero-subdomain D0, treated as one value x0. The other ranges are W. A search costs R = E(X) + R0
comparisons (equation 2):

    E(X) = sum over W of P_e(x) * comparisons to find x        R0 = P_e(x0) * comparisons to see that it is x0

| search | comparisons |
|---|---|
| linear in a value order (V1, V2, V3) | the position in the order; x0 is rejected at the position it would have |
| binary | the depth in the balanced tree over W; its height for x0 |
| interpolation | log2 log2 of the number of ranges, if they are evenly spaced |
| hash | one for a single value; otherwise a binary search in addition |

>>> temperature = Distribution([0.02, 0.17, 0.01, 0.80], [1, 0, 3, 4])
>>> round(temperature.linear(temperature.v1), 2), round(temperature.binary(), 2)
(1.21, 1.99)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Search = Literal["most probable first", "binary", "interpolation", "hash"]


@dataclass(frozen=True, eq=False)
class Distribution:
    """An attribute's elementary ranges in natural order: P_e, P_p and the size of each, in any unit.

    `events` and `profiles` may be counts. `points` marks the ranges that are single values. Without `sizes`, all ranges
    have the same size.
    """

    events: Floats
    profiles: Floats
    sizes: Floats
    points: NDArray[np.bool_]

    def __init__(
        self,
        events: ArrayLike,
        profiles: ArrayLike,
        sizes: ArrayLike | None = None,
        points: ArrayLike | None = None,
    ) -> None:
        counted, named = np.asarray(events, np.float64), np.asarray(profiles, np.float64)
        set_field = object.__setattr__
        set_field(self, "events", counted / (counted.sum() or 1.0))
        set_field(self, "profiles", named / (named.sum() or 1.0))
        set_field(self, "sizes", np.ones(len(counted)) if sizes is None else np.asarray(sizes, np.float64))
        set_field(self, "points", np.zeros(len(counted), bool) if points is None else np.asarray(points, bool))

    @property
    def named(self) -> NDArray[np.bool_]:
        """Which ranges are in W: those that some profile names."""
        return self.profiles > 0

    @property
    def zero_share(self) -> float:
        """P_e(D0): the probability of a value that no profile names."""
        return float(self.events[~self.named].sum())

    @property
    def v1(self) -> Floats:
        """Measure V1: P_e."""
        return self.events

    @property
    def v2(self) -> Floats:
        """Measure V2: P_p."""
        return self.profiles

    @property
    def v3(self) -> Floats:
        """Measure V3: P_e * P_p."""
        return self.events * self.profiles

    @property
    def a1(self) -> float:
        """Measure A1: d0 / d."""
        return float(self.sizes[~self.named].sum() / (self.sizes.sum() or 1.0))

    @property
    def a2(self) -> float:
        """Measure A2: d0 * P_e(D0) / d."""
        return self.a1 * self.zero_share

    def expectation(self, comparisons: ArrayLike) -> float:
        """E(X), given the number of comparisons for each range of W."""
        return float(self.events[self.named] @ np.asarray(comparisons, np.float64))

    def linear_places(self, selectivity: ArrayLike) -> NDArray[np.int64]:
        """The position, from 1, of each range of W when tried in descending order of a measure."""
        order = np.argsort(-np.asarray(selectivity, np.float64)[self.named], kind="stable")
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(1, len(order) + 1)
        return places

    def linear(self, selectivity: ArrayLike) -> float:
        """R of a linear search in descending order of a measure, one of `v1`, `v2`, `v3`.

        x0 also has a position in that order, and is rejected by the first range after it.
        """
        measure = np.asarray(selectivity, np.float64)
        within = measure[self.named]
        ahead = int((within > measure[~self.named].sum()).sum())
        rejection = min(ahead + 1, len(within))
        return self.expectation(self.linear_places(measure)) + rejection * self.zero_share

    def binary_depths(self) -> NDArray[np.int64]:
        """The number of comparisons of a binary search for each range of W."""
        return _depths(int(self.named.sum()))

    def binary(self) -> float:
        """R of a binary search."""
        return self.expectation(self.binary_depths()) + self._height * self.zero_share

    def interpolation(self) -> float:
        """R of an interpolation search, if the ranges are evenly spaced."""
        return 1.0 + math.log2(max(math.log2(max(int(self.named.sum()), 1)), 1.0))

    def hash(self) -> float:
        """R of a hash table lookup of the single values; other ranges and x0 then take a search as in `binary`."""
        hits = float(self.events[self.named & self.points].sum())
        return 1.0 + (1.0 - hits) * (0 if self.points[self.named].all() else self._height)

    @property
    def _height(self) -> int:
        return math.ceil(math.log2(int(self.named.sum()) + 1))

    def costs(self) -> dict[Search, float]:
        """The expected comparisons of each search."""
        return {
            "most probable first": self.linear(self.v1),
            "binary": self.binary(),
            "interpolation": self.interpolation(),
            "hash": self.hash(),
        }


def _depths(count: int) -> NDArray[np.int64]:
    depths = np.zeros(count, np.int64)
    open_spans = [(0, count, 1)]
    while open_spans:
        start, end, depth = open_spans.pop()
        if start < end:
            middle = (start + end) // 2
            depths[middle] = depth
            open_spans += [(start, middle, depth + 1), (middle + 1, end, depth + 1)]
    return depths
