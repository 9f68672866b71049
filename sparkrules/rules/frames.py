"""Tables of other libraries (pandas, polars, and all that export Arrow) as Arrow tables with types of Spark.

| type | becomes | as in Spark |
|---|---|---|
| timestamps in nanoseconds, seconds, milliseconds | timestamps in microseconds, truncated | createDataFrame |
| unsigned integers | the next wider signed type; for 64 bits, a decimal of 20 digits | reading Parquet |
| integers of 128 bits, of polars | decimals of 38 digits | |
| half floats, `date64`, decimals of other widths | floats, dates, decimals of 128 bits | |
| string views, run-end encoded columns, sparse columns of pandas | their values | |

A value that the type of Spark cannot hold is an error that names the column.

>>> as_arrow(pa.table({"n": pa.array([1, 2], pa.uint8())})).schema
n: int16
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import pyarrow as pa
import pyarrow.compute as pc

from sparkrules.errors import RuleSetError

if TYPE_CHECKING:
    import pandas
    import polars

Frame: TypeAlias = Union[pa.Table, pa.RecordBatch, "pandas.DataFrame", "polars.DataFrame", "polars.LazyFrame"]
_NEXT: dict[Any, Any] = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.float16(): pa.float32(),
    pa.date64(): pa.date32(),
}
if hasattr(pa, "string_view"):
    _NEXT |= {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
_MOST_DIGITS = 38


def is_frame(source: object) -> bool:
    """Whether this is a table that `as_arrow` reads, or may be: what else exports Arrow is read to know."""
    return _library(source) != ""


def as_arrow(source: Any) -> pa.Table:
    """A table as an Arrow table, in types of Spark; without the index of pandas.

    >>> import pandas
    >>> as_arrow(pandas.DataFrame({"t": [35.5, None]}, index=[7, 8])).to_pydict()
    {'t': [35.5, None]}
    """
    table = _READERS[_library(source)](source)
    columns = [_in_spark_type(field.name, column) for field, column in zip(table.schema, table.columns, strict=True)]
    fields = [field.with_type(column.type) for field, column in zip(table.schema, columns, strict=True)]
    return pa.table(columns, pa.schema(fields, table.schema.metadata)) if columns else table


def _library(source: object) -> str:
    """Who made this table, a key of `_READERS`; empty if it is none."""
    if isinstance(source, type):
        return ""
    names = [(base.__module__.partition(".")[0], base.__name__) for base in type(source).__mro__]
    if any(module == "pyspark" for module, _ in names):
        return ""  # a DataFrame of Spark exports Arrow as well, by running the query
    for library, name in names:
        if (library, name) in _TABLES:
            return _TABLES[library, name]
        if (library, name) in _SINGLE_COLUMNS:
            return ""
    return "arrow" if hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__") else ""


_TABLES = {
    ("pyarrow", "Table"): "table",
    ("pyarrow", "RecordBatch"): "batch",
    ("pyarrow", "Dataset"): "dataset",
    ("pyarrow", "Scanner"): "dataset",
    ("pandas", "DataFrame"): "pandas",
    ("polars", "DataFrame"): "polars",
    ("polars", "LazyFrame"): "polars lazy",
}
_SINGLE_COLUMNS = {
    *(("pyarrow", name) for name in ("Array", "ChunkedArray", "Scalar", "DataType", "Field", "Schema")),
    *((library, name) for library in ("pandas", "polars") for name in ("Series", "Index")),
}


def _of_pandas(frame: Any) -> pa.Table:
    """Column by column: several may have the same name, of which only a rule that asks for it complains."""
    columns = [_pandas_column(str(name), frame.iloc[:, number]) for number, name in enumerate(frame.columns)]
    return pa.Table.from_arrays(columns, [*map(str, frame.columns)])


def _pandas_column(name: str, values: Any) -> Any:
    if str(values.dtype).startswith("Sparse["):
        values = values.sparse.to_dense()
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise RuleSetError(
            f"the column {name!r} of pandas cannot become one of Arrow: {_reason(error)}. Give it values of one type, "
            "or drop it"
        ) from error


def _of_polars(frame: Any) -> pa.Table:
    # Arrow has no integers of 128 bits.
    wide = {name: str(kind) for name, kind in frame.schema.items() if str(kind) in ("Int128", "UInt128")}
    for name, kind in wide.items():
        import polars

        try:
            frame = frame.with_columns(polars.col(name).cast(polars.Decimal(_MOST_DIGITS, 0)))
        except polars.exceptions.PolarsError as error:
            raise _does_not_fit(name, kind, f"decimal of {_MOST_DIGITS} digits") from error
    return _exported(frame, frame.to_arrow)


def _exported(source: Any, read: Callable[[], pa.Table]) -> pa.Table:
    try:
        return read()
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise RuleSetError(
            f"this {type(source).__name__} cannot become an Arrow table: {_reason(error)}. Convert its columns, or "
            "drop those that Arrow does not have"
        ) from error


def _of_stream(source: Any) -> pa.Table:
    if hasattr(source, "__arrow_c_stream__"):
        return _exported(source, lambda: pa.RecordBatchReader.from_stream(source).read_all())
    return _exported(source, lambda: pa.Table.from_batches([pa.record_batch(source)]))


_READERS: dict[str, Callable[[Any], pa.Table]] = {
    "table": lambda table: table,
    "batch": lambda batch: pa.Table.from_batches([batch]),
    "dataset": lambda dataset: dataset.to_table(),
    "pandas": _of_pandas,
    "polars": _of_polars,
    "polars lazy": lambda frame: _of_polars(frame.collect()),
    "arrow": _of_stream,
}


def _reason(error: Exception) -> str:
    return " ".join(map(str, error.args)) or type(error).__name__


def _does_not_fit(name: str, kind: object, wanted: object) -> RuleSetError:
    return RuleSetError(f"the column {name!r}, a {kind}, has values that a {wanted} of Spark cannot hold: drop them")


def _in_spark_type(name: str, column: Any) -> Any:
    kind = column.type
    if pa.types.is_run_end_encoded(kind):
        column = pc.run_end_decode(column)
        kind = column.type
    wanted = _spark_type(kind)
    if wanted == kind:
        return column
    try:
        return pa.chunked_array([_in_microseconds(chunk) for chunk in _chunks(column)], _cut(kind)).cast(wanted)
    except pa.ArrowNotImplementedError:
        return column  # it keeps its type, of which only IS NULL can be asked
    except pa.ArrowInvalid as error:
        raise _does_not_fit(name, kind, wanted) from error


def _chunks(column: Any) -> list[Any]:
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


def _cut(kind: Any) -> Any:
    """A type without nanoseconds."""
    if pa.types.is_struct(kind):
        return pa.struct([own.with_type(_cut(own.type)) for own in kind])
    if pa.types.is_dictionary(kind):
        value = _cut(kind.value_type)
        return kind if value == kind.value_type else value
    return pa.timestamp("us", kind.tz) if pa.types.is_timestamp(kind) and kind.unit == "ns" else kind


def _in_microseconds(array: Any) -> Any:
    """Nanoseconds are cut off: those before 1970 go back to the last microsecond. Arrow would go forward."""
    kind = array.type
    cut = _cut(kind)
    if cut == kind:
        return array
    if pa.types.is_struct(kind):
        fields = [_in_microseconds(array.field(number)) for number in range(kind.num_fields)]
        return pa.StructArray.from_arrays(fields, fields=[*cut], mask=array.is_null())
    if pa.types.is_dictionary(kind):
        return _in_microseconds(array.dictionary_decode())
    nanoseconds = array.cast(pa.int64())
    toward_zero = pc.divide(nanoseconds, 1000)
    is_too_late = pc.less(nanoseconds, pc.multiply(toward_zero, 1000))
    return pc.subtract(toward_zero, is_too_late.cast(pa.int64())).cast(cut)


def _spark_type(kind: Any) -> Any:
    if kind in _NEXT:
        return _NEXT[kind]
    if pa.types.is_dictionary(kind):  # a category or an enumeration: matched by its few values
        value = _spark_type(kind.value_type)
        return kind if value == kind.value_type else value
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    if pa.types.is_decimal(kind) and not pa.types.is_decimal128(kind) and kind.precision <= _MOST_DIGITS:
        return pa.decimal128(kind.precision, kind.scale)
    if pa.types.is_struct(kind):
        return pa.struct([own.with_type(_spark_type(own.type)) for own in kind])
    return kind
