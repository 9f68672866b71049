"""Publishes changes, concurrently with other publishers.

A publisher knows the version that it last loaded or published. If that version is still the newest, the next version is
the publisher's current state: it refers to stored segments by name and writes the rest. If others have published since,
the publisher applies its changes to the newest version, unless both sides have changed the same rule. Only one
publisher can take a version number; the others start again from the new version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from sparkrules.errors import CorruptStore, PublishConflict, listed
from sparkrules.index.rule import Rule
from sparkrules.sql.rejected import Rejected
from sparkrules.sql.tree import has_newer_operators
from sparkrules.store.advertisement_segment import texts_of
from sparkrules.store.changes import changes
from sparkrules.store.manifest import EXTENDED, Manifest, SegmentEntry
from sparkrules.store.merge_policy import Merge, merge_parts
from sparkrules.store.overlap_files import OverlapPlan, overlap_files
from sparkrules.store.part import Part
from sparkrules.store.patterns_file import StoredPatterns

if TYPE_CHECKING:
    from sparkrules.store.store import Store

_SHOWN = 5


@dataclass(frozen=True)
class Version:
    """A version of a rule set: its manifest, and a part for each of the manifest's segments."""

    manifest: Manifest
    parts: tuple[Part, ...]

    @property
    def number(self) -> int:
        return self.manifest.version


@dataclass(frozen=True)
class Draft:
    """A version to be published. `rejected`, `advertisements` and `patterns` are None if the base version has the same.

    `costs` are added to those of the base version; `max_calls` is None if unchanged.
    """

    parts: tuple[Part, ...]
    overlaps: OverlapPlan
    rejected: tuple[Rejected, ...] | None = None
    default_validity: int | None = None
    advertisements: tuple[Rule, ...] | None = None
    general: bool = False
    costs: Mapping[str, float] = field(default_factory=dict)
    max_calls: int | None = None
    patterns: StoredPatterns | None = None


def publish_draft(
    store: Store,
    rule_set: str,
    draft: Draft,
    base: Version | None,
    *,
    merge: Merge = "auto",
    action: str = "publish",
    force: bool = False,
    first: bool = False,
) -> Version:
    """Publish a draft made from `base`, a version of this store, or from nothing. Return the new version.

    A draft made from nothing replaces all existing rules; it replaces rules with a ticket only with `force`. With
    `first` it replaces nothing: if there is a version, this raises `PublishConflict`.
    """
    written: dict[int, tuple[Part, str]] = {}  # segments by the identity of their body; a retry reuses them
    while True:
        if base is not None and not store.versions(rule_set):
            base = None  # the store was emptied
        if base is not None and store.manifest(rule_set) != base.manifest:
            latest = store.open(rule_set, known=base)
            draft, base = _rebase(store, rule_set, draft, base, latest), latest
        newest = max(store.versions(rule_set), default=0) if base is None else base.number
        if base is None and newest and first:
            raise PublishConflict(f"somebody else has just published rule set {rule_set!r}: try again")
        if base is None and newest and not force:
            store.check_replaced(rule_set, draft.parts)
        parts = tuple(merge_parts(draft.parts, merge, datetime.now(timezone.utc)))
        entries = _write_parts(store, rule_set, parts, base, written)
        entries = _write_overlaps(store, rule_set, draft, base, parts, entries)
        rejected = _write_rejected(store, rule_set, draft, base)
        patterns, conditions = _write_patterns(store, rule_set, draft, base)
        sizes = [part.body.sizes for part in parts]
        made = Manifest.new(
            rule_set,
            0,
            entries,
            predicates=sum(predicates for predicates, _ in sizes),
            nodes=sum(nodes for _, nodes in sizes),
            action=action,
            parent=None if base is None else base.number,
            rejected=rejected,
            default_validity=draft.default_validity,
            advertisements=_write_advertisements(store, rule_set, draft, base),
            costs={**({} if base is None else base.manifest.costs), **draft.costs},
            files=None if base is None else base.manifest.files,
            general=draft.general,
            max_calls=draft.max_calls if draft.max_calls is not None or base is None else base.manifest.max_calls,
            patterns=patterns,
            conditions=conditions,
            extended=_is_extended(draft, base, parts),
        )
        published = store.commit(made, after=newest)
        if published is not None:
            return Version(published, parts)
        # Another publisher was faster. During a merge that could happen again; the next publisher can merge.
        merge = "none" if merge == "auto" else merge


