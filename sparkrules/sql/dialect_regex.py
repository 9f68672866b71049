"""Patterns of other dialects in Java's words, where the two understand them alike.

Unicode, POSIX classes, word boundaries, flags and look-around are not the same everywhere: a pattern is translated if
it consists of what is.
"""

from __future__ import annotations

import re

_PLAIN = re.compile(
    r"""(?: [^\\\[\](){}*+?|^$.&] | & | \\[^A-Za-z0-9\s] | \. | \^ | \$ | \((?:\?:)? | \) | \|
          | \[\^?(?:[A-Za-z0-9_ ,;:/@%=~!'"<>#-]|\\[^A-Za-z0-9\s])+\]
          | (?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\?? )*""",
    re.VERBOSE,
)
_PLAIN_SIMILAR = re.compile(r"""[A-Za-z0-9 ,;:/@=~!'"<>#%_|()-]*""")
# What stands before and after, and what the end of the text is: Java's $ also matches before a last newline.
_AROUND = {
    "postgres": ("(?s)", "", r"\z"),
    "mysql": ("", "", "$"),
    "snowflake": (r"\A(?:", r")\z", r"\z"),
    "bigquery": ("", "", r"\z"),
}
DIFFERS = (
    "a regular expression with parts that dialects understand differently. The same everywhere are letters, "
    "[a-z], ., ^, $, groups, |, *, +, ?, {2,3} and \\ before a sign"
)


def refusal_of_pattern(pattern: str | None, dialect: str, *, any_case: bool = False) -> str | None:
    """Why a pattern is not translated; None if it is."""
    if dialect not in _AROUND or pattern is None:
        return "a regular expression that is not a plain string"
    # Which other letters a letter outside of ASCII is equal to is not the same in Java.
    return None if _PLAIN.fullmatch(pattern) and not (any_case and not pattern.isascii()) else DIFFERS


def java_regex(pattern: str, dialect: str, *, any_case: bool = False) -> str:
    r"""The pattern in Java's words, for one that was not refused.

    >>> print(java_regex("a.c$", "postgres"), java_regex("a|b", "snowflake"))
    (?s)a.c\z \A(?:a|b)\z
    """
    before, after, end = _AROUND[dialect]
    if any_case:
        before = "(?i)" + before
    return before + re.sub(r"\\.|\[[^\]]*\]|\$", lambda m: end if m[0] == "$" else m[0], pattern) + after


def java_regex_of_similar(pattern: str) -> str | None:
    r"""PostgreSQL's SIMILAR TO in Java's words; None if it has parts other than letters, %, _, | and groups.

    >>> print(java_regex_of_similar("(a|b)_%"))
    (?s)\A(?:(a|b)..*)\z
    """
    if not _PLAIN_SIMILAR.fullmatch(pattern):
        return None
    return rf"(?s)\A(?:{pattern.replace('_', '.').replace('%', '.*')})\z"
