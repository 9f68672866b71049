"""Which tests stand for Boolean structure of their own: brackets, and comparisons between two conditions.

`(a > 1 OR b > 2)` is, by the grammar, a test on a value in brackets; `(a > 1) <> (b > 2)` is a comparison. Both have
structure worth sharing: the first is its inside, the second an exclusive or.
"""

from __future__ import annotations

from sparkrules.sql.syntax import Gate, Not, Operand, PredicateSyntax, Syntax, Value
from sparkrules.sql.tokens import Tokens


def structure_of(tokens: Tokens, test: PredicateSyntax) -> Syntax | None:
    """The structure a test stands for, or None if it is a plain test."""
    if test.kind:
        return None
    operands = test.value.operands
    if len(operands) == 1:
        return operands[0].inner[0] if operands[0].form == "brackets" else None
    if len(operands) == 2 and test.value.comparisons[0] in ("=", "<>"):
        left, right = (condition(tokens, operand) for operand in operands)
        if left is not None and right is not None:
            exclusive = Gate("xor", [left, right])
            return exclusive if test.value.comparisons[0] == "<>" else Not(exclusive)
    return None


def condition(tokens: Tokens, operand: Operand) -> Syntax | None:
    """The operand as a structure, if it is evidently Boolean: brackets around a condition, or TRUE or FALSE."""
    if operand.form == "brackets":
        inner = operand.inner[0]
        if not isinstance(inner, PredicateSyntax) or inner.kind or inner.value.comparisons:
            return inner
        return condition(tokens, inner.value.operands[0])
    if operand.end == operand.start + 1 and tokens.kinds[operand.start] in ("TRUE", "FALSE"):
        return PredicateSyntax(operand.start, operand.end, Value([operand]))
    return None
