"""LIKE as in Spark: `%` matches any characters, `_` one character, and `\\` makes the next `%`, `_` or `\\` literal.

Contract: the pattern matches the whole string. A character is a code point. Line ends are ordinary characters. Spark
rejects a `\\` before any other character or at the end, so these patterns have no regular expression here.

>>> bool(like_regex("100\\\\% _").fullmatch("100% x")), bool(like_regex("a%").fullmatch("a\\nb"))
(True, True)
"""

from __future__ import annotations

import re

from sparkrules.logic.columns import Unsupported

_WILDCARDS = {"%": ".*", "_": "."}


def like_regex(pattern: str) -> re.Pattern[str]:
    """The regular expression for a LIKE pattern."""
    parts: list[str] = []
    characters = iter(pattern)
    for character in characters:
        if character == "\\":
            literal = next(characters, "")
            if literal not in ("%", "_", "\\"):
                raise Unsupported(f"Spark refuses the LIKE pattern {pattern!r}: a \\ escapes only %, _ and \\")
            parts.append(re.escape(literal))
        else:
            part = _WILDCARDS.get(character) or re.escape(character)
            if part != ".*" or parts[-1:] != [".*"]:  # merge a run of %, else each of them would try every length
                parts.append(part)
    return re.compile("".join(parts), re.DOTALL)
