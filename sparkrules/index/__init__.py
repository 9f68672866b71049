"""The shared-subexpression index: build segments, which are arrays, from trees.

| to | use |
|---|---|
| build | `Rule`, `build_segment` -> `Segment(forest, rules, functions)`; `merge_segments` |
| store | `to_tables`, `from_tables`, `CorruptSegment` |
| report what rules share | `sharing` -> `Sharing` |

This package uses numpy, Arrow and trees; never SQL text, Spark or the JVM.
"""

from sparkrules.index.builder import build_segment
from sparkrules.index.csr import Csr, Ints
from sparkrules.index.factor import factored
from sparkrules.index.forest import PREDICATE, Forest
from sparkrules.index.merge import merge_segments
from sparkrules.index.merge_forests import only_rules
from sparkrules.index.rule import Rule
from sparkrules.index.segment import Segment
from sparkrules.index.sharing import Sharing, sharing
from sparkrules.index.tables import SCHEMAS, CorruptSegment, from_tables, to_tables

__all__ = [
    "PREDICATE",
    "SCHEMAS",
    "CorruptSegment",
    "Csr",
    "Forest",
    "Ints",
    "Rule",
    "Segment",
    "Sharing",
    "build_segment",
    "factored",
    "from_tables",
    "merge_segments",
    "only_rules",
    "sharing",
    "to_tables",
]
