"""Numbered files, such as versions and statistics: each takes the next number and appears whole or not at all.

A file is written under a temporary name, synced to disk and hard-linked to its number. Linking fails if the name is
taken. So if two writers want the same number, one gets it, and the other can read what the first has written.

A bad file can be withdrawn. It is kept as `.<number>.withdrawn`, so that its number is never reused: someone may have
read it.
"""

from __future__ import annotations

import os
import re
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sparkrules.store.arrow_file import sync_directory

_NUMBER = re.compile(r"[1-9][0-9]*")
WITHDRAWN = re.compile(r"\.([1-9][0-9]*)\.withdrawn")
DEAD_CLAIM = 30.0  # seconds after which a process that claimed a number is considered dead


def numbers(directory: Path, suffix: str) -> list[int]:
    """The numbers of the files with this suffix, ascending; none if the directory does not exist."""
    if not directory.is_dir():
        return []
    return sorted(
        int(file.stem) for file in directory.iterdir() if file.suffix == suffix and _NUMBER.fullmatch(file.stem)
    )


def add_numbered(
    directory: Path, suffix: str, write: Callable[[Path, int], None], after: int | None = None
) -> int | None:
    """Add a file to a directory under the next number, and return the number.

    With `after`, only if `after` is still the highest number (0: if there is no file); otherwise return None.
    """
    directory.mkdir(exist_ok=True)
    sync_directory(directory.parent)
    with temporary_in(directory) as temporary:
        while True:
            newest = max(numbers(directory, suffix), default=0)
            if after is not None and newest != after:
                return None
            number = max([newest, *_withdrawn(directory)]) + 1
            while (age := _claim_age(directory / f"{number}{suffix}")) is not None and age > DEAD_CLAIM:
                number += 1
            write(temporary, number)
            try:
                link(temporary, directory / f"{number}{suffix}")
                break
            except FileExistsError:
                if age is not None:
                    time.sleep(0.02)  # another process has claimed the number and is about to use it
    sync_directory(directory)
    return number


def withdraw(file: Path) -> None:
    """Withdraw a numbered file permanently."""
    file.rename(file.with_name(f".{file.stem}.withdrawn"))
    sync_directory(file.parent)


@contextmanager
def temporary_in(directory: Path) -> Iterator[Path]:
    """A temporary name for a file being written. The file is deleted at the end."""
    temporary = directory / f".{uuid.uuid4().hex}.tmp"
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def link(temporary: Path, final: Path) -> None:
    """Give a file its final name, or raise `FileExistsError` if the name is taken."""
    try:
        os.link(temporary, final)
    except (FileExistsError, FileNotFoundError):
        raise
    except OSError:
        # This file system has no hard links. Creating a directory is just as exclusive: whoever creates it owns the
        # number. If the process then dies, the number is skipped.
        claim = _claim(final)
        claim.mkdir()
        if final.exists():
            raise FileExistsError(final) from None
        temporary.replace(final)


def _withdrawn(directory: Path) -> list[int]:
    found = (WITHDRAWN.fullmatch(file.name) for file in directory.iterdir())
    return [int(match[1]) for match in found if match]


def _claim(final: Path) -> Path:
    return final.with_name(f".{final.stem}.claim")


def _claim_age(final: Path) -> float | None:
    """How many seconds a number has been claimed but unused; None if it is used or not claimed."""
    try:
        claimed = _claim(final).stat().st_mtime
    except FileNotFoundError:
        return None
    return None if final.exists() else time.time() - claimed
