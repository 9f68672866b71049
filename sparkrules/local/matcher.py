"""Matching in pure Python: a segment against an Arrow table, without Spark.

Contract: a subscription is reported for a row exactly when Spark, under its default settings, would keep the row for
its WHERE. Where that is not certain (see `comparison` and `columns`: derived attributes, implicit casts, regular
expressions, local time, a missing column) the subscription is not answered at all: `match` raises, or with
`unsupported="skip"` leaves it out and says so. An OR with one uncertain side is uncertain as a whole.

Two phases, as in the thesis (3.2.2): the predicates attribute by attribute (`leaves`), then the inner nodes level by
level, 64 rows at a time (`truth`). Rows go in blocks, so that the matrices stay within `MEMORY`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkrules.errors import SparkRulesError, listed
from sparkrules.index.csr import Csr, Ints, Offsets
from sparkrules.index.segment import AND, OR, PREDICATE, Segment
from sparkrules.local.leaves import BoundLeaves, bind_leaves
from sparkrules.local.matches import Block, Matches
from sparkrules.local.truth import Truth, packed
from sparkrules.logic.columns import NoSuchColumn, Unsupported

MEMORY = 64 * 2**20  # bytes for the matrices of one batch
_MOST_ROWS = 2**16
_SHOWN = 10


class NeedsSpark(SparkRulesError):
    """Only Spark can match some of the rules. `reasons` says why, by id."""

    def __init__(self, reasons: Mapping[str, str], what: str = "only Spark can match") -> None:
        shown = listed((f"{id}: {reason}" for id, reason in reasons.items()), _SHOWN, "\n  ")
        super().__init__(f'{what} {len(reasons)} of the rules (skip them with unsupported="skip"):\n  {shown}')
        self.reasons = dict(reasons)


class UnknownColumn(NeedsSpark):
    """The table lacks a column that some of the rules name. `reasons` says which, by id."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        super().__init__(reasons, "a column is missing for")


def match(
    segment: Segment,
    table: pa.Table | pa.RecordBatch,
    *,
    unsupported: Literal["error", "skip"] = "error",
    at: datetime | None = None,
    schema: pa.Schema | None = None,
) -> Matches:
    """The subscriptions that match each row of the table; those that are valid at an instant, if there is one given.

    `schema` says of which types the columns are, if Arrow's own do not tell: not that a text has a collation.

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
    leaves = bind_leaves(segment, table.schema, schema)
    valid = np.ones(len(segment.priority), bool) if at is None else segment.valid_at(at)
    skipped = {number: problem for number, problem in _unsupported(segment, leaves.problems).items() if valid[number]}
    if skipped and unsupported != "skip":
        missing = {
            segment.subscription_id[number]: str(problem)
            for number, problem in skipped.items()
            if isinstance(problem, NoSuchColumn)
        }
        if missing:
            raise UnknownColumn(missing)
        raise NeedsSpark({segment.subscription_id[number]: str(problem) for number, problem in skipped.items()})

    valid[list(skipped)] = False
    matcher = Matcher(segment, leaves)
    found = [block.subscriptions for block in matcher.blocks(table, valid)]
    reasons = {segment.subscription_id[number]: str(problem) for number, problem in skipped.items()}
    return Matches(segment, Csr.concatenated(found), reasons, lambda: matcher.blocks(table, valid))


class Matcher:
    """A segment whose leaves are bound: made once, for any number of tables with the columns that these read.

    It has the arrays that matching needs and not the segment, so that it can be sent elsewhere.
    """

    def __init__(self, segment: Segment, leaves: BoundLeaves) -> None:
        self.leaves = leaves
        self._steps = list(_steps(segment))
        self._nodes = len(segment.node_operator)
        self._is_leaf = np.flatnonzero(segment.node_operator == PREDICATE)
        self._leaf_predicate = segment.node_predicate[self._is_leaf]
        self._always = np.flatnonzero((segment.node_operator == AND) & (segment.children.lengths == 0))
        self._order = segment.output_order
        self._roots = segment.subscription_node
        widest = max((len(step.children) + len(step.nodes) for step in self._steps), default=0)
        bytes_per_row = 4 * len(segment.predicate_operator) + (self._nodes + widest) // 8
        self._block_rows = max(1, min(_MOST_ROWS, MEMORY // max(bytes_per_row, 1)))

    def blocks(self, table: pa.Table | pa.RecordBatch, valid: NDArray[np.bool_]) -> Iterator[Block]:
        """The rows in order, as many at a time as memory allows; only subscriptions that are `valid` match."""
        reported = self._order[valid[self._order]]
        roots = self._roots[reported]
        for batch in _batches(table, self._block_rows):
            truth = self._node_truth(batch)
            rows, places = truth.pairs(roots)
            yield Block(truth, Csr.from_lengths(np.bincount(rows, minlength=batch.num_rows), reported[places]))

    def _node_truth(self, batch: Any) -> Truth:
        leaves = packed(self.leaves.truth(batch))
        words = np.zeros((self._nodes, leaves.shape[1]), np.uint64)
        words[self._is_leaf] = leaves[self._leaf_predicate]
        words[self._always] = ~np.uint64(0)
        for step in self._steps:
            # reduceat would misread an empty row, hence `_steps` leaves out empty junctions.
            join = np.bitwise_and if step.is_and else np.bitwise_or
            words[step.nodes] = join.reduceat(words[step.children], step.starts, axis=0)
        return Truth(words, batch.num_rows)


def _unsupported(segment: Segment, problems: Mapping[int, Unsupported]) -> dict[int, Unsupported]:
    """The subscriptions with a predicate that has a problem, in output order, each with one such problem."""
    found: dict[int, Unsupported] = {}
    if problems:
        # A missing column is the user's to repair, so it is named before anything else.
        for predicate in sorted(problems, key=lambda number: not isinstance(problems[number], NoSuchColumn)):
            for subscription in segment.users.row(int(segment.leaf_of_predicate[predicate])).tolist():
                found.setdefault(subscription, problems[predicate])
    return {subscription: found[subscription] for subscription in sorted(found, key=segment.output_rank.__getitem__)}


@dataclass(frozen=True)
class _Step:
    """The junctions of one level with one operator: node `nodes[i]` joins `children[starts[i]:starts[i + 1]]`."""

    is_and: bool
    nodes: NDArray[np.int64]
    children: Ints
    starts: Offsets


def _steps(segment: Segment) -> Iterator[_Step]:
    """The junctions that have children, level by level."""
    order = np.argsort(segment.level, kind="stable")
    levels = np.split(order, np.flatnonzero(np.diff(segment.level[order])) + 1)
    for level in levels:
        for operator in (AND, OR):
            chosen = level[(segment.node_operator[level] == operator) & (segment.children.lengths[level] > 0)]
            if len(chosen):
                children = segment.children.take(chosen)
                yield _Step(operator == AND, chosen, children.values, children.offsets[:-1])


def _batches(table: pa.Table | pa.RecordBatch, rows: int) -> Iterator[Any]:
    """The rows in order, in batches of at most `rows`."""
    for start in range(0, table.num_rows, rows):
        part = table.slice(start, rows)
        # One batch, whatever the chunks: a slice may span several.
        is_batch = isinstance(part, pa.RecordBatch)
        yield part if is_batch else pa.RecordBatch.from_struct_array(_single(part.to_struct_array()))


def _single(array: Any) -> Any:
    return array if not isinstance(array, pa.ChunkedArray) else pa.concat_arrays(array.chunks)
