"""The statistics of a rule set: one Arrow file, written whole. See `docs/store-format.md`."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from sparkrules.store.arrow_file import read_arrow, write_arrow

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
    write_arrow(file, table, STATISTICS)


def read_statistics(file: Path) -> pa.Table:
    """Read a file; an error names it."""
    return read_arrow(file, STATISTICS, "analyse the rule set again")
