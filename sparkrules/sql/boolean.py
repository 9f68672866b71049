"""Predicates that contain Boolean structure: brackets, counts, and comparisons between two Boolean expressions.

The grammar reads `(a > 1 OR b > 2)` as a value in brackets and `(a > 1) <> (b > 2)` as a comparison. Both contain
structure worth sharing: the first is the expression inside the brackets, the second an exclusive or.
"""

from __future__ import annotations

from sparkrules.sql.row_functions import as_count
from sparkrules.sql.syntax import Gate, Not, Operand, PredicateSyntax, Syntax, Value
from sparkrules.sql.tokens import Tokens


def structure_of(tokens: Tokens, syntax: PredicateSyntax) -> Syntax | None:
    """The Boolean structure inside a predicate, or None if it has none."""
    if syntax.kind:
        return None
    operands = syntax.value.operands
    if len(operands) == 1:
        return operands[0].inner[0] if operands[0].form == "brackets" else as_count(tokens, operands[0])
    if len(operands) == 2 and syntax.value.comparisons[0] in ("=", "<>"):
        left, right = (condition(tokens, operand) for operand in operands)
        if left is not None and right is not None:
            exclusive = Gate("xor", [left, right])
            return exclusive if syntax.value.comparisons[0] == "<>" else Not(exclusive)
    return None


def condition(tokens: Tokens, operand: Operand) -> Syntax | None:
    """The operand as Boolean structure if it is clearly Boolean: a condition in brackets, a count, or TRUE or FALSE."""
    if operand.form == "brackets":
        inner = operand.inner[0]
        if not isinstance(inner, PredicateSyntax) or inner.kind or inner.value.comparisons:
            return inner
        return condition(tokens, inner.value.operands[0])
    if as_count(tokens, operand) is not None:
        return PredicateSyntax(operand.start, operand.end, Value([operand]))
    if operand.end == operand.start + 1 and tokens.kinds[operand.start] in ("TRUE", "FALSE"):
        return PredicateSyntax(operand.start, operand.end, Value([operand]))
    return None
