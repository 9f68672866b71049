"""The shared-subexpression index: trees as arrays, the A-Tree's specification, and matching in pure Python.

| to | use |
|---|---|
| build | `Rule`, `build_segment` -> `Segment`; `merge_segments` |
| store | `to_tables`, `from_tables`, `CorruptSegment` |
| match without Spark | `match` -> `Matches`; `NeedsSpark`, `UnknownColumn` |
| say what matches have in common, and why | `overlap_sets`, `explain`; draw it: `Drawing` |
| say whether conditions overlap | `exact_overlap.overlap` -> `Overlap`; `OverlapIndex`; `Regions`, `Enumeration` |
| say how conditions relate | the functions of `relations`; `Coverings` |
| say where the values of rows lie | `statistics_of` -> `Statistics`; `Distribution`, `choose_search` |
| the thesis as code | `ATree`, `Operation`; `general_filter`, `zero_suppression_filter`, `true_value_path_filter` |

Knows numpy, Arrow and trees; never SQL text, Spark or the JVM.
"""

from sparkrules.index.advertisements import OverlapIndex
from sparkrules.index.atree import ATree, ATreeNode, Operation
from sparkrules.index.attribute_type import Enumeration
from sparkrules.index.builder import build_segment
from sparkrules.index.covering import Coverings
from sparkrules.index.csr import Csr
from sparkrules.index.distribution import Distribution, choose_search
from sparkrules.index.drawing import Drawing
from sparkrules.index.exact_overlap import Overlap
from sparkrules.index.explain import ExplainedNode, Explanation, Explanations, explain
from sparkrules.index.filters import general_filter, true_value_path_filter, zero_suppression_filter
from sparkrules.index.matcher import NeedsSpark, UnknownColumn, match
from sparkrules.index.matches import Matches
from sparkrules.index.merge import merge_segments
from sparkrules.index.overlap import OverlapSet, overlap_sets
from sparkrules.index.regions import Regions
from sparkrules.index.rule import Rule
from sparkrules.index.segment import Segment
from sparkrules.index.sharing import Sharing, sharing
from sparkrules.index.statistics import AttributeStatistics, Range, Statistics, statistics_of
from sparkrules.index.tables import SCHEMAS, CorruptSegment, from_tables, to_tables

__all__ = [
    "SCHEMAS",
    "ATree",
    "ATreeNode",
    "AttributeStatistics",
    "CorruptSegment",
    "Coverings",
    "Csr",
    "Distribution",
    "Drawing",
    "Enumeration",
    "ExplainedNode",
    "Explanation",
    "Explanations",
    "Matches",
    "NeedsSpark",
    "Operation",
    "Overlap",
    "OverlapIndex",
    "OverlapSet",
    "Range",
    "Regions",
    "Rule",
    "Segment",
    "Sharing",
    "Statistics",
    "UnknownColumn",
    "build_segment",
    "choose_search",
    "explain",
    "from_tables",
    "general_filter",
    "match",
    "merge_segments",
    "overlap_sets",
    "sharing",
    "statistics_of",
    "to_tables",
    "true_value_path_filter",
    "zero_suppression_filter",
]
