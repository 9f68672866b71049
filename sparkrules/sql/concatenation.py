"""CONCAT, CONCAT_WS and `||` in other dialects: how they treat NULL and values that are not strings.

Both sides convert numbers and Booleans to strings, but differently. `CONCAT('x', TRUE)` is `xt` in PostgreSQL, `x1` in
MySQL and `xtrue` in Spark. A double `1` becomes `1` there and `1.0` here. So every operand must be a string. Column
types are not known here, so a column is written as `IF(a COLLATE UTF8_BINARY IS NULL, NULL, a)`. That equals `a`, and
Spark rejects it unless `a` is a string: COLLATE is the only check that casts nothing.
"""

from __future__ import annotations

from sqlglot import exp

_TEXTS = (
    exp.Concat,
    exp.ConcatWs,
    exp.DPipe,
    exp.Left,
    exp.Lower,
    exp.National,
    exp.RawString,
    exp.ByteString,
    exp.Replace,
    exp.Reverse,
    exp.Right,
    exp.SplitPart,
    exp.Substring,
    exp.Translate,
    exp.Trim,
    exp.Upper,
)
_WHOLE = (exp.Length, exp.StrPosition)
NOT_A_STRING = "what CONCAT and || join has to be a string here: numbers and Booleans are written otherwise in Spark"


def is_joinable(node: exp.Expr | None) -> bool:
    """Whether an operand is a string, or is built from columns that `as_text` can require to be strings."""
    if node is None:
        return True
    if isinstance(node, exp.Literal):
        return bool(node.is_string or node.is_int)
    if isinstance(node, exp.Cast):
        return node.to.this in exp.DataType.TEXT_TYPES
    if isinstance(node, (exp.Paren, exp.Coalesce, exp.Case, exp.If, exp.Nullif)):
        return all(map(is_joinable, _results(node)))
    return isinstance(node, (*_TEXTS, *_WHOLE, exp.Column, exp.Null))


def as_text(node: exp.Expr) -> exp.Expr:
    """The operand, which Spark now rejects if it is a column that is not a string. Changes the tree in place."""
    if isinstance(node, exp.Column):
        return _if_null(node, exp.Null())
    for result in _results(node):
        result.replace(as_text(result))
    return node


def as_text_or_empty(node: exp.Expr) -> exp.Expr:
    """Like `as_text`, with NULL replaced by an empty string."""
    if isinstance(node, exp.Column):
        return _if_null(node, exp.Literal.string(""))
    if isinstance(node, exp.Literal):
        return node
    return exp.Coalesce(this=as_text(node), expressions=[exp.Literal.string("")])


def _results(node: exp.Expr) -> list[exp.Expr]:
    """The possible values of a conditional expression."""
    if isinstance(node, exp.Paren):
        return [node.this]
    if isinstance(node, exp.Coalesce):
        return [node.this, *node.expressions]
    if isinstance(node, exp.Nullif):
        return [node.this]
    branches: list[exp.Expr | None] = []
    if isinstance(node, exp.Case):
        branches = [*(branch.args.get("true") for branch in node.args["ifs"]), node.args.get("default")]
    elif isinstance(node, exp.If):
        branches = [node.args.get("true"), node.args.get("false")]
    return [branch for branch in branches if branch is not None]


def _if_null(column: exp.Column, default: exp.Expr) -> exp.Expr:
    strict = exp.Collate(this=column.copy(), expression=exp.Var(this="UTF8_BINARY"))
    return exp.If(this=exp.Is(this=strict, expression=exp.Null()), true=default, false=column.copy())
