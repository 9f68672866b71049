"""Validate each predicate with a second parser: it must be one scalar expression of safe parts.

Our grammar accepts only such expressions. sqlglot, an independent parser, must agree that a predicate has no query,
window, aggregate or star before Spark sees it. It checks the *shape* of a predicate, with names and constants blanked
out (`c < 1`), so a rule set with a million predicates needs only a few hundred checks.

If sqlglot finds one of these, or a wrong number of arguments, the rule is rejected. But sqlglot cannot parse everything
that Spark can, and that is not the rule's fault. Those predicates are checked by their words instead (`_query_word`). A
query, a window or an aggregate with a quantifier has adjacent words, or a word after a bracket, that no scalar
expression can have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError

from sparkrules.sql.policy import Policy
from sparkrules.sql.sqlglot_messages import captured_warnings, plain_message
from sparkrules.sql.tokens import Tokens

# Function and operator nodes are allowed as a class: the policy decides by name which functions a rule may call. But
# sqlglot's function classes include aggregates and table functions, which are rejected here under any name.
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
_REFUSED: dict[type[exp.Expr], str] = {
    exp.AggFunc: "aggregates are not allowed",
    exp.Command: "statements are not allowed",
    exp.Parameter: "parameter markers are not allowed",
    exp.Placeholder: "parameter markers are not allowed",
    exp.Query: "subqueries and statements are not allowed",
    exp.Star: "a star is not a value",
    exp.Table: "tables are not allowed",
    exp.UDTF: "functions that give a table are not allowed",
    exp.Window: "windows are not allowed",
}


def validate(tokens: Tokens, start: int, end: int, policy: Policy) -> None:
    """Raise `RuleError` if the predicate at these tokens is too long or sqlglot rejects it."""
    if "XOR" in tokens.shapes[start:end]:
        raise tokens.error(
            tokens.shapes.index("XOR", start, end),
            "XOR inside a value",
            "Spark has no XOR; it is understood between conditions only. Write (a) <> (b) here.",
        )
    shown = [at for at in range(start, end) if tokens.shapes[at]]
    if len(shown) > policy.max_leaf_tokens:
        raise tokens.error(
            start,
            f"one predicate of {len(shown):,} words and signs, more than {policy.max_leaf_tokens:,}",
            "Split it with AND and OR, or raise Policy.max_leaf_tokens.",
        )
    for call in _calls(tokens, shown):
        fault = _fault(" ".join([shape for _, shape in call]))
        if fault is not None:
            reason, column = fault
            if not reason:
                _require_no_query(tokens, start, end)
                continue
            until = accumulate(len(shape) + 1 for _, shape in call)
            at = next((at for (at, _), end in zip(call, until, strict=True) if column < end), call[-1][0])
            raise tokens.error(at, reason, "Check the expression around this place.")


def _require_no_query(tokens: Tokens, start: int, end: int) -> None:
    """Accept a predicate that sqlglot cannot parse, unless a word in it starts a query or a window."""
    at = _query_word(tokens, start, end)
    if at is not None:
        raise tokens.error(at, "this may begin a query or a window", "A rule sees one row.")


def _calls(tokens: Tokens, shown: list[int]) -> Iterator[list[tuple[int, str]]]:
    """The shape of every call, with its inner calls replaced by columns, then of the whole: `f(g(a))` gives `g(c)`,
    `f(c)` and `c`.

    Checked one at a time, because for some functions sqlglot's time doubles with each level of nesting.
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


_UNREADABLE = ("", 0)


@lru_cache(maxsize=16_384)
def _fault(shape: str) -> tuple[str, int] | None:
    """sqlglot's objection to a shape and its column. The reason is empty if unknown; None if there is no objection."""
    try:
        with captured_warnings():
            trees = sqlglot.parse(shape, read="spark")
    except ParseError as error:
        detail = error.errors[0] if error.errors else {}
        description = str(detail.get("description") or error)
        if _counts_arguments(description):
            return plain_message(description), int(detail.get("col") or 1) - 1
        return _UNREADABLE
    except RecursionError:
        return "nested too deeply", 0
    except Exception:  # sqlglot raises many kinds of exceptions
        return _UNREADABLE
    if len(trees) != 1 or trees[0] is None:
        return _UNREADABLE
    unknown = False
    for node in trees[0].walk():
        for kind, reason in _REFUSED.items():
            if isinstance(node, kind):
                return reason, 0
        unknown = unknown or not isinstance(node, _ALLOWED)
    return _UNREADABLE if unknown else None


def _counts_arguments(description: str) -> bool:
    """Whether sqlglot reports too many or too few arguments, rather than a parse failure."""
    missing = re.search(r"missing for <class '(?:\w+\.)*(\w+)'>", description)
    if missing is None:
        return "number of provided arguments" in description
    node = getattr(exp, missing[1], exp.Expr)
    return issubclass(node, exp.Func) and not issubclass(node, (exp.Cast, exp.Binary))


# Unquoted words that can start a query or a window in Spark's grammar.
_BEGINS_QUERY = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE", "MAP", "REDUCE", "DESCRIBE", "DESC"})
_FOLLOWS_CALL = frozenset({"OVER", "FILTER", "WITHIN", "IGNORE", "RESPECT"})
_NAMES = frozenset({"word", "quoted", "string", "number", "SELECT", "ALL", "DISTINCT", "*"})


def _query_word(tokens: Tokens, start: int, end: int) -> int | None:
    """Where a query, window, quantifier or star may start, or None."""
    kinds = tokens.kinds
    for at in range(start, end):
        # The start of the text counts as the inside of a bracket.
        before, after = kinds[at - 1] if at else "(", kinds[at + 1]
        if kinds[at] == "*":
            if before in ("(", ",", "."):
                return at
        elif kinds[at] == "word" or kinds[at] in ("SELECT", "FROM", "OVER", "ALL", "DISTINCT"):
            word = tokens.texts[at].upper()
            if word in _BEGINS_QUERY and before == "(" and after in _NAMES:
                return at
            if word in _BEGINS_QUERY and before == "(" and after == "(" and word != "MAP" and word != "REDUCE":
                return at
            if word in _FOLLOWS_CALL and before == ")":
                return at
            if word in ("ALL", "DISTINCT") and before == "(" and after in _NAMES:
                return at
    return None
