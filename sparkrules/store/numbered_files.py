"""Files that are numbered in the order in which they appear, and appear whole: versions and statistics.

A file is written under a temporary name, forced to the disk and linked to its number. A link fails if the name is
taken, so of two writers who want the same number one gets it, and the other can look at what the first has written.

A file that turns out to be no good can be withdrawn. It then lies there as `.<number>.withdrawn`, so that its number is
not given to another: somebody may have read it.
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
DEAD_CLAIM = 30.0  # seconds after which who claimed a number is taken to have died


def numbers(directory: Path, suffix: str) -> list[int]:
    """The numbers of the files with this suffix, ascending; none if there is no such directory."""
    if not directory.is_dir():
        return []
    return sorted(
        int(file.stem) for file in directory.iterdir() if file.suffix == suffix and _NUMBER.fullmatch(file.stem)
    )


def add_numbered(
    directory: Path, suffix: str, write: Callable[[Path, int], None], after: int | None = None
) -> int | None:
    """Put a file into a directory under the next number, and return that.

    With `after`, only if that is still the highest number (0: if there is none); else return None.
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
                    time.sleep(0.02)  # somebody has claimed the number and is about to use it
    sync_directory(directory)
    return number


def withdraw(file: Path) -> None:
    """Take a numbered file back, for ever."""
    file.rename(file.with_name(f".{file.stem}.withdrawn"))
    sync_directory(file.parent)


@contextmanager
def temporary_in(directory: Path) -> Iterator[Path]:
    """A name for a file that is being written, which is gone at the end."""
    temporary = directory / f".{uuid.uuid4().hex}.tmp"
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def link(temporary: Path, final: Path) -> None:
    """Give a file its final name, or raise `FileExistsError` if that is taken."""
    try:
        os.link(temporary, final)
    except (FileExistsError, FileNotFoundError):
        raise
    except OSError:
        # A file system without links. Making a directory is as exclusive; who has made it may use the number. If the
        # process dies in between, the number is skipped.
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
    """For how many seconds a number has been claimed without being used; None if it is used, or not claimed."""
    try:
        claimed = _claim(final).stat().st_mtime
    except FileNotFoundError:
        return None
    return None if final.exists() else time.time() - claimed
