"""Match, explain and analyze without Spark.

| to | use |
|---|---|
| match | `match` -> `Matches`; `NeedsSpark`, `UnknownColumn` |
| find patterns over several rows | `detect` -> `Detections` |
| report what matches have in common, and why | `Matches.overlaps`, `explain`, `explain_pattern` |
| draw | `Drawing`, `timeline` |
| report how the values of rows are distributed | `statistics_of` -> `Statistics`; `Distribution` |
| estimate for how many rows rules are true | `Selectivities`, from `CountedPredicates`; `EstimatedPredicates` |
"""

from sparkrules.local.counted_predicates import BoundPredicate, CountedPredicates, guesses, predicate_table
from sparkrules.local.detect import detect
from sparkrules.local.detections import Detections
from sparkrules.local.distribution import Distribution
from sparkrules.local.drawing import Drawing
from sparkrules.local.estimated_predicates import EstimatedPredicates
from sparkrules.local.explain import ExplainedNode, Explanation, Explanations, explain
from sparkrules.local.explain_pattern import PatternExplanation, explain_pattern
from sparkrules.local.matcher import NeedsSpark, UnknownColumn, match
from sparkrules.local.matches import Matches
from sparkrules.local.selectivities import Selectivities
from sparkrules.local.statistics import AttributeStatistics, Range, Statistics, statistics_of
from sparkrules.local.timeline import timeline

__all__ = [
    "AttributeStatistics",
    "BoundPredicate",
    "CountedPredicates",
    "Detections",
    "Distribution",
    "Drawing",
    "EstimatedPredicates",
    "ExplainedNode",
    "Explanation",
    "Explanations",
    "Matches",
    "NeedsSpark",
    "PatternExplanation",
    "Range",
    "Selectivities",
    "Statistics",
    "UnknownColumn",
    "detect",
    "explain",
    "explain_pattern",
    "guesses",
    "match",
    "predicate_table",
    "statistics_of",
    "timeline",
]
