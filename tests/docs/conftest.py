"""Restores the session after each page and example."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def settings_kept(spark: SparkSession) -> Iterator[None]:
    before = _settings(spark)
    tables = _tables(spark)
    functions = _functions(spark)
    yield
    after = _settings(spark)
    for key in after.keys() - before.keys():
        spark.conf.unset(key)
    for key, value in before.items():
        if after.get(key) != value:
            spark.conf.set(key, value)
    for name, kind in _tables(spark).items():
        if name not in tables:
            spark.sql(f"DROP {kind} `{name}`")
    for name in _functions(spark) - functions:
        spark.sql(f"DROP {'FUNCTION' if '.' in name else 'TEMPORARY FUNCTION'} {name}")


def _functions(spark: SparkSession) -> set[str]:
    return {row.function for row in spark.sql("SHOW USER FUNCTIONS").collect()}


def _settings(spark: SparkSession) -> dict[str, str]:
    return {row.key: row.value for row in spark.sql("SET").collect()}


def _tables(spark: SparkSession) -> dict[str, str]:
    """The tables and views of the session, each with the word that drops it."""
    return {
        table.name: "VIEW" if table.isTemporary or table.tableType == "VIEW" else "TABLE"
        for table in spark.catalog.listTables()
    }
