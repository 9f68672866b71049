"""The distinct numbers of an array, by sorting."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.integer)


def distinct(numbers: NDArray[Number]) -> NDArray[Number]:
    """The distinct numbers, ascending: `numpy.unique`, which hashes since 2.3. For millions of different numbers that
    takes ten times as long.

    >>> distinct(np.array([3, 1, 3, 2, 1])).tolist(), distinct(np.array([], np.int32)).tolist()
    ([1, 2, 3], [])
    """
    ordered = np.sort(numbers, axis=None)
    is_new = np.empty(len(ordered), bool)
    is_new[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return ordered[is_new]
