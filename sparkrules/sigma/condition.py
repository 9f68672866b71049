"""Conditions as Spark SQL that are never unknown where Sigma says no.

In Sigma a field that an event lacks matches nothing, so its negation matches. In SQL a comparison with NULL is unknown,
and so is its negation. A condition therefore knows which operands make it unknown when they are NULL, and its negation
asks for them:

>>> image = Condition("endswith(lower(Image), 'cmd.exe')", ("Image",))
>>> print(negated(image))
(Image IS NULL OR NOT endswith(lower(Image), 'cmd.exe'))
>>> print(joined("AND", [image, negated(joined("OR", [image, Condition("User IS NULL")]))]))
endswith(lower(Image), 'cmd.exe') AND (Image IS NULL OR NOT endswith(lower(Image), 'cmd.exe')) AND NOT User IS NULL
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from sparkrules.sql.predicate_sql import quoted
from sparkrules.sql.tokens import KEYWORDS


@dataclass(frozen=True)
class Condition:
    """A condition; `operands` are those that make it unknown when they are NULL. One with `parts` is their AND or OR.

    A condition whose parts have the same operands is kept as one test: it is unknown exactly where each part is.
    """

    sql: str
    operands: tuple[str, ...] = ()
    word: Literal["", "AND", "OR"] = ""
    parts: tuple[Condition, ...] = ()

    def __str__(self) -> str:
        return self.sql


def joined(word: Literal["AND", "OR"], conditions: Iterable[Condition]) -> Condition:
    """All of the conditions, or any of them."""
    parts = tuple(inner for own in conditions for inner in (own.parts if own.word == word else (own,)))
    if len(parts) == 1:
        return parts[0]
    sql = f" {word} ".join(f"({own})" if own.word not in ("", word) else own.sql for own in parts)
    operands = parts[0].operands
    is_one = bool(operands) and all(own.operands == operands for own in parts)
    return Condition(sql, operands if is_one else (), word, parts)


def negated(condition: Condition) -> Condition:
    """Where the condition is not true.

    >>> a, b = Condition("a = 1", ("a",)), Condition("b = 1", ("b",))
    >>> print(negated(joined("OR", [a, Condition("a = 2", ("a",))])))
    (a IS NULL OR NOT (a = 1 OR a = 2))
    >>> print(negated(joined("AND", [a, b])), negated(negated(joined("AND", [a, b]))), sep=" / ")
    (a IS NULL OR NOT a = 1) OR (b IS NULL OR NOT b = 1) / a = 1 AND b = 1
    """
    if isinstance(condition, _Negated):
        return condition.positive
    if condition.word and not condition.operands:
        inner = joined("AND" if condition.word == "OR" else "OR", map(negated, condition.parts))
        return _Negated(inner.sql, inner.operands, inner.word, inner.parts, positive=condition)
    sql = f"NOT ({condition})" if condition.word else f"NOT {condition}"
    if condition.operands:
        missing = " OR ".join(f"{operand} IS NULL" for operand in condition.operands)
        sql = f"({missing} OR {sql})"
    return _Negated(sql, positive=condition)


@dataclass(frozen=True)
class _Negated(Condition):
    positive: Condition = Condition("true")


def column(name: str) -> str:
    """A field as a column; a dot goes into a nested field.

    >>> column("process.command_line"), column("event-id"), column("Like")
    ('process.command_line', '`event-id`', '`Like`')
    """
    return ".".join(part if _is_word(part) else quoted(part) for part in name.split("."))


def _is_word(part: str) -> bool:
    return part.isascii() and part.isidentifier() and part.upper() not in KEYWORDS


def literal(text: str) -> str:
    r"""A string as a literal. Spark replaces `${name}` in the text of a query, so this has no such thing.

    >>> print(literal("C:\\it's"), literal("${env:PATH}"))
    'C:\\it\'s' '\u0024{env:PATH}'
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return "'" + escaped.replace("${", "\\u0024{") + "'"
