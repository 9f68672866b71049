"""A file that is written completely or not at all."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(file: Path) -> Iterator[Path]:
    """A temporary name beside the file to write to, which replaces the file when the block ends.

    If the block fails or is interrupted, the file stays as it was and the temporary file is removed. Something that is
    not a regular file, such as a pipe, is written to directly.
    """
    target = file.resolve()  # a link stays one
    if target.exists() and not target.is_file():
        yield file
        return
    if target.exists():
        target.open("ab").close()  # what may not be written may not be replaced either
    unfinished = target.with_name(f".sparkrules-{secrets.token_hex(4)}{file.suffix}")  # hidden, for Spark as well
    try:
        yield unfinished
        if target.exists():
            shutil.copymode(target, unfinished)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
