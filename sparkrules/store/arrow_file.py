"""One Arrow file of the store. A writer writes it whole and syncs it to disk; a reader maps and checks it."""

from __future__ import annotations

import io
from collections.abc import Collection
from typing import IO

import pyarrow as pa

from sparkrules.errors import CorruptStore
from sparkrules.store.checksum import FileSum, SummedFile
from sparkrules.store.place import Place, content_of, new_file

PUBLISH_AGAIN = "publish the rule set again"


def write_arrow(file: Place, table: pa.Table, schema: pa.Schema) -> FileSum:
    """Write a file that no reader can see yet, and sync it to disk."""
    with new_file(file) as out:
        return _write(out, table, schema)


def arrow_bytes(table: pa.Table, schema: pa.Schema) -> tuple[bytes, FileSum]:
    """The content of the file of a table, and its checksum."""
    out = io.BytesIO()
    summed = _write(out, table, schema)
    return out.getvalue(), summed


def _write(out: IO[bytes], table: pa.Table, schema: pa.Schema) -> FileSum:
    summed = SummedFile(out)
    with pa.ipc.new_file(summed, schema) as writer:
        writer.write_table(table.select(schema.names).cast(schema).combine_chunks())
    return summed.sum


def map_arrow(
    file: Place,
    schema: pa.Schema,
    remedy: str = PUBLISH_AGAIN,
    published: FileSum | None = None,
    older: pa.Schema | None = None,
    optional: Collection[str] = (),
) -> pa.Table:
    """Map a file and return its table, without validating it. Errors name the file.

    If `published` is given, the file must match it. Its schema may be the one of `older` versions of sparkrules.
    The `optional` columns that it lacks are NULL.
    """
    try:
        content = content_of(file)
    except FileNotFoundError as error:
        raise CorruptStore(f"{file} is missing from the store: {remedy}") from error
    except (pa.ArrowException, OSError) as error:
        raise CorruptStore(f"{file} is damaged ({error}): {remedy}") from error
    if published is not None:
        published.check(content, file, remedy)
    try:
        table = pa.ipc.open_file(pa.BufferReader(content)).read_all()
        table = _with_missing(table, schema, optional)
        is_known = table.schema.equals(schema) or (older is not None and table.schema.equals(older))
        found = "" if is_known else _columns(table.schema)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # Arrow decodes column names lazily
        raise CorruptStore(f"{file} is damaged ({error}): {remedy}") from error
    if found:
        raise CorruptStore(f"{file} has the columns {found}, not {_columns(schema)}: {remedy}")
    return table


def read_arrow(
    file: Place,
    schema: pa.Schema,
    remedy: str = PUBLISH_AGAIN,
    published: FileSum | None = None,
    older: pa.Schema | None = None,
    optional: Collection[str] = (),
) -> pa.Table:
    """Read and validate the table of a file, so that a flipped byte cannot cause a crash later."""
    table = map_arrow(file, schema, remedy, published, older, optional)
    try:
        table.validate(full=True)
    except pa.ArrowException as error:
        raise CorruptStore(f"{file} is damaged ({error}): {remedy}") from error
    return table


def without_empty(table: pa.Table, optional: Collection[str]) -> pa.Table:
    """The table without the optional columns that are NULL in every row."""
    return table.drop_columns([name for name in optional if table.column(name).null_count == table.num_rows])


def _with_missing(table: pa.Table, schema: pa.Schema, optional: Collection[str]) -> pa.Table:
    for place, field in enumerate(schema):
        if field.name in optional and field.name not in table.schema.names:
            table = table.add_column(min(place, table.num_columns), field, pa.nulls(table.num_rows, field.type))
    return table


def _columns(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in schema)
