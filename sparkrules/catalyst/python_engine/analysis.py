"""What Spark says about expressions over a DataFrame: their types, or why it does not accept them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField

# More columns than this in one SELECT and Spark takes seconds to plan it.
_AT_ONCE = 500
_NAME_PART = re.compile(r"`((?:[^`]|``)*)`")
_Found = TypeVar("_Found")


@dataclass(frozen=True)
class Rejection:
    """Why Spark does not accept an expression; `missing` is the column it names that there is not, in parts."""

    reason: str
    missing: tuple[str, ...] = ()

    @staticmethod
    def no_column(parts: Sequence[str]) -> Rejection:
        """What the plugin says of a column that is missing."""
        return Rejection(f"there is no column {'.'.join(parts)}", tuple(parts))


def analyzed(df: DataFrame, expressions: Sequence[str]) -> list[StructField | Rejection]:
    """Each expression over the columns of a DataFrame as the column that it would be: its type, whether it is NULL."""
    from pyspark.errors import AnalysisException

    def fields(some: Sequence[str]) -> list[StructField | Rejection]:
        # A later expression may refer to an earlier one by its name: none that a rule would write.
        named = [f"{sql} AS `sparkrules {number}`" for number, sql in enumerate(some)]
        return [*df.selectExpr(*named).schema.fields]

    return each(expressions, fields, AnalysisException, lambda _, error: _rejection(error))


def each(
    items: Sequence[str],
    ask: Callable[[Sequence[str]], list[_Found]],
    failure: type[Exception],
    alone: Callable[[str, Exception], _Found],
) -> list[_Found]:
    """What `ask` says of items, many at a time; where it fails, halves are tried until the one that fails is alone."""
    found: list[_Found] = []
    with _without_log():
        for start in range(0, len(items), _AT_ONCE):
            found += _each(items[start : start + _AT_ONCE], ask, failure, alone)
    return found


@contextmanager
def _without_log() -> Iterator[None]:
    """PySpark writes every error of an analysis to the console, also one that is only an answer."""
    from pyspark.logger import PySparkLogger

    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before


def _each(
    items: Sequence[str],
    ask: Callable[[Sequence[str]], list[_Found]],
    failure: type[Exception],
    alone: Callable[[str, Exception], _Found],
) -> list[_Found]:
    try:
        return ask(items)
    except failure as error:
        if len(items) == 1:
            return [alone(items[0], error)]
    middle = len(items) // 2
    return _each(items[:middle], ask, failure, alone) + _each(items[middle:], ask, failure, alone)


def _rejection(error: Exception) -> Rejection:
    condition = error.getCondition() or "" if hasattr(error, "getCondition") else ""
    if condition.startswith("UNRESOLVED_COLUMN"):
        name = (error.getMessageParameters() or {}).get("objectName", "")  # type: ignore[attr-defined]
        parts = [part.replace("``", "`") for part in _NAME_PART.findall(name)]
        if parts:
            return Rejection.no_column(parts)
    return Rejection(str(error).strip().splitlines()[0])
