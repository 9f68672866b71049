"""Questions about a sqlglot node that the dialect modules share."""

from __future__ import annotations

import re

from sqlglot import exp

# Dialects where CONCAT, GREATEST and LEAST skip NULL. In the others, one NULL makes the result NULL.
IGNORE_NULL = frozenset({"postgres", "tsql"})
Refusal = str | None
"""Why a node cannot be translated, or None if it can."""


def shown(node: exp.Expr, dialect: str) -> str:
    """A node as its dialect writes it: the function name, or the start of any other expression."""
    try:
        text = node.sql(dialect, comments=False)
    except Exception:  # sqlglot cannot generate everything it parses
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
    """The members of the array in `ANY (ARRAY[...])`, or an empty list for anything else."""
    array = node.this.unnest() if isinstance(node.this, exp.Paren) else node.this
    return list(array.expressions) if isinstance(array, exp.Array) else []


def added_by_sqlglot(node: exp.Expr, dialect: str) -> bool:
    """Whether this is a cast that sqlglot added to T-SQL's LEN, LEFT or RIGHT."""
    return dialect == "tsql" and isinstance(node.parent, (exp.Length, exp.Left, exp.Right)) and node.arg_key == "this"
