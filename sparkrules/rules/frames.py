"""Tables of other libraries (pandas, polars, and others that export Arrow) as Arrow tables with types of Spark.

| type | becomes | as in Spark |
|---|---|---|
| timestamps in nanoseconds, seconds, milliseconds | timestamps in microseconds, truncated | createDataFrame |
| unsigned integers | the next wider signed type; for 64 bits, a decimal of 20 digits | reading Parquet |
| half floats, `date64`, decimals of other widths | floats, dates, decimals of 128 bits | |
| string views | strings | |

>>> as_arrow(pa.table({"n": pa.array([1, 2], pa.uint8())})).schema
n: int16
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, Union

import pyarrow as pa

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
    """Whether this is a table that `as_arrow` reads."""
    return isinstance(source, (pa.Table, pa.RecordBatch)) or _library(source) != ""


def as_arrow(source: Any) -> pa.Table:
    """A table as an Arrow table, in types of Spark; without the index of pandas.

    >>> import pandas
    >>> as_arrow(pandas.DataFrame({"t": [35.5, None]}, index=[7, 8])).to_pydict()
    {'t': [35.5, None]}
    """
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    elif not isinstance(source, pa.Table):
        source = _exported(source)
    return _in_spark_types(source)


def _library(source: object) -> str:
    """The library of this DataFrame; `arrow` for anything else that exports an Arrow stream."""
    names = [(base.__module__.partition(".")[0], base.__name__) for base in type(source).__mro__]
    if ("pyspark", "DataFrame") in names:
        return ""  # it exports Arrow as well, by running the query
    for library in ("pandas", "polars"):
        if (library, "DataFrame") in names:
            return library
    if ("polars", "LazyFrame") in names:
        return "polars lazy"
    is_class = isinstance(source, type)
    return "arrow" if hasattr(source, "__arrow_c_stream__") and not is_class and _is_table(source) else ""


def _is_table(source: Any) -> bool:
    """Whether this is not a single column, which exports Arrow in the same way."""
    return hasattr(source, "columns") or hasattr(source, "schema")


def _exported(source: Any) -> pa.Table:
    library = _library(source)
    try:
        if library == "pandas":
            return pa.Table.from_pandas(source, preserve_index=False)
        if library == "polars lazy":
            source = source.collect()
        if library.startswith("polars"):
            return source.to_arrow()
        return pa.RecordBatchReader.from_stream(source).read_all()
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        # Arrow names the column after the reason.
        reason = " ".join(map(str, error.args)) or type(error).__name__
        raise RuleSetError(
            f"the {type(source).__name__} of {library.split()[0]} cannot become an Arrow table: {reason}. Give the "
            "column values of one type, or drop it"
        ) from error


def _in_spark_types(table: pa.Table) -> pa.Table:
    fields = [field.with_type(_spark_type(field.type)) for field in table.schema]
    for number, field in enumerate(fields):
        if field.type != table.schema.field(number).type:
            try:
                column = table.column(number).cast(field.type, safe=False)
            except pa.ArrowException:
                continue  # it keeps its type, of which only IS NULL can be asked
            table = table.set_column(number, field, column)
    return table


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
