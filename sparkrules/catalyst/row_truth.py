"""Evaluates predicates of a rule set on one row: with Spark if there is a session, else with numpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkrules.catalyst.predicate_truth import predicate_truth
from sparkrules.errors import RuleSetError
from sparkrules.index.segment import Segment
from sparkrules.local.bound_predicates import bind_predicates

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession


def row_truth(
    segment: Segment, row: Mapping[str, Any] | Row, wanted: list[int], spark: SparkSession | None = None
) -> NDArray[np.bool_]:
    """The truth of the wanted predicates for the row, in an array of all predicates; the others are false."""
    truth = np.zeros(len(segment.forest.predicates.operator), bool)
    if spark is not None:
        truth[wanted] = predicate_truth(
            spark, _fields(row, nested=False), [segment.forest.predicate(number) for number in wanted]
        )
        return truth
    table = _table(_fields(row, nested=True))
    bound = bind_predicates(segment, table.schema)
    for number in wanted:
        if number in bound.unsupported:
            raise RuleSetError(
                f"{segment.forest.predicate(number)}: {bound.unsupported[number]}; explain(row, spark) lets Spark say"
            )
    truth[wanted] = bound.truth(table.to_batches()[0])[wanted, 0]
    return truth


def _fields(row: Mapping[str, Any] | Row, *, nested: bool) -> Mapping[str, Any]:
    if isinstance(row, Mapping):
        return row
    if hasattr(row, "asDict"):
        return row.asDict(recursive=nested)
    raise RuleSetError(f"a row is a mapping of column to value, or a Row of Spark, not {type(row).__name__}")


def _table(fields: Mapping[str, Any]) -> pa.Table:
    try:
        return pa.Table.from_pylist([dict(fields)])
    except pa.ArrowException as error:
        raise RuleSetError(f"the row {dict(fields)!r} has a value that Arrow cannot hold: {error}") from error
