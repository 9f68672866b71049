"""Restore a rule from its row in a segment."""

from __future__ import annotations

import json
from datetime import datetime, timezone

import numpy as np

from sparkrules.index.rule import LIVE, Rule
from sparkrules.index.segment import Segment
from sparkrules.index.tables import CorruptSegment


def rule_at(segment: Segment, row: int) -> Rule:
    """The rule in a row, with its tree rebuilt from the nodes.

    >>> from sparkrules.index.builder import build_segment
    >>> from sparkrules.sql.tree import Predicate
    >>> sold = Rule("sold", "sold", Predicate("sold", "is true"), metadata={"owner": "ops"})
    >>> rule_at(build_segment([sold]), 0) == sold
    True
    """
    return Rule(
        segment.rules.id[row],
        segment.rules.where[row],
        segment.forest.tree(int(segment.forest.roots[row])),
        int(segment.rules.priority[row]),
        metadata_at(row, segment.rules.metadata[row]),
        segment.rules.sql[row],
        _instant(row, segment.rules.valid_from[row]),
        _instant(row, segment.rules.valid_until[row]),
        segment.rules.ticket[row],
        segment.rules.status[row] or LIVE,
        segment.rules.tags[row] or (),
        segment.rules.exemptions[row],
    )


def metadata_at(row: int, text: str | None) -> dict[str, object] | None:
    """The metadata of a rule, from its JSON."""
    if text is None:
        return None
    try:
        metadata: dict[str, object] = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CorruptSegment("subscriptions", row, f"the metadata is not JSON ({error})") from error
    return metadata


def _instant(row: int, stored: np.datetime64) -> datetime | None:
    naive: datetime | int | None = stored.astype(datetime)  # NaT becomes None, what no datetime can say an integer
    if isinstance(naive, int):
        raise CorruptSegment("subscriptions", row, f"the instant {naive} is out of range")
    return None if naive is None else naive.replace(tzinfo=timezone.utc)
