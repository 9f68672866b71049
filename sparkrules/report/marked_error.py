"""The text of a rejected rule in three pieces: before the error, the error, and after it."""

from __future__ import annotations

import re
from typing import NamedTuple

from sparkrules.sql import Rejected

_CONTEXT = 200
_TOKEN = re.compile(r"\w+|'(?:[^'\\]|\\.)*'?|\S")


class Marked(NamedTuple):
    """A text in three pieces. `wrong` is the piece to underline: a space if the text ends too early."""

    before: str
    wrong: str
    after: str


def marked(rejected: Rejected) -> Marked:
    """Split the text of a rule at its error; if the error has no position, the whole text is one piece.

    >>> marked(Rejected("r", "price >> 3 AND", "expected a value", 1, 15))
    Marked(before='price >> 3 AND', wrong=' ', after='')
    >>> marked(Rejected("r", "price\\n  ?! 3", "unexpected character", 2, 3))
    Marked(before='price\\n  ', wrong='?', after='! 3')
    """
    text = rejected.where
    if rejected.line is None or rejected.column is None:
        return Marked(_end(text, 2 * _CONTEXT), "", "")
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    offset = starts[min(rejected.line, len(starts)) - 1] + rejected.column - 1
    token = _TOKEN.match(text, offset)
    end = offset if token is None else token.end()
    before = text[:offset] if offset <= _CONTEXT else "… " + text[offset - _CONTEXT : offset]
    return Marked(before, _end(text[offset:end], _CONTEXT) or " ", _end(text[end:], _CONTEXT))


def _end(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + " …"
