"""Where a data type or an interval ends: the two places where Spark's expressions have a grammar of their own.

>>> from sparkrules.sql.policy import DEFAULT_POLICY
>>> from sparkrules.sql.tokens import tokenize
>>> data_type_end(tokenize("array<decimal(10, 2)> > 5", DEFAULT_POLICY), 0)
9
"""

from __future__ import annotations

from sparkrules.sql.tokens import KEYWORDS, Tokens

_CLOSING = {">": 1, ">>": 2, ">>>": 3}
_UNITS = frozenset(
    {"YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND", "NANOSECOND"}
)
INTERVAL_UNITS = _UNITS | {unit + "S" for unit in _UNITS}


def data_type_end(tokens: Tokens, start: int) -> int:
    """The index behind the data type that starts at a token: its name, its `<...>`, its `(...)` and what follows."""
    kinds = tokens.kinds
    if kinds[start] != "word" and kinds[start] != "INTERVAL":
        raise tokens.error(start, "expected a data type", "For example CAST(price AS INT).")
    at = start + 1
    if kinds[at] == "<>":  # struct<>
        at += 1
    elif kinds[at] == "<":
        at = _closing_angle(tokens, at)
    elif kinds[at] == "(":
        at = _closing_round(tokens, at)
    return _qualifiers_end(tokens, at, tokens.texts[start].upper())


def interval_end(tokens: Tokens, start: int) -> int | None:
    """The index behind the interval literal whose word INTERVAL is at `start`; None if that word is a column."""
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


def _closing_angle(tokens: Tokens, start: int) -> int:
    """Behind the `>` that closes `<`. Inside are only names, types and commas, so counting is enough."""
    depth = 0
    for at in range(start, len(tokens.kinds)):
        kind = tokens.kinds[at]
        if kind == "<":
            depth += 1
        elif kind in _CLOSING:
            depth -= _CLOSING[kind]
            if depth == 0:
                return at + 1
            if depth < 0:
                break
        elif kind not in ("word", "quoted", "number", "(", ")", ",", ":", "<>") and kind not in KEYWORDS:
            break
    raise tokens.error(start, "a data type that is not closed", "Write array<int>, map<string, int>, struct<a: int>.")


def _closing_round(tokens: Tokens, start: int) -> int:
    """Behind the bracket that closes `(10, 2)`."""
    at = start + 1
    while tokens.kinds[at] in ("number", ",", "word"):
        at += 1
    if tokens.kinds[at] != ")":
        raise tokens.error(at, "expected the closing bracket of a data type", "For example DECIMAL(10, 2).")
    return at + 1


def _qualifiers_end(tokens: Tokens, at: int, name: str) -> int:
    """Behind INTERVAL DAY TO SECOND, TIMESTAMP WITHOUT TIME ZONE, STRING COLLATE x."""
    if name == "INTERVAL" and _is_unit(tokens, at):
        at += 1
        if _word(tokens, at) == "TO" and _is_unit(tokens, at + 1):
            at += 2
    elif name in ("TIMESTAMP", "TIME") and _word(tokens, at) in ("WITH", "WITHOUT"):
        while _word(tokens, at) in ("WITH", "WITHOUT", "LOCAL", "TIME", "ZONE"):
            at += 1
    return at


def _word(tokens: Tokens, at: int) -> str:
    return tokens.texts[at].upper() if tokens.kinds[at] == "word" else ""


def _is_unit(tokens: Tokens, at: int) -> bool:
    return at < len(tokens.kinds) and _word(tokens, at) in INTERVAL_UNITS
