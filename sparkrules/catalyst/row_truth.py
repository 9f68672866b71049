"""Evaluates predicates of a rule set on one row: with Spark if there is a session, else with numpy."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkrules.catalyst.predicate_truth import attribute_texts, predicate_truth
from sparkrules.errors import RuleSetError
from sparkrules.index.segment import Segment
from sparkrules.local.bound_predicates import bind_predicates
from sparkrules.local.reference_list import Lists, ListTest, no_lists
from sparkrules.logic.columns import Unsupported
from sparkrules.sql.exemption import CLOCK, clock_micros
from sparkrules.sql.tree import Predicate

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession


def row_truth(
    segment: Segment,
    row: Mapping[str, Any] | Row,
    wanted: list[int],
    spark: SparkSession | None = None,
    lists: Lists = no_lists,
    at: datetime | None = None,
) -> NDArray[np.bool_]:
    """The truth of the wanted predicates for the row, in an array of all predicates; the others are false."""
    truth = np.zeros(len(segment.forest.predicates.operator), bool)
    if spark is not None:
        fields, predicates = _fields(row, nested=False), {n: segment.forest.predicate(n) for n in wanted}
        listed = [n for n, own in predicates.items() if own.operator in ("in list", "not in list")]
        timed = [n for n, own in predicates.items() if own.attribute == CLOCK and own.operator == ">="]
        asked = [n for n in wanted if n not in {*listed, *timed}]
        truth[asked] = predicate_truth(spark, fields, [predicates[n] for n in asked])
        now = clock_micros(datetime.now(timezone.utc) if at is None else at)
        truth[timed] = [now >= int(predicates[n].constants[0].text) for n in timed]
        values = attribute_texts(spark, fields, [predicates[n].attribute for n in listed])
        for number, value in zip(listed, values, strict=True):
            own = predicates[number]
            is_in = value is not None and _asked(lists, own)(value.encode())
            truth[number] = value is not None and is_in == (own.operator == "in list")
        return truth
    table = _table(_fields(row, nested=True))
    bound = bind_predicates(segment, table.schema, lists=lists, at=at)
    for number in wanted:
        if number in bound.unsupported:
            raise RuleSetError(
                f"{segment.forest.predicate(number)}: {bound.unsupported[number]}; explain(row, spark) lets Spark say"
            )
    truth[wanted] = bound.truth(table.to_batches()[0])[wanted, 0]
    return truth


def _asked(lists: Lists, predicate: Predicate) -> ListTest:
    try:
        return lists(predicate.constants[0].text)
    except Unsupported as reason:
        raise RuleSetError(f"{predicate}: {reason}") from reason


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
