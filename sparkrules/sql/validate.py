"""A second opinion on every test, from sqlglot: that it is one scalar expression made of harmless parts.

The grammar of this room already knows only such expressions; sqlglot, written by other people, has to agree. It sees
the *shape* of a test, with names and constants blanked out (`c < 1`), so that a rule set with a million tests asks it
about a few hundred shapes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError

from sparkrules.sql.policy import Policy
from sparkrules.sql.tokens import Tokens

# Function and operator nodes are let through as a class: which functions a rule may call is decided by name. But
# sqlglot's function classes include aggregates and table functions, which are refused here whatever their name.
_ALLOWED = (
    exp.Alias,
    exp.Array,
    exp.AtTimeZone,
    exp.Binary,
    exp.Between,
    exp.Boolean,
    exp.Bracket,
    exp.Case,
    exp.Cast,
    exp.Collate,
    exp.Column,
    exp.ColumnDef,
    exp.Condition,
    exp.DataType,
    exp.DataTypeParam,
    exp.Dot,
    exp.FromTimeZone,
    exp.Func,
    exp.HexString,
    exp.Identifier,
    exp.In,
    exp.Interval,
    exp.IntervalSpan,
    exp.JSONPath,
    exp.JSONPathPart,
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
    exp.Table,
    exp.UDTF,
    exp.Window,
)


def validate(tokens: Tokens, start: int, end: int, policy: Policy) -> None:
    """Raise `RuleError` if the test at these tokens is too long or if sqlglot finds fault with it."""
    if "XOR" in tokens.shapes[start:end]:
        raise tokens.error(
            tokens.shapes.index("XOR", start, end),
            "XOR inside of a value",
            "Spark has no XOR; it is understood between conditions only. Write (a) <> (b) here.",
        )
    shown = [at for at in range(start, end) if tokens.shapes[at]]
    if len(shown) > policy.max_leaf_tokens:
        raise tokens.error(
            start,
            f"one test of {len(shown):,} words and signs, more than {policy.max_leaf_tokens:,}",
            "Split it with AND and OR, or raise Policy.max_leaf_tokens.",
        )
    for call in _calls(tokens, shown):
        fault = _fault(" ".join([shape for _, shape in call]))
        if fault is not None:
            reason, column = fault
            until = accumulate(len(shape) + 1 for _, shape in call)
            at = next((at for (at, _), end in zip(call, until, strict=True) if column < end), call[-1][0])
            raise tokens.error(at, reason, "Check the expression around this place.")


def _calls(tokens: Tokens, shown: list[int]) -> Iterator[list[tuple[int, str]]]:
    """The shape of every call with columns for the calls in its arguments, then that of the whole: `f(g(a))` is `g(c)`,
    `f(c)` and `c`.

    One at a time, because for some functions sqlglot takes twice as long with each level that they nest.
    """
    frames: list[list[tuple[int, str]]] = [[]]
    opened: list[bool] = []
    for at in shown:
        frame = frames[-1]
        if at in tokens.calls:
            name = 1
            while len(frame) > name + 1 and frame[-name - 1][1] == ".":
                name += 2
            frames.append([*frame[-name:], (at, "(")])
            del frame[-name:]
            opened.append(True)
            continue
        frame.append((at, tokens.shapes[at]))
        if tokens.kinds[at] == "(":
            opened.append(False)
        elif tokens.kinds[at] == ")" and opened and opened.pop():
            yield frames.pop()
            frames[-1].append((frame[0][0], "c"))
    yield frames[0]


@lru_cache(maxsize=16_384)
def _fault(shape: str) -> tuple[str, int] | None:
    """What sqlglot has against a shape, and in which column; None if it has nothing."""
    try:
        trees = sqlglot.parse(shape, read="spark")
    except ParseError as error:
        detail = error.errors[0] if error.errors else {}
        return _described(str(detail.get("description") or error)), int(detail.get("col") or 1) - 1
    except RecursionError:
        return "nested too deeply", 0
    except Exception as error:  # sqlglot raises whatever it trips over: IndexError for map(c), for one
        return f"cannot be read ({type(error).__name__})", 0
    if len(trees) != 1 or trees[0] is None:
        return "not one expression", 0
    for node in trees[0].walk():
        if isinstance(node, _REFUSED) or not isinstance(node, _ALLOWED):
            return f"{node.key.upper()} is not allowed here", 0
    return None


def _described(description: str) -> str:
    """sqlglot's description, where it would show its own classes said in the user's words."""
    if "missing for <class" in description:
        return "an argument is missing"
    if "number of provided arguments" in description:
        return "too many arguments"
    return description.rstrip(".")
