"""Finds predicates with a constant that cannot be computed. These are never true."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from sparkrules.catalyst.halving import answers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructField


def failing(spark: SparkSession, columns: Collection[StructField], conditions: Sequence[str]) -> set[str]:
    """The conditions that fail when every column is NULL: their constants alone make them fail.

    The row is hidden from the planner, so that it folds the constants.
    """
    if not conditions:
        return set()
    from pyspark.sql.types import StructField, StructType

    schema = StructType([StructField(column.name, column.dataType, True) for column in columns])
    row = spark.createDataFrame([(None,) * len(schema)], schema) if len(schema) else spark.range(1)
    row = row.repartition(1)

    def run(some: Sequence[str]) -> list[bool]:
        row.selectExpr(*(f"{condition} AS e{number}" for number, condition in enumerate(some))).collect()
        return [False] * len(some)

    failed: list[bool] = answers(list(dict.fromkeys(conditions)), run, Exception, _is_failure)
    if any(failed):
        row.collect()  # if this fails, the constants were not the cause
    return {condition for condition, fails in zip(dict.fromkeys(conditions), failed, strict=True) if fails}


def _is_failure(_: str, error: Exception) -> bool:
    if not type(error).__module__.startswith(("pyspark.", "py4j.")):
        raise error
    return True
