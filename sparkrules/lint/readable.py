"""Whether Spark can convert a string to another type, as it does to compare the string with a column of that type.

Contract: `unreadable` says "no" only where `try_cast` gives NULL under any settings; in doubt, the string counts as
readable. Spark accepts more than ISO 8601: years of up to seven digits, `2025-1-5`, `now`, `today`, and any zone after
the time in a timestamp.

>>> [unreadable(text, "integer") for text in ("cheap", " 12 ", "1.5")]
['not a number', None, None]
>>> unreadable("2025-13-45", "timestamp"), unreadable("2025-2-29", "date"), unreadable("yesterday", "date")
('not a timestamp', 'not a date', None)
>>> unreadable("maybe", "boolean"), unreadable("YES", "boolean")
('not a Boolean', None)
"""

from __future__ import annotations

import re
from calendar import isleap

_NUMBER = re.compile(
    r"[+-]?(?:nan|inf|infinity|(?:\d+\.?\d*|\.\d*)(?:e[+-]?\d+)?[df]?|0x[0-9a-f.]*p[+-]?\d+[df]?)", re.IGNORECASE
)
_BOOLEAN = re.compile(r"t|true|y|yes|1|f|false|n|no|0", re.IGNORECASE)
_SPECIAL = re.compile(r"(?:epoch|now|today|tomorrow|yesterday)\b.*", re.IGNORECASE | re.DOTALL)
_DAY = r"([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2}))?)?"
_DATE = re.compile(rf"{_DAY}(?:[ T].*)?", re.DOTALL)
_CLOCK = r"(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.\d*)?)?)?"
_TIMESTAMP = re.compile(rf"{_DAY}(?:[ T]{_CLOCK}(?:\D.*)?)?", re.DOTALL)
_TIME = re.compile(rf"T?{_CLOCK}(?:\D.*)?", re.DOTALL)
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_WORDS = {
    "integer": "not a number",
    "decimal": "not a number",
    "float": "not a number",
    "double": "not a number",
    "boolean": "not a Boolean",
    "date": "not a date",
    "timestamp": "not a timestamp",
}


def unreadable(text: str, family: str) -> str | None:
    """Why a string is invalid for the family, or None if it may be valid."""
    if family not in _WORDS or _is_readable(_trimmed(text), family):
        return None
    return _WORDS[family]


def _is_readable(text: str, family: str) -> bool:
    if family == "boolean":
        return _BOOLEAN.fullmatch(text) is not None
    if family == "date":
        return _SPECIAL.fullmatch(text) is not None or _is_date(_DATE.fullmatch(text))
    if family == "timestamp":
        return _SPECIAL.fullmatch(text) is not None or _is_timestamp(text)
    return _NUMBER.fullmatch(text) is not None


def _is_timestamp(text: str) -> bool:
    found = _TIMESTAMP.fullmatch(text)
    if _is_date(found):
        assert found is not None
        return _is_clock(found, 4)
    time = _TIME.fullmatch(text)
    return time is not None and _is_clock(time, 1)


def _is_date(found: re.Match[str] | None) -> bool:
    if found is None:
        return False
    year, month, day = int(found[1]), int(found[2] or 1), int(found[3] or 1)
    return 1 <= month <= 12 and 1 <= day <= _DAYS[month - 1] + (month == 2 and isleap(year))


def _is_clock(found: re.Match[str], first: int) -> bool:
    hour, minute, second = (int(found[group] or 0) for group in range(first, first + 3))
    return hour <= 23 and minute <= 59 and second <= 59


def _trimmed(text: str) -> str:
    """Spark removes spaces and control characters from both ends."""
    return text.strip("".join(map(chr, (*range(0x21), *range(0x7F, 0xA1), 0x2028, 0x2029))))
