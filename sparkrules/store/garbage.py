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
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from sparkrules.errors import SparkRulesError, StoreError
from sparkrules.store.arrow_file import sync_directory
from sparkrules.store.manifest import Manifest
from sparkrules.store.numbered_files import WITHDRAWN, numbers

_DIGITS = re.compile(r"\d+")
_COLLECTED = re.compile(r"\.(\d+)\.collected")
_KINDS = ("segments", "removed", "rejected", "overlaps", "patterns")
_LEFT_OVER = re.compile(r"\..*\.(tmp|claim)")
_ASIDE = re.compile(r"\.(.*)\.collecting")


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


def collect_garbage(home: Path, keep: int, older_than: timedelta) -> Garbage:
    """Keep the newest `keep` versions of the rule set in `home`, and the files that they refer to."""
    if keep < 1:
        raise StoreError(f"at least one version is kept, not {keep}")
    if older_than < timedelta(0):
        raise StoreError(f"older_than is a span of time, not {older_than}")
    grace = older_than.total_seconds()
    versions = home / "versions"
    for directory in (home, *(home / kind for kind in ("versions", "statistics", *_KINDS))):
        if directory.is_symlink():
            raise StoreError(f"{directory} is a symbolic link: nothing is removed from where it leads")
    if not numbers(versions, ".json"):
        raise StoreError(f"there is no published rule set in {home}")
    newest = _complete_newest(home)
    try:
        gone = _collect_versions(versions, keep, grace, newest)
        return Garbage(tuple(gone), tuple(_collect_files(home, grace)))
    except OSError as error:
        raise StoreError(f"garbage in {home} cannot be removed: {error}") from error


def _complete_newest(home: Path) -> int:
    """The number of the newest version. Raises `StoreError` if one of its files is missing."""
    number = numbers(home / "versions", ".json")[-1]
    try:
        newest = Manifest.read(home / "versions" / f"{number}.json", home.name, number)
    except (SparkRulesError, FileNotFoundError) as error:
        raise StoreError(f"nothing was removed, since the newest version cannot be read: {error}") from error
    for path in newest.paths():
        kind, name, *rest = path.split("/")
        aside = home / kind / f".{name}.collecting"  # renamed by a run that died; about to be restored
        if not (home / path).exists() and not aside.joinpath(*rest).exists():
            raise StoreError(f"nothing was removed, since {home / path}, a file of the newest version, is missing")
    return number


def _collect_versions(versions: Path, keep: int, grace: float, newest: int) -> list[int]:
    gone = []
    for number in [number for number in numbers(versions, ".json") if number <= newest][:-keep]:
        manifest = versions / f"{number}.json"
        if _age(manifest) < grace:
            continue
        collected = versions / f".{number}.collected"
        try:
            if not manifest.is_symlink():
                os.utime(manifest)  # starts the retention of its files; set first, so that a crash cannot shorten it
            manifest.rename(collected)
        except FileNotFoundError:  # another process is collecting too
            continue
        gone.append(number)
    sync_directory(versions)
    return gone


def _collect_files(home: Path, grace: float) -> Iterator[str]:
    newest = numbers(home / "versions", ".json")[-1]
    for file in _inside(home / "versions"):
        withdrawn = WITHDRAWN.fullmatch(file.name)
        is_over = withdrawn is not None and int(withdrawn[1]) < newest
        if (is_over or _COLLECTED.fullmatch(file.name)) and _age(file) >= grace:
            _remove(file)
    sync_directory(home / "versions")
    for file in [*_inside(home), *_inside(home / "versions"), *_inside(home / "statistics")]:
        if _LEFT_OVER.fullmatch(file.name) and _age(file) >= grace:
            _remove(file)
            yield str(file.relative_to(home))
    # List the files first: a file that is written and referred to while we read manifests is then not a candidate.
    candidates = [file for kind in _KINDS for file in _inside(home / kind) if _age(file) >= grace]
    needed = _needed(home / "versions")
    aside = {}  # by original name
    for file in candidates:
        left = _ASIDE.fullmatch(file.name)  # renamed by a run that died
        if left is not None:
            aside[file.with_name(left[1])] = file
        elif _path(file) not in needed and _age(file) >= grace:
            put = file.with_name(f".{file.name}.collecting")
            if _rename(file, put):
                aside[file] = put
    for kind in _KINDS:
        if (home / kind).is_dir():
            sync_directory(home / kind)
    try:
        needed = _needed(home / "versions") if aside else set()
    except StoreError:
        for file, put in aside.items():
            _rename(put, file)
        raise
    for file, put in aside.items():
        if _path(file) in needed:
            _rename(put, file)
        else:
            _remove(put)
            yield _path(file)


def _rename(old: Path, new: Path) -> bool:
    """Rename, or return False if the file no longer exists because another process is collecting garbage too."""
    try:
        old.rename(new)
    except FileNotFoundError:
        return False
    return True


def _path(file: Path) -> str:
    """The path of a file or segment relative to the directory of the rule set."""
    return f"{file.parent.name}/{file.name}"


def _inside(directory: Path) -> list[Path]:
    return sorted(directory.iterdir()) if directory.is_dir() else []


def _needed(versions: Path) -> set[str]:
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


def _age(file: Path) -> float:
    """Seconds since a file, or anything in a directory, was last written; 0 if it has just disappeared."""
    try:
        is_directory = file.is_dir() and not file.is_symlink()
        inside = [entry.lstat().st_mtime for entry in file.iterdir()] if is_directory else []
        return time.time() - max([file.lstat().st_mtime, *inside])
    except FileNotFoundError:
        return 0.0


def _remove(file: Path) -> None:
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file, ignore_errors=True)  # does not follow links either
    else:
        file.unlink(missing_ok=True)
