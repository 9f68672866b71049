"""Rules that are the rows of a table of Spark: read by name, with a condition, and synced to a rule set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from sparkrules.errors import RuleSetError
from sparkrules.rules.arguments import shown
from sparkrules.rules.collection import RuleCollection
from sparkrules.rules.sources import FIELDS, PATTERN_FIELDS, check_columns, is_spark, table_rows
from sparkrules.rules.sync import Synced, sync
from sparkrules.sql.predicate_sql import quoted
from sparkrules.store import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def rule_table(spark: SparkSession, table: str, where: str | None = None) -> DataFrame:
    """A table or view of rules as it is now. `where` is a condition on its columns."""
    from pyspark.errors import PySparkException

    if not isinstance(table, str) or not table.strip():
        raise RuleSetError(f"a table is given by its name, such as 'sec.rules', not {shown(table)}")
    if where is not None and not isinstance(where, str):
        raise RuleSetError(f"where is a condition on the columns of {table}, such as 'enabled', not {shown(where)}")
    try:
        # What other applications have written to files is not seen otherwise.
        spark.catalog.refreshTable(table)
        df = spark.table(table)
        check_columns(df.columns, f"the table {table}")
    except PySparkException as error:
        raise RuleSetError(f"the table {table} cannot be read: {_first_line(error)}") from error
    if where is None:
        return df
    try:
        # Spark's parser reads one expression: a second statement is an error, and nothing is run.
        chosen = df.where(where)
        _ = chosen.selectExpr("1").schema  # Connect takes the columns of a filter to be those of its input
    except PySparkException as error:
        raise RuleSetError(f"where={where!r:.200} is no condition on {table}: {_first_line(error)}") from error
    return chosen


def rule_cells(df: DataFrame) -> pa.Table:
    """The columns of a DataFrame that rules are made of."""
    check_columns(df.columns, "the DataFrame")
    read = {*FIELDS, *PATTERN_FIELDS}
    try:
        return df.select(*[quoted(name) for name in df.columns if name.strip().lower() in read]).toArrow()
    except Exception as error:  # a task that fails is an error of Py4J, of gRPC, or PySpark's own
        raise RuleSetError(f"the rules cannot be read, so nothing is changed: {_first_line(error)}") from error


def sync_cells(
    rules: RuleCollection,
    target: Store,
    cells: pa.Table,
    *,
    empty: bool = False,
    strict: bool = False,
    schema: pa.Schema | None = None,
) -> Synced:
    """`sync` with the rows of an Arrow table. Only one with columns of patterns decides about them."""
    names = {str(name).strip().lower() for name in cells.column_names}
    return sync(
        rules,
        target,
        table_rows(cells),
        has_patterns=not names.isdisjoint(PATTERN_FIELDS),
        empty=empty,
        strict=strict,
        schema=schema,
    )


def sync_table(rules: RuleCollection, target: Store, spark: SparkSession, source: str | DataFrame) -> Synced:
    """Sync a rule set with a table, by its name, or a DataFrame."""
    if not isinstance(source, str) and not is_spark(source):
        raise RuleSetError(f"rules_from is the name of a table, or a DataFrame of Spark, not {shown(source)}")
    return sync_cells(rules, target, rule_cells(rule_table(spark, source) if isinstance(source, str) else source))


def _first_line(error: Exception) -> str:
    # Py4J's own text says only which call failed.
    text = error.java_exception.toString() if hasattr(error, "java_exception") else str(error)
    return next((line.strip() for line in text.splitlines() if line.strip()), type(error).__name__)
