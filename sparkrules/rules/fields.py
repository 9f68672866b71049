"""Checks of the fields of a rule: id, text, priority, metadata, status and tags."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from numbers import Integral
from typing import Any

from sparkrules.errors import RuleSetError
from sparkrules.index.rule import LIVE, STATUSES

MOST_TAGS = 100
LONGEST_TAG = 200


def check_id(id: Any) -> str:
    """The id, a string. Integers, as in the id column of a table, become strings; a database has them as decimals, too.

    >>> check_id(17), check_id(Decimal("17.00"))
    ('17', '17')
    """
    if is_whole(id) or _is_whole_decimal(id):
        return str(int(id))
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
    if (isinstance(priority, float) and priority.is_integer()) or _is_whole_decimal(priority):
        priority = int(priority)  # pandas uses floats where numbers are missing
    if not is_whole(priority):
        raise RuleSetError(f"a priority is an integer, not {priority!r:.60}")
    if not -(2**31) <= priority < 2**31:
        raise RuleSetError(f"the priority {priority} does not fit into 32 bits")
    return int(priority)


def is_whole(value: object) -> bool:
    """Whether this is an integer, also one of numpy; True and False are not."""
    return not isinstance(value, bool) and isinstance(value, Integral)


def _is_whole_decimal(value: object) -> bool:
    return isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value()


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


def check_status(status: Any) -> str:
    """The status: live, the default, shadow or draft.

    >>> check_status(None), check_status("Shadow")
    ('live', 'shadow')
    """
    if status is None:
        return LIVE
    known = status.strip().lower() if isinstance(status, str) else ""
    if known not in STATUSES:
        raise RuleSetError(f"a status is {', '.join(STATUSES[:-1])} or {STATUSES[-1]}, not {status!r:.60}")
    return known


def check_tags(tags: Any) -> tuple[str, ...]:
    """The tags, sorted and distinct: from a list, or a string that is a JSON list or has tags with commas between.

    >>> check_tags(["windows", "attack.t1059", "windows"]), check_tags("linux, windows"), check_tags(None)
    (('attack.t1059', 'windows'), ('linux', 'windows'), ())
    """
    if tags is None or (isinstance(tags, str) and not tags.strip()):
        return ()
    if isinstance(tags, str):
        tags = _json_list(tags) if tags.lstrip().startswith("[") else tags.split(",")
    if isinstance(tags, (Mapping, bytes)) or not isinstance(tags, Iterable):
        raise RuleSetError(f"tags are a list of strings, not {tags!r:.60}")
    known = set()
    for tag in tags:
        known.add(check_tag(tag))
        if len(known) > MOST_TAGS:
            raise RuleSetError(f"a rule has at most {MOST_TAGS} tags")
    return tuple(sorted(known))


def check_tag(tag: Any) -> str:
    """One tag, without spaces at its ends."""
    own = tag.strip() if isinstance(tag, str) else ""
    if not own:
        raise RuleSetError(f"a tag is a non-empty string, not {tag!r:.60}")
    if len(own) > LONGEST_TAG:
        raise RuleSetError(f"a tag has at most {LONGEST_TAG} characters, and {own!r:.60}... has {len(own)}")
    if "," in own or not own.isprintable():
        raise RuleSetError(f"the tag {own!r:.60} contains a comma, or a character that cannot be printed")
    return own


def _json_list(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RuleSetError(f"tags are not JSON: {error}") from None


def names_of(names: str | Iterable[str] | None) -> list[str]:
    """Names as an argument has them: a list of them, one, or none."""
    return [names] if isinstance(names, str) else list(names or ())


def check_fields(names: Iterable[str], taken: Iterable[str]) -> None:
    """Raise if a field of metadata has the name of a column that a match has anyway; columns ignore case."""
    known = {name.lower() for name in taken}
    for name in names:
        if name.lower() in known:
            raise RuleSetError(f"fields: there is a column {name!r} already, so that no field can have this name")
        known.add(name.lower())
