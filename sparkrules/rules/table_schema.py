"""The Arrow schema of a table, from a schema of pyarrow or Spark, or from the table itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, Union

import pyarrow as pa

from sparkrules.errors import RuleSetError
from sparkrules.logic.spark_string import described_string
from sparkrules.rules.frames import Frame, as_arrow, is_frame
from sparkrules.rules.sources import is_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

TableSchema: TypeAlias = Union[pa.Schema, Frame, "StructType", "DataFrame"]

# A type that Arrow does not have: only IS NULL can be asked of its values, as of binary ones.
_OPAQUE = pa.binary()


def arrow_schema(table: TableSchema | None) -> pa.Schema | None:
    """The schema of a table; None stays None.

    >>> arrow_schema(pa.table({"a": [1]})) == arrow_schema(pa.schema([("a", pa.int64())]))
    True
    >>> from pyspark.sql.types import CalendarIntervalType, IntegerType, StructType, TimestampType
    >>> row = StructType().add("a", IntegerType(), False).add("span", CalendarIntervalType())
    >>> arrow_schema(row.add("at", TimestampType()))
    a: int32 not null
    span: binary
    at: timestamp[us, tz=UTC]
    """
    if table is None or isinstance(table, pa.Schema):
        return table
    if is_frame(table):
        return as_arrow(table).schema
    described: Any = table.schema if is_spark(table) else table
    if not any(base.__name__ == "StructType" for base in type(described).__mro__):
        raise RuleSetError(
            f"a schema is a pyarrow Schema, a StructType of Spark, or a table that has one, not {type(table).__name__}"
        )
    return pa.schema(list(arrow_type(described)))


def _arrow_field(field: Any) -> pa.Field:
    type_ = _OPAQUE if is_char(field) else arrow_type(field.dataType)
    collation = getattr(field.dataType, "collation", "UTF8_BINARY")
    if type_ != _OPAQUE or not (is_char(field) or collation != "UTF8_BINARY"):
        return pa.field(field.name, type_, field.nullable)
    # An opaque type, with a description for error messages.
    return described_string(pa.field(field.name, type_, field.nullable), field.metadata or {}, collation)


def is_char(field: Any) -> bool:
    """Whether a string field of Spark is a CHAR(n), according to its metadata.

    >>> from pyspark.sql.types import StringType, StructField
    >>> is_char(StructField("code", StringType(), True, {"__CHAR_VARCHAR_TYPE_STRING": "char(5)"}))
    True
    """
    declared = str((field.metadata or {}).get("__CHAR_VARCHAR_TYPE_STRING", ""))
    return declared.lower().startswith("char(")


def arrow_type(spark_type: Any) -> pa.DataType:
    """The Arrow type of a Spark type; an opaque one where Arrow compares values differently.

    >>> from pyspark.sql.types import StringType, TimestampType
    >>> arrow_type(TimestampType()), arrow_type(StringType("UTF8_LCASE"))
    (TimestampType(timestamp[us, tz=UTC]), DataType(binary))
    """
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import to_arrow_type
    from pyspark.sql.types import CharType, StringType, StructType, TimestampType, VarcharType

    if isinstance(spark_type, StructType):
        return pa.struct([_arrow_field(own) for own in spark_type.fields])
    if isinstance(spark_type, TimestampType):
        return pa.timestamp("us", "UTC")  # from PySpark 4.3 on, to_arrow_type asserts a zone for it
    if isinstance(spark_type, VarcharType):
        return pa.string()
    if isinstance(spark_type, CharType) or (isinstance(spark_type, StringType) and spark_type != StringType()):
        return _OPAQUE  # padded, or with a collation: =, < and LIKE mean something else there
    try:
        return to_arrow_type(spark_type)
    except (PySparkException, TypeError, ValueError, AssertionError):
        return _OPAQUE
