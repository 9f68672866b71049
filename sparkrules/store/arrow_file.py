"""One Arrow file of the store. A writer writes it whole and syncs it to disk; a reader maps and checks it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from sparkrules.errors import CorruptStore
from sparkrules.store.checksum import FileSum, SummedFile

PUBLISH_AGAIN = "publish the rule set again"


def write_arrow(file: Path, table: pa.Table, schema: pa.Schema) -> FileSum:
    """Write a file that no reader can see yet, and sync it to disk."""
    with file.open("wb") as out:
        summed = SummedFile(out)
        with pa.ipc.new_file(summed, schema) as writer:
            writer.write_table(table.select(schema.names).cast(schema).combine_chunks())
        to_disk(out)
    return summed.sum


def write_text(file: Path, text: str) -> None:
    """Write a text file and sync it to disk."""
    with file.open("w", encoding="utf-8", newline="\n") as out:
        out.write(text)
        to_disk(out)


def to_disk(out: IO[Any]) -> None:
    """Sync what was written to a file to disk."""
    out.flush()
    os.fsync(out.fileno())


def map_arrow(
    file: Path,
    schema: pa.Schema,
    remedy: str = PUBLISH_AGAIN,
    published: FileSum | None = None,
    older: pa.Schema | None = None,
) -> pa.Table:
    """Map a file and return its table, without validating it. Errors name the file.

    If `published` is given, the file must match it. Its schema may be the one of `older` versions of sparkrules.
    """
    try:
        with pa.memory_map(str(file)) as mapped:
            content = mapped.read_buffer()
    except FileNotFoundError as error:
        raise CorruptStore(f"{file} is missing from the store: {remedy}") from error
    except (pa.ArrowException, OSError) as error:
        raise CorruptStore(f"{file} is damaged ({error}): {remedy}") from error
    if published is not None:
        published.check(content, file, remedy)
    try:
        table = pa.ipc.open_file(pa.BufferReader(content)).read_all()
        is_known = table.schema.equals(schema) or (older is not None and table.schema.equals(older))
        found = "" if is_known else _columns(table.schema)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # Arrow decodes column names lazily
        raise CorruptStore(f"{file} is damaged ({error}): {remedy}") from error
    if found:
        raise CorruptStore(f"{file} has the columns {found}, not {_columns(schema)}: {remedy}")
    return table


def read_arrow(
    file: Path,
    schema: pa.Schema,
    remedy: str = PUBLISH_AGAIN,
    published: FileSum | None = None,
    older: pa.Schema | None = None,
) -> pa.Table:
    """Read and validate the table of a file, so that a flipped byte cannot cause a crash later."""
    table = map_arrow(file, schema, remedy, published, older)
    try:
        table.validate(full=True)
    except pa.ArrowException as error:
        raise CorruptStore(f"{file} is damaged ({error}): {remedy}") from error
    return table


def sync_directory(directory: Path) -> None:
    """Make the names in a directory durable, if the operating system supports it."""
    if os.name != "posix":
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _columns(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in schema)
