"""One Arrow file of the overlapping pairs of advertisements and rules of one segment.

The metadata of the file's schema records the column types used to decide the pairs. They are an Arrow schema in base64,
because Arrow's Java reader fails on metadata that is not text.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkrules.errors import CorruptStore
from sparkrules.index.arrow_arrays import arrow_of, numpy_of
from sparkrules.store.arrow_file import PUBLISH_AGAIN, map_arrow, read_arrow, write_arrow
from sparkrules.store.checksum import FileSum
from sparkrules.store.place import Place

OVERLAPS = pa.schema([("advertisement", pa.int32()), ("subscription", pa.int32()), ("certain", pa.bool_())])
_TYPES = b"types"


class Pairs(NamedTuple):
    """Pairs of rows: one of the advertisements, one of the rules of a segment. See `OverlappingPair`.

    >>> Pairs.none().append(Pairs(np.array([0]), np.array([7]), np.array([True]))).subscription.tolist()
    [7]
    """

    advertisement: NDArray[np.integer]
    subscription: NDArray[np.integer]
    certain: NDArray[np.bool_]

    @staticmethod
    def none() -> Pairs:
        return Pairs(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, bool))

    def append(self, others: Pairs) -> Pairs:
        return Pairs(*(np.concatenate(columns) for columns in zip(self, others, strict=True)))

    def renumbered(self, advertisements: NDArray[np.int64], subscriptions: NDArray[np.int64]) -> Pairs:
        """The pairs with new row numbers, given the new row of each old one, or -1 if it is gone."""
        own, its = advertisements[self.advertisement], subscriptions[self.subscription]
        kept = (own >= 0) & (its >= 0)
        return Pairs(own[kept], its[kept], self.certain[kept])


def write_overlaps(file: Place, pairs: Pairs, types: pa.Schema | None) -> FileSum:
    """Write pairs that were decided with `types`, or with types inferred from the constants."""
    order = np.lexsort((pairs.subscription, pairs.advertisement))
    columns = [arrow_of(column[order].astype(np.int32), pa.int32()) for column in pairs[:2]]
    bits = pa.py_buffer(np.packbits(pairs.certain[order], bitorder="little"))
    columns.append(pa.Array.from_buffers(pa.bool_(), len(order), [None, bits]))
    schema = OVERLAPS if types is None else OVERLAPS.with_metadata({_TYPES: b64encode(types.serialize())})
    return write_arrow(file, pa.table(columns, names=OVERLAPS.names), schema)


def read_overlaps(file: Place, published: FileSum | None, advertisements: int, subscriptions: int) -> Pairs:
    """Read the pairs, and check them against the number of advertisements and of rules in the segment."""
    table = read_arrow(file, OVERLAPS, published=published)
    rows = [numpy_of(table[name], null=-1) for name in OVERLAPS.names[:2]]
    for numbers, count in zip(rows, (advertisements, subscriptions), strict=True):
        if len(numbers) and (numbers.min() < 0 or numbers.max() >= count):
            raise CorruptStore(f"{file} is damaged (it names a row that is not there): {PUBLISH_AGAIN}")
    return Pairs(rows[0], rows[1], numpy_of(table["certain"]))


def types_of_overlaps(file: Place, published: FileSum | None = None) -> pa.Schema | None:
    """The types used to decide the pairs of a file; None: types inferred from the constants."""
    metadata = map_arrow(file, OVERLAPS, published=published).schema.metadata or {}
    try:
        return pa.ipc.read_schema(pa.py_buffer(b64decode(metadata[_TYPES]))) if _TYPES in metadata else None
    except (ValueError, pa.ArrowException, OSError) as error:
        raise CorruptStore(f"{file} is damaged ({error}): {PUBLISH_AGAIN}") from error
