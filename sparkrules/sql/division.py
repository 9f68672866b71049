"""Division in other dialects, accepted where rounding the quotient cannot change the answer.

`n / 3.0` is `0.33333333333333333333` in PostgreSQL, `0.333333` in Spark, `0.3333` in MySQL, and a double if `n` is one.
Comparing it with a number of few digits gives the same answer in all of them. Let the divisor have `d` digits and the
number `f` digits after the point. A quotient that differs from the number differs by more than 1 / 10**(d + f). So does
the rounded quotient, if it keeps that many digits after the point. Spark keeps at least six, MySQL four.

>>> import sqlglot
>>> for text in ["n / 3.0 > 1.5", "n / 3.0 > 0.33333", "n / 3 > 1"]:
...     division = sqlglot.parse_one(text, read="postgres").this
...     print(refusal_of_division(division, "postgres"))
None
a quotient is rounded otherwise in Spark: compare it with a number of fewer digits
/ of whole numbers is not Spark's, which gives a fraction: divide by a number such as 3.0
"""

from __future__ import annotations

import re

from sqlglot import exp

_DIGITS = {"mysql": 4}
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In)
_MOST_DIGITS = 9  # before the point: a double then holds the number and the nearest quotient precisely enough


def refusal_of_division(node: exp.Expr, dialect: str) -> str | None:
    """Why a division is not translated, or None if it is."""
    if dialect == "bigquery":
        return None
    divisor = _number(node.expression)
    if dialect in ("postgres", "tsql") and (divisor is None or "." not in divisor):
        return "/ of whole numbers is not Spark's, which gives a fraction: divide by a number such as 3.0"
    if divisor is None or not divisor.strip("0."):
        return "the divisor must be a literal number"
    digits = len(divisor.replace(".", "").lstrip("0"))
    behind = [_behind_the_point(number) for number in _compared_with(node)]
    if not behind or None in behind or digits + max(filter(None, behind), default=0) > _DIGITS.get(dialect, 6):
        return "a quotient is rounded otherwise in Spark: compare it with a number of fewer digits"
    return None


def _compared_with(node: exp.Expr) -> list[exp.Expr]:
    """The values a division is compared with; empty if it is not compared."""
    side, parent = node, node.parent
    while isinstance(parent, exp.Paren):
        side, parent = parent, parent.parent
    if not isinstance(parent, _COMPARISONS):
        return []
    if isinstance(parent, exp.In):
        return list(parent.expressions) if side is parent.this else []
    if isinstance(parent, exp.Between):
        return [parent.args["low"], parent.args["high"]] if side is parent.this else []
    return [parent.expression if side is parent.this else parent.this]


def _number(node: exp.Expr) -> str | None:
    """The digits of a number literal, without exponent or sign."""
    node = node.this if isinstance(node, exp.Neg) else node
    if isinstance(node, exp.Literal) and node.is_number and re.fullmatch(r"[0-9]+(\.[0-9]*)?|\.[0-9]+", node.name):
        return str(node.name)
    return None


def _behind_the_point(node: exp.Expr) -> int | None:
    number = _number(node)
    if number is None:
        return None
    before, _, behind = number.partition(".")
    return len(behind.rstrip("0")) if len(before) <= _MOST_DIGITS else None
