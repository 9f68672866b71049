"""Checks of the fields of a rule: id, text, priority and metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping
from numbers import Integral
from typing import Any

from sparkrules.errors import RuleSetError


def check_id(id: Any) -> str:
    """The id, a string. Integers, as in the id column of a table, become strings.

    >>> check_id(17)
    '17'
    """
    if is_whole(id):
        return str(id)
    if not isinstance(id, str) or not id:
        raise RuleSetError(f"an id is a non-empty string, not {id!r:.60}")
    try:
        id.encode()
    except UnicodeEncodeError as error:
        raise RuleSetError(f"the id {id!r} is not valid Unicode") from error
    return id


def check_where(where: Any) -> str:
    """The text of the rule; None becomes an empty text, which the parser rejects."""
    if where is None:
        return ""
    if not isinstance(where, str):
        raise RuleSetError(f"a rule is the text of a WHERE expression, not {where!r:.60}")
    return where


def check_priority(priority: Any) -> int:
    """The priority, an integer of 32 bits, 0 by default; in a CSV file it is a string.

    >>> check_priority("-3"), check_priority(None)
    (-3, 0)
    """
    if priority is None:
        return 0
    if isinstance(priority, str):
        try:
            priority = int(priority)
        except ValueError:
            raise RuleSetError(f"a priority is an integer, not {priority!r}") from None
    if isinstance(priority, float) and priority.is_integer():
        priority = int(priority)  # pandas uses floats where numbers are missing
    if not is_whole(priority):
        raise RuleSetError(f"a priority is an integer, not {priority!r:.60}")
    if not -(2**31) <= priority < 2**31:
        raise RuleSetError(f"the priority {priority} does not fit into 32 bits")
    return int(priority)


def is_whole(value: object) -> bool:
    """Whether this is an integer, also one of numpy; True and False are not."""
    return not isinstance(value, bool) and isinstance(value, Integral)


def check_metadata(metadata: Any) -> dict[str, object] | None:
    """The metadata as a dictionary that JSON can hold; a file has it as a JSON string, Arrow as a list of pairs.

    >>> check_metadata('{"owner": "ops"}')
    {'owner': 'ops'}
    >>> check_metadata([("owner", "ops")])
    {'owner': 'ops'}
    """
    if metadata is None:
        return None
    try:
        if isinstance(metadata, str):
            metadata = json.loads(metadata)
        kept = dict(metadata) if isinstance(metadata, (Mapping, list)) else metadata
        if not isinstance(kept, dict):
            raise TypeError("it is not a mapping")
        # A copy through JSON: later changes to the original do not reach it.
        copied: dict[str, object] = json.loads(json.dumps(kept))
    except (TypeError, ValueError, RecursionError) as error:
        raise RuleSetError(f"metadata must be a mapping that JSON can hold: {error}") from error
    return copied
