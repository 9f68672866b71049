"""The rules that differ between two versions, one line each, with what has changed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from sparkrules.index import Rule
from sparkrules.ruleset import RuleSet
from sparkrules.store import Changes, Store

_FIELDS = ("priority", "metadata", "valid_from", "valid_until")


def changed_rules(
    store: Store, name: str, versions: tuple[int, int | None], changes: Changes, limit: int
) -> list[tuple[str, str, str]]:
    """At most `limit` lines (0: all): the kind of change, the id, and the text of the rule."""
    before, after = (RuleSet.load(name, store.path, version).subscriptions for version in versions)

    def lines() -> Iterator[tuple[str, str, str]]:
        yield from (("added", id, after[id].where) for id in changes.added)
        yield from (("removed", id, before[id].where) for id in changes.removed)
        for id in changes.changed:
            yield from _changed(before[id], after[id])

    return list(islice(lines(), limit or None))


def _changed(old: Rule, new: Rule) -> Iterator[tuple[str, str, str]]:
    """What differs: the text, before and after, or other fields."""
    others = [
        f"{field} {getattr(old, field)} → {getattr(new, field)}"
        for field in _FIELDS
        if getattr(old, field) != getattr(new, field)
    ]
    if old.where != new.where:
        others.insert(0, f"{old.where} → {new.where}")
    yield "changed", new.id, "; ".join(others) or "ticket"
