"""The advertisements of a version: a segment of their own, which the plugin reads like a segment of rules.

Their priorities keep the order in which they were made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sparkrules.index.builder import build_segment
from sparkrules.index.rule import Rule
from sparkrules.index.segment import Segment
from sparkrules.sql import called_functions
from sparkrules.store.lazy_segment import LazySegment, Sums

Texts = list[tuple[str, str, "str | None"]]


def advertisement_segment(advertisements: Sequence[Rule]) -> Segment:
    """The segment of advertisements whose ids are different.

    >>> from sparkrules.sql import parse_rule
    >>> made = advertisement_segment([Rule(id, "t > 3", parse_rule("t > 3")) for id in ("roof", "attic")])
    >>> made.rules.id[made.rules.output_order].tolist()
    ['roof', 'attic']
    """
    functions = frozenset[str]().union(*(called_functions(own.tree) for own in advertisements))
    first = len(advertisements)
    return build_segment((replace(own, priority=first - place) for place, own in enumerate(advertisements)), functions)


def read_advertisements(directory: Path, published: Sums | None = None) -> tuple[Rule, ...]:
    """The advertisements, in the order in which they were made."""
    stored = LazySegment.stored(directory, published)
    _ = stored.ids  # complains if one is there twice
    return tuple(stored.rule(row) for row in stored.segment.rules.output_order.tolist())


def texts_of(advertisements: Sequence[Rule]) -> Texts:
    """What makes two lists of advertisements the same."""
    return [(own.id, own.where, own.sql) for own in advertisements]
