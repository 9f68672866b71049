"""Asks Spark about many expressions at a time. If that fails, halves them until each failing expression is alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

# With more columns in one SELECT, Spark takes seconds to plan it.
_AT_ONCE = 500
_Answer = TypeVar("_Answer")


def answers(
    items: Sequence[str],
    ask: Callable[[Sequence[str]], list[_Answer]],
    failure: type[Exception],
    alone: Callable[[str, Exception], _Answer],
) -> list[_Answer]:
    """The answers of `ask` for each item. For an item that makes it fail, `alone` answers instead.

    >>> def lengths(items):
    ...     if "bad" in items:
    ...         raise ValueError
    ...     return [len(item) for item in items]
    >>> answers(["a", "bad", "bcd"], lengths, ValueError, lambda item, error: -1)
    [1, -1, 3]
    """
    found: list[_Answer] = []
    with _without_log():
        for start in range(0, len(items), _AT_ONCE):
            found += _halved(items[start : start + _AT_ONCE], ask, failure, alone)
    return found


def _halved(
    items: Sequence[str],
    ask: Callable[[Sequence[str]], list[_Answer]],
    failure: type[Exception],
    alone: Callable[[str, Exception], _Answer],
) -> list[_Answer]:
    try:
        return ask(items)
    except failure as error:
        if len(items) == 1:
            return [alone(items[0], error)]
    middle = len(items) // 2
    return _halved(items[:middle], ask, failure, alone) + _halved(items[middle:], ask, failure, alone)


@contextmanager
def _without_log() -> Iterator[None]:
    """PySpark logs every analysis error to the console, even one that we only use as an answer."""
    from pyspark.logger import PySparkLogger

    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before
