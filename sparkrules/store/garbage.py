"""Removes old versions, and files that no version refers to.

Contract: the newest version is never removed. If the newest version lacks a file, no version is removed: its publisher
may be about to withdraw it, which makes the previous version the newest again. No file younger than `older_than` is
removed: a running publish may have written it and may be about to refer to it. A collected version disappears at once,
but its files stay for another `older_than`, for readers that have just opened it or are rolling back to it. Until then
its manifest is kept under another name.

If the process dies, the next run finishes the work. No version is ever left with missing files, because manifests are
removed before the files that they refer to.

A publisher that takes longer than `older_than` may refer to a file at the moment of its removal. So the collector first
renames the file and then reads the manifests again. If one now refers to the file, the collector restores it. A
publisher checks its files after it has written its manifest, and withdraws the manifest if a file is missing. Whichever
of the two checks last sees what the other has done.

Symbolic links are never followed out of the store: only the link itself is removed.
"""

from __future__ import annotations

import os
import re
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from sparkrules.errors import SparkRulesError, StoreError
from sparkrules.store.list_files import collect_lists
from sparkrules.store.manifest import Manifest
from sparkrules.store.numbered_files import WITHDRAWN, numbers
from sparkrules.store.object_path import ObjectPath
from sparkrules.store.place import Place, entries, remove, rename, sync_directory

_DIGITS = re.compile(r"\d+")
_COLLECTED = re.compile(r"\.(\d+)\.collected")
_KINDS = ("segments", "removed", "rejected", "overlaps", "patterns")
_LEFT_OVER = re.compile(r"\..*\.(tmp|claim)")
_ASIDE = re.compile(r"\.(.*?)(\.[0-9a-f]{8})?\.collecting")
_LONGEST_RUN = 3600.0  # seconds after which a run that has put objects aside is considered dead


@dataclass(frozen=True)
class Garbage:
    """What a run removed: version numbers, and paths relative to the directory of the rule set.

    >>> print(Garbage((1, 2), ("segments/0b6f", "removed/77aa.arrow")))
    2 versions, 2 files and segments
    """

    versions: tuple[int, ...]
    files: tuple[str, ...]

    def __str__(self) -> str:
        return f"{len(self.versions)} versions, {len(self.files)} files and segments"


def collect_garbage(home: Place, keep: int, older_than: timedelta) -> Garbage:
    """Keep the newest `keep` versions of the rule set in `home`, and the files that they refer to."""
    if keep < 1:
        raise StoreError(f"at least one version is kept, not {keep}")
    if older_than < timedelta(0):
        raise StoreError(f"older_than is a span of time, not {older_than}")
    grace = older_than.total_seconds()
    versions = home / "versions"
    for directory in (home, *(home / kind for kind in ("versions", "statistics", "lists", *_KINDS))):
        if directory.is_symlink():
            raise StoreError(f"{directory} is a symbolic link: nothing is removed from where it leads")
    if not numbers(versions, ".json"):
        raise StoreError(f"there is no published rule set in {home}")
    newest = _complete_newest(home)
    try:
        gone = _collect_versions(versions, keep, grace, newest)
        files = [*_collect_files(home, grace), *collect_lists(home, keep, grace)]
        return Garbage(tuple(gone), tuple(files))
    except OSError as error:
        raise StoreError(f"garbage in {home} cannot be removed: {error}") from error


def _complete_newest(home: Place) -> int:
    """The number of the newest version. Raises `StoreError` if one of its files is missing."""
    number = numbers(home / "versions", ".json")[-1]
    try:
        newest = Manifest.read(home / "versions" / f"{number}.json", home.name, number)
    except (SparkRulesError, FileNotFoundError) as error:
        raise StoreError(f"nothing was removed, since the newest version cannot be read: {error}") from error
    for path in newest.paths():
        kind, name, *rest = path.split("/")
        if not (home / path).exists() and not _is_aside(home / kind, name, rest):
            raise StoreError(f"nothing was removed, since {home / path}, a file of the newest version, is missing")
    return number


def _is_aside(directory: Place, name: str, rest: list[str]) -> bool:
    """Whether a run that died has renamed a file. It is about to be restored."""
    asides = [file for file in entries(directory) if (own := _ASIDE.fullmatch(file.name)) and own[1] == name]
    return any(aside.joinpath(*rest).exists() for aside in asides)


