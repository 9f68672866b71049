"""Where the rules of a rule set are published: its store, its versions, and which of them it has."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import timedelta
from functools import partial
from typing import TypeAlias

from sparkrules.errors import RuleSetError
from sparkrules.index import Rule
from sparkrules.rules.advertised import Advertised
from sparkrules.rules.collection import RuleCollection
from sparkrules.rules.content import Content
from sparkrules.rules.list_methods import provide_lists
from sparkrules.rules.overlapping import decided
from sparkrules.rules.table_schema import TableSchema, arrow_schema
from sparkrules.rules.validity import check_span
from sparkrules.sql.rejected import Rejected
from sparkrules.store import (
    Changes,
    Draft,
    Garbage,
    Manifest,
    Merge,
    OverlapPlan,
    Place,
    Store,
    StoredPatterns,
    Version,
    publish_draft,
    store_path,
)
from sparkrules.store.tickets import read_key, shared_key

AnyStore: TypeAlias = "Store | str | os.PathLike[str]"


class Publication:
    """The published side of a rule set.

    `chosen` is the store that the user has named. Without one, it is the store that the rules were last loaded from or
    published to, and otherwise the default.
    """

    def __init__(self, rules: RuleCollection, advertised: Advertised, store: AnyStore | None) -> None:
        self.rules = rules
        self.advertised = advertised
        self.chosen = None if store is None else place_of(store)
        self._known: dict[Place, Version] = {}  # per store, the version loaded or published last
        self._home: Place | None = None  # the store of the last of them

    @property
    def name(self) -> str:
        return self.rules.name

    @property
    def store(self) -> Store:
        """The store that this rule set is in."""
        return Store(self.chosen or self._home)

    @property
    def version(self) -> int | None:
        """The version of its store that has exactly these rules, as far as this object knows."""
        return self.version_in(self.store)

    def version_in(self, store: AnyStore) -> int | None:
        """The version of a store that this object has loaded or published, unless the rules have changed since."""
        known = self._known.get(place_of(store))
        content = self.rules.content
        if known is None or content.waiting or known.parts != content.parts or self.rules.patterns.is_changed:
            return None
        return known.number

    @property
    def costs(self) -> dict[str, float]:
        """What functions cost: as the version says that is known of the store, and the policy."""
        known = self._known.get(self.store.path)
        return {**({} if known is None else known.manifest.costs), **self.rules.policy.costs}

    @property
    def list_stores(self) -> list[Store]:
        """Where the lists of the rule set are: in the chosen store, or wherever it is published."""
        return [self.store] if self.chosen is not None or not self._known else [Store(path) for path in self._known]

    def publish(
        self,
        store: AnyStore | None = None,
        *,
        merge: Merge = "auto",
        overlaps: bool | TableSchema = False,
        force: bool = False,
        first: bool = False,
    ) -> int:
        """Publish the rules as the next version and return its number. See `RuleSet.publish` and `publish_draft`."""
        target = self.store if store is None else Store(place_of(store))
        base = self._known.get(target.path)
        draft = Draft(
            self._content_for(target).sealed(),
            _overlap_plan(overlaps),
            self._changed_rejected(target, base),
            self._default_seconds(),
            self._changed_advertisements(target, base),
            self.rules.general,
            self.rules.policy.costs,
            self.rules.policy.max_calls,
            self._changed_patterns(target, base),
        )
        new = [own for part in draft.parts if (own := part.body.in_memory) is not None]
        provide_lists(self.list_stores[0], target, self.name, new)
        self._take_over(target, publish_draft(target, self.name, draft, base, merge=merge, force=force, first=first))
        return self._known[target.path].number

    def load(self, version: int | None) -> None:
        """Have the rules of a version, by default the newest."""
        source = self.store
        self._take_over(source, source.open(self.name, version))

    def versions(self) -> list[Manifest]:
        """The manifests of the published versions, oldest first."""
        source = self.store
        return [source.manifest(self.name, number) for number in source.versions(self.name)]

    def rollback(self, version: int, tickets: Iterable[str], *, force: bool) -> int:
        """Publish an old version again, take over its rules, and return the new version."""
        target = self.store
        self.check_unchanged(target, "roll back")
        number = target.rollback(self.name, version, tickets=tickets, force=force)
        self._take_over(target, target.open(self.name, number))
        return number

    def check_unchanged(self, target: Store, what: str) -> None:
        """Raise `RuleSetError` if there are changes that are not published to this store."""
        is_changed = self.advertised.is_changed or self.rules.patterns.is_changed
        if (len(self.rules.content) and self.version_in(target) is None) or is_changed:
            raise RuleSetError(
                f"rule set {self.name!r} has unpublished changes: publish it, or {what} with a fresh "
                f"RuleSet.load({self.name!r}, store)"
            )

    def take_over(self, target: Store, version: int) -> None:
        """Have the rules of a version of a store."""
        self._take_over(target, target.open(self.name, version))

    def diff(self, before: int, after: int | None) -> Changes:
        """How two versions differ, by id."""
        return self.store.diff(self.name, before, after)

    def collect_garbage(self, keep: int, older_than: timedelta) -> Garbage:
        """Remove old versions, and files that no version refers to."""
        return self.store.collect_garbage(self.name, keep, older_than)

    def _take_over(self, store: Store, version: Version) -> None:
        """Have the rules of a version, whether it was loaded or has been made of these."""
        manifest = version.manifest
        seconds = manifest.default_validity
        self.rules.become(
            Content(self.name, version.parts),
            None if seconds is None else timedelta(seconds=seconds),
            rejected=partial(store.rejected, manifest),
            ticket_key=partial(read_key, store.path / self.name),
            general=manifest.general,
        )
        self.advertised.become(partial(store.advertisements, manifest))
        self.rules.patterns.become(partial(store.patterns, manifest))
        self._known[store.path] = version
        self._home = store.path

    def _default_seconds(self) -> int | None:
        span = check_span(self.rules.default_validity)
        return None if span is None else int(span.total_seconds())

    def _changed_rejected(self, target: Store, base: Version | None) -> tuple[Rejected, ...] | None:
        """The rejected rules, unless the version that the target knows has the same."""
        if base is not None and self.rules.unpublished_rejected is None and target.path == self._home:
            return None
        return tuple(self.rules.rejected)

    def _changed_advertisements(self, target: Store, base: Version | None) -> tuple[Rule, ...] | None:
        """The advertisements, unless the version that the target knows has the same."""
        if base is not None and target.path == self._home and not self.advertised.is_changed:
            return None
        return self.advertised.stored()

    def _changed_patterns(self, target: Store, base: Version | None) -> StoredPatterns | None:
        """The patterns, unless the version that the target knows has the same."""
        if base is not None and target.path == self._home and not self.rules.patterns.is_changed:
            return None
        return self.rules.patterns.stored()

    def _content_for(self, target: Store) -> Content:
        """The content as it goes to a store: tickets hashed with the store's key."""
        # Tickets that were hashed with the key of another store are valid in this one only if it has the same key.
        foreign = self._home not in (None, target.path) and self.rules.content.has_tickets()
        if not (self.rules.has_secrets or foreign):
            return self.rules.content
        return self.rules.hashed(shared_key(target.path / self.name, self.rules.ticket_key if foreign else None))


def place_of(store: AnyStore) -> Place:
    """Where a store is, given as such or by its path."""
    return store.path if isinstance(store, Store) else store_path(store)


def _overlap_plan(overlaps: bool | TableSchema) -> OverlapPlan:
    if isinstance(overlaps, bool):
        return OverlapPlan(decided, is_asked=overlaps)
    types = arrow_schema(overlaps)
    return OverlapPlan(decided) if types is None else OverlapPlan(decided, is_asked=True, types=types.remove_metadata())
