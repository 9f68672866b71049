"""CSV as a table, in types that Spark has."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import pyarrow as pa


def read_csv(source: Path | IO[bytes], **options: Any) -> pa.Table:
    """The table; `options` are those of `pyarrow.csv.read_csv`.

    >>> import io
    >>> read_csv(io.BytesIO(b"n,day,clock,at\\n1,2024-05-01,10:30:00,2024-05-01T10:30:00.5\\n")).schema
    n: int64
    day: date32[day]
    clock: string
    at: timestamp[us]
    """
    import pyarrow.csv

    table = pyarrow.csv.read_csv(source, **options)
    for index, field in enumerate(table.schema):
        if pa.types.is_binary(field.type):
            raise ValueError(
                f"column {field.name!r} is not UTF-8. Save the file as UTF-8, or run: iconv -f LATIN1 -t UTF-8"
            )
        kind = _spark_type(field.type)
        if kind != field.type:
            table = table.set_column(index, field.name, table.column(index).cast(kind, safe=False))
    return table


def _spark_type(kind: pa.DataType) -> pa.DataType:
    """Spark 4.0 has no type for a time of day, and its timestamps have microseconds."""
    if pa.types.is_time(kind):
        return pa.string()
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return pa.timestamp("us", kind.tz)
    return kind
