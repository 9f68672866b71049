"""Match a segment against an Arrow table in pure Python, without Spark.

Contract: a rule is reported for a row exactly when Spark, under its default settings, would keep the row for its WHERE.
Where that is not certain (see `comparison` and `columns`: derived attributes, implicit casts, regular expressions,
local time, a missing column), the rule is not answered at all: `match` raises, or with `unsupported="skip"` skips the
rule and says so. An OR with one uncertain side is uncertain as a whole.

There are two phases, as in the thesis (3.2.2): the predicates, attribute by attribute (`bound_predicates`), then the
inner nodes, level by level (`junctions`), both 64 rows at a time (`truth`). Rows are processed in blocks, which keeps
the matrices within `MEMORY`, and mostly within the processor's cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkrules.errors import SparkRulesError, listed
from sparkrules.index.csr import Csr
from sparkrules.index.forest import PREDICATE
from sparkrules.index.segment import Segment
from sparkrules.local.bound_predicates import BoundPredicates, bind_predicates
from sparkrules.local.junctions import Junctions
from sparkrules.local.matches import Block, Matches
from sparkrules.local.reference_list import Lists, no_lists
from sparkrules.local.truth import Truth
from sparkrules.logic.columns import NoSuchColumn, Unsupported

MEMORY = 64 * 2**20  # bytes for the matrices of one batch
_MOST_ROWS = 2**12
_WORD = 64
_SHOWN = 10


class NeedsSpark(SparkRulesError):
    """Only Spark can match some of the rules, or detect some patterns. `reasons` maps their ids to the reason."""

    def __init__(self, reasons: Mapping[str, str], what: str = "only Spark can match", of: str = "rules") -> None:
        shown = listed((f"{id}: {reason}" for id, reason in reasons.items()), _SHOWN, "\n  ")
        super().__init__(f'{what} {len(reasons)} of the {of} (skip them with unsupported="skip"):\n  {shown}')
        self.reasons = dict(reasons)


class UnknownColumn(NeedsSpark):
    """The table lacks a column that some rules, or patterns, name. `reasons` maps their ids to the column."""

    def __init__(self, reasons: Mapping[str, str], of: str = "rules") -> None:
        super().__init__(reasons, "a column is missing for", of)


def match(
    segment: Segment,
    table: pa.Table | pa.RecordBatch,
    *,
    unsupported: Literal["error", "skip"] = "error",
    at: datetime | None = None,
    schema: pa.Schema | None = None,
    lists: Lists = no_lists,
) -> Matches:
    """The rules that match each row of the table. Given an instant, only rules that are valid at it.

    `schema` gives column types where the table's are imprecise: Arrow's string has no collation.

    >>> from sparkrules.index.builder import build_segment
    >>> from sparkrules.index.rule import Rule
    >>> from sparkrules.sql.tree import Constant, Predicate
    >>> segment = build_segment([Rule("cheap", "price < 5", Predicate("price", "<", (Constant("integer", "5"),)))])
    >>> match(segment, pa.table({"price": [3, 7, None]})).ids.to_pylist()
    [['cheap'], [], []]
    >>> match(segment, pa.table({"cost": [3]}))
    Traceback (most recent call last):
    ...
    sparkrules.local.matcher.UnknownColumn: a column is missing for 1 of the rules (skip them with unsupported="skip"):
      cheap: there is no column `price`
    """
    bound = bind_predicates(segment, table.schema, schema, lists, at)
    valid = np.ones(len(segment.rules.priority), bool) if at is None else segment.rules.valid_at(at)
    skipped = {number: reason for number, reason in _unsupported(segment, bound.unsupported).items() if valid[number]}
    if skipped and unsupported != "skip":
        missing = {
            segment.rules.id[number]: str(reason)
            for number, reason in skipped.items()
            if isinstance(reason, NoSuchColumn)
        }
        if missing:
            raise UnknownColumn(missing)
        raise NeedsSpark({segment.rules.id[number]: str(reason) for number, reason in skipped.items()})

    valid[list(skipped)] = False
    matcher = Matcher(segment, bound)
    found = [block.subscriptions for block in matcher.blocks(table, valid)]
    reasons = {segment.rules.id[number]: reason for number, reason in skipped.items()}
    return Matches(segment, Csr.concatenated(found), reasons, lambda: matcher.blocks(table, valid))


class Matcher:
    """A segment with bound predicates. Created once, for any number of tables with the columns they read.

    It holds only the arrays that matching needs, not the segment, so it can be sent to other processes.
    """

    def __init__(self, segment: Segment, bound: BoundPredicates) -> None:
        self.bound = bound
        self._junctions = Junctions(segment.forest)
        self._nodes = len(segment.forest.nodes.operator)
        self._is_predicate = np.flatnonzero(segment.forest.nodes.operator == PREDICATE)
        self._predicate = segment.forest.nodes.predicate[self._is_predicate]
        self._order = segment.rules.output_order
        self._roots = segment.forest.roots
        bytes_per_row = (4 * len(segment.forest.predicates.operator) + 2 * self._nodes) // 8
        self._block_rows = max(_WORD, min(_MOST_ROWS, MEMORY // max(bytes_per_row, 1) // _WORD * _WORD))

    def blocks(self, table: pa.Table | pa.RecordBatch, valid: NDArray[np.bool_]) -> Iterator[Block]:
        """The rows in order, as many at a time as memory allows. Only `valid` rules match."""
        reported = self._order[valid[self._order]]
        roots = self._roots[reported]
        for batch in _batches(table, self._block_rows):
            truth = self._node_truth(batch)
            rows, places = truth.pairs(roots)
            yield Block(truth, Csr.from_lengths(np.bincount(rows, minlength=batch.num_rows), reported[places]))

    def _node_truth(self, batch: Any) -> Truth:
        predicates = self.bound.words(batch)
        words = np.zeros((self._nodes, predicates.shape[1]), np.uint64)
        words[self._is_predicate] = predicates[self._predicate]
        self._junctions.fill(words)
        return Truth(words, batch.num_rows)


def _unsupported(segment: Segment, reasons: Mapping[int, Unsupported]) -> dict[int, Unsupported]:
    """The rules with an unsupported predicate, in output order, each with one reason."""
    found: dict[int, Unsupported] = {}
    if reasons:
        # Users can fix a missing column, so it is reported before any other reason.
        for predicate in sorted(reasons, key=lambda number: not isinstance(reasons[number], NoSuchColumn)):
            for rule in segment.forest.users.row(int(segment.forest.node_of_predicate[predicate])).tolist():
                found.setdefault(rule, reasons[predicate])
    return {rule: found[rule] for rule in sorted(found, key=segment.rules.output_rank.__getitem__)}


def _batches(table: pa.Table | pa.RecordBatch, rows: int) -> Iterator[Any]:
    """The rows in order, in batches of at most `rows`."""
    for start in range(0, table.num_rows, rows):
        part = table.slice(start, rows)
        # One batch, whatever the chunks: a slice may span several.
        is_batch = isinstance(part, pa.RecordBatch)
        yield part if is_batch else pa.RecordBatch.from_struct_array(_single(part.to_struct_array()))


def _single(array: Any) -> Any:
    return array if not isinstance(array, pa.ChunkedArray) else pa.concat_arrays(array.chunks)
