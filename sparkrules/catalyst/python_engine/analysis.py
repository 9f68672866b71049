"""The types of expressions over a DataFrame, or the reason why Spark rejects them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrules.catalyst.halving import answers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField

_NAME_PART = re.compile(r"`((?:[^`]|``)*)`")


@dataclass(frozen=True)
class Rejection:
    """Why Spark rejects an expression. `missing` has the name parts of a column that does not exist."""

    reason: str
    missing: tuple[str, ...] = ()

    @staticmethod
    def no_column(parts: Sequence[str]) -> Rejection:
        """The plugin's message for a missing column."""
        return Rejection(f"there is no column {'.'.join(parts)}", tuple(parts))


def analyzed(df: DataFrame, expressions: Sequence[str]) -> list[StructField | Rejection]:
    """Each expression over a DataFrame as a field: its type, and whether it can be NULL. Or why Spark rejects it."""
    from pyspark.errors import PySparkException

    def fields(some: Sequence[str]) -> list[StructField | Rejection]:
        # A later expression could refer to an earlier one by name, so the names are ones that no rule would use.
        named = [f"{sql} AS `sparkrules {number}`" for number, sql in enumerate(some)]
        return [*df.selectExpr(*named).schema.fields]

    # Spark cannot tell PySpark every type: strings of two collations, concatenated, have a type without a name.
    return answers(expressions, fields, PySparkException, lambda _, error: _rejection(error))


def _rejection(error: Exception) -> Rejection:
    condition = error.getCondition() or "" if hasattr(error, "getCondition") else ""
    if condition.startswith("UNRESOLVED_COLUMN"):
        name = (error.getMessageParameters() or {}).get("objectName", "")  # type: ignore[attr-defined]
        parts = [part.replace("``", "`") for part in _NAME_PART.findall(name)]
        if parts:
            return Rejection.no_column(parts)
    return Rejection(str(error).strip().splitlines()[0])
