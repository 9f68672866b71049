"""Measures work in function calls, which are the same on a busy machine and on an idle one. Seconds are not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType


def calls(work: Callable[[], object]) -> int:
    """How many functions are called while `work` is done, of Python and of C.

    What compiled code calls within itself, as a compiled sqlglot does, is not seen.
    """
    count = 0

    def seen(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def growth(work: Callable[[int], object], size: int) -> float:
    """How many times the calls there are for twice the size: about 2 if they are in proportion to it."""
    work(size)  # what is made once, such as a cached table, is made before counting
    return calls(lambda: work(2 * size)) / calls(lambda: work(size))
