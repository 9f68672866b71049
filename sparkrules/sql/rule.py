"""Parse a rule's WHERE text into its Boolean tree: the pipeline of this package.

text ─ dialect, bindings ─▶ Spark SQL ─ tokens ─▶ tokens ─ grammar ─▶ structure
     ─ predicate_sides, validate, normal_form ─▶ tree
"""

from __future__ import annotations

from sparkrules.sql.bindings import without_variables
from sparkrules.sql.boolean import structure_of
from sparkrules.sql.dialect import SPARK_DIALECTS, to_spark
from sparkrules.sql.errors import RuleError
from sparkrules.sql.grammar import parse_structure
from sparkrules.sql.normal_form import normal_form
from sparkrules.sql.policy import DEFAULT_POLICY, Policy
from sparkrules.sql.predicate_sides import Sides, classify, opaque
from sparkrules.sql.syntax import PredicateSyntax, Syntax
from sparkrules.sql.tokens import Tokens, tokenize
from sparkrules.sql.tree import Node
from sparkrules.sql.validate import validate


def spark_sql(text: str, *, dialect: str = "spark", policy: Policy = DEFAULT_POLICY) -> str:
    """A rule's text as Spark SQL. Text in the Spark dialect is returned unchanged, unless it has variables.

    >>> spark_sql("a != 'x'", dialect="postgres")
    "a <> 'x'"
    """
    sql = text if dialect.lower() in SPARK_DIALECTS else to_spark(text, dialect, policy)
    return without_variables(sql, policy) if policy.operators else sql


def parse_rule(text: str, *, dialect: str = "spark", policy: Policy = DEFAULT_POLICY) -> Node:
    """The Boolean tree, in negation normal form, that is true for the rows `WHERE text` keeps.

    Raises `RuleError` unless the text is one safe scalar expression.

    >>> print(parse_rule("NOT (price >= 5 OR name LIKE 'a%') AND city IN ('Rome', NULL)"))
    price < 5 and name not like 'a%' and city in ('Rome', NULL)
    >>> print(parse_rule("a = b IS NULL"))
    a = b is null
    """
    return parse_spark_sql(spark_sql(text, dialect=dialect, policy=policy), policy)


def parse_spark_sql(text: str, policy: Policy) -> Node:
    """`parse_rule` for a text that is already Spark SQL."""
    tokens = tokenize(text, policy)
    try:
        structure = parse_structure(tokens, policy)
        return normal_form(structure, _Predicates(tokens, policy).sides)
    except RecursionError:
        raise RuleError(
            "nested too deeply for what is left of Python's stack", text, remedy="Write the rule flatter."
        ) from None


class _Predicates:
    """The structure or sides of each predicate in one text, validated."""

    def __init__(self, tokens: Tokens, policy: Policy) -> None:
        self.tokens = tokens
        self.policy = policy
        self.xors = tokens.kinds.count("XOR")
        if self.xors > policy.max_xors:
            raise tokens.error(
                tokens.kinds.index("XOR"),
                f"{self.xors} exclusive ors, more than {policy.max_xors}",
                "Raise Policy.max_xors: each of them can double the size of the tree.",
            )

    def sides(self, syntax: PredicateSyntax) -> Syntax | Sides:
        structure = structure_of(self.tokens, syntax)
        if structure is not None and syntax.value.comparisons:
            self.xors += 1
            if self.xors > self.policy.max_xors:
                validate(self.tokens, syntax.start, syntax.end, self.policy)
                return opaque(self.tokens, syntax)
        if structure is not None:
            return structure
        validate(self.tokens, syntax.start, syntax.end, self.policy)
        return classify(self.tokens, syntax)
