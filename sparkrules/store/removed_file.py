"""One Arrow file of row numbers: the rules of a segment that a version no longer has."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkrules.errors import CorruptStore
from sparkrules.index.arrow_arrays import arrow_of, numpy_of
from sparkrules.store.arrow_file import PUBLISH_AGAIN, read_arrow, write_arrow
from sparkrules.store.checksum import FileSum
from sparkrules.store.place import Place

REMOVED = pa.schema([("row", pa.int32())])


def write_removed(file: Place, removed: NDArray[np.bool_]) -> FileSum:
    """Write which rows of a segment are removed."""
    rows = arrow_of(np.flatnonzero(removed).astype(np.int32), pa.int32())
    return write_arrow(file, pa.table([rows], schema=REMOVED), REMOVED)


def read_removed(file: Place, rows: int, published: FileSum | None = None) -> NDArray[np.bool_]:
    """Read which rows of a segment are removed."""
    column = read_arrow(file, REMOVED, published=published).column("row")
    numbers = numpy_of(column)
    if column.null_count or (len(numbers) and not 0 <= numbers.min() <= numbers.max() < rows):
        raise CorruptStore(f"{file} removes rows that the segment does not have: {PUBLISH_AGAIN}")
    removed = np.zeros(rows, bool)
    removed[numbers] = True
    return removed
