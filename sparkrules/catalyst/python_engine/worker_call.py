"""Adds the matches to a DataFrame by calling a task in Spark's Python workers.

Only the columns that the task reads go to the workers, by `arrow_udf`; all others stay where they are, whatever their
type. PySpark 4.0 has no `arrow_udf`: there, all columns go through the workers, by `mapInArrow`, so each of them must
have an Arrow type.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sparkrules.catalyst.python_engine.carried_types import is_carried
from sparkrules.catalyst.python_engine.task import Task, shipped
from sparkrules.errors import RuleSetError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType


def check_passed(df: DataFrame) -> None:
    """Check that the columns can pass through the workers, if they have to."""
    from pyspark.sql import functions

    for column in df.schema.fields:
        if not hasattr(functions, "arrow_udf") and not is_carried(column.dataType):
            found = column.dataType.simpleString().upper()
            raise RuleSetError(
                f"column {column.name!r} is of type {found}, which cannot be sent to Spark's Python workers: drop it, "
                "or cast it to another type. From PySpark 4.1 on, any column is possible"
            )


def with_found(computed: DataFrame, width: int, read: list[str], task: Task, type: DataType) -> DataFrame:
    """The first `width` columns, then `found`: what the task finds in the columns that it reads, given as SQL."""
    from pyspark.sql import functions

    read = read or ["true"]  # a column to count the rows by
    if not hasattr(functions, "arrow_udf"):
        return _through_workers(computed, width, read, task, type)
    columns = [functions.expr(sql) for sql in read]
    # Not deterministic, so that Spark does not compute it again for each filter that reads the matches.
    find = functions.arrow_udf(_arrays(shipped(task)), type).asNondeterministic()
    return computed.select(*computed.columns[:width], find(*columns).alias("found"))


def _arrays(content: bytes) -> Callable[[Iterator[Any]], Iterator[Any]]:
    # Defined here, because a module-level function is sent to the workers as a reference to its module.
    def run(arrays: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
        return pickle.loads(content)(map(batch, arrays))  # type: ignore[no-any-return]

    def batch(columns: Any) -> pa.RecordBatch:
        listed = columns if isinstance(columns, tuple) else (columns,)
        return pa.RecordBatch.from_arrays([*listed], [str(number) for number in range(len(listed))])

    return run


def _through_workers(computed: DataFrame, width: int, read: list[str], task: Task, type: DataType) -> DataFrame:
    from pyspark.sql.types import StructField, StructType

    passed = computed.schema.fields[:width]
    carried = computed.selectExpr(
        *computed.columns[:width], *(f"{sql} AS v{number}" for number, sql in enumerate(read))
    )
    schema = StructType([*passed, StructField("found", type, False)])
    return carried.mapInArrow(_batches(shipped(task), width), schema)


def _batches(content: bytes, width: int) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        task = pickle.loads(content)
        for batch in batches:
            (found,) = task(iter([batch.select(range(width, batch.num_columns))]))
            yield pa.RecordBatch.from_arrays([*batch.columns[:width], found], [*batch.schema.names[:width], "found"])

    return run
