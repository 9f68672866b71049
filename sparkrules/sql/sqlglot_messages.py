"""Keep sqlglot's warnings off the console and its class names out of error messages.

>>> import sqlglot
>>> with captured_warnings() as warnings:
...     trees = sqlglot.parse("ALTER TABLE t FOO", read="tsql")
>>> len(warnings)
1
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_heard: ContextVar[list[str] | None] = ContextVar("warnings of sqlglot", default=None)


def _keep(record: logging.LogRecord) -> bool:
    heard = _heard.get()
    if heard is None:
        return True
    heard.append(record.getMessage())
    return False


# Other code in this process may use sqlglot and still gets its own warnings.
logging.getLogger("sqlglot").addFilter(_keep)


@contextmanager
def captured_warnings() -> Iterator[list[str]]:
    """Capture sqlglot's log messages inside this block."""
    warnings: list[str] = []
    token = _heard.set(warnings)
    try:
        yield warnings
    finally:
        _heard.reset(token)


def plain_message(description: str) -> str:
    """sqlglot's error description, without its class names."""
    if "missing for <class" in description:
        return "an argument is missing"
    if "number of provided arguments" in description:
        return "too many arguments"
    if "<class" in description or not description or "Unexpected token" in description:
        return "unexpected here"
    return description.rstrip(".")
