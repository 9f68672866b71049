"""Rows that do not conform to their advertisement, and conditions in a column of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from sparkrules.errors import RuleSetError
from sparkrules.rules.advertised import Advertisement
from sparkrules.rules.frames import as_arrow, is_frame
from sparkrules.rules.sources import is_spark
from sparkrules.sql.predicate_sql import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def nonconforming(df: DataFrame, advertisement: Advertisement) -> DataFrame:
    """The rows for which the condition is false or unknown."""
    if not is_spark(df):
        raise RuleSetError(f"only a DataFrame of Spark can be checked, not {type(df).__name__}")
    # Spark puts `${env:HOME}` and the like into SQL before it parses it, with Connect not before the query runs.
    setting = "spark.sql.variable.substitute"
    if "${" in advertisement.sql and df.sparkSession.conf.get(setting) != "false":
        raise RuleSetError(
            f"the condition {advertisement.where!r} contains '${{', which Spark substitutes: set {setting}=false"
        )
    # The parser accepts no comment and no unbalanced bracket, so the text cannot leave these.
    return df.where(f"NOT coalesce(({advertisement.sql}), false)")


def where_texts(texts: DataFrame | pa.Table, column: str) -> list[str | None]:
    """The distinct texts of a column, sorted."""
    if is_frame(texts):
        texts = as_arrow(texts)
        if column not in texts.column_names:
            raise RuleSetError(f"the table has no column {column!r}; it has: {', '.join(texts.column_names)}")
        found = texts[column]
    elif is_spark(texts):
        found = texts.select(quoted(column)).distinct().toArrow()[column]
    else:
        raise RuleSetError(f"conditions are read from a DataFrame or an Arrow table, not from {type(texts).__name__}")
    if not (pa.types.is_string(found.type) or pa.types.is_large_string(found.type) or pa.types.is_null(found.type)):
        raise RuleSetError(f"conditions are strings, but column {column!r} has type {found.type}")
    return sorted(found.unique().to_pylist(), key=lambda text: (text is None, text or ""))
