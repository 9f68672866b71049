"""Writes subscriptions and events for the race: big-endian integers, each array after its length."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from benchmarks.workloads.boolean_trees import Inner, Leaf, Tree, is_inner

_OPERATORS = {"and": -1, "or": -2, "xor": -3}
_COMPARISONS = {"=": 0, ">": 1}


def write_workload(subscriptions: Iterable[Tree], events: npt.NDArray[np.int64], file: Path) -> int:
    """Number the predicates, write all expressions in postfix notation, and return the number of predicates.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as directory:
    ...     file = Path(directory, "work")
    ...     write_workload([("and", (1, ">", 5), (2, "=", 7))], np.array([[6, 7]]), file)
    ...     np.fromfile(file, ">i4").tolist()
    2
    [2, 0, 1, 2, 1, 0, 2, 5, 7, 2, 0, 3, 3, 0, 1, -1, 1, 2, 6, 7]
    """
    numbers: dict[Leaf, int] = {}
    code, start = array("i"), array("i", [0])

    def append(tree: Tree) -> None:
        if is_inner(tree):
            operator, left, right = cast(Inner, tree)
            append(left)
            append(right)
            code.append(_OPERATORS[operator])
        else:
            code.append(numbers.setdefault(cast(Leaf, tree), len(numbers)))

    for tree in subscriptions:
        append(tree)
        start.append(len(code))
    leaves = list(numbers)
    arrays: list[Iterable[int]] = [
        [attribute - 1 for attribute, _, _ in leaves],
        [_COMPARISONS[comparison] for _, comparison, _ in leaves],
        [constant for _, _, constant in leaves],
        start,
        code,
    ]
    with file.open("wb") as out:
        for own in arrays:
            _write(np.array(own), out.write)
        out.write(np.array([len(events)], ">i4").tobytes())
        for event in events:
            _write(event, out.write)
    return len(leaves)


def _write(values: npt.NDArray[np.int64], write: object) -> None:
    assert callable(write)
    write(np.array([len(values)], ">i4").tobytes())
    write(values.astype(">i4").tobytes())
