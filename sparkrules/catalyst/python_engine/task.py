"""The work of one task in a Spark Python worker: reads batches of columns, returns the matches of each row."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkrules.index.csr import Csr
from sparkrules.index.rule_columns import Instants, valid_at
from sparkrules.index.rule_fields import field_values
from sparkrules.index.segment import Segment
from sparkrules.local.answer import Answer
from sparkrules.local.bound_predicates import BoundPredicates
from sparkrules.local.matcher import Matcher
from sparkrules.local.overlap_groups import Group, OverlapGroups

Batches = Iterator[pa.RecordBatch]
Shape = Literal["struct", "list"]


@dataclass(frozen=True)
class Task:
    """Everything that a worker needs. The driver builds it, so the worker binds nothing.

    The matches of a row are a struct of ids and overlaps, or a list. Each match has the fields of its rule; if there
    are any, the struct has `matches`. The column at `instant`, if any, is the start of the query, in microseconds.
    """

    matcher: Matcher
    answer: Answer
    groups: OverlapGroups
    valid_from: Instants
    valid_until: Instants
    shape: Shape
    top: int | None = None
    instant: int | None = None
    fields: tuple[str, ...] = ()

    @staticmethod
    def of(
        segment: Segment, predicates: BoundPredicates, fields: Mapping[str, Any] | None = None, **options: Any
    ) -> Task:
        """A task for a segment, without the segment's fields that only people read."""
        values = {name: field_values(segment.rules, name, kind) for name, kind in (fields or {}).items()}
        parts = Matcher(segment, predicates), Answer(segment, values), OverlapGroups(segment)
        return Task(*parts, segment.rules.valid_from, segment.rules.valid_until, fields=tuple(values), **options)

    def __call__(self, batches: Batches) -> Iterator[pa.Array]:
        for batch in batches:
            valid = self._valid(batch)
            found = []
            for block in self.matcher.blocks(batch, valid):
                matched = block.subscriptions if self.top is None else _first(block.subscriptions, self.top)
                found.append(self._found(matched, self.groups.of_rows(block.truth, matched)))
            yield pa.concat_arrays(found) if found else self._found(Csr.from_rows([]), iter(()))

    def _found(self, matched: Csr, groups: Iterator[list[Group]]) -> Any:
        if self.shape == "list":
            return self.answer.matches(matched, groups)
        found = {"ids": self.answer.ids(matched), "overlaps": self.answer.overlaps(groups)}
        if self.fields:
            found["matches"] = self.answer.named(matched)
        return pa.StructArray.from_arrays([*found.values()], [*found])

    def _valid(self, batch: pa.RecordBatch) -> NDArray[np.bool_]:
        if self.instant is None or not batch.num_rows:
            return np.ones(len(self.valid_from), bool)
        micros = batch.column(self.instant)[0].as_py()
        began = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=micros)
        return valid_at(self.valid_from, self.valid_until, began)


def shipped(task: Task) -> bytes:
    """The task with its code, for `pickle.loads`: workers need numpy and pyarrow, not this package."""
    from pyspark import cloudpickle as untyped

    cloudpickle: Any = untyped
    package = sys.modules[__name__.partition(".")[0]]
    cloudpickle.register_pickle_by_value(package)
    try:
        content: bytes = cloudpickle.dumps(task)
    finally:
        cloudpickle.unregister_pickle_by_value(package)
    return content


def _first(matched: Csr, top: int) -> Csr:
    """The first rules of each row, at most `top`."""
    lengths = matched.lengths
    place = np.arange(len(matched.values)) - np.repeat(matched.offsets[:-1], lengths)
    return Csr.from_lengths(np.minimum(lengths, top), matched.values[place < top])
