"""The data a segment keeps about its rules besides their trees, one entry per rule."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timezone
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sparkrules.index.csr import Ints
from sparkrules.index.forest import Strings, freeze, strings
from sparkrules.index.rule import LIVE, Rule

Instants = NDArray[np.datetime64]  # microseconds, UTC; NaT where a column is NULL
Tags = NDArray[np.object_]  # of tuples of strings; None where a rule has no tags


@dataclass(frozen=True, eq=False)
class RuleColumns:
    """See the module. The columns are those of `subscriptions` in `docs/store-format.md`, except `node`.

    `status` is None for a rule that is live, `tags` for one that has none: so most rule sets need neither column.
    """

    id: Strings
    priority: Ints
    where: Strings
    metadata: Strings
    sql: Strings
    valid_from: Instants
    valid_until: Instants
    ticket: Strings
    status: Strings
    tags: Tags
    exemptions: Strings

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.id)

    @staticmethod
    def of(rules: Sequence[Rule]) -> RuleColumns:
        return RuleColumns(
            strings(rule.id for rule in rules),
            np.array([rule.priority for rule in rules], np.int32),
            strings(rule.where for rule in rules),
            strings(metadata_json(rule.metadata) for rule in rules),
            strings(rule.sql for rule in rules),
            instants(rule.valid_from for rule in rules),
            instants(rule.valid_until for rule in rules),
            strings(rule.ticket for rule in rules),
            statuses(rule.status for rule in rules),
            tag_lists(rule.tags for rule in rules),
            strings(rule.exemptions for rule in rules),
        )

    @staticmethod
    def concatenated(parts: Sequence[RuleColumns]) -> RuleColumns:
        if not parts:
            return RuleColumns.of([])
        return RuleColumns(
            *(np.concatenate([getattr(part, column.name) for part in parts]) for column in fields(RuleColumns))
        )

    def take(self, rows: NDArray[np.integer]) -> RuleColumns:
        return RuleColumns(*(getattr(self, column.name)[rows] for column in fields(self)))

    @cached_property
    def output_order(self) -> Ints:
        """The rules by priority descending, then id ascending: the order of every answer."""
        # Python compares strings by code point. UTF-8 bytes, and so Spark, have the same order.
        by_id = np.array(sorted(range(len(self)), key=self.id.__getitem__), np.int32)
        order: Ints = by_id[np.argsort(-self.priority[by_id].astype(np.int64), kind="stable")]
        return order

    @cached_property
    def output_rank(self) -> Ints:
        """For each rule, its position in `output_order`."""
        rank = np.empty_like(self.output_order)
        rank[self.output_order] = np.arange(len(rank), dtype=np.int32)
        return rank

    def valid_at(self, at: datetime) -> NDArray[np.bool_]:
        """Whether each rule is valid at an instant. `at` has a time zone."""
        return valid_at(self.valid_from, self.valid_until, at)


def valid_at(valid_from: Instants, valid_until: Instants, at: datetime) -> NDArray[np.bool_]:
    """What is valid at an instant: the start is inclusive, the end exclusive, and either may be missing."""
    instant = np.datetime64(at.astimezone(timezone.utc).replace(tzinfo=None), "us")
    # Comparisons with NaT are false, so NULLs are checked explicitly.
    begun = np.isnat(valid_from) | (valid_from <= instant)
    valid: NDArray[np.bool_] = begun & (np.isnat(valid_until) | (instant < valid_until))
    return valid


def instants(values: Iterable[datetime | None]) -> Instants:
    """Instants with a time zone as a column."""
    naive = [None if value is None else value.astimezone(timezone.utc).replace(tzinfo=None) for value in values]
    return np.array(naive, "datetime64[us]")


def statuses(values: Iterable[str]) -> Strings:
    """The status of each rule as a column."""
    return strings(None if status == LIVE else status for status in values)


def tag_lists(values: Iterable[tuple[str, ...]]) -> Tags:
    """The tags of each rule as a column."""
    listed = [own or None for own in values]
    array: Tags = np.empty(len(listed), object)
    for place, own in enumerate(listed):  # numpy would make a second dimension of tuples with the same length
        array[place] = own
    return array


def metadata_json(metadata: Mapping[str, object] | None) -> str | None:
    """Metadata as a segment keeps it."""
    return None if metadata is None else json.dumps(dict(metadata), ensure_ascii=False, sort_keys=True)
