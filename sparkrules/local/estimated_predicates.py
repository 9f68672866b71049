"""For how many rows predicates are true: by the statistics of a rule set, or guessed without them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkrules.index import Segment
from sparkrules.index.forest import Forest
from sparkrules.local.counted_predicates import CountedPredicates, guesses
from sparkrules.logic.pruning import Triples

_GUESSED_ROWS = 100_000  # as many as `analyze` counts


class EstimatedPredicates:
    """What the newest statistics of a rule set say. `counted` is None if there are none."""

    def __init__(self, analysis: tuple[pa.Table, pa.Table] | None) -> None:
        self.counted = None if analysis is None else CountedPredicates(*analysis)

    def shares(self, forest: Forest) -> Triples:
        """The share of rows of each predicate of a forest."""
        found = (guesses(forest) if self.counted is None else self.counted.estimates(forest)).estimates
        return Triples(found.least / found.rows, found.share, found.most / found.rows)

    def matches(self, segment: Segment) -> NDArray[np.float64]:
        """For how many rows each predicate of a segment is true, of those that were counted."""
        return self.shares(segment.forest).avg * (_GUESSED_ROWS if self.counted is None else self.counted.rows)
