"""WHERE text to Boolean tree. See `parse_rule`."""

from sparkrules.sql.called import called_functions, functions_in, functions_of
from sparkrules.sql.errors import RuleError
from sparkrules.sql.policy import DEFAULT_POLICY, Policy
from sparkrules.sql.rejected import Rejected
from sparkrules.sql.rule import parse_rule, spark_sql
from sparkrules.sql.tree import (
    ALWAYS,
    NEGATED,
    NEVER,
    OPERATORS,
    Constant,
    ConstantKind,
    Junction,
    JunctionOperator,
    Node,
    Predicate,
    predicates,
)

__all__ = [
    "ALWAYS",
    "DEFAULT_POLICY",
    "NEGATED",
    "NEVER",
    "OPERATORS",
    "Constant",
    "ConstantKind",
    "Junction",
    "JunctionOperator",
    "Node",
    "Policy",
    "Predicate",
    "Rejected",
    "RuleError",
    "called_functions",
    "functions_in",
    "functions_of",
    "parse_rule",
    "predicates",
    "spark_sql",
]
