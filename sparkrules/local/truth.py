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
_SHIFT = 6


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
        # Looking for Booleans that are true is several times as fast as looking for words that are not zero.
        some = np.flatnonzero((words != 0).ravel())
        bits = np.unpackbits(words.ravel()[some].astype("<u8").view(np.uint8), bitorder="little")
        found = np.flatnonzero(bits.view(bool))
        places, columns = np.divmod(some, words.shape[1])
        of_word = found >> _SHIFT
        rows, places = columns[of_word] * _WORD + (found & (_WORD - 1)), places[of_word]
        if len(rows) and rows.max() >= self.rows:
            inside = np.flatnonzero(rows < self.rows)
            rows, places = rows[inside], places[inside]
        # Places are ascending already. Numbers of 16 bits are sorted by counting.
        order = np.argsort(rows.astype(np.uint16) if self.rows <= 2**16 else rows, kind="stable")
        return rows[order], places[order]


def packed(matrix: NDArray[np.bool_]) -> Words:
    """A matrix [nodes x rows] as words.

    >>> packed(np.array([[True], [False], [True]]).T).tolist(), packed(np.ones((3, 2), bool).T).tolist()
    ([[5]], [[7], [7]])
    """
    missing = -matrix.shape[1] % _WORD
    octets = np.packbits(np.pad(matrix, ((0, 0), (0, missing))), axis=1, bitorder="little")
    # A transposed matrix is packed into one that has its rows apart.
    return np.ascontiguousarray(octets).view("<u8").astype(np.uint64, copy=False)


def unpacked(words: Words, rows: int) -> NDArray[np.bool_]:
    """The matrix [nodes x rows] that words stand for.

    >>> unpacked(packed(np.array([[True, False, True]])), 3).tolist()
    [[True, False, True]]
    """
    octets = np.ascontiguousarray(words).astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(octets, axis=1, count=rows, bitorder="little").view(bool)


def word_count(rows: int) -> int:
    """How many words the bits of some rows take."""
    return -(-rows // _WORD)


def rows_by_code(codes: NDArray[np.integer], count: int) -> Words:
    """For each code below `count`, the rows that have it.

    >>> unpacked(rows_by_code(np.array([2, 0, 2]), 3), 3).astype(int).tolist()
    [[0, 1, 0], [0, 0, 0], [1, 0, 1]]
    """
    rows = np.arange(len(codes))
    words = np.zeros((count, word_count(len(codes))), np.uint64)
    bits = np.left_shift(np.uint64(1), (rows % _WORD).astype(np.uint64))
    np.bitwise_or.at(words.reshape(-1), codes.astype(np.int64) * words.shape[1] + rows // _WORD, bits)
    return words
