"""Names of rule sets, and of the files that a manifest refers to."""

from __future__ import annotations

import re

from sparkrules.errors import StoreError

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")


def is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


def check_name(name: str) -> str:
    """Return the name of a rule set if it is valid. It becomes a directory name and appears in SQL.

    >>> check_name("alerts.eu-1")
    'alerts.eu-1'
    >>> check_name("../alerts")
    Traceback (most recent call last):
    ...
    sparkrules.errors.StoreError: '../alerts' is not a name: letters, digits, '_', '-' and '.' (not first) are allowed
    """
    if not isinstance(name, str) or not is_name(name):
        raise StoreError(f"{name!r} is not a name: letters, digits, '_', '-' and '.' (not first) are allowed")
    return name
