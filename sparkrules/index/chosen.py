"""Some rules of a segment, by their status and tags."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from sparkrules.errors import RuleSetError, listed
from sparkrules.index.merge import merge_segments
from sparkrules.index.rule import LIVE
from sparkrules.index.rule_columns import RuleColumns
from sparkrules.index.segment import Segment

_SHOWN = 20


def chosen_segment(segment: Segment, status: str = LIVE, tags: Collection[str] | None = None) -> Segment:
    """The rules with a status and, if tags are given, with at least one of them.

    >>> from sparkrules.index.builder import build_segment
    >>> from sparkrules.index.rule import Rule
    >>> from sparkrules.sql.tree import Predicate
    >>> hot, sold = (Predicate(name, "is true") for name in ("hot", "sold"))
    >>> both = build_segment([Rule("a", "hot", hot, status="shadow"), Rule("b", "sold", sold, tags=("x",))])
    >>> chosen_segment(both).rules.id.tolist(), chosen_segment(both, "shadow").rules.id.tolist()
    (['b'], ['a'])
    """
    kept = has_status(segment.rules, status)
    if tags is not None:
        wanted = frozenset(tags)
        kept &= np.array([own is not None and not wanted.isdisjoint(own) for own in segment.rules.tags.tolist()], bool)
    return segment if kept.all() else merge_segments([(segment, np.flatnonzero(~kept).astype(np.int32))])


def has_status(rules: RuleColumns, status: str = LIVE) -> NDArray[np.bool_]:
    """Which rules have a status."""
    stored = None if status == LIVE else status
    return np.array([own == stored for own in rules.status.tolist()], bool)


def check_known_tags(rules: RuleColumns, tags: Collection[str], of: str) -> None:
    """Raise if no rule has one of the tags, unless there are no rules: a typo would be answered by silence."""
    known = {tag for own in set(rules.tags.tolist()) if own is not None for tag in own}
    for tag in tags:
        if tag not in known and len(rules):
            others = f"there are: {listed(sorted(known), _SHOWN)}" if known else "no rule has tags"
            raise RuleSetError(f"no rule of {of} has the tag {tag!r}; {others}")
