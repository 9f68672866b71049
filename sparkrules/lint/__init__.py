"""What is wrong, or probably wrong, with the rules of a set: see `lint`.

| module | finds |
|---|---|
| `logic` | contradictions, tautologies, redundant parts |
| `twins` | duplicates, equivalent rules, rules covered by others |
| `types` | comparisons of a number with a string, unknown columns |
| `cost` | tests that are slow: regular expressions, opaque conditions, patterns with a wildcard in front |
| `outliers` | a constant far from those of rules of the same form |
"""

from sparkrules.lint.baseline import Baseline
from sparkrules.lint.finding import KINDS, Finding, Kind, Place, Severity
from sparkrules.lint.lint import lint
from sparkrules.lint.report import Report

__all__ = ["KINDS", "Baseline", "Finding", "Kind", "Place", "Report", "Severity", "lint"]
