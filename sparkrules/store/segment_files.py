"""The Arrow files of a segment. They are complete before anything refers to them, and are checked when read."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from sparkrules.errors import CorruptStore, StoreError
from sparkrules.index.segment import Segment
from sparkrules.index.tables import OPTIONAL, SCHEMAS, CorruptSegment, from_tables
from sparkrules.store.arrow_file import PUBLISH_AGAIN, read_arrow, without_empty, write_arrow
from sparkrules.store.checksum import FileSum
from sparkrules.store.place import Place, sync_directory


def write_segment(directory: Place, tables: Mapping[str, pa.Table]) -> dict[str, FileSum]:
    """Write the files of a segment into a new directory, and sync them to disk.

    Returns their checksums, by table name.
    """
    if tables.keys() != SCHEMAS.keys():
        raise StoreError(f"a segment has the tables {sorted(SCHEMAS)}, not {sorted(tables)}")
    directory.mkdir(parents=True)
    sums = {}
    for name in SCHEMAS:
        table = without_empty(tables[name].select(SCHEMAS[name].names), OPTIONAL.get(name, ()))
        schema = pa.schema([SCHEMAS[name].field(column) for column in table.schema.names])
        sums[name] = write_arrow(directory / f"{name}.arrow", table, schema)
    sync_directory(directory)
    sync_directory(directory.parent)
    return sums


def read_segment(directory: Place, published: Mapping[str, FileSum] | None = None) -> dict[str, pa.Table]:
    """Read the files of a segment. An error names the file that is missing, damaged or not the published one."""
    sums = published or {}
    return {
        name: read_arrow(directory / f"{name}.arrow", schema, published=sums.get(name), optional=OPTIONAL.get(name, ()))
        for name, schema in SCHEMAS.items()
    }


def load_segment(directory: Place, tables: Mapping[str, pa.Table]) -> Segment:
    """Build the segment from the tables of a directory, and check its consistency."""
    try:
        return from_tables(tables)
    except CorruptSegment as error:
        file = directory / f"{error.table}.arrow"
        raise CorruptStore(f"{file} is damaged ({error}): {PUBLISH_AGAIN}") from error
