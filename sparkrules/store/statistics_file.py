"""The statistics of a rule set: one Arrow file, written whole. See `docs/store-format.md`."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa

from sparkrules.errors import CorruptStore

STATISTICS = pa.schema(
    [
        ("attribute", pa.utf8()),
        ("position", pa.int32()),
        ("lower", pa.utf8()),
        ("upper", pa.utf8()),
        ("rows", pa.int32()),
        ("total", pa.int32()),
    ]
)


def write_statistics(file: Path, table: pa.Table) -> None:
    """Write a file that no reader looks at yet, and make sure that it is on the disk."""
    with file.open("wb") as out:
        with pa.ipc.new_file(out, STATISTICS) as writer:
            writer.write_table(table.select(STATISTICS.names).cast(STATISTICS).combine_chunks())
        out.flush()
        os.fsync(out.fileno())


def read_statistics(file: Path) -> pa.Table:
    """Read a file; an error names it."""
    try:
        with pa.memory_map(str(file)) as mapped:
            table = pa.ipc.open_file(mapped).read_all()
            table.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        raise CorruptStore(f"{file} is damaged ({error}): analyse the rule set again") from error
    if not table.schema.equals(STATISTICS):
        raise CorruptStore(f"{file} has other columns than {', '.join(STATISTICS.names)}: analyse the rule set again")
    return table
