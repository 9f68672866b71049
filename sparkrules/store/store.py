"""The store of `docs/store-format.md`: immutable versions, each of which appears whole or not at all.

Publishing follows the numbered steps of that page. The `write_...` methods are step 2, and `commit` is steps 3 to 5;
for step 4 see `numbered_files`. If a process dies before step 4, `collect_garbage` removes what it left behind.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from difflib import get_close_matches
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkrules.errors import CorruptStore, NewerFormat, RuleSetError, StoreError, WrongTicket, listed
from sparkrules.index.rule import Rule
from sparkrules.index.segment import Segment
from sparkrules.index.tables import to_tables
from sparkrules.sql.rejected import Rejected
from sparkrules.store.advertisement_segment import advertisement_segment, read_advertisements
from sparkrules.store.arrow_file import PUBLISH_AGAIN
from sparkrules.store.changes import Changes, changes
from sparkrules.store.checksum import FileSum
from sparkrules.store.garbage import Garbage, collect_garbage
from sparkrules.store.lazy_segment import LazySegment
from sparkrules.store.list_files import (
    ListVersion,
    drop_list,
    list_versions,
    newest_list,
    newest_lists,
    put_list,
    read_values,
)
from sparkrules.store.location import default_store, store_path
from sparkrules.store.manifest import EXTENDED, FORMAT, PATTERNS, Manifest, SegmentEntry
from sparkrules.store.names import check_name, is_name
from sparkrules.store.numbered_files import add_numbered, numbers, withdraw
from sparkrules.store.overlaps_file import Pairs, read_overlaps, types_of_overlaps, write_overlaps
from sparkrules.store.owners import changed_owners, replaced_owners
from sparkrules.store.part import Part
from sparkrules.store.patterns_file import StoredPatterns, read_patterns, write_patterns
from sparkrules.store.place import Place, entries, sync_directory
from sparkrules.store.publication import Version
from sparkrules.store.rejected_file import read_rejected, write_rejected
from sparkrules.store.removed_file import read_removed, write_removed
from sparkrules.store.segment_files import load_segment, read_segment, write_segment
from sparkrules.store.statistics_file import read_predicates, read_statistics, write_predicates, write_statistics

_SHOWN = 10
_MOST = 50


class Store:
    """Published rule sets in a directory, or in an object store (`s3://bucket/rules`, `gs://...`, `abfss://...`).

    The default is `$SPARKRULES_STORE`, else `~/.sparkrules/store`.

    >>> from sparkrules import RuleSet
    >>> rules = RuleSet("alerts")
    >>> rules.subscribe("hot", "temperature > 30")
    >>> number = rules.publish()
    >>> store = Store()
    >>> "alerts" in store.rule_sets(), store.manifest("alerts").subscriptions
    (True, 1)
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path: Place = store_path(path or default_store())
        self._written: dict[str, FileSum] = {}  # what this object has written, for later manifests

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r})"

    def rollback(self, rule_set: str, version: int, *, tickets: Iterable[str] = (), force: bool = False) -> int:
        """Publish the content of an old version again, as the newest, and return its number.

        If that would remove, restore or change rules that have a ticket, their `tickets` or `force=True` must be given.
        Otherwise raises `WrongTicket`.
        """
        if isinstance(tickets, str):
            raise RuleSetError("tickets are several strings, not one")
        secrets = tuple(tickets)
        while True:
            old, newest = self.manifest(rule_set, version), self.versions(rule_set)[-1]
            if not force:
                self._check_owners(rule_set, version, newest, secrets)
            again = Manifest.new(
                rule_set,
                0,
                old.segments,
                predicates=old.predicates,
                nodes=old.nodes,
                action=f"rollback to {version}",
                parent=newest,
                rejected=old.rejected,
                default_validity=old.default_validity,
                advertisements=old.advertisements,
                costs=old.costs,
                files=old.files,
                general=old.general,
                max_calls=old.max_calls,
                patterns=old.patterns,
                conditions=old.conditions,
                extended=old.format == EXTENDED,
            )
            made = self.commit(again, after=newest)
            if made is not None:
                return made.version

    def diff(self, rule_set: str, before: int, after: int | None = None) -> Changes:
        """The difference between two versions, by id. `after` defaults to the newest version."""
        old = self.open(rule_set, before)
        new = self.open(rule_set, after, known=old)
        found = changes(old.parts, new.parts)
        if old.manifest.patterns == new.manifest.patterns:
            return found
        return found.with_patterns(self.patterns(old.manifest).patterns, self.patterns(new.manifest).patterns)

    def collect_garbage(self, rule_set: str, keep: int = 10, older_than: timedelta = timedelta(days=1)) -> Garbage:
        """Remove old versions, and files that no version refers to; see `sparkrules.store.garbage`."""
        return collect_garbage(self.path / check_name(rule_set), keep, older_than)

    def put_list(self, rule_set: str, name: str, kind: str, values: Sequence[str]) -> ListVersion:
        """Store values as the newest version of a reference list."""
        try:
            return put_list(self._home(rule_set), name, kind, values)
        except OSError as error:
            raise StoreError(f"the list {name!r} cannot be written to {self.path}: {error}") from error

    def drop_list(self, rule_set: str, name: str) -> ListVersion:
        """Remove a reference list; `StoreError` if there is none."""
        self.list_of(rule_set, name)
        return drop_list(self._home(rule_set), name)

    def lists(self, rule_set: str) -> list[ListVersion]:
        """The reference lists of a rule set as they are now."""
        return list(newest_lists(self._home(rule_set)))

    def list_versions(self, rule_set: str, name: str) -> list[ListVersion]:
        """All versions of a reference list that are still there, the oldest first."""
        return list_versions(self._home(rule_set), name)

    def has_list(self, rule_set: str, name: str) -> bool:
        """Whether there is such a reference list now."""
        return newest_list(self._home(rule_set), name) is not None

    def list_of(self, rule_set: str, name: str) -> ListVersion:
        """A reference list as it is now; `StoreError` if there is none."""
        found = newest_list(self._home(rule_set), name)
        if found is None:
            known = [own.name for own in self.lists(rule_set)]
            near = get_close_matches(name, known, 1)
            hint = f" Did you mean {near[0]!r}?" if near else f" There are: {listed(known, _SHOWN)}." if known else ""
            raise StoreError(f"rule set {rule_set!r} in {self.path} has no list {name!r}.{hint}")
        return found

    def list_values(self, rule_set: str, version: ListVersion) -> pa.ChunkedArray:
        """The values of a version of a reference list."""
        return read_values(self._home(rule_set), version)

    def analyzed(self, rule_set: str, statistics: pa.Table) -> int:
        """Store statistics as the newest of a rule set, and return their number."""
        with self._writing_statistics(rule_set) as directory:
            return write_statistics(directory, rule_set, statistics)

    def analyzed_predicates(self, rule_set: str, number: int, predicates: pa.Table) -> None:
        """Add to the statistics with a given number where the predicates of the rules are true."""
        with self._writing_statistics(rule_set) as directory:
            write_predicates(directory, rule_set, number, predicates)

    @contextmanager
    def _writing_statistics(self, rule_set: str) -> Iterator[Place]:
        try:
            yield self._home(rule_set) / "statistics"
        except OSError as error:
            raise StoreError(f"statistics of {rule_set!r} cannot be written to {self.path}: {error}") from error

    def statistics(self, rule_set: str) -> pa.Table | None:
        """The newest statistics of a rule set, if it has been analyzed."""
        directory = self._home(rule_set) / "statistics"
        known = numbers(directory, ".arrow")
        return read_statistics(directory, rule_set, known[-1]) if known else None

    def analysis(self, rule_set: str) -> tuple[pa.Table, pa.Table] | None:
        """The newest statistics of a rule set and the predicates that belong to them.

        None if it has not been analyzed, or by a version of sparkrules that did not store the predicates.
        """
        directory = self._home(rule_set) / "statistics"
        known = numbers(directory, ".arrow")
        predicates = read_predicates(directory, rule_set, known[-1]) if known else None
        return None if predicates is None else (read_statistics(directory, rule_set, known[-1]), predicates)

    def rule_sets(self) -> list[str]:
        """The names of the rule sets that have a version."""
        names = [entry.name for entry in entries(self.path) if is_name(entry.name)]
        return [name for name in names if self.versions(name)]

    def versions(self, rule_set: str) -> list[int]:
        """The published versions of a rule set, oldest first; none if the rule set does not exist."""
        return numbers(self._home(rule_set) / "versions", ".json")

    def manifest(self, rule_set: str, version: int | None = None) -> Manifest:
        """The manifest of a version, by default the newest."""
        if version is None:
            version = self._known_versions(rule_set)[-1]
        file = self._home(rule_set) / "versions" / f"{version}.json"
        try:
            return Manifest.read(file, rule_set, version)
        except FileNotFoundError as error:
            versions = self._known_versions(rule_set)
            known = ", ".join(map(str, versions[-_SHOWN:]))
            raise StoreError(
                f"there is no version {version} of rule set {rule_set!r} in {self.path}; "
                f"there are: {'..., ' * (len(versions) > _SHOWN)}{known}"
            ) from error

    def read(self, rule_set: str, version: int | None = None) -> tuple[Manifest, list[dict[str, pa.Table]]]:
        """Read a version, by default the newest: its manifest and its tables, including removed rows."""
        manifest = self.manifest(rule_set, version)
        return manifest, [
            read_segment(self._segment(rule_set, entry), manifest.sums_of(entry.name)) for entry in manifest.segments
        ]

    def load(self, rule_set: str, version: int | None = None) -> tuple[Manifest, list[Segment]]:
        """Load a version, by default the newest: its manifest and its segments, checked for consistency."""
        manifest, tables = self.read(rule_set, version)
        entries = zip(manifest.segments, tables, strict=True)
        return manifest, [load_segment(self._segment(rule_set, entry), own) for entry, own in entries]

    def open(self, rule_set: str, version: int | None = None, known: Version | None = None) -> Version:
        """Open a version, by default the newest. Reads only the manifest and the removed rows.

        Segments that the already open version `known` has too are shared with it.
        """
        manifest = self.manifest(rule_set, version)
        there = {} if known is None else dict(zip((e.name for e in known.manifest.segments), known.parts, strict=True))
        removed_by = {} if known is None else {entry.name: entry.removed for entry in known.manifest.segments}
        parts = []
        for entry in manifest.segments:
            part = there.get(entry.name)
            if part is None or removed_by[entry.name] != entry.removed:
                if part is None:
                    body = LazySegment.stored(self._segment(rule_set, entry), manifest.sums_of(entry.name))
                else:
                    body = part.body
                part = Part(body, self._removed(manifest, entry, body.rows))
            parts.append(part)
        return Version(manifest, tuple(parts))

    def rejected(self, manifest: Manifest) -> list[Rejected]:
        """The rejected rules of a version."""
        if manifest.rejected is None:
            return []
        path = f"rejected/{check_name(manifest.rejected)}.arrow"
        return read_rejected(self._home(manifest.rule_set) / path, manifest.sum_of(path))

    def advertisements(self, manifest: Manifest) -> tuple[Rule, ...]:
        """The advertisements of a version, in the order in which they were made."""
        if manifest.advertisements is None:
            return ()
        name = check_name(manifest.advertisements)
        return read_advertisements(self._home(manifest.rule_set) / "segments" / name, manifest.sums_of(name))

    def patterns(self, manifest: Manifest) -> StoredPatterns:
        """The patterns of a version, in order of definition, with their conditions."""
        if manifest.patterns is None:
            return StoredPatterns()
        home, path = self._home(manifest.rule_set), f"patterns/{check_name(manifest.patterns)}.json"
        patterns = read_patterns(home / path, manifest.sum_of(path))
        conditions: tuple[Rule, ...] = ()
        if manifest.conditions is not None:
            name = check_name(manifest.conditions)
            conditions = read_advertisements(home / "segments" / name, manifest.sums_of(name))
        missing = {id for own in patterns for id in own.conditions} - {own.id for own in conditions}
        if missing:
            raise CorruptStore(f"{home / path} names the condition {min(missing)!r}, which is missing: {PUBLISH_AGAIN}")
        return StoredPatterns(patterns, conditions)

    def overlaps(self, manifest: Manifest, entry: SegmentEntry, advertisements: int) -> Pairs:
        """The stored pairs of a segment, checked against the number of advertisements."""
        return read_overlaps(*self._overlaps(manifest, entry), advertisements, entry.subscriptions)

    def types_of_overlaps(self, manifest: Manifest, entry: SegmentEntry) -> pa.Schema | None:
        """The declared types used to decide the stored pairs of a segment, if any."""
        return types_of_overlaps(*self._overlaps(manifest, entry))

    def verify(self, manifest: Manifest) -> None:
        """Raise `CorruptStore` unless all files of a version exist and match what was published."""
        home = self._home(manifest.rule_set)
        for path in manifest.paths():
            found = self._sum_on_disk(home, path)
            published = manifest.sum_of(path)
            if published is not None and published != found:
                raise CorruptStore(f"{home / path} is not the file that was published: {PUBLISH_AGAIN}")

    def write_segment(self, rule_set: str, tables: Mapping[str, pa.Table]) -> str:
        """Write a segment, so that a manifest can name it."""
        name = uuid.uuid4().hex
        try:
            sums = write_segment(self._home(rule_set) / "segments" / name, tables)
        except OSError as error:
            raise self._cannot_publish(rule_set, error) from error
        self._written |= {f"segments/{name}/{table}.arrow": own for table, own in sums.items()}
        return name

    def write_removed(self, rule_set: str, removed: NDArray[np.bool_]) -> str:
        """Write which rows of a segment are removed, so that a manifest can name the file."""
        return self._write_file(rule_set, "removed", lambda file: write_removed(file, removed))

    def write_rejected(self, rule_set: str, rejected: Iterable[Rejected]) -> str:
        """Write rejected rules, so that a manifest can name the file."""
        return self._write_file(rule_set, "rejected", lambda file: write_rejected(file, rejected))

    def write_advertisements(self, rule_set: str, advertisements: Sequence[Rule]) -> str:
        """Write advertisements, so that a manifest can name them."""
        return self.write_segment(rule_set, to_tables(advertisement_segment(advertisements)))

    def write_patterns(self, rule_set: str, patterns: StoredPatterns) -> tuple[str | None, str | None]:
        """Write patterns, and the segment of their conditions, so that a manifest can name both."""
        if not patterns:
            return None, None
        conditions = patterns.conditions
        segment = self.write_segment(rule_set, to_tables(advertisement_segment(conditions))) if conditions else None
        write = partial(write_patterns, patterns=patterns.patterns)
        return self._write_file(rule_set, "patterns", write, ".json"), segment

    def write_overlaps(self, rule_set: str, pairs: Pairs, types: pa.Schema | None) -> str:
        """Write the pairs of a segment, so that a manifest can name the file."""
        return self._write_file(rule_set, "overlaps", lambda file: write_overlaps(file, pairs, types))

    def commit(self, manifest: Manifest, after: int | None) -> Manifest | None:
        """Make a manifest the next version, and return it as published. The files that it refers to must exist.

        `manifest.files` needs only the files that this object has not written. With `after`, commit only if that is
        still the newest version; otherwise return None.
        """
        home = self._home(manifest.rule_set)
        known = {**manifest.files, **self._written}
        # Compute checksums now for the files of a version that has none.
        sums = {path: known.get(path) or self._sum_on_disk(home, path) for path in manifest.paths()}
        format = max(manifest.format, FORMAT if manifest.patterns is None else PATTERNS)
        made = replace(manifest, files=sums, format=format)

        def content(number: int) -> bytes:
            return replace(made, version=number).to_json().encode()

        try:
            number = add_numbered(home / "versions", ".json", content, after)
            if number is None:
                return None
            for path, own in sums.items():
                if not _is_there(home / path, own):
                    withdraw(home / "versions" / f"{number}.json")
                    raise StoreError(
                        f"{home / path} was removed as garbage while version {number} of {manifest.rule_set!r} was "
                        "being published. The version was withdrawn: publish again, and let only what is older than "
                        "publishing takes be garbage"
                    )
        except OSError as error:
            raise self._cannot_publish(manifest.rule_set, error) from error
        return replace(made, version=number)

    def check_replaced(self, rule_set: str, parts: Sequence[Part]) -> None:
        """Raise `WrongTicket` if a version with only these parts would remove rules that have a ticket."""
        try:
            newest = self.open(rule_set)
            owners = replaced_owners(newest.parts, parts)
        except (CorruptStore, NewerFormat):  # publishing again repairs this
            return
        if owners:
            raise WrongTicket(
                f"rule set {rule_set!r}: rules with a ticket would be lost. Nothing was published: load "
                "the rule set and change that, or publish with force=True"
            )

    def _check_owners(self, rule_set: str, version: int, newest: int, secrets: Sequence[str]) -> None:
        # Not imported at the top: the tickets module itself uses the store.
        from sparkrules.store.tickets import matching_hashes, read_key

        key = read_key(self._home(rule_set))
        try:
            now = self.open(rule_set, newest)
            owners = changed_owners(now.parts, self.open(rule_set, version, known=now).parts)
        except (CorruptStore, NewerFormat):
            if key is not None:
                raise
            return  # there was never a ticket, and a rollback repairs the damage
        if owners - matching_hashes(key, secrets):
            raise WrongTicket(
                f"rolling back rule set {rule_set!r} to version {version} would change rules that were made "
                "with a ticket: give all their tickets, or force=True"
            )

    def _known_versions(self, rule_set: str) -> list[int]:
        """The versions of a rule set, which must have at least one."""
        versions = self.versions(rule_set)
        if not versions:
            known = self.rule_sets()
            near = get_close_matches(rule_set, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            shown = listed(known, _MOST) or "none"
            raise StoreError(f"there is no rule set {rule_set!r} in {self.path}; there are: {shown}{hint}")
        return versions

    def _removed(self, manifest: Manifest, entry: SegmentEntry, rows: int) -> NDArray[np.bool_]:
        if entry.removed is None:
            removed = np.zeros(rows, bool)
        else:
            path = f"removed/{check_name(entry.removed)}.arrow"
            removed = read_removed(self._home(manifest.rule_set) / path, rows, manifest.sum_of(path))
        live = rows - int(np.count_nonzero(removed))
        if (rows, live) != (entry.subscriptions, entry.live):
            raise CorruptStore(
                f"the manifest of rule set {manifest.rule_set!r} in {self.path} counts {entry.live} of "
                f"{entry.subscriptions} subscriptions in segment {entry.name}, and there are {live} of {rows}: "
                f"{PUBLISH_AGAIN}"
            )
        return removed

    def _write_file(self, rule_set: str, kind: str, write: Callable[[Place], FileSum], suffix: str = ".arrow") -> str:
        """Write a file of some kind under a unique name, and return the name."""
        file = self._home(rule_set) / kind / f"{uuid.uuid4().hex}{suffix}"
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            sync_directory(file.parent.parent)
            self._written[f"{kind}/{file.name}"] = write(file)
            sync_directory(file.parent)
        except OSError as error:
            raise self._cannot_publish(rule_set, error) from error
        return file.stem

    def _cannot_publish(self, rule_set: str, error: OSError) -> StoreError:
        return StoreError(f"rule set {rule_set!r} cannot be published to {self.path}: {error}")

    def _overlaps(self, manifest: Manifest, entry: SegmentEntry) -> tuple[Place, FileSum | None]:
        assert entry.overlaps is not None
        path = f"overlaps/{check_name(entry.overlaps)}.arrow"
        return self._home(manifest.rule_set) / path, manifest.sum_of(path)

    def _sum_on_disk(self, home: Place, path: str) -> FileSum:
        try:
            return FileSum.of((home / path).read_bytes())
        except FileNotFoundError as error:
            raise CorruptStore(f"{home / path} is missing from the store: {PUBLISH_AGAIN}") from error
        except OSError as error:
            raise CorruptStore(f"{home / path} cannot be read: {error}") from error

    def _segment(self, rule_set: str, entry: SegmentEntry) -> Place:
        return self._home(rule_set) / "segments" / check_name(entry.name)

    def _home(self, rule_set: str) -> Place:
        return self.path / check_name(rule_set)


def _is_there(file: Place, published: FileSum) -> bool:
    try:
        return file.stat().st_size == published.length
    except FileNotFoundError:
        return False
