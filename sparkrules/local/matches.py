"""The matcher's answer: for each row, its rules by priority descending, then id ascending."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import pyarrow as pa

from sparkrules.errors import RuleSetError
from sparkrules.index.csr import Csr
from sparkrules.index.segment import Segment
from sparkrules.local.answer import Answer
from sparkrules.local.overlap_groups import OverlapGroups
from sparkrules.local.truth import Truth
from sparkrules.logic.columns import Unsupported


@dataclass(frozen=True)
class Block:
    """A run of consecutive rows: which nodes are true, and each row's rules in output order."""

    truth: Truth
    subscriptions: Csr


@dataclass(frozen=True, eq=False)
class Matches:
    """The answer of `RuleSet.match` for the rows of a table. Its length is the number of rows.

    `subscriptions` has the rule numbers of each row; `skipped` maps skipped ids to the reason. `fields` has values per
    rule, and `of_shadow` the matches of shadow rules, if they are asked for.
    """

    segment: Segment
    subscriptions: Csr
    reasons: Mapping[str, Unsupported]
    blocks: Callable[[], Iterator[Block]]
    fields: Mapping[str, pa.Array] = field(default_factory=dict)
    of_shadow: Matches | None = None

    def __len__(self) -> int:
        return len(self.subscriptions)

    def __repr__(self) -> str:
        left_out = f", {len(self.skipped)} rules left out" if self.skipped else ""
        return f"Matches({len(self):,} rows, {len(self.subscriptions.values):,} matches{left_out})"

    @cached_property
    def skipped(self) -> dict[str, str]:
        """The ids of rules that only Spark can match, each with the reason."""
        shadow = {} if self.of_shadow is None else self.of_shadow.skipped
        return {**{id: str(reason) for id, reason in self.reasons.items()}, **shadow}

    @cached_property
    def ids(self) -> pa.ListArray:
        """The ids of each row: `list<string>`."""
        return self._answer.ids(self.subscriptions)

    @cached_property
    def overlaps(self) -> pa.ListArray:
        """The overlap sets of each row: `list<list<string>>`. Matches again, to compute the truth of inner nodes."""
        groups = OverlapGroups(self.segment)
        return self._answer.overlaps(
            own for block in self.blocks() for own in groups.of_rows(block.truth, block.subscriptions)
        )

    @property
    def shadow(self) -> pa.ListArray:
        """The ids of the shadow rules that match each row: `list<string>`. Needs `match(..., shadow=True)`."""
        if self.of_shadow is None:
            raise RuleSetError("shadow rules are matched by RuleSet.match(..., shadow=True)")
        return self.of_shadow.ids

    def pairs(self) -> pa.Table:
        """One row per match: `row`, `subscription_id`, `priority`, and the fields."""
        numbers = self.subscriptions.values
        return pa.table(
            {
                "row": pa.array(self.subscriptions.row_numbers(), pa.int64()),
                "subscription_id": self._answer.names(numbers),
                "priority": pa.array(self.segment.rules.priority[numbers], pa.int32()),
                **self._answer.fields(numbers),
            }
        )

    @cached_property
    def _answer(self) -> Answer:
        return Answer(self.segment, self.fields)
