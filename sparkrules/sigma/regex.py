r"""Sigma's regular expressions, which are Perl's, as Java's.

Java reads `[` and `&&` within brackets, and every `{`, as operators, and lacks some groups and escapes; the rest means
the same. As everywhere in Spark, `.` and `$` know the line ends of Unicode, and not only the line feed.

>>> print(java_regex(r"^(?P<name>[^[]+)\.exe ${", "i"))
(?iu)^([^\[]+)\.exe $\{
"""

from __future__ import annotations

import re

_FOREIGN_ESCAPES = frozenset("CEKNQXgk")
_FOREIGN_GROUP = re.compile(r"\((?:\?(?:P=|P>|[|(&R+]|-?[0-9])|\*)")
_NAMED_GROUP = re.compile(r"\(\?P?<\w+>")
_QUANTIFIER = re.compile(r"\{[0-9]+(?:,[0-9]*)?\}")


class ForeignRegex(ValueError):
    """A regular expression with something that Java does not have: the message is that part."""


def java_regex(text: str, flags: str = "") -> str:
    """The expression for Java; `flags` are letters of `i`, `m` and `s`."""
    letters = "".join(sorted(flags)).replace("i", "iu")
    result = [f"(?{letters})" if letters else ""]
    place, within = 0, False
    while place < len(text):
        taken, written = _within(text, place) if within else _outside(text, place)
        if taken[0] in "[]":
            within = taken[0] == "[" if not within else taken != "]"
        result.append(written)
        place += len(taken)
    return "".join(result)


def _outside(text: str, place: int) -> tuple[str, str]:
    """What is read at a place outside of brackets, and what is written for it."""
    c = text[place]
    if c == "\\":
        return _escape(text, place)
    if c == "[":
        opened = re.compile(r"\[\^?").match(text, place)
        assert opened is not None
        is_member = text.startswith("]", opened.end())
        return (opened[0] + "]", opened[0] + "\\]") if is_member else (opened[0], opened[0])
    if c == "{":
        quantifier = _QUANTIFIER.match(text, place)
        return (quantifier[0], quantifier[0]) if quantifier else ("{", "\\{")
    if c == "(":
        foreign = _FOREIGN_GROUP.match(text, place)
        if foreign:
            raise ForeignRegex(foreign[0])
        named = _NAMED_GROUP.match(text, place)
        return (named[0], "(") if named else ("(", "(")
    return c, c


def _within(text: str, place: int) -> tuple[str, str]:
    """The same within brackets."""
    c = text[place]
    if c == "\\":
        return _escape(text, place)
    if c == "[":
        if text[place + 1 : place + 2] in (":", ".", "="):
            raise ForeignRegex(text[place : place + 2])
        return c, "\\["
    return (c, "\\&") if c == "&" else (c, c)


def _escape(text: str, place: int) -> tuple[str, str]:
    pair = text[place : place + 2]
    if pair[1:] in _FOREIGN_ESCAPES:
        raise ForeignRegex(pair)
    return pair, pair