def _is_extended(draft: Draft, base: Version | None, parts: Sequence[Part]) -> bool:
    """Whether an older sparkrules cannot read the version."""
    was = base is not None and base.manifest.format == EXTENDED
    known = set() if base is None or was else {id(part.body) for part in base.parts}
    if any(id(part.body) not in known and part.body.is_extended for part in parts):
        return True
    others = [*(draft.advertisements or ()), *(() if draft.patterns is None else draft.patterns.conditions)]
    if any(has_newer_operators(rule.tree) for rule in others):
        return True
    return was and base is not None and (base.manifest.advertisements or base.manifest.conditions) is not None


def _rebase(store: Store, rule_set: str, draft: Draft, base: Version, latest: Version) -> Draft:
    """Apply the changes from `base` to the draft to `latest`."""
    try:
        own, theirs = changes(base.parts, draft.parts), changes(base.parts, latest.parts)
        rejected = _rebased_rejected(store, draft, base, latest)
        advertisements = _rebased_advertisements(store, rule_set, draft, base, latest)
        patterns = _rebased_patterns(store, rule_set, draft, base, latest)
    except CorruptStore as error:
        if base.number in store.versions(rule_set) and store.manifest(rule_set, base.number) == base.manifest:
            raise
        raise PublishConflict(
            f"rule set {rule_set!r}: version {base.number}, from which these changes were made, has been removed from "
            f"{store.path}: load the rule set again and repeat the changes"
        ) from error
    both = sorted(own.touched & theirs.touched)
    if both:
        shown = listed(map(repr, both), _SHOWN)
        raise PublishConflict(
            f"rule set {rule_set!r}: others have changed the same rules ({shown}) since version {base.number}; "
            f"the newest version is {latest.number}, published by {latest.manifest.publisher}. Nothing was published: "
            "load the rule set again and repeat the changes",
            tuple(both[:_SHOWN]),
        )
    parts = [_without(part, own.removed + own.changed) for part in latest.parts]
    shared = {id(part.body) for part in base.parts}
    mine = own.added + own.changed
    for part in draft.parts:
        if id(part.body) not in shared:
            # Rules of the base that were merged into my segment are theirs to keep or change.
            rows = part.find(mine)
            rows = rows[rows >= 0]
            parts.append(part if len(rows) == part.live else part.only(rows))
    return replace(
        draft,
        parts=tuple(parts),
        rejected=rejected,
        default_validity=_either(draft, base, latest),
        advertisements=advertisements,
        general=draft.general or latest.manifest.general,
        patterns=patterns,
    )


def _without(part: Part, ids: Sequence[str]) -> Part:
    rows = part.find(ids)
    rows = rows[rows >= 0]
    return part.without(rows) if len(rows) else part


def _either(draft: Draft, base: Version, latest: Version) -> int | None:
    mine = draft.default_validity
    return latest.manifest.default_validity if mine == base.manifest.default_validity else mine


def _rebased_rejected(store: Store, draft: Draft, base: Version, latest: Version) -> tuple[Rejected, ...] | None:
    if draft.rejected is None:
        return None
    before, theirs = store.rejected(base.manifest), store.rejected(latest.manifest)
    dropped, known = set(before) - set(draft.rejected), set(before)
    return (
        *(rule for rule in theirs if rule not in dropped),
        *(rule for rule in draft.rejected if rule not in known),
    )


