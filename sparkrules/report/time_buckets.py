"""Divides a time span into a few equal buckets with round bounds: full minutes, hours, days."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column

MOST = 60
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  # local time, as everywhere in a report
_UNITS = (
    *(timedelta(seconds=n) for n in (1, 5, 15, 30)),
    *(timedelta(minutes=n) for n in (1, 5, 15, 30)),
    *(timedelta(hours=n) for n in (1, 3, 6, 12)),
    *(timedelta(days=n) for n in (1, 7, 28, 91, 364)),
)


def bucket_width(first: datetime, last: datetime) -> timedelta:
    """The smallest width with which at most `MOST` buckets cover the span.

    >>> bucket_width(datetime(2024, 5, 1), datetime(2024, 5, 2, 12))
    datetime.timedelta(seconds=3600)
    """
    for width in _UNITS:
        if bucket_of(last, width) - bucket_of(first, width) < MOST:
            return width
    width = _UNITS[-1]
    while bucket_of(last, width) - bucket_of(first, width) >= MOST:
        width *= 2
    return width


def bucket_of(at: datetime, width: timedelta) -> int:
    """The number of the bucket that contains a time; bucket 0 begins in 1970."""
    return (at - _EPOCH) // width


def in_bucket(width: timedelta) -> Column:
    """The same of a DataFrame's column `time`, of local times."""
    from pyspark.sql import functions as f

    micros = "timestampdiff(MICROSECOND, TIMESTAMP_NTZ '1970-01-01 00:00:00', time)"
    size = width // timedelta(microseconds=1)
    return f.expr(f"({micros} - pmod({micros}, {size}L)) div {size}L")  # rounded down, also before 1970


def label(width: timedelta) -> str:
    """The width in words.

    >>> label(timedelta(hours=3)), label(timedelta(days=1))
    ('3 hours', 'day')
    """
    for unit, name in ((timedelta(days=1), "day"), (timedelta(hours=1), "hour"), (timedelta(minutes=1), "minute")):
        if width % unit == timedelta(0):
            count = width // unit
            return name if count == 1 else f"{count} {name}s"
    seconds = width // timedelta(seconds=1)
    return "second" if seconds == 1 else f"{seconds} seconds"
