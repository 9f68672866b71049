"""Numbered files, such as versions and statistics: each takes the next number and appears whole or not at all.

Creating a file fails if its name is taken. So if two writers want the same number, one gets it, and the other can read
what the first has written.

A bad file can be withdrawn. `.<number>.withdrawn` stays, so that its number is never reused: someone may have read it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable

from sparkrules.store.object_path import ObjectPath
from sparkrules.store.place import Place, claim_of, create, entries, sync_directory

_NUMBER = re.compile(r"[1-9][0-9]*")
WITHDRAWN = re.compile(r"\.([1-9][0-9]*)\.withdrawn")
DEAD_CLAIM = 30.0  # seconds after which a process that claimed a number is considered dead


def numbers(directory: Place, suffix: str) -> list[int]:
    """The numbers of the files with this suffix, ascending; none if the directory does not exist."""
    return _numbers(_names(directory), suffix)


def add_numbered(
    directory: Place, suffix: str, content: Callable[[int], bytes], after: int | None = None
) -> int | None:
    """Add a file to a directory under the next number, and return the number.

    With `after`, only if `after` is still the highest number (0: if there is no file); otherwise return None.
    """
    directory.mkdir(exist_ok=True)
    sync_directory(directory.parent)
    while True:
        names = _names(directory)
        newest = max(_numbers(names, suffix), default=0)
        if after is not None and newest != after:
            return None
        number = max([newest, *_withdrawn(names)]) + 1
        while (age := _claim_age(directory / f"{number}{suffix}", names)) is not None and age > DEAD_CLAIM:
            number += 1
        try:
            create(directory / f"{number}{suffix}", content(number))
            return number
        except FileExistsError:
            if age is not None:
                time.sleep(0.02)  # another process has claimed the number and is about to use it


def withdraw(file: Place) -> None:
    """Withdraw a numbered file permanently."""
    withdrawn = f".{file.stem}.withdrawn"
    if isinstance(file, ObjectPath):
        file.with_name(withdrawn).overwrite(b"")  # from now on, readers ignore the file
        file.unlink(missing_ok=True)
    else:
        file.rename(file.with_name(withdrawn))
        sync_directory(file.parent)


def _names(directory: Place) -> list[str]:
    return [file.name for file in entries(directory)]


def _numbers(names: Iterable[str], suffix: str) -> list[int]:
    withdrawn = set(_withdrawn(names))
    stems = (name.removesuffix(suffix) for name in names if name.endswith(suffix))
    return sorted({int(stem) for stem in stems if _NUMBER.fullmatch(stem)} - withdrawn)


def _withdrawn(names: Iterable[str]) -> list[int]:
    return [int(match[1]) for match in map(WITHDRAWN.fullmatch, names) if match]


def _claim_age(final: Place, names: Iterable[str]) -> float | None:
    """How many seconds a number has been claimed but unused; None if it is used or not claimed."""
    claim = claim_of(final)
    if claim.name not in names:
        return None
    try:
        claimed = claim.stat().st_mtime
    except FileNotFoundError:
        return None
    return None if final.exists() else time.time() - claimed
