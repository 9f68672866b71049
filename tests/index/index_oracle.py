"""Brute force: evaluates each rule on each row in plain three-valued Python, one value at a time."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from sparkrules.sql.tree import Constant, Node, Predicate


def is_true(tree: Node, row: Mapping[str, Any]) -> bool:
    """Whether Spark's WHERE would keep the row."""
    if isinstance(tree, Predicate):
        return truth(tree, row[tree.attribute]) is True
    join = all if tree.operator == "and" else any
    return join(is_true(child, row) for child in tree.children)


def _is_beyond_long(constant: Constant) -> bool:
    return constant.kind in ("integer", "decimal") and not -(2**63) <= Decimal(constant.text) < 2**63


def truth(predicate: Predicate, value: Any) -> bool | None:
    """True, False or None (unknown)."""
    constants = [constant_value(constant, value) for constant in predicate.constants]
    operator = predicate.operator
    if operator in ("is null", "is not null"):
        return (value is None) == (operator == "is null")
    if operator in ("is true", "is false", "is not true", "is not false"):
        wanted = operator.endswith("true")
        return (value is wanted) != ("not" in operator)
    if operator.startswith("not "):
        positive = truth(Predicate(predicate.attribute, operator[4:], predicate.constants), value)
        return None if positive is None else not positive
    if operator == "<=>":
        both_null = value is None and constants[0] is None
        return both_null or (value is not None and constants[0] is not None and order(value, constants[0]) == 0)
    if operator == "in":
        compared = [None if value is None or c is None else order(value, c) == 0 for c in constants]
        return True if True in compared else None if None in compared else False
    constant = constants[0]
    if predicate.attribute == "i" and operator in ("<", "<=", ">", ">=") and _is_beyond_long(predicate.constants[0]):
        # Spark does not look at a column of integers then, NULL or not.
        return (Decimal(predicate.constants[0].text) > 0) == operator.startswith("<")
    if value is None or constant is None:
        return None
    if operator == "like":
        return like(value, constant)
    if operator == "ilike":
        return like(value.lower(), constant.lower())
    if operator == "contains":
        return constant in value
    if operator == "startswith":
        return value[: len(constant)] == constant
    if operator == "endswith":
        return len(constant) <= len(value) and value[len(value) - len(constant) :] == constant
    comparison = order(value, constant)
    return {
        "=": comparison == 0,
        "<>": comparison != 0,
        "<": comparison < 0,
        "<=": comparison <= 0,
        ">": comparison > 0,
        ">=": comparison >= 0,
    }[operator]


def constant_value(constant: Constant, value: Any) -> Any:
    """The constant as Spark casts it to meet the column's value."""
    if constant.kind == "null":
        return None
    if constant.kind == "boolean":
        return constant.text == "true"
    if constant.kind in ("integer", "decimal"):
        return float(constant.text) if isinstance(value, float) else Decimal(constant.text)
    return float(constant.text) if constant.kind == "double" else constant.text


def order(left: Any, right: Any) -> int:
    """Negative, zero or positive, as Spark orders: NaN equals NaN and is the largest, strings by their bytes."""
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
        if math.isnan(left) or math.isnan(right):
            return math.isnan(left) - math.isnan(right)
    if isinstance(left, str):
        left, right = left.encode(), right.encode()
    return (left > right) - (left < right)


def like(value: str, pattern: str) -> bool:
    """Character by character."""
    if not pattern:
        return not value
    if pattern[0] == "%":
        return any(like(value[start:], pattern[1:]) for start in range(len(value) + 1))
    if pattern[0] == "\\":
        return value[:1] == pattern[1] and like(value[1:], pattern[2:])
    return bool(value) and pattern[0] in ("_", value[0]) and like(value[1:], pattern[1:])


def letters(text: str) -> list[Predicate]:
    """Predicates named by letters, for trees whose predicates do not matter."""
    return [Predicate(name, "is true") for name in re.findall(r"\w", text)]
