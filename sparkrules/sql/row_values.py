"""Expand comparisons of rows, `(a, b) < (1, 2)`, into comparisons of their parts.

Spark compares rows as structs: NULL is a value like any other, and the answer is never unknown. PostgreSQL and MySQL
follow the SQL standard:

| rows | means |
|---|---|
| `(a, b) = (c, d)` | `a = c AND b = d` |
| `(a, b) <> (c, d)` | `a <> c OR b <> d` |
| `(a, b) < (c, d)` | `a < c OR (a = c AND b < d)`, and likewise for `<=`, `>`, `>=` |
| `(a, b) IN ((c, d), ...)` | `=` holds for one of them |
| `(a, b) IS NULL`, `(a, b) IS NOT NULL` | every part is NULL; no part is NULL |
| `(a, b) IS DISTINCT FROM (c, d)` | at least one part is distinct |

>>> import sqlglot
>>> tree = sqlglot.parse_one("NOT (a, b) <= (1, c + 1)", read="postgres")
>>> print(with_rows_written_out(tree, "postgres").sql("spark"))
NOT (a < 1 OR (a = 1 AND b <= (c + 1)))
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

_STRICT: dict[type[exp.Expr], type[exp.Binary]] = {exp.LT: exp.LT, exp.LTE: exp.LT, exp.GT: exp.GT, exp.GTE: exp.GT}
_STANDARD: tuple[type[exp.Expr], ...] = (exp.EQ, exp.NEQ, *_STRICT, exp.In)
_COMPARED: dict[str, tuple[type[exp.Expr], ...]] = {
    "postgres": (*_STANDARD, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Is, exp.Between),
    "mysql": (*_STANDARD, exp.NullSafeEQ),
    "snowflake": (exp.In,),
}
_ATOMS = (exp.Column, exp.Literal, exp.Null, exp.Boolean, exp.Paren, exp.Func)
_MOST_PARTS = 32  # each part adds a level of brackets to an ordering comparison
Parts = list[exp.Expr]


class RowRefused(ValueError):
    """Why the row comparison `node` is not translated."""

    def __init__(self, node: exp.Expr, reason: str) -> None:
        super().__init__(reason)
        self.node = node


def with_rows_written_out(tree: exp.Expr, dialect: str) -> exp.Expr:
    """The tree without rows. Raises `RowRefused` where the meaning of a row is not known."""
    root = exp.Paren(this=tree)
    for node in list(root.find_all(exp.Tuple, exp.Anonymous)):
        if _parts(node) is None or _listed_in(node) or isinstance(node.parent, (exp.Any, exp.All)):
            continue
        comparison = _beyond_brackets(node)
        if not isinstance(comparison, _COMPARED.get(dialect, ())):
            raise RowRefused(comparison or node, "a row (a, b) is not compared in this way there: compare its parts")
        if comparison.parent is not None:  # not yet expanded from its other side
            comparison.replace(_written_out(comparison))
    written: exp.Expr = root.this
    written.pop()
    return written


def _parts(node: exp.Expr | None) -> Parts | None:
    """The parts of a row, or None if the node is not a row."""
    node = node.unnest() if isinstance(node, exp.Paren) else node
    if isinstance(node, exp.Tuple) or (isinstance(node, exp.Anonymous) and node.name.upper() == "ROW"):
        return list(node.expressions)
    return None


def _beyond_brackets(node: exp.Expr) -> exp.Expr | None:
    parent = node.parent
    while isinstance(parent, exp.Paren) and parent.parent is not None:
        parent = parent.parent
    return parent


def _listed_in(node: exp.Expr) -> bool:
    """Whether a row is in a list whose subject is also a row. The subject then handles it."""
    parent = _beyond_brackets(node)
    return isinstance(parent, exp.In) and node.arg_key == "expressions" and _parts(parent.this) is not None


def _written_out(node: exp.Expr) -> exp.Expr:
    left = _parts(node.this)
    if left is None:
        raise RowRefused(node, "a row (a, b) is compared with another row")
    if isinstance(node, exp.Is):
        if not isinstance(node.expression, exp.Null):
            raise RowRefused(node, "a row (a, b) is NULL or not, but neither true nor false")
        negate = bool(node.args.get("negate"))
        return _all([exp.Is(this=_operand(part), expression=exp.Null(), negate=negate) for part in left])
    if isinstance(node, exp.In):
        if node.args.get("query") or node.args.get("unnest") or not node.expressions:
            raise RowRefused(node, "IN takes a list of values")
        return _any([_equal(left, _other(node, left, member)) for member in node.expressions])
    if isinstance(node, exp.Between):
        low, high = (_other(node, left, node.args[bound]) for bound in ("low", "high"))
        if node.args.get("symmetric"):
            raise RowRefused(node, "BETWEEN SYMMETRIC takes no rows here")
        return _all([_ordered(exp.GTE, left, low), _ordered(exp.LTE, left, high)])
    right = _other(node, left, node.expression)
    if type(node) in _STRICT:
        return _ordered(type(node), left, right)
    parts = [type(node)(this=_operand(a), expression=_operand(b)) for a, b in zip(left, right, strict=True)]
    return (_any if isinstance(node, (exp.NEQ, exp.NullSafeNEQ)) else _all)(parts)


def _other(node: exp.Expr, left: Parts, right: exp.Expr) -> Parts:
    parts = _parts(right)
    if parts is None or len(parts) != len(left):
        raise RowRefused(node, "a row (a, b) is compared with a row of as many parts")
    if len(parts) > _MOST_PARTS:
        raise RowRefused(node, f"rows of more than {_MOST_PARTS} parts")
    return parts


def _equal(left: Parts, right: Parts) -> exp.Expr:
    return _all([exp.EQ(this=_operand(a), expression=_operand(b)) for a, b in zip(left, right, strict=True)])


def _ordered(operator: Callable[..., exp.Expr], left: Parts, right: Parts) -> exp.Expr:
    a, b = left[0], right[0]
    if len(left) == 1:
        return operator(this=_operand(a), expression=_operand(b))
    before = _STRICT[operator](this=_operand(a), expression=_operand(b))  # type: ignore[index]
    equal = exp.EQ(this=_operand(a), expression=_operand(b))
    return _any([before, _all([equal, _ordered(operator, left[1:], right[1:])])])


def _operand(part: exp.Expr) -> exp.Expr:
    if part.find(exp.Tuple) is not None:
        raise RowRefused(part, "a row inside a row")
    return part.copy() if isinstance(part, _ATOMS) else exp.Paren(this=part.copy())


def _all(tests: Parts) -> exp.Expr:
    return tests[0] if len(tests) == 1 else exp.Paren(this=exp.and_(*tests, copy=False, wrap=False))


def _any(tests: Parts) -> exp.Expr:
    return tests[0] if len(tests) == 1 else exp.Paren(this=exp.or_(*tests, copy=False, wrap=False))
