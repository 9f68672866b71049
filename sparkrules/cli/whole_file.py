"""A file that is there as a whole or not at all."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(file: Path) -> Iterator[Path]:
    """A name beside the file, with its suffix, to write to: it takes the file's place when the block has ended.

    If the block fails or is interrupted, the file stays as it was, and what was written is removed. What is no file,
    such as a pipe, is written to directly.
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
