"""Find where a data type or an interval ends. Both have their own grammar within Spark's expressions.

    type      := ARRAY [<type>] | MAP [<type, type>] | STRUCT [<field, ...>] | name [(number, ...)] [qualifiers]
    field     := name [:] type [NOT NULL] [COMMENT string]

>>> from sparkrules.sql.policy import DEFAULT_POLICY
>>> from sparkrules.sql.tokens import tokenize
>>> data_type_end(tokenize("array<decimal(10, 2)> > 5", DEFAULT_POLICY), 0)
9
"""

from __future__ import annotations

from sparkrules.sql.errors import RuleError
from sparkrules.sql.tokens import KEYWORDS, Tokens

_CLOSING = {">": 1, ">>": 2, ">>>": 3}
_UNITS = frozenset(
    {"YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND", "NANOSECOND"}
)
INTERVAL_UNITS = _UNITS | {unit + "S" for unit in _UNITS}
_DEPTH = 64
_COLLATED = frozenset({"STRING", "CHAR", "CHARACTER", "VARCHAR"})
_SIZED = _COLLATED - {"STRING"} | {
    *("DECIMAL", "DEC", "NUMERIC", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "TIME", "GEOGRAPHY", "GEOMETRY"),
}
_PLAIN_NAMES = """
    BOOLEAN TINYINT BYTE SMALLINT SHORT INT INTEGER BIGINT LONG FLOAT REAL DOUBLE DATE BINARY VOID VARIANT INTERVAL
    STRING
"""
_PLAIN = frozenset(_PLAIN_NAMES.split())


def data_type_end(tokens: Tokens, start: int) -> int:
    """The index after the data type that starts at token `start`."""
    reader = _Types(tokens, start)
    reader.type(0)
    if reader.open:
        raise reader.not_closed()
    return reader.at


class _Types:
    """A cursor over a type. `open` counts its unclosed `<`; `>>` closes two of them."""

    def __init__(self, tokens: Tokens, start: int) -> None:
        self.tokens = tokens
        self.kinds = tokens.kinds
        self.start = self.at = start
        self.open = 0

    def type(self, depth: int) -> None:
        name = _word(self.tokens, self.at)
        if depth > _DEPTH:
            raise self.tokens.error(self.at, f"a data type nested deeper than {_DEPTH} levels")
        if not name:
            raise self.tokens.error(self.at, "expected a data type", "For example CAST(price AS INT).")
        self.at += 1
        if name in ("ARRAY", "MAP", "STRUCT"):
            self.inside(name, depth)
        elif name in _PLAIN or name in _SIZED:
            if name in _SIZED and self.kinds[self.at] == "(":
                self.at = _closing_round(self.tokens, self.at)
            self.at = _qualifiers_end(self.tokens, self.at, name)
        else:
            raise self.tokens.error(
                self.at - 1, "this is not a data type of Spark's", "For example INT, STRING, DECIMAL(10, 2), DATE."
            )

    def inside(self, name: str, depth: int) -> None:
        if name == "STRUCT" and self.kinds[self.at] == "<>":
            self.at += 1
            return
        if self.kinds[self.at] != "<":
            return
        self.at += 1
        self.open += 1
        level = self.open
        if name != "STRUCT" or self.kinds[self.at] not in _CLOSING:
            self.member(name, depth)
            while self.open == level and self.kinds[self.at] == ",":
                self.at += 1
                self.member(name, depth)
        if self.open == level:
            count = _CLOSING.get(self.kinds[self.at], 0)
            if not count or count > self.open:
                raise self.not_closed()
            self.open -= count
            self.at += 1

    def member(self, name: str, depth: int) -> None:
        if name == "STRUCT":
            kind = self.kinds[self.at]
            if kind not in ("word", "quoted") and kind not in KEYWORDS:
                raise self.not_closed()
            self.at += 1
            if self.kinds[self.at] == ":":
                self.at += 1
        level = self.open
        self.type(depth + 1)
        if name != "STRUCT" or self.open != level:
            return
        if self.kinds[self.at] == "NOT" and self.kinds[self.at + 1] == "NULL":
            self.at += 2
        if _word(self.tokens, self.at) == "COMMENT" and self.kinds[self.at + 1] == "string":
            self.at += 1
            while self.kinds[self.at] == "string":
                self.at += 1

    def not_closed(self) -> RuleError:
        return self.tokens.error(
            self.start, "a data type that is not closed", "Write array<int>, map<string, int>, struct<a: int>."
        )


def interval_end(tokens: Tokens, start: int) -> int | None:
    """The index after the interval literal whose INTERVAL is at `start`, or None if that word is a column."""
    kinds = tokens.kinds
    if kinds[start + 1] == "string" and not _is_unit(tokens, start + 2):
        return start + 2  # INTERVAL '1 day'
    at = start + 1
    end = None
    while True:
        value = at + 1 if kinds[at] in ("+", "-") else at
        if kinds[value] not in ("number", "string") or not _is_unit(tokens, value + 1):
            return end
        at = end = value + 2
        if _word(tokens, at) == "TO" and _is_unit(tokens, at + 1):
            return at + 2


def _closing_round(tokens: Tokens, start: int) -> int:
    """The index after the bracket that closes `(10, 2)` or `(ANY)`."""
    at = start + 1
    while tokens.kinds[at] in ("number", ",", "word"):
        at += 1
    if tokens.kinds[at] != ")":
        raise tokens.error(at, "expected the closing bracket of a data type", "For example DECIMAL(10, 2).")
    return at + 1


def _qualifiers_end(tokens: Tokens, at: int, name: str) -> int:
    """The index after INTERVAL DAY TO SECOND, TIMESTAMP WITHOUT TIME ZONE or STRING COLLATE x."""
    if name == "INTERVAL" and _is_unit(tokens, at):
        at += 1
        if _word(tokens, at) == "TO" and _is_unit(tokens, at + 1):
            at += 2
    elif name in ("TIMESTAMP", "TIME") and _word(tokens, at) in ("WITH", "WITHOUT"):
        while _word(tokens, at) in ("WITH", "WITHOUT", "LOCAL", "TIME", "ZONE"):
            at += 1
    elif name in _COLLATED and tokens.kinds[at] == "COLLATE" and tokens.kinds[at + 1] in ("word", "quoted"):
        at += 2
        while tokens.kinds[at] == "." and tokens.kinds[at + 1] in ("word", "quoted"):
            at += 2
    return at


def _word(tokens: Tokens, at: int) -> str:
    return tokens.texts[at].upper() if tokens.kinds[at] in ("word", "INTERVAL") else ""


def _is_unit(tokens: Tokens, at: int) -> bool:
    return at < len(tokens.kinds) and _word(tokens, at) in INTERVAL_UNITS
