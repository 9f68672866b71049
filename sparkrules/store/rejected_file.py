"""One Arrow file of the rejected rules of a version."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

import pyarrow as pa

from sparkrules.sql.rejected import Rejected
from sparkrules.store.arrow_file import read_arrow, write_arrow
from sparkrules.store.checksum import FileSum
from sparkrules.store.place import Place

REJECTED = pa.schema(
    [("id", pa.utf8()), ("where", pa.utf8()), ("reason", pa.utf8()), ("line", pa.int32()), ("column", pa.int32())]
)


def write_rejected(file: Place, rejected: Iterable[Rejected]) -> FileSum:
    """Write the rejected rules."""
    rows = [{key: _valid(value) for key, value in asdict(rule).items()} for rule in rejected]
    return write_arrow(file, pa.Table.from_pylist(rows, REJECTED), REJECTED)


def read_rejected(file: Place, published: FileSum | None = None) -> list[Rejected]:
    """Read the rejected rules, in the order in which they were rejected."""
    return [Rejected(**row) for row in read_arrow(file, REJECTED, published=published).to_pylist()]


def _valid(value: object) -> object:
    """Replace invalid characters: text that was rejected because it is not Unicode cannot be stored otherwise."""
    return value.encode(errors="replace").decode() if isinstance(value, str) else value
