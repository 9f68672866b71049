"""Parse row functions, and write down the Spark SQL that stands in their place (`Tokens.sql`).

row function    := at_least (number, expression, ...) | at_most (...) | exactly (...)
                 | matched (expression) | sum (value, value, ...) | avg (...) | min (...) | max (...)
"""

from __future__ import annotations

import re

from sparkrules.sql.boolean import structure_of
from sparkrules.sql.call_grammar import CallGrammar
from sparkrules.sql.cursor import QUANTIFIERS
from sparkrules.sql.predicate_sides import classify
from sparkrules.sql.remedy import about_function
from sparkrules.sql.row_functions import (
    COUNTS,
    aggregate_sql,
    count_of,
    count_sql,
    first_token,
    nodes_of,
    require_values,
)
from sparkrules.sql.syntax import Not, Operand, PredicateSyntax, Syntax, alone
from sparkrules.sql.tokens import Tokens
from sparkrules.sql.tree import Predicate, distinct_predicates

_NAME = re.compile(r"(?:[A-Za-z0-9_]+|`(?:[^`]|``)+`)(?:\.(?:[A-Za-z0-9_]+|`(?:[^`]|``)+`))*")
_TRUTHS = ("is true", "is false", "is not true", "is not false")


def parse_row_function(grammar: CallGrammar, start: int) -> Operand:
    """Parse a row function whose name is at `start`. The cursor is at its opening bracket."""
    tokens = grammar.tokens
    name = tokens.texts[start].lower()
    tokens.calls.add(grammar.at)
    grammar.shapes[start] = "`f`"
    variables = grammar.variables
    arguments = _arguments(grammar, start)
    inner = tuple(argument for argument, _, _ in arguments)
    operand = Operand(start, grammar.at, variables == grammar.variables, "row function", inner, name)
    if name in COUNTS:
        sql = _count(grammar, operand, [tokens.sql(first, end) for _, first, end in arguments[1:]])
    elif name == "matched":
        sql = f"(CASE WHEN {tokens.sql(start + 2, operand.end - 1)} THEN {matched_attribute(tokens, operand)} END)"
    elif len(inner) < 2:
        raise tokens.error(start, "this function is not allowed in a rule", about_function(name, ()))
    else:
        sql = aggregate_sql(name, [value_sql(tokens, value) for value in require_values(tokens, operand)])
    if name not in COUNTS:
        grammar.values[start] = operand
        grammar.last_value = max(grammar.last_value, start)
    tokens.rewritten.setdefault(start, {})[operand.end] = sql
    return operand


def value_sql(tokens: Tokens, value: Operand) -> str:
    """A value as an operand of arithmetic."""
    sql = tokens.sql(value.start, value.end)
    return sql if value.form != "value" or _NAME.fullmatch(sql) else f"({sql})"


def _arguments(grammar: CallGrammar, start: int) -> list[tuple[Syntax, int, int]]:
    """The arguments, each with its tokens from the first up to the end."""
    grammar.at += 1
    if grammar.kinds[grammar.at] == ")":
        grammar.at += 1
        return []
    arguments: list[tuple[Syntax, int, int]] = []
    while True:
        grammar.refuse_query()
        if grammar.word() in QUANTIFIERS and grammar.kinds[grammar.at + 1] in ("word", "quoted", "("):
            raise grammar.tokens.error(grammar.at, "aggregates are not allowed", "A rule sees one row.")
        first = grammar.at
        arguments.append((grammar.expression(), first, grammar.at))
        if grammar.kinds[grammar.at] != ",":
            break
        grammar.at += 1
    grammar.expect(")", f"Close the bracket of {grammar.tokens.texts[start]}.")
    return arguments


def _count(grammar: CallGrammar, operand: Operand, texts: list[str]) -> str:
    tokens, count = grammar.tokens, count_of(grammar.tokens, operand)
    grammar.count_nodes += nodes_of(count)
    if grammar.count_nodes > grammar.policy.max_count_nodes:
        raise tokens.error(
            operand.start,
            f"{operand.function} of {len(count.children):,} conditions needs more than "
            f"{grammar.policy.max_count_nodes:,} nodes",
            "Count fewer conditions, or raise Policy.max_count_nodes.",
        )
    # A value is a condition here, as it is in an AND.
    whole = [f"{text} AND TRUE" if alone(own) else text for own, text in zip(count.children, texts, strict=True)]
    return count_sql(count, whole)


def matched_attribute(tokens: Tokens, operand: Operand) -> str:
    """The attribute whose value `matched` gives: the one of all its predicates."""
    found = matched_predicates(tokens, operand)
    attributes = {predicate.attribute for predicate in found}
    if len(attributes) != 1 or any(_is_opaque(predicate) for predicate in found):
        at = first_token(operand.inner[0])
        reason = "matched needs predicates of one attribute" if len(attributes) > 1 else "matched needs a predicate"
        raise tokens.error(at, reason, "Write matched(price >= 200): an attribute, compared with constants.")
    attribute = attributes.pop()
    return attribute if _NAME.fullmatch(attribute) else f"({attribute})"


def matched_predicates(tokens: Tokens, operand: Operand) -> list[Predicate]:
    """The predicates inside `matched`, as they are when true."""
    if len(operand.inner) != 1:
        at = operand.end - 1 if not operand.inner else first_token(operand.inner[1])
        raise tokens.error(at, "matched needs one condition", "Write matched(price >= 200).")
    found: list[Predicate] = []
    stack: list[Syntax] = [operand.inner[0]]
    while stack:
        syntax = stack.pop()
        if isinstance(syntax, Not):
            stack.append(syntax.child)
        elif not isinstance(syntax, PredicateSyntax):
            stack.extend(syntax.children)
        elif tokens.is_rewritten(syntax.start, syntax.end):
            raise tokens.error(syntax.start, "a row function inside matched", "Write a plain predicate there.")
        elif (inner := structure_of(tokens, syntax)) is not None:
            stack.append(inner)
        else:
            found += distinct_predicates(classify(tokens, syntax)[0])
    return found


def _is_opaque(predicate: Predicate) -> bool:
    return predicate.operator in _TRUTHS and _NAME.fullmatch(predicate.attribute) is None
