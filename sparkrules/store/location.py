"""The location of the store, determined by the same rule in Python and in the plugin."""

from __future__ import annotations

import os
import re
from pathlib import Path

from sparkrules.errors import StoreError

STORE_VARIABLE = "SPARKRULES_STORE"


def default_store() -> str:
    """The store to use if none is given: `$SPARKRULES_STORE`, else `~/.sparkrules/store`.

    The home directory is `$HOME` (on Windows `%USERPROFILE%`), else the one in the system's user database. The plugin
    does the same.
    """
    named = os.environ.get(STORE_VARIABLE)
    if named:
        return named
    try:
        return str(Path.home() / ".sparkrules" / "store")
    except (RuntimeError, KeyError) as error:  # a container whose user is not in the user database
        raise StoreError(f"this user has no home directory for a store: set {STORE_VARIABLE}") from error


def local_path(store: str | os.PathLike[str]) -> Path:
    """The directory that a path or a `file:` URI refers to.

    >>> local_path("file:///data/rules").as_posix()
    '/data/rules'
    >>> local_path("s3://bucket/rules")
    Traceback (most recent call last):
    ...
    sparkrules.errors.StoreError: s3://bucket/rules is not a local directory: publish to one, and copy or mount it
    """
    text = os.fspath(store)
    if text.startswith("file:"):
        # Parsed like Hadoop: `file:/a` and `file:///a` are equivalent, and nothing is unescaped.
        return Path(re.sub(r"^file:(//[^/]*)?", "", text))
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", text):  # a one-letter scheme is a Windows drive
        raise StoreError(f"{text} is not a local directory: publish to one, and copy or mount it")
    return Path(text).expanduser().absolute()
