"""The rules that differ between two versions, one line each, with what has changed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from sparkrules.index import Rule
from sparkrules.patterns import Pattern
from sparkrules.ruleset import RuleSet
from sparkrules.store import Changes, Store

_FIELDS = ("priority", "metadata", "valid_from", "valid_until", "status", "tags", "exemptions")


def changed_rules(
    store: Store, name: str, versions: tuple[int, int | None], changes: Changes, limit: int
) -> list[tuple[str, str, str]]:
    """At most `limit` lines (0: all): the kind of change, the id, and the text of the rule."""
    old, new = (RuleSet.load(name, store.path, version) for version in versions)
    before, after = old.subscriptions, new.subscriptions

    def lines() -> Iterator[tuple[str, str, str]]:
        yield from (("added", id, after[id].where) for id in changes.added)
        yield from (("removed", id, before[id].where) for id in changes.removed)
        for id in changes.changed:
            yield from _changed(before[id], after[id])
        yield from (("pattern added", id, str(new.patterns[id])) for id in changes.patterns_added)
        yield from (("pattern removed", id, str(old.patterns[id])) for id in changes.patterns_removed)
        for id in changes.patterns_changed:
            yield from _changed_pattern(old.patterns[id], new.patterns[id])

    return list(islice(lines(), limit or None))


def _changed_pattern(old: Pattern, new: Pattern) -> Iterator[tuple[str, str, str]]:
    said = f"{old} → {new}" if str(old) != str(new) else f"metadata {old.metadata} → {new.metadata}"
    yield "pattern changed", new.id, said


def _changed(old: Rule, new: Rule) -> Iterator[tuple[str, str, str]]:
    """What differs: the text, before and after, or other fields."""
    others = [
        f"{field} {_shown(getattr(old, field))} → {_shown(getattr(new, field))}"
        for field in _FIELDS
        if getattr(old, field) != getattr(new, field)
    ]
    if old.where != new.where:
        others.insert(0, f"{old.where} → {new.where}")
    yield "changed", new.id, "; ".join(others) or "ticket"


def _shown(value: object) -> str:
    return ", ".join(value) or "none" if isinstance(value, tuple) else str(value)
