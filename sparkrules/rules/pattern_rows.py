"""Patterns among the rows of a source: pure ones, and those that rules have as options.

They are defined one by one, before the rules of the source are compiled together. A rule is only added with its
pattern: if one of them is rejected, both are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sparkrules.rules.fields import check_metadata
from sparkrules.rules.pattern_fields import DefinedPattern, define_option, define_row
from sparkrules.rules.sources import PATTERN_FIELDS, PatternRow
from sparkrules.sql import DEFAULT_POLICY, Policy, RuleError
from sparkrules.sql.rejected import Rejected, Source


@dataclass(frozen=True)
class PlacedPattern:
    """A pattern, and its place among the rows. `fields` are those that it is made of; `source` is where they are."""

    place: int
    fields: Mapping[str, Any]
    made: DefinedPattern
    source: Source | None = None

    @property
    def id(self) -> str:
        return self.made.pattern.id

    @property
    def is_option(self) -> bool:
        """Whether it belongs to a rule of the same row."""
        return self.made.pattern.belongs_to_rule

    def rejected(self, error: Exception) -> Rejected:
        return Rejected.of(self.id, _shown(self.fields), error, self.source)


def placed_pattern(
    fields: Mapping[str, Any],
    place: int,
    source: Source | None = None,
    dialect: str = "spark",
    policy: Policy = DEFAULT_POLICY,
) -> PlacedPattern | None:
    """The pattern of a row; None if it is only a rule. Raises `RuleSetError`, or `RuleError` for a text."""
    kept = {name: fields[name] for name in ("id", "where", *PATTERN_FIELDS) if fields.get(name) is not None}
    if fields.get("metadata") is not None:
        kept["metadata"] = check_metadata(fields["metadata"])
    if PatternRow.is_rule(fields):
        made = define_option(kept.get("id"), kept.get("where"), kept, dialect, policy)
    else:
        made = define_row({**fields, **kept}, dialect, policy)
    return None if made is None else PlacedPattern(place, kept, made, source)


def rejected_row(row: PatternRow, error: Exception) -> Rejected:
    """A row that defines no pattern. The place of an error is one in the text that is shown."""
    text = error.text if isinstance(error, RuleError) else _shown(row.fields)
    return Rejected.of(row.id, text, error, row.source)


def _shown(fields: Mapping[str, Any]) -> str:
    """What is written in a row: the text of its rule, or the fields of its pattern."""
    if fields.get("where") is not None:
        return str(fields["where"])
    written = {name: fields[name] for name in PATTERN_FIELDS if fields.get(name) is not None}
    return json.dumps(written, ensure_ascii=False, default=str)
