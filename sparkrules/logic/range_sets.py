"""Sets of elementary ranges, one set per row, as sorted disjoint intervals of codes.

Contract: row i has the intervals `offsets[i]` until `offsets[i + 1]`, each from `first` to `last` inclusive. All rows
are computed together: a union of some rows is where at least one of them is, an intersection where all of them are.

>>> sets = RangeSets.of([[(1, 3)], [(3, 5), (9, 9)], []])
>>> sets.at_least(Csr.from_rows([[0, 1], [0, 1], [1, 2]]), np.array([1, 2, 2])).to_lists()
[[(1, 5), (9, 9)], [(3, 3)], []]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparkrules.index.csr import Csr, Offsets

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RangeSets:
    """See the module."""

    offsets: Offsets
    first: Offsets
    last: Offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @staticmethod
    def of(rows: Sequence[Sequence[tuple[int, int]]]) -> RangeSets:
        """Build from lists of intervals."""
        pairs = np.array([pair for row in rows for pair in row], np.int64).reshape(-1, 2)
        return RangeSets(_offsets([len(row) for row in rows]), pairs[:, 0], pairs[:, 1])

    @staticmethod
    def concatenated(parts: Sequence[RangeSets]) -> RangeSets:
        """All rows of the first part, then those of the next."""
        return RangeSets(
            _offsets(np.concatenate([np.diff(part.offsets) for part in parts])),
            np.concatenate([part.first for part in parts]),
            np.concatenate([part.last for part in parts]),
        )

    def to_lists(self) -> list[list[tuple[int, int]]]:
        """The intervals of each row."""
        pairs = list(zip(self.first.tolist(), self.last.tolist(), strict=True))
        return [pairs[start:end] for start, end in zip(self.offsets[:-1], self.offsets[1:], strict=True)]

    def rows_in(self, below: Floats) -> Floats:
        """How many rows of a table lie in each set, given how many lie below each code."""
        row = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        return np.bincount(row, below[self.last + 1] - below[self.first], len(self)).astype(np.float64)

    def take(self, rows: NDArray[np.integer]) -> RangeSets:
        """The chosen rows, in the given order."""
        lengths = np.diff(self.offsets)[rows]
        offsets = _offsets(lengths)
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[:-1][rows] - offsets[:-1], lengths)
        return RangeSets(offsets, self.first[places], self.last[places])

    def at_least(self, groups: Csr, needed: NDArray[np.integer]) -> RangeSets:
        """For each group of rows: the codes that at least `needed` (1 or more) of them contain."""
        own = self.take(groups.values)
        group = np.repeat(groups.row_numbers().astype(np.int64), np.diff(own.offsets))
        # Sweep over all groups at once: a set begins at `first` and has ended at the code after `last`.
        span = int(own.last.max(initial=0)) + 2
        keys = np.concatenate([group * span + own.first, group * span + own.last + 1])
        order = np.argsort(keys, kind="stable")
        steps = np.where(order < len(group), 1, -1)
        places, start = np.unique(keys[order], return_index=True)
        covering = np.cumsum(np.add.reduceat(steps, start)) if len(start) else np.empty(0, np.int64)
        inside = covering >= np.asarray(needed)[places // span]
        before = np.concatenate([[False], inside[:-1]]) if len(inside) else inside
        begins, ends = places[inside & ~before], places[~inside & before]
        lengths = np.bincount(begins // span, minlength=len(groups))
        return RangeSets(_offsets(lengths), begins % span, ends % span - 1)


def _offsets(lengths: Sequence[int] | NDArray[np.integer]) -> Offsets:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
