"""CONCAT, CONCAT_WS and `||` of another dialect: how they treat NULL and values that are not strings.

A number or a Boolean becomes a string in both, but not the same one: `CONCAT('x', TRUE)` is `xt` in PostgreSQL,
`x1` in MySQL and `xtrue` in Spark; a double `1` is `1` there and `1.0` here. So what is joined has to be a string. The
types of columns are not known here; a column is written as `IF(a COLLATE UTF8_BINARY IS NULL, NULL, a)`, which is
`a`, and which Spark rejects for a column that is not a string: COLLATE is the one check that casts nothing.
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
    """Whether an operand is a string, or a column or a value of columns that `as_text` can require to be one."""
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
    """The operand, refused by Spark where it is a column that is not a text. The tree is changed in place."""
    if isinstance(node, exp.Column):
        return _if_null(node, exp.Null())
    for result in _results(node):
        result.replace(as_text(result))
    return node


def as_text_or_empty(node: exp.Expr) -> exp.Expr:
    """The same, and an empty text for NULL."""
    if isinstance(node, exp.Column):
        return _if_null(node, exp.Literal.string(""))
    if isinstance(node, exp.Literal):
        return node
    return exp.Coalesce(this=as_text(node), expressions=[exp.Literal.string("")])


def _results(node: exp.Expr) -> list[exp.Expr]:
    """What the value of a conditional expression can be."""
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
