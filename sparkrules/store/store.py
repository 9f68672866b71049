"""The store of `docs/store-format.md`: immutable versions, each of which appears whole or not at all.

1. New segments, and what else the version refers to, are written under names of their own and forced to the disk.
2. The manifest is written under a temporary name and forced to the disk.
3. The manifest is linked to `versions/<N>.json`; see `numbered_files`.

A process that dies before step 3 leaves files that no reader ever looks at; `collect_garbage` removes them.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from difflib import get_close_matches
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkrules.errors import CorruptStore, StoreError
from sparkrules.index.rule import Rule
from sparkrules.index.segment import Segment
from sparkrules.index.tables import to_tables
from sparkrules.rejected import Rejected
from sparkrules.store.advertisement_segment import advertisement_segment, read_advertisements
from sparkrules.store.arrow_file import PUBLISH_AGAIN, sync_directory
from sparkrules.store.changes import Changes, changes
from sparkrules.store.garbage import Garbage, collect_garbage
from sparkrules.store.lazy_segment import LazySegment
from sparkrules.store.location import default_store, local_path
from sparkrules.store.manifest import Manifest, SegmentEntry
from sparkrules.store.numbered_files import add_numbered, numbers
from sparkrules.store.overlaps_file import Pairs, read_overlaps, types_of_overlaps, write_overlaps
from sparkrules.store.part import Part
from sparkrules.store.publication import Version
from sparkrules.store.rejected_file import read_rejected, write_rejected
from sparkrules.store.removed_file import read_removed, write_removed
from sparkrules.store.segment_files import load_segment, read_segment, write_segment
from sparkrules.store.statistics_file import read_statistics, write_statistics

_SHOWN = 10


class Store:
    """A directory of published rule sets; without a path, the default one: `$SPARKRULES_STORE`, `~/.sparkrules/store`.

    >>> from sparkrules import RuleSet
    >>> rules = RuleSet("alerts")
    >>> rules.subscribe("hot", "temperature > 30")
    >>> number = rules.publish()
    >>> store = Store()
    >>> "alerts" in store.rule_sets(), store.manifest("alerts").subscriptions
    (True, 1)
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = local_path(path or default_store())

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r})"

    def publish(self, rule_set: str, tables: Mapping[str, pa.Table]) -> int:
        """Publish a segment as the next version of a rule set, and return the version."""
        segment = self.write_segment(rule_set, tables)
        rows = {name: table.num_rows for name, table in tables.items()}
        entries = [SegmentEntry(segment, rows["subscriptions"])]
        number = self.commit(
            Manifest.new(rule_set, 0, entries, predicates=rows["predicates"], nodes=rows["nodes"]), after=None
        )
        assert number is not None
        return number

    def rollback(self, rule_set: str, version: int) -> int:
        """Publish the content of an old version again, as the newest, and return its number."""
        while True:
            old, newest = self.manifest(rule_set, version), self.versions(rule_set)[-1]
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
            )
            number = self.commit(again, after=newest)
            if number is not None:
                return number

    def diff(self, rule_set: str, before: int, after: int | None = None) -> Changes:
        """What two versions differ in, by id; `after` is the newest if it is not given."""
        old = self.open(rule_set, before)
        return changes(old.parts, self.open(rule_set, after, known=old).parts)

    def collect_garbage(self, rule_set: str, keep: int = 10, older_than: timedelta = timedelta(days=1)) -> Garbage:
        """Remove old versions, and files that no version refers to; see `sparkrules.store.garbage`."""
        return collect_garbage(self.path / check_name(rule_set), keep, older_than)

    def analyzed(self, rule_set: str, statistics: pa.Table) -> int:
        """Store statistics as the newest of a rule set, and return their number."""
        try:
            number = add_numbered(
                self._home(rule_set) / "statistics", ".arrow", lambda file, _: write_statistics(file, statistics)
            )
        except OSError as error:
            raise StoreError(f"statistics of {rule_set!r} cannot be written to {self.path}: {error}") from error
        assert number is not None
        return number

    def statistics(self, rule_set: str) -> pa.Table | None:
        """The newest statistics of a rule set, if it has been analysed."""
        directory = self._home(rule_set) / "statistics"
        known = numbers(directory, ".arrow")
        return read_statistics(directory / f"{known[-1]}.arrow") if known else None

    def rule_sets(self) -> list[str]:
        """The names of the rule sets that have a version."""
        if not self.path.is_dir():
            return []
        names = sorted(entry.name for entry in self.path.iterdir() if _NAME.fullmatch(entry.name))
        return [name for name in names if self.versions(name)]

    def versions(self, rule_set: str) -> list[int]:
        """The published versions of a rule set, oldest first; none if there is no such rule set."""
        return numbers(self._home(rule_set) / "versions", ".json")

    def manifest(self, rule_set: str, version: int | None = None) -> Manifest:
        """The manifest of a version, by default of the newest."""
        if version is None:
            version = self._known_versions(rule_set)[-1]
        file = self._home(rule_set) / "versions" / f"{version}.json"
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError as error:
            versions = self._known_versions(rule_set)
            known = ", ".join(map(str, versions[-_SHOWN:]))
            raise StoreError(
                f"there is no version {version} of rule set {rule_set!r} in {self.path}; "
                f"there are: {'..., ' * (len(versions) > _SHOWN)}{known}"
            ) from error
        except (OSError, UnicodeDecodeError) as error:
            raise StoreError(f"{file} cannot be read: {error}") from error
        return Manifest.from_json(text, str(file))

    def read(self, rule_set: str, version: int | None = None) -> tuple[Manifest, list[dict[str, pa.Table]]]:
        """A version, by default the newest: its manifest and the tables of its segments, removed rows included."""
        manifest = self.manifest(rule_set, version)
        return manifest, [read_segment(self._segment(rule_set, entry)) for entry in manifest.segments]

    def load(self, rule_set: str, version: int | None = None) -> tuple[Manifest, list[Segment]]:
        """A version, by default the newest: its manifest and its segments, checked for contradictions."""
        manifest, tables = self.read(rule_set, version)
        entries = zip(manifest.segments, tables, strict=True)
        return manifest, [load_segment(self._segment(rule_set, entry), own) for entry, own in entries]

    def open(self, rule_set: str, version: int | None = None, known: Version | None = None) -> Version:
        """A version, by default the newest, of which only the manifest and the removed rows have been read.

        Segments that another version, which is open already, has as well are the same objects.
        """
        manifest = self.manifest(rule_set, version)
        there = {} if known is None else dict(zip((e.name for e in known.manifest.segments), known.parts, strict=True))
        removed_by = {} if known is None else {entry.name: entry.removed for entry in known.manifest.segments}
        parts = []
        for entry in manifest.segments:
            part = there.get(entry.name)
            if part is None or removed_by[entry.name] != entry.removed:
                body = LazySegment.stored(self._segment(rule_set, entry)) if part is None else part.body
                part = Part(body, self._removed(rule_set, entry, body.rows))
            parts.append(part)
        return Version(manifest, tuple(parts))

    def rejected(self, manifest: Manifest) -> list[Rejected]:
        """The rules that a version has set aside."""
        if manifest.rejected is None:
            return []
        return read_rejected(self._home(manifest.rule_set) / "rejected" / f"{check_name(manifest.rejected)}.arrow")

    def advertisements(self, manifest: Manifest) -> tuple[Rule, ...]:
        """The advertisements of a version, in the order in which they were made."""
        if manifest.advertisements is None:
            return ()
        return read_advertisements(self._home(manifest.rule_set) / "segments" / check_name(manifest.advertisements))

    def overlaps(self, rule_set: str, entry: SegmentEntry, advertisements: int) -> Pairs:
        """The pairs of a segment that has some; there are so many advertisements."""
        return read_overlaps(self._overlaps(rule_set, entry), advertisements, entry.subscriptions)

    def types_of_overlaps(self, rule_set: str, entry: SegmentEntry) -> pa.Schema | None:
        """With which types the pairs of a segment that has some were decided, if some were declared."""
        return types_of_overlaps(self._overlaps(rule_set, entry))

    def write_segment(self, rule_set: str, tables: Mapping[str, pa.Table]) -> str:
        """Write a segment that a manifest can then name."""
        name = uuid.uuid4().hex
        try:
            write_segment(self._home(rule_set) / "segments" / name, tables)
        except OSError as error:
            raise self._cannot_publish(rule_set, error) from error
        return name

    def write_removed(self, rule_set: str, removed: NDArray[np.bool_]) -> str:
        """Write which rows of a segment are removed, so that a manifest can name it."""
        return self._write_file(rule_set, "removed", lambda file: write_removed(file, removed))

    def write_rejected(self, rule_set: str, rejected: Iterable[Rejected]) -> str:
        """Write the rules that were set aside, so that a manifest can name them."""
        return self._write_file(rule_set, "rejected", lambda file: write_rejected(file, rejected))

    def write_advertisements(self, rule_set: str, advertisements: Sequence[Rule]) -> str:
        """Write advertisements, so that a manifest can name them."""
        return self.write_segment(rule_set, to_tables(advertisement_segment(advertisements)))

    def write_overlaps(self, rule_set: str, pairs: Pairs, types: pa.Schema | None) -> str:
        """Write the pairs of a segment, so that a manifest can name them."""
        return self._write_file(rule_set, "overlaps", lambda file: write_overlaps(file, pairs, types))

    def commit(self, manifest: Manifest, after: int | None) -> int | None:
        """Make a manifest the next version, and return its number; what it refers to has been written.

        With `after`, only if that is still the newest version; else return None.
        """

        def write(file: Path, number: int) -> None:
            _write(file, replace(manifest, version=number).to_json())

        try:
            return add_numbered(self._home(manifest.rule_set) / "versions", ".json", write, after)
        except OSError as error:
            raise self._cannot_publish(manifest.rule_set, error) from error

    def _known_versions(self, rule_set: str) -> list[int]:
        """The versions of a rule set that has some."""
        versions = self.versions(rule_set)
        if not versions:
            known = self.rule_sets()
            near = get_close_matches(rule_set, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            listed = ", ".join(known) or "none"
            raise StoreError(f"there is no rule set {rule_set!r} in {self.path}; there are: {listed}{hint}")
        return versions

    def _removed(self, rule_set: str, entry: SegmentEntry, rows: int) -> NDArray[np.bool_]:
        if entry.removed is None:
            removed = np.zeros(rows, bool)
        else:
            removed = read_removed(self._home(rule_set) / "removed" / f"{check_name(entry.removed)}.arrow", rows)
        live = rows - int(np.count_nonzero(removed))
        if (rows, live) != (entry.subscriptions, entry.live):
            raise CorruptStore(
                f"the manifest of rule set {rule_set!r} in {self.path} counts {entry.live} of {entry.subscriptions} "
                f"subscriptions in segment {entry.name}, and there are {live} of {rows}: {PUBLISH_AGAIN}"
            )
        return removed

    def _write_file(self, rule_set: str, kind: str, write: Callable[[Path], None]) -> str:
        """Write a file of some kind under a name of its own, which is returned."""
        file = self._home(rule_set) / kind / f"{uuid.uuid4().hex}.arrow"
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            sync_directory(file.parent.parent)
            write(file)
            sync_directory(file.parent)
        except OSError as error:
            raise self._cannot_publish(rule_set, error) from error
        return file.stem

    def _cannot_publish(self, rule_set: str, error: OSError) -> StoreError:
        return StoreError(f"rule set {rule_set!r} cannot be published to {self.path}: {error}")

    def _overlaps(self, rule_set: str, entry: SegmentEntry) -> Path:
        assert entry.overlaps is not None
        return self._home(rule_set) / "overlaps" / f"{check_name(entry.overlaps)}.arrow"

    def _segment(self, rule_set: str, entry: SegmentEntry) -> Path:
        return self._home(rule_set) / "segments" / check_name(entry.name)

    def _home(self, rule_set: str) -> Path:
        return self.path / check_name(rule_set)


_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")


def check_name(name: str) -> str:
    """The name of a rule set, if it is one: it becomes the name of a directory and stands in SQL.

    >>> check_name("alerts.eu-1")
    'alerts.eu-1'
    >>> check_name("../alerts")
    Traceback (most recent call last):
    ...
    sparkrules.errors.StoreError: '../alerts' is not a name: letters, digits, '_', '-' and '.' (not first) are allowed
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise StoreError(f"{name!r} is not a name: letters, digits, '_', '-' and '.' (not first) are allowed")
    return name


def _write(file: Path, text: str) -> None:
    with file.open("w", encoding="utf-8") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
