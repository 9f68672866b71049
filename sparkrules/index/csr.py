"""Lists of numbers, one per row, stored as two flat arrays (compressed sparse rows).

Contract: row i is `values[offsets[i]:offsets[i + 1]]`; the arrays are read-only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Csr:
    """Rows of int32 numbers.

    >>> children = Csr.from_rows([[], [0], [0, 1]])
    >>> children.row(2).tolist(), children.transposed(3).to_lists()
    ([0, 1], [[1, 2], [2], []])
    """

    offsets: Offsets
    values: Ints

    def __post_init__(self) -> None:
        for array in (self.offsets, self.values):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @staticmethod
    def from_rows(rows: Iterable[Sequence[int]]) -> Csr:
        """Build from any lists of numbers."""
        rows = list(rows)
        return Csr.from_lengths([len(row) for row in rows], [value for row in rows for value in row])

    @staticmethod
    def from_lengths(lengths: Sequence[int] | NDArray[np.integer], values: Sequence[int] | NDArray[np.integer]) -> Csr:
        """Build from the length of each row and the concatenated rows."""
        offsets = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return Csr(offsets, np.array(values, np.int32))

    @staticmethod
    def concatenated(parts: Sequence[Csr]) -> Csr:
        """All rows of the first part, then those of the next."""
        offsets = np.zeros(1 + sum(map(len, parts)), np.int64)
        np.cumsum(np.concatenate([np.empty(0, np.int64), *(part.lengths for part in parts)]), out=offsets[1:])
        return Csr(offsets, np.concatenate([np.empty(0, np.int32), *(part.values for part in parts)]))

    @property
    def lengths(self) -> Offsets:
        """The length of each row."""
        return np.diff(self.offsets)

    def row(self, number: int) -> Ints:
        """One row."""
        return self.values[self.offsets[number] : self.offsets[number + 1]]

    def to_lists(self) -> list[list[int]]:
        """The rows as Python lists."""
        return [self.row(number).tolist() for number in range(len(self))]

    def take(self, rows: NDArray[np.integer]) -> Csr:
        """The chosen rows, in the given order."""
        lengths = self.lengths[rows]
        ends = np.cumsum(lengths)
        shift = np.repeat(self.offsets[:-1][rows] - (ends - lengths), lengths)
        return Csr.from_lengths(lengths, self.values[np.arange(len(shift)) + shift])

    def row_numbers(self) -> Ints:
        """For each value, the row that contains it."""
        return np.repeat(np.arange(len(self), dtype=np.int32), self.lengths)

    def transposed(self, columns: int) -> Csr:
        """For each number below `columns`, the rows that contain it, ascending."""
        order = np.argsort(self.values, kind="stable")
        return Csr.from_lengths(np.bincount(self.values, minlength=columns), self.row_numbers()[order])
