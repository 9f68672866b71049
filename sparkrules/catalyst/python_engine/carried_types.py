"""Which values Spark can send to its Python workers, and which columns it can hold while the workers compute."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

_PLAIN = ("boolean", "byte", "short", "integer", "long", "float", "double", "decimal", "date", "timestamp", "binary")


def is_carried(type: DataType) -> bool:
    """Whether PySpark has an Arrow type for it. It has none for intervals of years and months, for example."""
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import to_arrow_type

    options: dict[str, Any] = {"timezone": "UTC"} if "timezone" in signature(to_arrow_type).parameters else {}
    try:
        to_arrow_type(type, **options)
    except (PySparkException, TypeError, ValueError):
        return False
    return True


def held_as_rows(df: DataFrame) -> DataFrame:
    """The same rows, never as columnar batches if Spark cannot copy a column of such a batch.

    From 4.3, a Python function can read the batches of a scan. The columns that it does not read are then copied, which
    fails for strings with a collation, for NULL without a type and for user-defined types, also inside other types.
    """
    if all(_is_copied(field.dataType) for field in df.schema.fields):
        return df
    # A filter needs rows. Spark cannot know that this one keeps all of them, so it does not remove it.
    return df.where("spark_partition_id() >= 0")


def _is_copied(type: DataType) -> bool:
    from pyspark.sql.types import ArrayType, MapType, StringType, StructType

    if isinstance(type, StructType):
        return all(_is_copied(field.dataType) for field in type.fields)
    if isinstance(type, ArrayType):
        return _is_copied(type.elementType)
    if isinstance(type, MapType):
        return _is_copied(type.keyType) and _is_copied(type.valueType)
    return type.typeName() in _PLAIN or type == StringType()
