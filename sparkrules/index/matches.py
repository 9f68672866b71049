"""The answer of the matcher: for each row, its subscriptions by priority descending, then id ascending."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkrules.index.csr import Csr
from sparkrules.index.overlap import overlap_sets
from sparkrules.index.segment import Segment


@dataclass(frozen=True, eq=False)
class Matches:
    """The answer of `RuleSet.match` for the rows of a table: its length is their number.

    `subscriptions` has the numbers of each row's subscriptions; `skipped` the ids left out, each with the reason.
    """

    segment: Segment
    subscriptions: Csr
    skipped: Mapping[str, str]
    node_truth: Callable[[], Iterator[NDArray[np.bool_]]]

    def __len__(self) -> int:
        return len(self.subscriptions)

    @cached_property
    def ids(self) -> pa.ListArray:
        """The ids of each row: `list<string>`."""
        offsets = pa.array(self.subscriptions.offsets, pa.int32())
        return pa.ListArray.from_arrays(offsets, self._names(self.subscriptions.values))

    @cached_property
    def overlaps(self) -> pa.ListArray:
        """The overlap sets of each row: `list<list<string>>`. Matches again, for the truth of inner nodes."""
        rows = (row for truth in self.node_truth() for row in truth.T)
        found = [
            [
                list(overlap.ids)
                for overlap in overlap_sets(self.segment, truth, self.subscriptions.row(number).tolist())
            ]
            for number, truth in enumerate(rows)
        ]
        return pa.array(found, pa.list_(pa.list_(pa.string())))

    def pairs(self) -> pa.Table:
        """One line per match: `row`, `subscription_id`, `priority`."""
        numbers = self.subscriptions.values
        return pa.table(
            {
                "row": pa.array(self.subscriptions.row_numbers(), pa.int64()),
                "subscription_id": self._names(numbers),
                "priority": pa.array(self.segment.priority[numbers], pa.int32()),
            }
        )

    def _names(self, numbers: NDArray[np.int32]) -> Any:
        return pa.array(self.segment.subscription_id, pa.string()).take(pa.array(numbers))
