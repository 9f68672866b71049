"""Values as strings, as Spark casts them in the time zone UTC: what keys of patterns are made of.

Contract: equal values have equal strings; -0.0 is 0.0, and every NaN is NaN. A type that only Spark can cast raises
`Unsupported`.

>>> key_texts(pa.array([1.0, -0.0, 12345678.9, None])).tolist()
['1.0', '0.0', '1.23456789E7', None]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkrules.logic.columns import Unsupported

Texts = NDArray[np.object_]


def key_texts(values: Any) -> Texts:
    """The strings of an array, NULL as None. Each distinct value is converted once."""
    kind = values.type
    if pa.types.is_null(kind):
        return np.full(len(values), None, object)
    text = _text_of(kind.value_type if pa.types.is_dictionary(kind) else kind)
    coded = values if pa.types.is_dictionary(kind) else values.dictionary_encode()
    known = np.array([*(None if own is None else text(own) for own in _plain(coded.dictionary)), None], object)
    codes = coded.indices.fill_null(len(known) - 1).to_numpy(zero_copy_only=False).astype(np.int64)
    found: Texts = known[codes]
    return found


def _plain(values: Any) -> list[Any]:
    """The values in Python; instants as microseconds, because datetime ends at the year 9999."""
    plain: list[Any] = (values.cast(pa.int64()) if pa.types.is_timestamp(values.type) else values).to_pylist()
    return plain


def _text_of(kind: Any) -> Callable[[Any], str]:
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind):
        return str
    if pa.types.is_boolean(kind):
        return lambda value: str(value).lower()
    if pa.types.is_float64(kind):
        return _double
    if pa.types.is_float32(kind):
        return lambda value: _double(np.float32(value))
    if pa.types.is_decimal(kind):
        return lambda value: format(value, "f")
    if pa.types.is_date(kind):
        return lambda value: str(value.isoformat())
    if pa.types.is_timestamp(kind) and kind.unit == "us":
        return _instant
    raise Unsupported(f"only Spark can make a key of a {kind}")


def _double(value: Any) -> str:
    """As Java writes it: the shortest digits that mean this value; with an exponent outside of 0.001 to 10,000,000."""
    if not np.isfinite(value):
        return "NaN" if np.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0.0"
    if 1e-3 <= abs(value) < 1e7:
        return np.format_float_positional(value, unique=True, trim="0")
    digits, exponent = np.format_float_scientific(value, unique=True, trim="0").split("e")
    return f"{digits}E{int(exponent)}"


def _instant(micros: int) -> str:
    """Without the zeros at the end of a fraction."""
    day, _, time = str(np.datetime64(micros, "us")).partition("T")
    time = time.rstrip("0").rstrip(".") if "." in time else time
    return f"{'+' * (len(day) > 10 and day[0] != '-')}{day} {time}"
