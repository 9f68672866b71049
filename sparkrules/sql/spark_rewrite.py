"""Rewrite accepted nodes (`dialect_support`) where sqlglot's translation to Spark would differ or fail."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from sqlglot import exp

from sparkrules.sql.concatenation import as_text, as_text_or_empty
from sparkrules.sql.dialect_node import IGNORE_NULL, added_by_sqlglot, listed, text_of
from sparkrules.sql.dialect_regex import java_regex, java_regex_of_similar
from sparkrules.sql.functions import ENVIRONMENT_WORDS
from sparkrules.sql.tokens import KEYWORDS

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def spark_rewrite(tree: exp.Expr, dialect: str) -> exp.Expr:
    """The tree with nodes replaced where needed, inner nodes first. Changes the tree in place."""
    root = exp.Paren(this=tree)
    for node in reversed(list(root.walk(bfs=True))):
        rewrite = _REWRITES.get(type(node))
        if rewrite is not None:
            said = rewrite(node, dialect)
            if said is not node:
                node.replace(said)
    said_tree: exp.Expr = root.this
    said_tree.pop()
    return said_tree


def _identifier(node: exp.Expr, _dialect: str) -> exp.Expr:
    name = str(node.this)
    if not _PLAIN_NAME.fullmatch(name) or name.upper() in KEYWORDS or name.lower() in ENVIRONMENT_WORDS:
        node.set("quoted", True)
    return node


def _literal(node: exp.Expr, dialect: str) -> exp.Expr:
    """In PostgreSQL, 1e3 is a decimal."""
    if dialect == "postgres" and not node.is_string and "e" in node.name.lower():
        return exp.Literal.number(f"{Decimal(node.name):f}")
    return node


def _string(node: exp.Expr, _dialect: str) -> exp.Expr:
    return exp.Literal.string(str(node.this))


def _regex(node: exp.Expr, dialect: str) -> exp.Expr:
    pattern = java_regex(text_of(node.expression) or "", dialect, any_case=isinstance(node, exp.RegexpILike))
    return exp.RegexpLike(this=node.this, expression=exp.Literal.string(pattern))


def _similar(node: exp.Expr, _dialect: str) -> exp.Expr:
    pattern = java_regex_of_similar(text_of(node.expression) or "") or ""
    return exp.RegexpLike(this=node.this, expression=exp.Literal.string(pattern))


def _any(node: exp.Expr, _dialect: str) -> exp.Expr:
    if not isinstance(node.expression, exp.Any):
        return node
    return exp.In(this=node.this, expressions=listed(node.expression))


def _concat(node: exp.Expr, dialect: str) -> exp.Expr:
    skip = dialect in IGNORE_NULL and not all(isinstance(part, exp.Literal) for part in node.expressions)
    parts = [(as_text_or_empty if skip else as_text)(part) for part in node.expressions]
    return exp.Concat(expressions=parts, safe=True, coalesce=False)


def _concat_ws(node: exp.Expr, _dialect: str) -> exp.Expr:
    separator, *parts = node.expressions
    node.set("expressions", [separator, *map(as_text, parts)])
    return node


def _dpipe(node: exp.Expr, _dialect: str) -> exp.Expr:
    for side in ("this", "expression"):
        node.set(side, as_text(node.args[side]))
    return node


def _ceil(node: exp.Expr, _dialect: str) -> exp.Expr:
    """Spark's CEIL of a double is an integer, 0 for NaN, and wrong beyond 2**63. So only fractions go through it."""
    fraction = exp.Abs(this=exp.Mod(this=_bracketed(node.this), expression=exp.Literal.number(1)))
    proper = exp.and_(
        exp.GT(this=fraction, expression=exp.Literal.number(0)),
        exp.LT(this=fraction.copy(), expression=exp.Literal.number(1)),
        copy=False,
        wrap=False,
    )
    return exp.If(this=proper, true=node.copy(), false=node.this.copy())


def _extreme(node: exp.Expr, dialect: str) -> exp.Expr:
    """NULL if any value is, except in dialects that skip NULL as Spark does."""
    if dialect in IGNORE_NULL:
        return node
    values = [node.this, *node.expressions]
    unknown = [exp.Is(this=_bracketed(value), expression=exp.Null()) for value in values]
    return exp.If(this=exp.or_(*unknown, copy=False, wrap=False), true=exp.Null(), false=node.copy())


def _without_cast(node: exp.Expr, dialect: str) -> exp.Expr:
    return node.this if added_by_sqlglot(node, dialect) else node


def _length(node: exp.Expr, dialect: str) -> exp.Expr:
    """T-SQL's LEN ignores trailing spaces."""
    if dialect == "tsql":
        node.set("this", exp.Trim(this=node.this, position="TRAILING"))
    return node


def _extract(node: exp.Expr, _dialect: str) -> exp.Expr:
    """PostgreSQL numbers the days of the week from 0, Spark from 1."""
    field = node.name.upper()
    if field == "DOW":
        node.set("this", exp.Var(this="DAYOFWEEK"))
        return exp.Paren(this=exp.Sub(this=node.copy(), expression=exp.Literal.number(1)))
    if field == "ISODOW":
        node.set("this", exp.Var(this="DAYOFWEEK_ISO"))
    return node


def _date_add(node: exp.Expr, _dialect: str) -> exp.Expr:
    amount = node.expression
    negative = isinstance(amount, exp.Neg) != isinstance(node, exp.DateSub)
    number = (amount.this if isinstance(amount, exp.Neg) else amount).name
    interval = exp.Interval(this=exp.Literal.string(number), unit=exp.Var(this=node.args["unit"].name.upper()))
    added = (exp.Sub if negative else exp.Add)(this=_bracketed(node.this), expression=interval)
    return exp.Paren(this=added)


def _date_diff(node: exp.Expr, _dialect: str) -> exp.Expr:
    dates = [side.this if isinstance(side, exp.TimeStrToTime) else side for side in (node.this, node.expression)]
    return exp.Anonymous(this="DATEDIFF", expressions=[date.copy() for date in dates])


def _bracketed(node: exp.Expr) -> exp.Expr:
    node = node.copy()
    return exp.Paren(this=node) if isinstance(node, (exp.Binary, exp.Unary)) else node


_REWRITES: dict[type[exp.Expr], Callable[[exp.Expr, str], exp.Expr]] = {
    exp.Identifier: _identifier,
    exp.Literal: _literal,
    exp.ByteString: _string,
    exp.EQ: _any,
    exp.RegexpLike: _regex,
    exp.RegexpILike: _regex,
    exp.SimilarTo: _similar,
    exp.Concat: _concat,
    exp.ConcatWs: _concat_ws,
    exp.DPipe: _dpipe,
    exp.Ceil: _ceil,
    exp.Floor: _ceil,
    exp.Greatest: _extreme,
    exp.Least: _extreme,
    exp.Cast: _without_cast,
    exp.Length: _length,
    exp.Extract: _extract,
    exp.DateAdd: _date_add,
    exp.DateSub: _date_add,
    exp.DateDiff: _date_diff,
}
