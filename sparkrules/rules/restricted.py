"""Some subscriptions of a segment as a segment of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sparkrules.index import Segment
from sparkrules.index.merge import merge_segments


def restricted_segment(segment: Segment, numbers: NDArray[np.int32]) -> Segment:
    """The subscriptions of some numbers. Their tickets stay with the original: its owners change that, not a copy.

    >>> from sparkrules.index import Rule, build_segment
    >>> from sparkrules.sql import parse_rule
    >>> whole = build_segment(Rule(text, text, parse_rule(text), ticket="77aa") for text in ("a > 1", "b > 1"))
    >>> restricted_segment(whole, np.array([1], np.int32)).rules.where.tolist()
    ['b > 1']
    """
    left_out = np.ones(len(segment.rules.id), bool)
    left_out[numbers] = False
    made = merge_segments([(segment, np.flatnonzero(left_out).astype(np.int32))])
    none = np.full(len(made.rules), None, object)
    return replace(made, rules=replace(made.rules, ticket=none))
