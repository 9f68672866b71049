"""The store of `docs/store-format.md`: immutable versions, each of which appears whole or not at all.

1. The segment is written under a name of its own and forced to the disk.
2. The manifest is written under a temporary name and forced to the disk.
3. The manifest is linked to `versions/<N>.json`. A link fails if the name is taken, so of two publishers who want the
   same number one gets it, and the other takes the next.

A process that dies before step 3 leaves files that no reader ever looks at. Statistics are numbered in the same way.
"""

from __future__ import annotations

import contextlib
import os
import re
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa

from sparkrules.errors import CorruptStore, StoreError
from sparkrules.index.segment import Segment
from sparkrules.index.tables import CorruptSegment, from_tables
from sparkrules.store.location import default_store, local_path
from sparkrules.store.manifest import Manifest, SegmentEntry
from sparkrules.store.segment_files import read_segment, sync_directory, write_segment
from sparkrules.store.statistics_file import read_statistics, write_statistics


class Store:
    """A directory of published rule sets.

    >>> store = Store(getfixture("tmp_path"))
    >>> store.rule_sets()
    []
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = local_path(path or default_store())

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r})"

    def publish(self, rule_set: str, tables: Mapping[str, pa.Table]) -> int:
        """Publish a segment as the next version of a rule set, and return the version."""
        home = self.path / check_name(rule_set)
        segment = uuid.uuid4().hex
        try:
            write_segment(home / "segments" / segment, tables)
            sync_directory(home / "segments")
            rows = {name: table.num_rows for name, table in tables.items()}
            return self._commit(rule_set, [SegmentEntry(segment, rows["subscriptions"])], rows)
        except OSError as error:
            raise StoreError(f"rule set {rule_set!r} cannot be published to {self.path}: {error}") from error

    def analyzed(self, rule_set: str, statistics: pa.Table) -> int:
        """Store statistics as the newest of a rule set, and return their number."""
        try:
            return self._take_number(
                self.path / check_name(rule_set) / "statistics",
                ".arrow",
                lambda file, _: write_statistics(file, statistics),
            )
        except OSError as error:
            raise StoreError(f"statistics of {rule_set!r} cannot be written to {self.path}: {error}") from error

    def statistics(self, rule_set: str) -> pa.Table | None:
        """The newest statistics of a rule set, if it has been analysed."""
        directory = self.path / check_name(rule_set) / "statistics"
        numbers = _numbers(directory, ".arrow")
        return read_statistics(directory / f"{numbers[-1]}.arrow") if numbers else None

    def rule_sets(self) -> list[str]:
        """The names of the rule sets that have a version."""
        if not self.path.is_dir():
            return []
        names = sorted(entry.name for entry in self.path.iterdir() if _NAME.fullmatch(entry.name))
        return [name for name in names if self.versions(name)]

    def versions(self, rule_set: str) -> list[int]:
        """The published versions of a rule set, oldest first; none if there is no such rule set."""
        return _numbers(self.path / check_name(rule_set) / "versions", ".json")

    def manifest(self, rule_set: str, version: int | None = None) -> Manifest:
        """The manifest of a version, by default of the newest."""
        if version is None:
            versions = self.versions(rule_set)
            if not versions:
                known = ", ".join(self.rule_sets()) or "none"
                raise StoreError(f"there is no rule set {rule_set!r} in {self.path}; there are: {known}")
            version = versions[-1]
        file = self._manifest_file(rule_set, version)
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError as error:
            raise StoreError(f"there is no version {version} of rule set {rule_set!r} in {self.path}") from error
        except (OSError, UnicodeDecodeError) as error:
            raise StoreError(f"{file} cannot be read: {error}") from error
        return Manifest.from_json(text, str(file))

    def read(self, rule_set: str, version: int | None = None) -> tuple[Manifest, list[dict[str, pa.Table]]]:
        """A version, by default the newest: its manifest and the tables of its segments."""
        manifest = self.manifest(rule_set, version)
        segments = self.path / rule_set / "segments"
        return manifest, [read_segment(segments / check_name(entry.name)) for entry in manifest.segments]

    def load(self, rule_set: str, version: int | None = None) -> tuple[Manifest, list[Segment]]:
        """A version, by default the newest: its manifest and its segments, checked for contradictions."""
        manifest, tables = self.read(rule_set, version)
        entries = zip(manifest.segments, tables, strict=True)
        return manifest, [self._segment(rule_set, entry.name, own) for entry, own in entries]

    def _segment(self, rule_set: str, name: str, tables: Mapping[str, pa.Table]) -> Segment:
        try:
            return from_tables(tables)
        except CorruptSegment as error:
            file = self.path / rule_set / "segments" / name / f"{error.table}.arrow"
            raise CorruptStore(f"{file} is damaged ({error}): publish the rule set again") from error

    def _commit(self, rule_set: str, segments: list[SegmentEntry], rows: Mapping[str, int]) -> int:
        def write(file: Path, version: int) -> None:
            _write(
                file,
                Manifest.new(rule_set, version, segments, predicates=rows["predicates"], nodes=rows["nodes"]).to_json(),
            )

        return self._take_number(self.path / rule_set / "versions", ".json", write)

    def _take_number(self, directory: Path, suffix: str, write: Callable[[Path, int], None]) -> int:
        """Put a file into a directory under the next free number; it appears whole."""
        directory.mkdir(exist_ok=True)
        sync_directory(directory.parent)
        number = max(_numbers(directory, suffix), default=0)
        temporary = directory / f".{uuid.uuid4().hex}.tmp"
        try:
            while True:
                number += 1
                write(temporary, number)
                with contextlib.suppress(FileExistsError):
                    _link(temporary, directory / f"{number}{suffix}")
                    break
        finally:
            temporary.unlink(missing_ok=True)
        sync_directory(directory)
        return number

    def _manifest_file(self, rule_set: str, version: int) -> Path:
        return self.path / check_name(rule_set) / "versions" / f"{version}.json"


_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")
_NUMBER = re.compile(r"[1-9][0-9]*")


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


def _numbers(directory: Path, suffix: str) -> list[int]:
    """The numbers of the files with this suffix, ascending; none if there is no such directory."""
    if not directory.is_dir():
        return []
    return sorted(
        int(file.stem) for file in directory.iterdir() if file.suffix == suffix and _NUMBER.fullmatch(file.stem)
    )


def _write(file: Path, text: str) -> None:
    with file.open("w", encoding="utf-8") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())


def _link(temporary: Path, final: Path) -> None:
    """Give a file its final name, or raise `FileExistsError` if that is taken."""
    try:
        os.link(temporary, final)
    except FileExistsError:
        raise
    except OSError:
        # A file system without links. Making a directory is as exclusive; who has made it may use the number. If the
        # process dies in between, the number is skipped.
        claim = final.with_name(f".{final.stem}.claim")
        claim.mkdir()
        if final.exists():
            raise FileExistsError(final) from None
        temporary.replace(final)
