"""Finds the rules with a ticket that a new version would remove, restore or change.

Errors do not reveal which rule has a ticket: the message is the same for all rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from sparkrules.index.arrow_arrays import arrow_of
from sparkrules.store.changes import changes
from sparkrules.store.part import Part


def changed_owners(before: Sequence[Part], after: Sequence[Part]) -> set[str]:
    """The ticket hashes, from both states, of the rules that differ between them."""
    old, new = ticket_hashes(before), ticket_hashes(after)
    if not (old or new):
        return set()
    touched = changes(before, after).touched
    return {hashes[id] for hashes in (old, new) for id in hashes.keys() & touched}


def replaced_owners(before: Sequence[Part], after: Sequence[Part]) -> set[str]:
    """The ticket hashes of the rules that are removed, or that lose or change their ticket."""
    old = ticket_hashes(before)
    new = ticket_hashes(after) if old else {}
    return {ticket for id, ticket in old.items() if new.get(id) != ticket}


def ticket_hashes(parts: Iterable[Part]) -> dict[str, str]:
    """The ticket hashes, by subscription id."""
    found: dict[str, str] = {}
    for part in parts:
        tickets = part.body.column("ticket")
        if tickets.null_count < len(tickets):
            live = arrow_of(part.live_rows, pa.int64())
            own = tickets.take(live)
            ids = part.body.ids.take(live).filter(pc.is_valid(own))
            found |= dict(zip(ids.to_pylist(), own.drop_null().to_pylist(), strict=True))
    return found
