"""Converting to Arrow and back through buffers gives the same as pyarrow."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sparkrules.index.arrow_arrays import (
    INSTANT,
    arrow_of,
    instants_from_arrow,
    instants_to_arrow,
    numpy_of,
    texts_to_arrow,
)


@pytest.mark.parametrize("values", [[], [1], [1, None, 3], [None, None], list(range(-9, 9))])
@pytest.mark.parametrize("kind", [pa.int32(), pa.int64()])
def test_numbers_and_their_slices(values: list[int | None], kind: pa.DataType) -> None:
    array = pa.array(values, kind)
    for start in range(len(values) + 1):
        expected = [-7 if value is None else value for value in values[start:]]
        assert numpy_of(array[start:], null=-7).tolist() == expected
        assert numpy_of(pa.chunked_array([array[start:], array[:0]]), null=-7).tolist() == expected
        if None not in expected:
            assert arrow_of(numpy_of(array[start:], null=-7), kind).to_pylist() == expected


def test_booleans_and_their_slices() -> None:
    values = [True, False, None] * 7
    for start in range(len(values) + 1):
        assert numpy_of(pa.array(values, pa.bool_())[start:]).tolist() == [bool(value) for value in values[start:]]


@pytest.mark.parametrize("times", [1, 5_000])
def test_texts(times: int) -> None:
    values = ["", "a", None, "é\U0001f600", "it's"] * times
    made = texts_to_arrow(values)
    made.validate(full=True)
    assert made.equals(pa.array(values, pa.utf8()))
    assert texts_to_arrow([]).equals(pa.array([], pa.utf8()))


def test_instants() -> None:
    instants = np.array(["NaT", "0001-01-01", "1969-12-31T23:59:59.999999", "9999-12-31", "NaT"], "datetime64[us]")
    made = instants_to_arrow(instants)
    made.validate(full=True)
    assert made.equals(pa.array(instants).cast(INSTANT))
    assert made.null_count == 2
    assert str(instants_from_arrow(made).tolist()) == str(instants.tolist())
    assert str(instants_from_arrow(made[1:4]).tolist()) == str(instants[1:4].tolist())
