"""The fields of a rule, checked: what a rule set accepts as an id, a text, a priority and metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping
from numbers import Integral
from typing import Any

from sparkrules.errors import RuleSetError


def check_id(id: Any) -> str:
    """The id, a text; whole numbers, as ids of a table may be, become text.

    >>> check_id(17)
    '17'
    """
    if is_whole(id):
        return str(id)
    if not isinstance(id, str) or not id:
        raise RuleSetError(f"an id is a text that is not empty, not {id!r:.60}")
    try:
        id.encode()
    except UnicodeEncodeError as error:
        raise RuleSetError(f"the id {id!r} is not valid Unicode") from error
    return id


def check_where(where: Any) -> str:
    """The text of the rule; no text is an empty one, which the parser will refuse as it does any other."""
    if where is None:
        return ""
    if not isinstance(where, str):
        raise RuleSetError(f"a rule is the text of a WHERE expression, not {where!r:.60}")
    return where


def check_priority(priority: Any) -> int:
    """The priority as a number of 32 bits, 0 if there is none; a CSV file has it as text.

    >>> check_priority("-3"), check_priority(None)
    (-3, 0)
    """
    if priority is None:
        return 0
    if isinstance(priority, str):
        try:
            priority = int(priority)
        except ValueError:
            raise RuleSetError(f"a priority is a whole number, not {priority!r}") from None
    if isinstance(priority, float) and priority.is_integer():
        priority = int(priority)  # pandas has floats where a number is missing
    if not is_whole(priority):
        raise RuleSetError(f"a priority is a whole number, not {priority!r:.60}")
    if not -(2**31) <= priority < 2**31:
        raise RuleSetError(f"the priority {priority} does not fit into 32 bits")
    return int(priority)


def is_whole(value: object) -> bool:
    """Whether this is a whole number, of numpy as well; True and False are not meant as such."""
    return not isinstance(value, bool) and isinstance(value, Integral)


def check_metadata(metadata: Any) -> dict[str, object] | None:
    """The metadata as a dictionary that JSON can hold; a file has it as JSON text, Arrow as a list of pairs.

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
        # A copy by way of JSON: what is published is what was given, whatever happens to the original.
        copied: dict[str, object] = json.loads(json.dumps(kept))
    except (TypeError, ValueError, RecursionError) as error:
        raise RuleSetError(f"metadata is a mapping that JSON can hold: {error}") from error
    return copied
