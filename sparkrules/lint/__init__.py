"""Find what is wrong, or probably wrong, with the rules of a set. See `lint`.

| module | finds |
|---|---|
| `logic` | contradictions, tautologies, parts that are never true or redundant |
| `twins` | duplicates, equivalent rules, rules covered by others |
| `unknown_columns` | columns that the table does not have, and strings without quotes |
| `impossible` | constants that are invalid for the column's type; `readable` knows what Spark can convert |
| `types` | comparisons of a number with a string |
| `cost` | slow predicates: regular expressions, opaque conditions, patterns with a leading wildcard |
| `outliers` | a constant far from those in other rules of the same form |
"""

from sparkrules.lint.baseline import Baseline
from sparkrules.lint.finding import KINDS, SEVERITIES, Finding, Kind, Place, Severity
from sparkrules.lint.lint import lint, lint_errors
from sparkrules.lint.report import Report

__all__ = ["KINDS", "SEVERITIES", "Baseline", "Finding", "Kind", "Place", "Report", "Severity", "lint", "lint_errors"]
