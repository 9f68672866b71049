"""Resolve the column that an attribute names, if any.

Contract: the answer equals Spark's, or there is none. `price`, `Addr.City` and `` `odd name`.x `` are columns or struct
fields, looked up ignoring case. Anything else is a derived attribute, which only Spark can compute.

>>> schema = pa.schema([("Addr", pa.struct([("city", pa.string())])), ("x", pa.int32())])
>>> find_column("addr.CITY", schema)
Column(path=(0, 0), type=DataType(string))
>>> find_column("x + 1", schema)
Traceback (most recent call last):
...
sparkrules.logic.columns.Unsupported: `x + 1` is a derived attribute
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sparkrules.logic.spark_string import described_field, described_row, spark_string

_PART = r"(?:[A-Za-z_][A-Za-z0-9_]*|`(?:[^`]|``)+`)"
_NAME = re.compile(rf"{_PART}(?:\.{_PART})*")
# Words that Spark reads as a constant or, if no column has the name, as a call without brackets.
_LITERALS = {"true", "false", "null"}
_CALLS = {
    *(
        "current_date",
        "current_timestamp",
        "current_time",
        "localtimestamp",
        "localtime",
        "current_user",
        "user",
        "session_user",
    ),
    *("current_catalog", "current_schema", "current_database"),
}


class Unsupported(Exception):
    """A predicate that this matcher cannot evaluate as Spark would. The message gives the reason."""


class NoSuchColumn(Unsupported):
    """The attribute names a column that the table does not have."""


@dataclass(frozen=True)
class Column:
    """A column, or a field inside struct columns: the position at each step, and the type found there.

    `text` is its Spark type, if it is a string that Spark does not compare by bytes.
    """

    path: tuple[int, ...]
    type: Any
    text: str | None = field(default=None, repr=False, compare=False)

    def read(self, batch: pa.RecordBatch) -> Any:
        """The column's values. A field of a NULL struct is NULL."""
        array = batch.column(self.path[0])
        return pc.struct_field(array, list(self.path[1:])) if len(self.path) > 1 else array


def is_name(attribute: str) -> bool:
    """Whether an attribute is written like a column or field name.

    >>> is_name("Addr.City"), is_name("x + 1"), is_name("NULL")
    (True, False, False)
    """
    return _NAME.fullmatch(attribute) is not None and attribute.lower() not in _LITERALS


def column_attribute(name: str) -> str:
    """The name of a column, in which a dot leads to a field of a struct, as an attribute.

    >>> column_attribute("odd name.x"), column_attribute("`a.b`.c")
    ('`odd name`.`x`', '`a.b`.c')
    """
    return name if "`" in name else ".".join(f"`{part}`" for part in name.split("."))


def top_column(attribute: str) -> str | None:
    """The column that an attribute names or reads a field of, in lower case. None for a derived attribute.

    >>> top_column("Addr.City"), top_column("`odd name`"), top_column("lower(x)")
    ('addr', 'odd name', None)
    """
    if not _NAME.fullmatch(attribute) or attribute.lower() in _LITERALS | _CALLS:
        return None
    return _unquoted(re.findall(_PART, attribute)[0]).lower()


def find_column(attribute: str, schema: pa.Schema) -> Column:
    """The column that the attribute names. Raises `Unsupported` if it is derived, `NoSuchColumn` if it is missing."""
    if not is_name(attribute):
        raise Unsupported(f"`{attribute}` is a derived attribute")
    parts = [_unquoted(part) for part in re.findall(_PART, attribute)]
    fields = [schema.field(number) for number in range(len(schema))]
    path: list[int] = []
    described = described_row(schema)
    for part in parts:
        found = [number for number, own in enumerate(fields) if own.name.lower() == part.lower()]
        if len(found) > 1:
            raise Unsupported(f"`{attribute}` is ambiguous: several columns have this name")
        if not found:
            if attribute.lower() in _CALLS:
                raise Unsupported(f"`{attribute}` is a derived attribute")
            raise NoSuchColumn(f"there is no column `{attribute}`")
        path.append(found[0])
        own = fields[found[0]]
        described = described_field(described, own.name)
        type_ = own.type
        if len(path) < len(parts) and not pa.types.is_struct(type_):
            raise Unsupported(f"`{attribute}` reaches into a {type_}, which is not a struct")
        fields = [type_.field(number) for number in range(type_.num_fields)] if pa.types.is_struct(type_) else []
    return Column(tuple(path), type_, spark_string(own, described))


def _unquoted(part: str) -> str:
    return part[1:-1].replace("``", "`") if part[0] == "`" else part
