"""The Arrow files of a segment: written completely before anything refers to them, checked when they are read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from sparkrules.errors import CorruptStore, StoreError
from sparkrules.index.segment import Segment
from sparkrules.index.tables import SCHEMAS, CorruptSegment, from_tables
from sparkrules.store.arrow_file import PUBLISH_AGAIN, read_arrow, sync_directory, write_arrow
from sparkrules.store.checksum import FileSum


def write_segment(directory: Path, tables: Mapping[str, pa.Table]) -> dict[str, FileSum]:
    """Write the files of a segment into a new directory, and make sure that they are on the disk.

    Returns their checksums, by the name of the table.
    """
    if tables.keys() != SCHEMAS.keys():
        raise StoreError(f"a segment has the tables {sorted(SCHEMAS)}, not {sorted(tables)}")
    directory.mkdir(parents=True)
    sums = {name: write_arrow(directory / f"{name}.arrow", tables[name], schema) for name, schema in SCHEMAS.items()}
    sync_directory(directory)
    sync_directory(directory.parent)
    return sums


def read_segment(directory: Path, published: Mapping[str, FileSum] | None = None) -> dict[str, pa.Table]:
    """Read the files of a segment; an error names the file that is missing, damaged or not what was published."""
    sums = published or {}
    return {
        name: read_arrow(directory / f"{name}.arrow", schema, published=sums.get(name))
        for name, schema in SCHEMAS.items()
    }


def load_segment(directory: Path, tables: Mapping[str, pa.Table]) -> Segment:
    """The segment that the tables of a directory describe, checked for contradictions."""
    try:
        return from_tables(tables)
    except CorruptSegment as error:
        file = directory / f"{error.table}.arrow"
        raise CorruptStore(f"{file} is damaged ({error}): {PUBLISH_AGAIN}") from error