def _collect_versions(versions: Place, keep: int, grace: float, newest: int) -> list[int]:
    gone = []
    for number in [number for number in numbers(versions, ".json") if number <= newest][:-keep]:
        manifest = versions / f"{number}.json"
        if _age(manifest) < grace:
            continue
        try:
            if not manifest.is_symlink() and not isinstance(manifest, ObjectPath):
                os.utime(manifest)  # starts the retention of its files; set first, so that a crash cannot shorten it
            rename(manifest, versions / f".{number}.collected")
        except FileNotFoundError:  # another process is collecting too
            continue
        gone.append(number)
    sync_directory(versions)
    return gone


def _collect_files(home: Place, grace: float) -> Iterator[str]:
    newest = numbers(home / "versions", ".json")[-1]
    for file in entries(home / "versions"):
        withdrawn = WITHDRAWN.fullmatch(file.name)
        is_over = withdrawn is not None and int(withdrawn[1]) < newest
        if (is_over or _COLLECTED.fullmatch(file.name)) and _age(file) >= grace:
            if withdrawn is not None:
                remove(file.with_name(f"{withdrawn[1]}.json"))  # its publisher may have died while withdrawing it
            remove(file)
    sync_directory(home / "versions")
    for file in [*entries(home), *entries(home / "versions"), *entries(home / "statistics")]:
        if _LEFT_OVER.fullmatch(file.name) and _age(file) >= grace:
            remove(file)
            yield _path(file) if file.parent != home else file.name
    # List the files first: a file that is written and referred to while we read manifests is then not a candidate.
    candidates = [file for kind in _KINDS for file in entries(home / kind) if _age(file) >= grace]
    needed = _needed(home / "versions")
    aside: dict[Place, Place] = {}  # what was renamed, and its original name
    for file in candidates:
        left = _ASIDE.fullmatch(file.name)  # renamed by a run that died
        if left is not None:
            # A copy may be the only one, of a run that is about to restore it.
            if not isinstance(file, ObjectPath) or _age(file) >= _LONGEST_RUN:
                aside[file] = file.with_name(left[1])
        elif _path(file) not in needed and _age(file) >= grace:
            put = file.with_name(_name_aside(file))
            if _rename(file, put):
                aside[put] = file
    for kind in _KINDS:
        if (home / kind).is_dir():
            sync_directory(home / kind)
    try:
        needed = _needed(home / "versions") if aside else set()
    except StoreError:
        for put, file in aside.items():
            _rename(put, file)
        raise
    for put, file in aside.items():
        if _path(file) in needed:
            _rename(put, file)
        else:
            remove(put)
            yield _path(file)


def _name_aside(file: Place) -> str:
    """The name of a file that is being removed. Copies have different names in each run: it can restore its own."""
    return f".{file.name}{f'.{uuid.uuid4().hex[:8]}' if isinstance(file, ObjectPath) else ''}.collecting"


def _rename(old: Place, new: Place) -> bool:
    """Rename, or return False if the file no longer exists because another process is collecting garbage too."""
    try:
        rename(old, new)
    except FileNotFoundError:
        return False
    return True


def _path(file: Place) -> str:
    """The path of a file or segment relative to the directory of the rule set."""
    return f"{file.parent.name}/{file.name}"


def _needed(versions: Place) -> set[str]:
    """Everything that the current and the recently collected versions refer to."""
    needed: set[str] = set()
    # Collected versions first: a version that is collected in between is then seen twice, not missed.
    for file in [*versions.glob(".*.collected"), *versions.glob("[0-9]*.json"), *versions.glob(".*.collected")]:
        try:
            manifest = Manifest.read(file, versions.parent.name, int(_DIGITS.findall(file.name)[0]))
        except FileNotFoundError:
            continue
        except SparkRulesError as error:
            raise StoreError(f"nothing more was removed, since it is not known what is needed: {error}") from error
        # A segment is removed as a whole directory.
        needed |= {"/".join(path.split("/")[:2]) for path in manifest.paths()}
    return needed


def _age(file: Place) -> float:
    """Seconds since a file, or anything in a directory, was last written; 0 if it has just disappeared."""
    try:
        is_directory = file.is_dir() and not file.is_symlink()
        inside = [entry.lstat().st_mtime for entry in file.iterdir()] if is_directory else []
        return time.time() - max([file.lstat().st_mtime, *inside])
    except FileNotFoundError:
        return 0.0
