"""The advertisements of a version: one Arrow file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from sparkrules.errors import CorruptStore
from sparkrules.store.arrow_file import PUBLISH_AGAIN, read_arrow, write_arrow

ADVERTISEMENTS = pa.schema([("id", pa.utf8()), ("where", pa.utf8()), ("sql", pa.utf8())])


class StoredAdvertisement(NamedTuple):
    """An advertisement as text. `sql` is the text as Spark SQL, if `where` is in another dialect."""

    id: str
    where: str
    sql: str | None = None


def write_advertisements(file: Path, advertisements: Iterable[StoredAdvertisement]) -> None:
    """Write advertisements whose ids are different."""
    rows = [advertisement._asdict() for advertisement in advertisements]
    write_arrow(file, pa.Table.from_pylist(rows, ADVERTISEMENTS), ADVERTISEMENTS)


def read_advertisements(file: Path) -> tuple[StoredAdvertisement, ...]:
    """The advertisements, in the order in which they were made."""
    table = read_arrow(file, ADVERTISEMENTS)
    ids = table["id"].to_pylist()
    if len(set(ids)) < len(ids) or table["id"].null_count or table["where"].null_count:
        raise CorruptStore(
            f"{file} is damaged (an id is missing or there twice, or a text is missing): {PUBLISH_AGAIN}"
        )
    return tuple(StoredAdvertisement(**row) for row in table.to_pylist())
