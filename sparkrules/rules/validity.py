"""When a rule is valid: instants with a time zone, and spans of time."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from sparkrules.errors import RuleSetError


def check_instant(value: Any, what: str) -> datetime | None:
    """An instant in UTC. A string is in ISO 8601; an empty one is None.

    >>> check_instant("2026-01-31T12:00:00+02:00", "valid_from")
    datetime.datetime(2026, 1, 31, 10, 0, tzinfo=datetime.timezone.utc)
    >>> check_instant(datetime(2026, 1, 31), "valid_from")
    Traceback (most recent call last):
    ...
    sparkrules.errors.RuleSetError: valid_from 2026-01-31 00:00:00 has no time zone: write 2026-01-31T00:00:00+00:00 ...
    """
    if value is None or (isinstance(value, str) and not value):
        return None
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(_with_offset(value.strip()))
        except ValueError:
            raise RuleSetError(f"{what} is an instant such as 2026-01-31T12:00:00+00:00, not {value!r}") from None
    if not isinstance(value, datetime) or value != value:  # NaT of pandas is a datetime, and not equal to itself
        raise RuleSetError(f"{what} is a datetime with a time zone, not {value!r}")
    if value.utcoffset() is None:
        raise RuleSetError(
            f"{what} {value} has no time zone: write {value.isoformat()}+00:00 if it is UTC, in Python "
            "value.replace(tzinfo=timezone.utc)"
        )
    try:
        instant = value.astimezone(timezone.utc)
    except OverflowError:
        raise RuleSetError(f"{what} {value} is out of range") from None
    # A plain datetime: that of pandas has nanoseconds, and the store does not.
    return datetime.combine(instant.date(), instant.time(), timezone.utc)


def check_validity(
    valid_from: Any, valid_until: Any, default: timedelta | None = None
) -> tuple[datetime | None, datetime | None]:
    """The begin and the end of a validity; `default` is its length if there is no end.

    >>> check_validity("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z")
    Traceback (most recent call last):
    ...
    sparkrules.errors.RuleSetError: valid_until 2026-01-01 00:00:00+00:00 is not after valid_from 2026-01-02 ...
    """
    begin, end = check_instant(valid_from, "valid_from"), check_instant(valid_until, "valid_until")
    if end is None and default is not None:
        try:
            end = (begin or datetime.now(timezone.utc)) + default
        except OverflowError:
            raise RuleSetError(f"valid_from {begin} and the default validity {default} are out of range") from None
    if begin is not None and end is not None and end <= begin:
        raise RuleSetError(f"valid_until {end} is not after valid_from {begin}")
    return begin, end


def check_span(span: Any) -> timedelta | None:
    """How long a rule without an end is valid: whole seconds, at least one."""
    if span is None:
        return None
    if not isinstance(span, timedelta) or span < timedelta(seconds=1) or span.microseconds:
        raise RuleSetError(f"default_validity is a timedelta of whole seconds, at least one, not {span!r}")
    return span


def instant_of(at: datetime | None) -> datetime:
    """The instant that a question is about, by default now."""
    return check_instant(at, "at") or datetime.now(timezone.utc)


def _with_offset(text: str) -> str:
    return f"{text[:-1]}+00:00" if text[-1:] in ("Z", "z") else text  # Python 3.10 does not read it
