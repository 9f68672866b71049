"""Parse a rule's WHERE text into its Boolean tree: the pipeline of this package.

text ─ dialect ─▶ Spark dialect ─ bindings ─▶ without variables ─ tokens, grammar ─▶ structure, without row functions
     ─ predicate_sides, validate, normal_form ─▶ tree
"""

from __future__ import annotations

from typing import NamedTuple

from sparkrules.sql.bindings import without_variables
from sparkrules.sql.boolean import structure_of
from sparkrules.sql.dialect import SPARK_DIALECTS, to_spark
from sparkrules.sql.errors import RuleError
from sparkrules.sql.grammar import parse_structure
from sparkrules.sql.normal_form import Guarded, normal_form
from sparkrules.sql.policy import DEFAULT_POLICY, Policy
from sparkrules.sql.predicate_sides import Sides, classify, opaque
from sparkrules.sql.row_functions import may_have_row_functions, require_condition
from sparkrules.sql.syntax import PredicateSyntax, Syntax
from sparkrules.sql.tokens import Tokens, tokenize
from sparkrules.sql.tree import Node
from sparkrules.sql.validate import validate


def spark_sql(text: str, *, dialect: str = "spark", policy: Policy = DEFAULT_POLICY) -> str:
    """A rule's text as Spark SQL. Text that is Spark SQL is returned unchanged.

    >>> spark_sql("a != 'x'", dialect="postgres")
    "a <> 'x'"
    >>> spark_sql("matched(a >= 200) + matched(b >= 100) <= 1000")
    'CASE WHEN a >= 200 AND b >= 100 THEN a + b <= 1000 END'
    """
    plain = in_spark_dialect(text, dialect, policy)
    return (read_spark_sql(plain, policy).sql if may_have_row_functions(plain) else None) or plain


def in_spark_dialect(text: str, dialect: str, policy: Policy) -> str:
    """A text in the Spark dialect, without variables; it may still have row functions."""
    return without_variables(text if dialect.lower() in SPARK_DIALECTS else to_spark(text, dialect, policy), policy)


def parse_rule(text: str, *, dialect: str = "spark", policy: Policy = DEFAULT_POLICY) -> Node:
    """The Boolean tree, in negation normal form, that is true for the rows `WHERE text` keeps.

    Raises `RuleError` unless the text is one safe scalar expression.

    >>> print(parse_rule("NOT (price >= 5 OR name LIKE 'a%') AND city IN ('Rome', NULL)"))
    price < 5 and name not like 'a%' and city in ('Rome', NULL)
    >>> print(parse_rule("a = b IS NULL"))
    a = b is null
    """
    return read_rule(text, dialect=dialect, policy=policy).tree


class ReadRule(NamedTuple):
    """The tree of a text, and the text as Spark SQL; None if it already is."""

    tree: Node
    sql: str | None


def read_rule(text: str, *, dialect: str = "spark", policy: Policy = DEFAULT_POLICY) -> ReadRule:
    """`parse_rule` and `spark_sql` in one."""
    plain = in_spark_dialect(text, dialect, policy)
    tree, sql = read_spark_sql(plain, policy)
    return ReadRule(tree, sql or (None if plain == text else plain))


def read_spark_sql(text: str, policy: Policy) -> ReadRule:
    """`read_rule` for a text in the Spark dialect, without variables."""
    tokens = tokenize(text, policy)
    try:
        structure = parse_structure(tokens, policy)
        tree = normal_form(structure, RulePredicates(tokens, policy).sides)
    except RecursionError:
        raise RuleError(
            "nested too deeply for what is left of Python's stack", text, remedy="Write the rule flatter."
        ) from None
    return ReadRule(tree, tokens.sql(0, len(tokens.kinds) - 1) if tokens.rewritten else None)


class RulePredicates:
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

    def sides(self, syntax: PredicateSyntax) -> Syntax | Sides | Guarded:
        guard = self.tokens.guards.get((syntax.start, syntax.end))
        if guard is not None:
            validate(guard.tokens, guard.predicate.start, guard.predicate.end, self.policy)
            return Guarded(guard.conditions, classify(guard.tokens, guard.predicate))
        require_condition(self.tokens, syntax)
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
