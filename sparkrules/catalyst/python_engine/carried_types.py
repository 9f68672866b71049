"""The types whose values Spark can send to its Python workers."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql.types import DataType


def is_carried(type: DataType) -> bool:
    """Whether PySpark has an Arrow type for it. It has none for intervals of years and months, for example."""
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import to_arrow_type

    options: dict[str, Any] = {"timezone": "UTC"} if "timezone" in signature(to_arrow_type).parameters else {}
    try:
        to_arrow_type(type, **options)
    except (PySparkException, TypeError):
        return False
    return True
