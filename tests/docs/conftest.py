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
    yield
    for key in _settings(spark).keys() - before.keys():
        spark.conf.unset(key)
    for key, value in before.items():
        if _settings(spark).get(key) != value:
            spark.conf.set(key, value)
    for name in _tables(spark).keys() - tables.keys():
        spark.sql(f"DROP {_tables(spark)[name]} `{name}`")


def _settings(spark: SparkSession) -> dict[str, str]:
    return {row.key: row.value for row in spark.sql("SET").collect()}


def _tables(spark: SparkSession) -> dict[str, str]:
    """The tables and views of the session, each with the word that drops it."""
    return {
        table.name: "VIEW" if table.isTemporary or table.tableType == "VIEW" else "TABLE"
        for table in spark.catalog.listTables()
    }
