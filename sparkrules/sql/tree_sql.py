"""A Boolean tree as Spark SQL that people can read. It parses to the same tree."""

from __future__ import annotations

import re

from sparkrules.sql.predicate_sql import constant_sql, predicate_sql
from sparkrules.sql.tree import Constant, Node, Predicate

_PART = r"(?:[A-Za-z_][A-Za-z0-9_]*|`(?:[^`]|``)+`)"
_PLAIN = re.compile(rf"{_PART}(?:\.{_PART})*")
_BETWEEN_OPERANDS = ("=", "<>", "<", "<=", ">", ">=", "<=>", "like", "not like", "ilike", "not ilike", "rlike")


def tree_sql(tree: Node) -> str:
    """The text of a tree.

    >>> from sparkrules.sql.rule import parse_rule
    >>> print(tree_sql(parse_rule("NOT (a >= 5 OR used AND lower(name) = 'x') AND b IN (1, 2) AND c + d > e")))
    a < 5 AND (NOT used OR lower(name) <> 'x') AND b IN (1, 2) AND (c + d > e)
    """
    if isinstance(tree, Predicate):
        return readable_predicate(tree)
    if not tree.children:
        return "TRUE" if tree.operator == "and" else "FALSE"
    parts = [tree_sql(child) for child in tree.children]
    # AND binds more closely than OR.
    if tree.operator == "and":
        parts = [
            f"({text})" if not isinstance(child, Predicate) and child.operator == "or" and child.children else text
            for child, text in zip(tree.children, parts, strict=True)
        ]
    return f" {tree.operator.upper()} ".join(parts)


def readable_predicate(predicate: Predicate) -> str:
    """Like `predicate_sql`, but without brackets that a reader does not need.

    >>> readable_predicate(Predicate("price", "<", (Constant("decimal", "1.50"),)))
    'price < 1.50'
    """
    attribute, operator = predicate.attribute, predicate.operator
    name = attribute if _PLAIN.fullmatch(attribute) or _is_call(attribute) else f"({attribute})"
    constants = [readable_constant(constant) for constant in predicate.constants]
    if operator == "is true":
        return name if _PLAIN.fullmatch(attribute) else f"({attribute})"
    if operator == "is false":
        return f"NOT {name}" if _PLAIN.fullmatch(attribute) else f"NOT ({attribute})"
    if operator in _BETWEEN_OPERANDS:
        return f"{name} {operator.upper()} {constants[0]}"
    if operator in ("in", "not in") and constants:
        return f"{name} {operator.upper()} ({', '.join(constants)})"
    if not constants:
        return f"{name} {operator.upper()}" if operator.startswith("is ") else predicate_sql(predicate)
    return predicate_sql(predicate)


def readable_constant(constant: Constant) -> str:
    """Like `constant_sql`; `1.50` is a decimal anyway, and `1e3` a double."""
    if constant.kind == "decimal" and re.fullmatch(r"-?\d*\.\d+", constant.text):
        return constant.text
    if constant.kind == "double" and "e" in constant.text.lower():
        return constant.text
    if constant.kind == "sql" and re.fullmatch(r"\w+\s*'[^'\\]*'", constant.text):
        return constant.text
    return constant_sql(constant)


def _is_call(attribute: str) -> bool:
    """`lower(name)`, but not `a(b) + c(d)`."""
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.]*\([^()']*\)", attribute) is not None
