"""Spans of time, as users write them and as patterns keep them: a number of microseconds.

>>> span_of("1 hour 30 minutes"), span_of("90s") == span_of(timedelta(seconds=90))
(5400000000, True)
>>> span_words(5_400_000_000)
'1 hour 30 minutes'
"""

from __future__ import annotations

import re
from datetime import timedelta
from fractions import Fraction
from typing import Any

from sparkrules.errors import RuleSetError

_UNITS = {
    "week": 604_800_000_000,
    "day": 86_400_000_000,
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "millisecond": 1_000,
    "microsecond": 1,
}
_SHORT = {
    "week": ("w", "wk", "wks"),
    "day": ("d",),
    "hour": ("h", "hr", "hrs"),
    "minute": ("m", "min", "mins"),
    "second": ("s", "sec", "secs"),
    "millisecond": ("ms", "msec", "msecs"),
    "microsecond": ("us", "usec", "usecs", "\N{MICRO SIGN}s", "\N{GREEK SMALL LETTER MU}s"),
}
_NAMES = {name: size for unit, size in _UNITS.items() for name in (unit, f"{unit}s", *_SHORT[unit])}
_CALENDAR = {"mo", "mon", "mons", "month", "months", "y", "yr", "yrs", "year", "years", "quarter", "quarters"}
_TERM = re.compile(r"\s*,?\s*([0-9]+(?:\.[0-9]+)?)\s*([^\W\d_]+)")
# A time plus a span must fit into 64 bits, whatever the time of a row is.
_LONGEST = 1_000_000 * _UNITS["day"]
_EXAMPLE = "write '10 minutes', '1 hour 30 minutes' or a timedelta"


def span_of(value: Any, what: str = "a span") -> int:
    """The microseconds of a span; `what` names it in errors.

    >>> span_of("1 month", "within")
    Traceback (most recent call last):
    ...
    sparkrules.errors.RuleSetError: within '1 month': a month has no fixed length. Write days instead
    """
    if isinstance(value, timedelta):
        size = value // timedelta(microseconds=1)
    elif isinstance(value, str):
        size = _read(value, what)
    else:
        raise RuleSetError(f"{what} is a span of time, not {value!r:.60}: {_EXAMPLE}")
    if not 0 <= size <= _LONGEST:
        raise RuleSetError(f"{what} {str(value)!r:.60} is not between 0 and 1,000,000 days")
    return size


def _read(text: str, what: str) -> int:
    total, place = Fraction(0), 0
    while found := _TERM.match(text, place):
        number, unit = found.groups()
        total += Fraction(number) * _unit(unit, text, what)
        place = found.end()
    if place == 0 or text[place:].strip():
        bare = text.strip().replace(".", "", 1).isdigit()
        reason = "it has no unit" if bare else "this is not a span of time"
        raise RuleSetError(f"{what} {text!r:.60}: {reason}; {_EXAMPLE}")
    if total.denominator != 1:
        raise RuleSetError(f"{what} {text!r:.60} is not a whole number of microseconds")
    return int(total)


def _unit(name: str, text: str, what: str) -> int:
    lower = name.lower()
    if name == "M":
        raise RuleSetError(f"{what} {text!r:.60}: 'M' may be minutes or months. Write minutes")
    if lower in _CALENDAR:
        kind = next(kind for kind in ("month", "quarter", "year") if kind[0] == lower[0])
        raise RuleSetError(f"{what} {text!r:.60}: a {kind} has no fixed length. Write days instead")
    if lower not in _NAMES:
        raise RuleSetError(f"{what} {text!r:.60}: {name!r} is not a unit of time; {_EXAMPLE}")
    return _NAMES[lower]


def span_words(size: int) -> str:
    """A span in words, without weeks: people say 14 days.

    >>> span_words(90_000_500), span_words(86_400_000_000), span_words(0)
    ('1 minute 30 seconds 500 microseconds', '1 day', '0 seconds')
    """
    words = []
    for name, unit in list(_UNITS.items())[1:]:
        count, size = divmod(size, unit)
        if count:
            words.append(f"{count:,} {name}{'s' * (count != 1)}")
    return " ".join(words) or "0 seconds"
