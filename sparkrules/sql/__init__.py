"""Parse the text of a WHERE clause into a Boolean tree. See `parse_rule`."""

from sparkrules.sql.called_functions import called_functions, functions_in, functions_of
from sparkrules.sql.dialect import DIALECTS, SPARK_DIALECTS
from sparkrules.sql.errors import RuleError
from sparkrules.sql.named_columns import columns_in
from sparkrules.sql.policy import DEFAULT_POLICY, Policy
from sparkrules.sql.predicate_sql import quoted
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
    distinct_predicates,
    predicates,
)

__all__ = [
    "ALWAYS",
    "DEFAULT_POLICY",
    "DIALECTS",
    "NEGATED",
    "NEVER",
    "OPERATORS",
    "SPARK_DIALECTS",
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
    "columns_in",
    "distinct_predicates",
    "functions_in",
    "functions_of",
    "parse_rule",
    "predicates",
    "quoted",
    "spark_sql",
]