def _rebased_advertisements(
    store: Store, rule_set: str, draft: Draft, base: Version, latest: Version
) -> tuple[Rule, ...] | None:
    """Mine if I have changed them, else theirs. There are few, so they are not merged one by one."""
    mine = draft.advertisements
    if mine is None or latest.manifest.advertisements == base.manifest.advertisements:
        return mine
    before, theirs = store.advertisements(base.manifest), store.advertisements(latest.manifest)
    if texts_of(mine) in (texts_of(before), texts_of(theirs)):
        return None
    if texts_of(theirs) == texts_of(before):
        return mine
    raise _both_changed(rule_set, "advertisements", base, latest)


def _rebased_patterns(
    store: Store, rule_set: str, draft: Draft, base: Version, latest: Version
) -> StoredPatterns | None:
    """Mine if I have changed them, else theirs; like advertisements."""
    mine = draft.patterns
    if mine is None or latest.manifest.patterns == base.manifest.patterns:
        return mine
    before, theirs = store.patterns(base.manifest), store.patterns(latest.manifest)
    if mine.same_as(before) or mine.same_as(theirs):
        return None
    if theirs.same_as(before):
        return mine
    raise _both_changed(rule_set, "patterns", base, latest)


def _both_changed(rule_set: str, what: str, base: Version, latest: Version) -> PublishConflict:
    return PublishConflict(
        f"rule set {rule_set!r}: others have changed the {what} since version {base.number}; the newest "
        f"version is {latest.number}, published by {latest.manifest.publisher}. Nothing was published: load the rule "
        "set again and repeat the changes"
    )


def _write_parts(
    store: Store, rule_set: str, parts: Sequence[Part], base: Version | None, written: dict[int, tuple[Part, str]]
) -> list[SegmentEntry]:
    stored = {}
    if base is not None:
        stored = {id(part.body): (part, entry) for part, entry in zip(base.parts, base.manifest.segments, strict=True)}
    entries = []
    for part in parts:
        known, entry = stored.get(id(part.body), (None, None))
        if entry is not None and known is not None:
            if (known.removed != part.removed).any():
                removed = store.write_removed(rule_set, part.removed)
                entry = replace(entry, removed=removed, live=part.live)
            entries.append(entry)
            continue
        if id(part.body) not in written:
            written[id(part.body)] = part, store.write_segment(rule_set, part.body.tables)
            part.body.release()
        _, name = written[id(part.body)]
        removed_file = store.write_removed(rule_set, part.removed) if part.live < part.body.rows else None
        entries.append(SegmentEntry(name, part.body.rows, removed_file, part.live))
    return entries


def _write_rejected(store: Store, rule_set: str, draft: Draft, base: Version | None) -> str | None:
    if draft.rejected is None:
        return None if base is None else base.manifest.rejected
    return store.write_rejected(rule_set, draft.rejected) if draft.rejected else None


def _write_advertisements(store: Store, rule_set: str, draft: Draft, base: Version | None) -> str | None:
    mine = draft.advertisements
    if base is not None and (mine is None or texts_of(mine) == texts_of(store.advertisements(base.manifest))):
        return base.manifest.advertisements
    return store.write_advertisements(rule_set, mine) if mine else None


def _write_patterns(store: Store, rule_set: str, draft: Draft, base: Version | None) -> tuple[str | None, str | None]:
    mine = draft.patterns
    if base is not None and (mine is None or mine.same_as(store.patterns(base.manifest))):
        return base.manifest.patterns, base.manifest.conditions
    return (None, None) if mine is None else store.write_patterns(rule_set, mine)


def _write_overlaps(
    store: Store,
    rule_set: str,
    draft: Draft,
    base: Version | None,
    parts: Sequence[Part],
    entries: Sequence[SegmentEntry],
) -> list[SegmentEntry]:
    advertised = draft.advertisements
    if advertised is None:
        advertised = () if base is None else store.advertisements(base.manifest)
    both = list(zip(parts, entries, strict=True))
    return overlap_files(store, rule_set, draft.overlaps, advertised, both, base, draft.parts)
