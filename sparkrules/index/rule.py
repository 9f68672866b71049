"""A rule as the index receives it: an id, the text it was written as, and the Boolean tree of that text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sparkrules.sql.tree import Node


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule. `where` is for people to read; only `tree` decides what matches.

    `sql` is the text as Spark SQL, if `where` is in another dialect. The rule matches from `valid_from` on (inclusive)
    until `valid_until` (exclusive), both with a time zone. `ticket` is the keyed hash of the secret that lets its owner
    renew or cancel it.

    >>> from sparkrules.sql.tree import Predicate
    >>> Rule("cold", "temperature IS NULL", Predicate("temperature", "is null")).priority
    0
    """

    id: str
    where: str
    tree: Node
    priority: int = 0
    metadata: Mapping[str, object] | None = None
    sql: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    ticket: str | None = None
