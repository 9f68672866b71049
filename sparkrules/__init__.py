"""Thousands of SQL WHERE expressions, matched against every row of a Spark table in one pass.

>>> rules = RuleSet("alerts")
>>> rules.subscribe("hot", "temperature > 30 AND NOT indoors")
>>> len(rules)
1
"""

from sparkrules.catalyst.dataframe import left_out, match, matches, rule_costs, rule_errors
from sparkrules.catalyst.jar import jar_path
from sparkrules.catalyst.session import configure
from sparkrules.errors import SparkRulesError
from sparkrules.ruleset import RuleSet
from sparkrules.sql import RuleError

__version__ = "0.1.0"

__all__ = [
    "RuleError",
    "RuleSet",
    "SparkRulesError",
    "__version__",
    "configure",
    "jar_path",
    "left_out",
    "match",
    "matches",
    "rule_costs",
    "rule_errors",
]
