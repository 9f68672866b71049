"""The names in an expression that has been accepted as a rule.

A name that is not a column must be an error, as in the plugin. Spark resolves some names differently: `user` as a
function, others as session variables.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from sparkrules.catalyst.python_engine.analysis import Rejection, analyzed
from sparkrules.sql.policy import ANYTHING
from sparkrules.sql.tokens import KEYWORDS, tokenize

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Calls without brackets that a rule may make.
_CALLS = {"current_date", "current_timestamp", "current_time", "localtimestamp"}


def names_in(sql: str) -> Iterator[tuple[str, ...]]:
    """The names in an expression, in parts, including types, units and lambda variables.

    >>> list(names_in("lower(a.`b c`) = 'x.y' AND CAST(d AS INT) > 1"))
    [('a', 'b c'), ('d',), ('INT',)]
    """
    tokens = tokenize(sql, ANYTHING)
    at = 0
    while at < len(tokens.kinds):
        if tokens.kinds[at] not in ("word", "quoted") or (at and tokens.kinds[at - 1] == "."):
            at += 1
            continue
        parts = [_unquoted(tokens.texts[at])]
        at += 1
        while tokens.kinds[at : at + 1] == ["."] and _is_name(tokens.kinds[at + 1]):
            parts.append(_unquoted(tokens.texts[at + 1]))
            at += 2
        if tokens.kinds[at] not in ("(", "string"):  # not a call, nor DATE '2020-01-01'
            yield tuple(parts)


def is_name(sql: str) -> bool:
    """Whether an expression is only a column, or a field of one.

    >>> is_name("a.`b c`"), is_name("a.b + 1"), is_name("true"), is_name("current_date")
    (True, False, False, False)
    """
    tokens = tokenize(sql, ANYTHING)
    kinds = tokens.kinds[:-1]
    alternate = all(_is_name(kind) if number % 2 == 0 else kind == "." for number, kind in enumerate(kinds))
    return len(kinds) % 2 == 1 and alternate and kinds[0] in ("word", "quoted") and sql.lower() not in _CALLS


def no_columns(spark: SparkSession, names: Collection[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """The names that mean something even where there are no columns at all."""
    asked = [name for name in names if name[-1].lower() not in _CALLS]
    empty = spark.range(1).select()
    return {name for name, found in zip(asked, analyzed(empty, _quoted(asked)), strict=True) if _is_known(found)}


def _quoted(names: Sequence[tuple[str, ...]]) -> list[str]:
    # Quoted only if necessary: Spark resolves only an unquoted `user` as the function.
    return [
        ".".join(part if part.isidentifier() and part.isascii() else f"`{part.replace('`', '``')}`" for part in name)
        for name in names
    ]


def _is_known(found: object) -> bool:
    return not isinstance(found, Rejection)


def _is_name(kind: str) -> bool:
    return kind in ("word", "quoted") or kind in KEYWORDS


def _unquoted(part: str) -> str:
    return part[1:-1].replace("``", "`") if part[0] == "`" else part
