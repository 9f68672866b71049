"""The Arrow files of a segment: written completely before anything refers to them, checked when they are read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from sparkrules.errors import CorruptStore, StoreError
from sparkrules.index.tables import SCHEMAS


def write_segment(directory: Path, tables: Mapping[str, pa.Table]) -> None:
    """Write the files of a segment into a new directory, and make sure that they are on the disk."""
    if tables.keys() != SCHEMAS.keys():
        raise StoreError(f"a segment has the tables {sorted(SCHEMAS)}, not {sorted(tables)}")
    directory.mkdir(parents=True)
    for name, schema in SCHEMAS.items():
        table = tables[name].select(schema.names).cast(schema).combine_chunks()
        file = directory / f"{name}.arrow"
        with file.open("wb") as out:
            with pa.ipc.new_file(out, schema) as writer:
                writer.write_table(table)
            out.flush()
            os.fsync(out.fileno())
    sync_directory(directory)


def read_segment(directory: Path) -> dict[str, pa.Table]:
    """Read the files of a segment; an error names the file that is missing or damaged."""
    return {name: _read_table(directory / f"{name}.arrow", schema) for name, schema in SCHEMAS.items()}


def sync_directory(directory: Path) -> None:
    """Make the names in a directory durable, where the system has a way to."""
    if os.name != "posix":
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read_table(file: Path, schema: pa.Schema) -> pa.Table:
    try:
        with pa.memory_map(str(file)) as mapped:
            table = pa.ipc.open_file(mapped).read_all()
            table.validate(full=True)  # a flipped byte must not become a crash later
    except FileNotFoundError as error:
        raise CorruptStore(f"{file} is missing from the store: publish the rule set again") from error
    except (pa.ArrowException, OSError) as error:
        raise CorruptStore(f"{file} is damaged ({error}): publish the rule set again") from error
    if not table.schema.equals(schema):
        raise CorruptStore(f"{file} has the columns {_columns(table.schema)}, not {_columns(schema)}")
    return table


def _columns(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in schema)
