"""Convert numbers and strings between numpy and Arrow through their buffers.

pyarrow's own conversions, and even its scalars, import pandas if it is installed. That import takes longer than all the
other work of adding one rule to a published rule set of a million.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

INSTANT = pa.timestamp("us", "UTC")
_NO_TIME = np.iinfo(np.int64).min  # how numpy stores NaT
_FEW = 10_000  # beyond this many strings, pyarrow's conversion is faster, even with the pandas import


def arrow_of(numbers: NDArray[Any], kind: pa.DataType, valid: NDArray[np.bool_] | None = None) -> Any:
    """Integers as an Arrow array of a type with the same width.

    >>> arrow_of(np.array([3, 5], np.int32), pa.int32()).to_pylist()
    [3, 5]
    """
    return pa.Array.from_buffers(kind, len(numbers), [_bits(valid), pa.py_buffer(np.ascontiguousarray(numbers))])


def numpy_of(array: Any, null: int = 0) -> NDArray[Any]:
    """An Arrow array of integers or Booleans as numpy. The result may share memory with the Arrow array.

    >>> numpy_of(pa.array([True, False, None])[1:]).tolist(), numpy_of(pa.array([3, None]), null=-1).tolist()
    ([False, False], [3, -1])
    """
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays([*array.chunks, pa.nulls(0, array.type)])
    if pa.types.is_boolean(array.type):
        return numpy_of(array.cast(pa.uint8()), null).astype(bool)
    kind = np.dtype(f"{'u' if pa.types.is_unsigned_integer(array.type) else 'i'}{array.type.bit_width // 8}")
    data = array.buffers()[1]
    if data is None or not len(array):
        return np.empty(0, kind)
    numbers: NDArray[Any] = np.frombuffer(data, kind, len(array), array.offset * kind.itemsize)
    return np.where(numpy_of(array.is_valid()), numbers, kind.type(null)) if array.null_count else numbers


def texts_to_arrow(texts: Sequence[str | None] | NDArray[Any]) -> Any:
    """Strings, with None as NULL.

    >>> texts_to_arrow(["a", None, "é"]).to_pylist()
    ['a', None, 'é']
    """
    if len(texts) > _FEW:
        return pa.array(texts, pa.utf8())
    encoded = [b"" if text is None else text.encode() for text in texts]
    offsets = np.zeros(len(texts) + 1, np.int32)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    valid = _bits(np.array([text is not None for text in texts], bool))
    return pa.Array.from_buffers(pa.utf8(), len(texts), [valid, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))])


def lists_to_arrow(lists: Sequence[Sequence[str] | None] | NDArray[Any]) -> Any:
    """Lists of strings, with None as NULL.

    >>> lists_to_arrow([("a", "b"), None]).to_pylist()
    [['a', 'b'], None]
    """
    offsets = np.zeros(len(lists) + 1, np.int32)
    np.cumsum([0 if own is None else len(own) for own in lists], out=offsets[1:])
    texts = texts_to_arrow([text for own in lists if own is not None for text in own])
    valid = _bits(np.array([own is not None for own in lists], bool))
    return pa.Array.from_buffers(pa.list_(pa.utf8()), len(lists), [valid, pa.py_buffer(offsets)], children=[texts])


def instants_to_arrow(instants: NDArray[np.datetime64]) -> Any:
    """Microseconds, NaT as NULL."""
    return arrow_of(instants.astype("datetime64[us]").view(np.int64), INSTANT, ~np.isnat(instants))


def instants_from_arrow(array: Any) -> NDArray[np.datetime64]:
    """Microseconds, NULL as NaT."""
    return numpy_of(array.cast(pa.int64()), _NO_TIME).astype("datetime64[us]")


def _bits(valid: NDArray[np.bool_] | None) -> Any:
    return None if valid is None or valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
