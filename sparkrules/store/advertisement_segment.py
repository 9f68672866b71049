"""The advertisements of a version, stored in a segment of their own that the plugin reads like a segment of rules.

Priorities record the order in which the advertisements were made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sparkrules.index.builder import build_segment
from sparkrules.index.rule import Rule
from sparkrules.index.segment import Segment
from sparkrules.sql import called_functions
from sparkrules.store.lazy_segment import LazySegment, Sums
from sparkrules.store.place import Place

Texts = list[tuple[str, str, "str | None"]]


def advertisement_segment(advertisements: Sequence[Rule]) -> Segment:
    """Build a segment from advertisements with distinct ids.

    >>> from sparkrules.sql import parse_rule
    >>> made = advertisement_segment([Rule(id, "t > 3", parse_rule("t > 3")) for id in ("roof", "attic")])
    >>> made.rules.id[made.rules.output_order].tolist()
    ['roof', 'attic']
    """
    functions = frozenset[str]().union(*(called_functions(own.tree) for own in advertisements))
    first = len(advertisements)
    return build_segment((replace(own, priority=first - place) for place, own in enumerate(advertisements)), functions)


def read_advertisements(directory: Place, published: Sums | None = None) -> tuple[Rule, ...]:
    """Read the advertisements, in the order in which they were made."""
    stored = LazySegment.stored(directory, published)
    _ = stored.ids  # raises on duplicate ids
    return tuple(stored.rule(row) for row in stored.segment.rules.output_order.tolist())


def texts_of(advertisements: Sequence[Rule]) -> Texts:
    """The key by which two lists of advertisements are compared."""
    return [(own.id, own.where, own.sql) for own in advertisements]
