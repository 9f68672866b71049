"""Removing what nobody needs any more: old versions, and files that no version refers to.

Contract: the newest version is never touched, nor a file younger than `older_than`: a publish that is under way has
written it and may be about to refer to it. A version that is collected disappears at once, but its files stay for
another `older_than`: who has just opened it, or is rolling back to it, still finds them. Until then its manifest lies
there under another name.

A process that dies in the middle leaves something for the next run, never a version with missing files: manifests go
before the files that they refer to.
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
from sparkrules.store.numbered_files import numbers

_COLLECTED = re.compile(r"\.(\d+)\.collected")
_KINDS = ("segments", "removed", "rejected", "overlaps")
_LEFT_OVER = re.compile(r"\..*\.(tmp|claim)")


@dataclass(frozen=True)
class Garbage:
    """What a run has removed: numbers of versions, and paths below the directory of the rule set.

    >>> print(Garbage((1, 2), ("segments/0b6f", "removed/77aa.arrow")))
    2 versions, 2 files and segments
    """

    versions: tuple[int, ...]
    files: tuple[str, ...]

    def __str__(self) -> str:
        return f"{len(self.versions)} versions, {len(self.files)} files and segments"


def collect_garbage(home: Path, keep: int, older_than: timedelta) -> Garbage:
    """Keep the newest `keep` versions of the rule set in a directory, and what they refer to."""
    if keep < 1:
        raise StoreError(f"at least one version is kept, not {keep}")
    if older_than < timedelta(0):
        raise StoreError(f"older_than is a span of time, not {older_than}")
    grace = older_than.total_seconds()
    versions = home / "versions"
    if not numbers(versions, ".json"):
        raise StoreError(f"there is no published rule set in {home}")
    try:
        gone = _collect_versions(versions, keep, grace)
        return Garbage(tuple(gone), tuple(_collect_files(home, grace)))
    except OSError as error:
        raise StoreError(f"garbage in {home} cannot be removed: {error}") from error


def _collect_versions(versions: Path, keep: int, grace: float) -> list[int]:
    gone = []
    for number in numbers(versions, ".json")[:-keep]:
        manifest = versions / f"{number}.json"
        if _age(manifest) < grace:
            continue
        collected = versions / f".{number}.collected"
        try:
            os.utime(manifest)  # its files stay from now on; set first, so that a crash cannot shorten that
            manifest.rename(collected)
        except FileNotFoundError:  # somebody else collects
            continue
        gone.append(number)
    sync_directory(versions)
    return gone


def _collect_files(home: Path, grace: float) -> Iterator[str]:
    for file in _inside(home / "versions"):
        if _COLLECTED.fullmatch(file.name) and _age(file) >= grace:
            _remove(file)
    sync_directory(home / "versions")
    for file in [*_inside(home), *_inside(home / "versions"), *_inside(home / "statistics")]:
        if _LEFT_OVER.fullmatch(file.name) and _age(file) >= grace:
            _remove(file)
            yield str(file.relative_to(home))
    # Listed first: what is written and referred to while manifests are read is not a candidate.
    candidates = [file for kind in _KINDS for file in _inside(home / kind) if _age(file) >= grace]
    needed = _needed(home / "versions")
    for file in candidates:
        path = f"{file.parent.name}/{file.name}"
        if path not in needed and _age(file) >= grace:
            _remove(file)
            yield path


def _inside(directory: Path) -> list[Path]:
    return sorted(directory.iterdir()) if directory.is_dir() else []


def _needed(versions: Path) -> set[str]:
    """What the versions, and those that were collected lately, refer to."""
    needed: set[str] = set()
    # Collected ones first: a version that is collected in between is then seen twice rather than never.
    for file in [*versions.glob(".*.collected"), *versions.glob("[0-9]*.json"), *versions.glob(".*.collected")]:
        try:
            manifest = Manifest.from_json(file.read_text(encoding="utf-8"), str(file))
        except FileNotFoundError:
            continue
        except SparkRulesError as error:
            raise StoreError(f"nothing more was removed, since it is not known what is needed: {error}") from error
        needed |= {f"segments/{entry.name}" for entry in manifest.segments}
        needed |= {f"removed/{entry.removed}.arrow" for entry in manifest.segments if entry.removed}
        needed |= {f"overlaps/{entry.overlaps}.arrow" for entry in manifest.segments if entry.overlaps}
        if manifest.rejected:
            needed.add(f"rejected/{manifest.rejected}.arrow")
        if manifest.advertisements:
            needed.add(f"segments/{manifest.advertisements}")
    return needed


def _age(file: Path) -> float:
    """Seconds since a file, or a directory or something in it, was written; 0 if it has just disappeared."""
    try:
        inside = [entry.stat().st_mtime for entry in file.iterdir()] if file.is_dir() else []
        return time.time() - max([file.stat().st_mtime, *inside])
    except FileNotFoundError:
        return 0.0


def _remove(file: Path) -> None:
    if file.is_dir():
        shutil.rmtree(file, ignore_errors=True)
    else:
        file.unlink(missing_ok=True)
