"""Where the files of a store are: paths of the local file system or of an object store, and what differs between them.

A `Place` is a `pathlib.Path` or an `ObjectPath`. Both read, list and delete by the same methods. The functions here
write, so that what they have written survives a crash of the process and of the machine.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import IO, Any, TypeAlias

import pyarrow as pa

from sparkrules.errors import StoreError
from sparkrules.store.object_path import ObjectPath

Place: TypeAlias = "Path | ObjectPath"

# Of Databricks: object stores that look like directories.
_MOUNTED = re.compile(r"/(Volumes|dbfs)/")


@contextmanager
def new_file(file: Place) -> Iterator[IO[bytes]]:
    """A file that no reader can see yet, to be written. At the end, it is on disk."""
    if isinstance(file, ObjectPath):
        memory = io.BytesIO()
        yield memory
        file.overwrite(memory.getbuffer())
    else:
        with file.open("wb") as out:
            yield out
            to_disk(out)


def create(file: Place, content: bytes, *, private: bool = False) -> None:
    """Write a file that appears whole, or raise `FileExistsError` if the name is taken.

    A `private` file is never readable by others, not even for a moment. In an object store, access is a matter of the
    bucket.
    """
    if isinstance(file, ObjectPath):
        file.create(content)
        return
    with _temporary_beside(file) as temporary:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
        with os.fdopen(descriptor, "wb") as out:
            out.write(content)
            to_disk(out)
        link(temporary, file)
    sync_directory(file.parent)


def overwrite(file: Place, content: bytes) -> None:
    """Write a file that appears whole, in place of the one that has its name."""
    if isinstance(file, ObjectPath):
        file.overwrite(content)
        return
    with _temporary_beside(file) as temporary:
        with temporary.open("wb") as out:
            out.write(content)
            to_disk(out)
        temporary.replace(file)


def content_of(file: Place) -> Any:
    """The content of a file, as an Arrow buffer. A local file is mapped, not read."""
    if isinstance(file, ObjectPath):
        return pa.py_buffer(file.read_bytes())
    with pa.memory_map(str(file)) as mapped:
        return mapped.read_buffer()


def entries(directory: Place) -> list[Place]:
    """What is in a directory, by name; nothing if it does not exist."""
    try:
        return sorted(directory.iterdir(), key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []


def rename(old: Place, new: Place) -> None:
    """Rename a file or a directory. In an object store, copy it and remove the original."""
    if isinstance(old, ObjectPath):
        assert isinstance(new, ObjectPath)
        old.rename(new)
    else:
        old.rename(new)


def remove(file: Place) -> None:
    """Remove a file, or a directory and what is in it. Does not follow links."""
    if isinstance(file, ObjectPath):
        file.remove()
    elif file.is_dir() and not file.is_symlink():
        shutil.rmtree(file, ignore_errors=True)
    else:
        file.unlink(missing_ok=True)


def sync_directory(directory: Place) -> None:
    """Make the names in a directory durable, if the operating system supports it."""
    if os.name != "posix" or isinstance(directory, ObjectPath):
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def to_disk(out: IO[Any]) -> None:
    """Sync what was written to a file to disk."""
    out.flush()
    os.fsync(out.fileno())


def link(temporary: Path, final: Path) -> None:
    """Give a file its final name, or raise `FileExistsError` if the name is taken."""
    try:
        os.link(temporary, final)
    except (FileExistsError, FileNotFoundError):
        raise
    except OSError as error:
        # This file system has no hard links. Creating a directory is just as exclusive: whoever creates it owns the
        # number. If the process then dies, the number is skipped.
        if (kind := object_store_mounted_at(final.parent.resolve() / final.name)) is not None:
            raise StoreError(
                f"{final} cannot be created safely: {kind} has no hard links, and does not say whether two machines "
                "can make the same directory. Publish to the object store itself (s3://, gs://, abfss://), or to a "
                "directory on a disk"
            ) from error
        claim = claim_of(final)
        claim.mkdir()
        if final.exists():
            raise FileExistsError(final) from None
        temporary.replace(final)


def claim_of(final: Place) -> Place:
    """The directory that claims the name of a file, on file systems without hard links."""
    return final.with_name(f".{final.stem}.claim")


def object_store_mounted_at(path: PurePath, mounts: str | None = None) -> str | None:
    """What is mounted at a path, if that may be an object store that looks like a directory; otherwise None.

    `mounts` is the content of Linux' `/proc/self/mounts`.

    >>> from pathlib import PurePosixPath
    >>> mounts = "/dev/sda1 / ext4 rw 0 0\\nbucket /mnt/rules fuse.gcsfuse rw 0 0\\n"
    >>> object_store_mounted_at(PurePosixPath("/mnt/rules/alerts/versions/1.json"), mounts)
    'the fuse.gcsfuse file system at /mnt/rules'
    >>> object_store_mounted_at(PurePosixPath("/mnt/others"), mounts) is None
    True
    """
    if match := _MOUNTED.match(path.as_posix()):
        return f"the file system of Databricks at /{match[1]}"
    if mounts is None:
        table = Path("/proc/self/mounts")
        mounts = table.read_text(encoding="utf-8", errors="replace") if table.exists() else ""
    found: tuple[str, str] | None = None
    for line in mounts.splitlines():
        _, place, kind, *_ = [*line.split(" "), "", "", ""]
        place = re.sub(r"\\(\d{3})", lambda octal: chr(int(octal[1], 8)), place)
        # The last mount at a place hides those before it.
        if place and path.is_relative_to(place) and (found is None or len(place) >= len(found[0])):
            found = place, kind
    return f"the {found[1]} file system at {found[0]}" if found and found[1].startswith("fuse") else None


@contextmanager
def _temporary_beside(file: Path) -> Iterator[Path]:
    """A temporary name for a file being written. The file is deleted at the end."""
    temporary = file.with_name(f".{uuid.uuid4().hex}.tmp")
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)
