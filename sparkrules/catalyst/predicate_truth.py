"""Evaluates predicates on one row with Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sparkrules.catalyst.halving import answers
from sparkrules.errors import RuleSetError
from sparkrules.sql.predicate_sql import predicate_sql, quoted
from sparkrules.sql.tree import Predicate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def predicate_truth(spark: SparkSession, row: Mapping[str, Any], predicates: Sequence[Predicate]) -> list[bool]:
    """Whether each predicate is true for the row. One that fails (an ANSI cast) is not true, as in matching.

    Raises `RuleSetError` if a column is missing or has a different type.
    """
    from pyspark.errors import PySparkException

    conditions = [predicate_sql(predicate) for predicate in predicates]
    with _as_written(spark, [*conditions, *row]):
        one_row = _one_row(spark, row)

        def truths(some: Sequence[str]) -> list[bool]:
            found = one_row.selectExpr(*(f"({condition}) IS TRUE" for condition in some)).head()
            return [bool(value) for value in found or ()]

        return answers(conditions, truths, PySparkException, _not_true)


def attribute_texts(spark: SparkSession, row: Mapping[str, Any], attributes: Sequence[str]) -> list[str | None]:
    """The values of attributes for the row, as strings."""
    from pyspark.errors import PySparkException

    if not attributes:
        return []
    with _as_written(spark, [*attributes, *row]):
        one_row = _one_row(spark, row)

        def texts(some: Sequence[str]) -> list[str | None]:
            found = one_row.selectExpr(*(f"CAST(({attribute}) AS STRING)" for attribute in some)).head()
            return list(found or ())

        return answers(attributes, texts, PySparkException, lambda *_: None)


@contextmanager
def _as_written(spark: SparkSession, texts: Sequence[str]) -> Iterator[None]:
    """Spark substitutes `${env:HOME}` and the like in SQL before parsing. It must not do so in a rule."""
    setting = "spark.sql.variable.substitute"
    if not any("${" in text for text in texts):
        yield
        return
    before = spark.conf.get(setting) or "true"
    spark.conf.set(setting, "false")
    try:
        yield
    finally:
        spark.conf.set(setting, before)


def _not_true(condition: str, error: Exception) -> bool:
    from pyspark.errors import AnalysisException

    if isinstance(error, AnalysisException):
        raise RuleSetError(f"{condition}: {str(error).splitlines()[0]}") from error
    return False


def _one_row(spark: SparkSession, row: Mapping[str, Any]) -> DataFrame:
    from pyspark.errors import PySparkValueError

    # Spark cannot infer a type from an empty value. As a SQL literal it has none, and compares with everything.
    empty = {name: sql for name, value in row.items() if (sql := _empty_sql(value))}
    known = {name: value for name, value in row.items() if name not in empty}
    try:
        frame = spark.createDataFrame([tuple(known.values())], list(known)) if known else spark.range(1).select()
    except PySparkValueError as error:
        raise RuleSetError(f"Spark does not know the types of the row {dict(row)!r}: {error}") from error
    return frame.selectExpr("*", *(f"{sql} AS {quoted(name)}" for name, sql in empty.items()))


def _empty_sql(value: object) -> str | None:
    if value is None:
        return "NULL"
    if isinstance(value, (list, dict)) and not value:
        return "array()" if isinstance(value, list) else "map()"
    return None
