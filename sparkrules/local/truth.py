"""The truth of nodes for rows, one bit each: one operation joins 64 rows.

>>> truth = Truth.of(np.array([[True, False, True], [False, True, True]]))
>>> truth.at(np.array([0, 1]), np.array([2, 0])).tolist(), truth.row(2).tolist()
([True, False], [True, True])
>>> [array.tolist() for array in truth.pairs(np.array([1, 0]))]
[[0, 1, 2, 2], [1, 0, 0, 1]]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
_WORD = 64


@dataclass(frozen=True)
class Truth:
    """`words` is [nodes x words]: the bit of row r is bit r % 64 of word r // 64. Bits beyond `rows` are undefined."""

    words: Words
    rows: int

    @staticmethod
    def of(matrix: NDArray[np.bool_]) -> Truth:
        """Pack a matrix [nodes x rows]."""
        return Truth(packed(matrix), matrix.shape[1])

    def at(self, nodes: NDArray[np.integer], rows: NDArray[np.integer]) -> NDArray[np.bool_]:
        """The truth of each node for the row at the same index."""
        bits = self.words[nodes, rows // _WORD] >> (rows % _WORD).astype(np.uint64)
        true: NDArray[np.bool_] = (bits & np.uint64(1)).astype(bool)
        return true

    def row(self, row: int) -> NDArray[np.bool_]:
        """The truth of every node for one row."""
        nodes = np.arange(len(self.words))
        return self.at(nodes, np.full(len(nodes), row))

    def pairs(self, nodes: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where some nodes are true: the rows, ascending, and for each the positions in `nodes`, ascending."""
        words = self.words[nodes]
        places, columns = np.nonzero(words)
        bits = np.unpackbits(words[places, columns].astype("<u8").view(np.uint8), bitorder="little")
        found, bit = np.nonzero(bits.reshape(len(places), _WORD))
        rows, places = columns[found] * _WORD + bit, places[found]
        order = np.lexsort((places, rows))
        order = order[: np.searchsorted(rows[order], self.rows)]
        return rows[order], places[order]


def packed(matrix: NDArray[np.bool_]) -> Words:
    """A matrix [nodes x rows] as words."""
    missing = -matrix.shape[1] % _WORD
    octets = np.packbits(np.pad(matrix, ((0, 0), (0, missing))), axis=1, bitorder="little")
    return octets.view("<u8").astype(np.uint64, copy=False)
