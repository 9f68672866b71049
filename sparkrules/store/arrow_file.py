"""One Arrow file of the store: written whole and forced to the disk, mapped and checked when it is read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from sparkrules.errors import CorruptStore
from sparkrules.store.checksum import FileSum, SummedFile

PUBLISH_AGAIN = "publish the rule set again"


def write_arrow(file: Path, table: pa.Table, schema: pa.Schema) -> FileSum:
    """Write a file that no reader looks at yet, and make sure that it is on the disk."""
    with file.open("wb") as out:
        summed = SummedFile(out)
        with pa.ipc.new_file(summed, schema) as writer:
            writer.write_table(table.select(schema.names).cast(schema).combine_chunks())
        to_disk(out)
    return summed.sum


def write_text(file: Path, text: str) -> None:
    """The same for a text file."""
    with file.open("w", encoding="utf-8", newline="\n") as out:
        out.write(text)
        to_disk(out)


def to_disk(out: IO[Any]) -> None:
    """Force what was written to a file to the disk."""
    out.flush()
    os.fsync(out.fileno())


def map_arrow(file: Path, schema: pa.Schema, remedy: str = PUBLISH_AGAIN, published: FileSum | None = None) -> pa.Table:
    """The table of a file, still on the disk and not validated; an error names the file.

    It is compared with what was `published`, if that is known.
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
        found = "" if table.schema.equals(schema) else _columns(table.schema)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # names of columns are decoded late
        raise CorruptStore(f"{file} is damaged ({error}): {remedy}") from error
    if found:
        raise CorruptStore(f"{file} has the columns {found}, not {_columns(schema)}: {remedy}")
    return table


def read_arrow(
    file: Path, schema: pa.Schema, remedy: str = PUBLISH_AGAIN, published: FileSum | None = None
) -> pa.Table:
    """The table of a file, validated: a flipped byte must not become a crash later."""
    table = map_arrow(file, schema, remedy, published)
    try:
        table.validate(full=True)
    except pa.ArrowException as error:
        raise CorruptStore(f"{file} is damaged ({error}): {remedy}") from error
    return table


def sync_directory(directory: Path) -> None:
    """Make the names in a directory durable, where the system has a way to."""
    if os.name != "posix":
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _columns(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in schema)
