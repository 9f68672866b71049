"""Convert Spark's literals to constants of the tree: numbers by their digits, strings by their value.

>>> number("007", negative=True), number("1.50", negative=False)
(Constant(kind='integer', text='-7'), Constant(kind='decimal', text='1.50'))
>>> string(["'it''s'", r"' a\\tb'"]).text
"it's a\\tb"
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sparkrules.sql.syntax import Operand, unbracketed
from sparkrules.sql.tokens import Tokens
from sparkrules.sql.tree import Constant

MARK = "\ue5a7"
"""A character of the strings that stand for others in a template."""
_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_ESCAPE = r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([01][0-7]{2})|(.))"
_SPECIAL = {quote: re.compile(f"{_ESCAPE}|{quote}{quote}", re.DOTALL) for quote in "'\""}
# Spark produces garbage beyond Unicode. No neighbour can complete these surrogates to a character.
_NOT_UNICODE = "\udc00\udc00\ud800\ud800"

_WORDS = {
    "NULL": Constant("null"),
    "TRUE": Constant("boolean", "true"),
    "FALSE": Constant("boolean", "false"),
}


def constant(tokens: Tokens, operand: Operand) -> Constant:
    """An operand without columns as a constant: of a precise kind if possible, else SQL."""
    operand = unbracketed(operand)
    return constant_at(tokens, operand.start, operand.end)


def constant_at(tokens: Tokens, start: int, end: int) -> Constant:
    kinds, texts = tokens.kinds, tokens.texts
    kind = kinds[start]
    found = None
    if end == start + 1 and kind in _WORDS:
        found = _WORDS[kind]
    elif end == start + 1 and kind == "number":
        found = number(texts[start], negative=False)
    elif end == start + 2 and kind == "-" and kinds[start + 1] == "number":
        found = number(texts[start + 1], negative=True)
    elif kind == "string" and all(k == "string" for k in kinds[start:end]):
        found = string(texts[start:end])
    return found or Constant("sql", tokens.sql(start, end))


def number(text: str, *, negative: bool) -> Constant | None:
    """The constant for a number token, or None for typed numbers (`5L`, `1.5BD`), which stay SQL."""
    if text.isdigit():
        digits = text.lstrip("0") or "0"
        return Constant("integer", "-" + digits if negative and digits != "0" else digits)
    if text[-1] in "lLsSyYfFdD":
        return None
    kind = "double" if "e" in text or "E" in text else "decimal"
    return Constant(kind, "-" + text if negative else text)  # type: ignore[arg-type]


def string(literals: Sequence[str]) -> Constant | None:
    """The constant for adjacent string literals, which Spark joins. None if Spark's value is not Unicode."""
    value = "".join(map(_unescaped, literals))
    if value.isascii():
        return Constant("string", value)
    try:
        # Two \u escapes can form one character, as in Java.
        return Constant("string", value.encode("utf-16-le", "surrogatepass").decode("utf-16-le"))
    except UnicodeDecodeError:
        return None


def _unescaped(literal: str) -> str:
    """The value of one string literal, unescaped like Spark's `SparkParserUtils.unescapeSQLString`."""
    quote, body = literal[0], literal[1:-1]
    if quote in "rR":
        return literal[2:-1]
    if "\\" not in body and quote not in body:
        return body

    def replaced(match: re.Match[str]) -> str:
        short, long, octal, other = match.groups()
        if short:
            return chr(int(short, 16))
        if long:
            return chr(int(long, 16)) if int(long, 16) <= 0x10FFFF else _NOT_UNICODE
        if octal:
            return chr(int(octal, 8))
        return _ESCAPES.get(other, other) if other else quote

    return _SPECIAL[quote].sub(replaced, body)
