"""Translate regular expressions from other dialects to Java's syntax.

Unicode, POSIX classes, word boundaries, flags and look-around differ between dialects. A pattern is translated only if
all its parts mean the same in both.
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
# The prefix, the suffix, and how to write the end of the string: Java's $ also matches before a final newline.
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
    """Why a pattern is not translated, or None if it is."""
    if dialect not in _AROUND or pattern is None:
        return "a regular expression that is not a plain string"
    # Outside ASCII, Java may fold case differently.
    return None if _PLAIN.fullmatch(pattern) and not (any_case and not pattern.isascii()) else DIFFERS


def java_regex(pattern: str, dialect: str, *, any_case: bool = False) -> str:
    r"""An accepted pattern in Java's syntax.

    >>> print(java_regex("a.c$", "postgres"), java_regex("a|b", "snowflake"))
    (?s)a.c\z \A(?:a|b)\z
    """
    before, after, end = _AROUND[dialect]
    if any_case:
        before = "(?i)" + before
    return before + re.sub(r"\\.|\[[^\]]*\]|\$", lambda m: end if m[0] == "$" else m[0], pattern) + after


def java_regex_of_similar(pattern: str) -> str | None:
    r"""PostgreSQL's SIMILAR TO in Java's syntax. None if it has parts other than letters, %, _, | and groups.

    >>> print(java_regex_of_similar("(a|b)_%"))
    (?s)\A(?:(a|b)..*)\z
    """
    if not _PLAIN_SIMILAR.fullmatch(pattern):
        return None
    return rf"(?s)\A(?:{pattern.replace('_', '.').replace('%', '.*')})\z"
