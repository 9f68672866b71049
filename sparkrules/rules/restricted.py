"""Some rules of a segment: as a segment of their own, and their predicates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sparkrules.index import Segment
from sparkrules.index.merge import merge_segments


def restricted_segment(segment: Segment, numbers: NDArray[np.int32]) -> Segment:
    """The rules with some numbers. Their tickets stay with the original: owners change that, not a copy.

    >>> from sparkrules.index import Rule, build_segment
    >>> from sparkrules.sql import parse_rule
    >>> whole = build_segment(Rule(text, text, parse_rule(text), ticket="77aa") for text in ("a > 1", "b > 1"))
    >>> restricted_segment(whole, np.array([1], np.int32)).rules.where.tolist()
    ['b > 1']
    """
    removed = np.ones(len(segment.rules.id), bool)
    removed[numbers] = False
    made = merge_segments([(segment, np.flatnonzero(removed).astype(np.int32))])
    none = np.full(len(made.rules), None, object)
    return replace(made, rules=replace(made.rules, ticket=none))


def predicates_of(segment: Segment, ids: Iterable[str]) -> list[int]:
    """The numbers of the predicates of some rules, ascending."""
    wanted = set(ids)
    found: set[int] = set()
    for number, id in enumerate(segment.rules.id.tolist()):
        if id in wanted:
            nodes = segment.forest.descendants(int(segment.forest.roots[number]))
            found.update(segment.forest.nodes.predicate[nodes].tolist())
    return sorted(found - {-1})
