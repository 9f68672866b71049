"""A second opinion on every test, from sqlglot: that it is one scalar expression made of harmless parts.

The grammar of this room already knows only such expressions; sqlglot, written by other people, has to agree. It sees
the *shape* of a test, with names and constants blanked out (`c < 1`), so that a rule set with a million tests asks it
about a few hundred shapes.
"""

from __future__ import annotations

from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sparkrules.sql.policy import Policy
from sparkrules.sql.tokens import Tokens

# Function and operator nodes are let through as a class: which functions a rule may call is decided by name. But
# sqlglot's function classes include aggregates and table functions, which are refused here whatever their name.
_ALLOWED = (
    exp.Alias,
    exp.Array,
    exp.Binary,
    exp.Between,
    exp.Boolean,
    exp.Bracket,
    exp.Case,
    exp.Cast,
    exp.Collate,
    exp.Column,
    exp.Condition,
    exp.DataType,
    exp.DataTypeParam,
    exp.Dot,
    exp.Func,
    exp.HexString,
    exp.Identifier,
    exp.In,
    exp.Interval,
    exp.IntervalSpan,
    exp.Kwarg,
    exp.Lambda,
    exp.Literal,
    exp.Null,
    exp.Paren,
    exp.PropertyEQ,
    exp.Tuple,
    exp.Unary,
    exp.Var,
)
_REFUSED = (
    exp.AggFunc,
    exp.Command,
    exp.Parameter,
    exp.Placeholder,
    exp.Query,
    exp.Star,
    exp.SubqueryPredicate,
    exp.Table,
    exp.UDTF,
    exp.Window,
)


def validate(tokens: Tokens, start: int, end: int, policy: Policy) -> None:
    """Raise `RuleError` if the test at these tokens is too long or if sqlglot finds fault with it."""
    shapes = [shape for shape in tokens.shapes[start:end] if shape]
    if len(shapes) > policy.max_leaf_tokens:
        raise tokens.error(
            start,
            f"one test of {len(shapes):,} words and signs, more than {policy.max_leaf_tokens:,}",
            "Split it with AND and OR, or raise Policy.max_leaf_tokens.",
        )
    fault = _fault(" ".join(shapes))
    if fault is not None:
        raise tokens.error(start, fault, "Check the expression that starts here.")


@lru_cache(maxsize=16_384)
def _fault(shape: str) -> str | None:
    """What sqlglot has against a shape, or None."""
    try:
        trees = sqlglot.parse(shape, read="spark")
    except SqlglotError as error:
        details = getattr(error, "errors", None)
        return str(details[0]["description"] if details else error).rstrip(".")
    except RecursionError:
        return "nested too deeply"
    if len(trees) != 1 or trees[0] is None:
        return "not one expression"
    for node in trees[0].walk():
        if isinstance(node, _REFUSED) or not isinstance(node, _ALLOWED):
            return f"{node.key} is not allowed in a rule"
    return None
