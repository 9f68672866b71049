"""A rule as the index receives it: an id, its text, and the Boolean tree of that text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sparkrules.sql.tree import Node

LIVE, SHADOW, DRAFT = STATUSES = ("live", "shadow", "draft")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule. `where` is for display; only `tree` decides what matches.

    `sql` is the text as Spark SQL, if `where` is not. The rule is valid from `valid_from` (inclusive) to
    `valid_until` (exclusive), both with a time zone. `ticket` is the keyed hash of the secret that lets its owner renew
    or cancel it. `status` is one of `STATUSES`; `tags` are sorted and distinct. `exemptions` is JSON for
    `sparkrules.sql.exemption`; `sql` and `tree` have them.

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
    status: str = LIVE
    tags: tuple[str, ...] = ()
    exemptions: str | None = None
