"""What the modules about other dialects ask of a node of sqlglot's tree."""

from __future__ import annotations

import re

from sqlglot import exp

# Where CONCAT, GREATEST and LEAST leave NULL out; elsewhere they are NULL if one value is.
IGNORE_NULL = frozenset({"postgres", "tsql"})
Refusal = str | None
"""Why a node cannot be taken over, or None if it can."""


def shown(node: exp.Expr, dialect: str) -> str:
    """A node as its dialect writes it: the name of a function, or the beginning of any other expression."""
    try:
        text = node.sql(dialect, comments=False)
    except Exception:  # sqlglot cannot write everything that it reads
        return "this"
    call = re.match(r"[A-Za-z_][\w.$]*(?=\()", text)
    if call is not None and isinstance(node, exp.Func):
        return call[0]
    return text if len(text) <= 40 else text[:40] + "..."


def text_of(node: exp.Expr | None) -> str | None:
    """The value of a string literal."""
    if isinstance(node, exp.Literal) and node.is_string:
        return str(node.this)
    return str(node.this) if isinstance(node, (exp.RawString, exp.National, exp.ByteString)) else None


def whole_number(node: exp.Expr | None, at_least: int) -> bool:
    return isinstance(node, exp.Literal) and bool(node.is_int) and int(node.name) >= at_least


def sides(node: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    return node.this, node.expression


def listed(node: exp.Expr) -> list[exp.Expr]:
    """The members of the array in `ANY (ARRAY[...])`; none if it is something else."""
    array = node.this.unnest() if isinstance(node.this, exp.Paren) else node.this
    return list(array.expressions) if isinstance(array, exp.Array) else []


def added_by_sqlglot(node: exp.Expr, dialect: str) -> bool:
    """Whether this is the cast that sqlglot puts into LEN, LEFT and RIGHT of T-SQL, and nobody wrote."""
    return dialect == "tsql" and isinstance(node.parent, (exp.Length, exp.Left, exp.Right)) and node.arg_key == "this"
