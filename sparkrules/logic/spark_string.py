"""Strings that Spark does not compare by bytes, as far as an Arrow schema shows.

Arrow has one type for all Spark strings. Metadata shows that a column is a CHAR(n), which Spark pads, or has a
collation. It is on the field in the result of `DataFrame.toArrow()` (without the collation), and on the schema in a
Parquet file that Spark wrote.

>>> spark_string(pa.field("code", pa.string(), metadata={_FIELD: b'{"__CHAR_VARCHAR_TYPE_STRING": "char(5)"}'}), {})
'CHAR(5)'
>>> spark_string(pa.field("name", pa.string()), {"metadata": {"__COLLATIONS": {"name": "spark.UTF8_LCASE"}}})
'STRING COLLATE UTF8_LCASE'
>>> spark_string(pa.field("name", pa.string()), {}) is None
True
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import pyarrow as pa

_FIELD = b"SPARK::metadata::json"
_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"
_CHAR, _COLLATIONS = "__CHAR_VARCHAR_TYPE_STRING", "__COLLATIONS"

Described = Mapping[str, Any]


def described_row(schema: pa.Schema) -> Described:
    """What Spark wrote about a file's columns: a struct as JSON, empty if there is nothing."""
    return _parsed((schema.metadata or {}).get(_SCHEMA, b""))


def described_field(described: Described, name: str) -> Described:
    """What Spark wrote about one column, or about a field of a struct."""
    type_ = described.get("type")
    struct = type_ if isinstance(type_, dict) else described
    fields = struct.get("fields")
    found = [own for own in fields if isinstance(own, dict) and own.get("name") == name] if fields else []
    return found[0] if len(found) == 1 else {}


def spark_string(field: pa.Field, described: Described) -> str | None:
    """The type of a string column that Spark does not compare by bytes. None if it does."""
    for metadata in (_parsed((field.metadata or {}).get(_FIELD, b"")), described.get("metadata") or {}):
        declared = str(metadata.get(_CHAR, ""))
        if declared.lower().startswith("char("):
            return declared.upper()
        collation = (metadata.get(_COLLATIONS) or {}).get(field.name)
        if collation is not None:
            return f"STRING COLLATE {str(collation).rpartition('.')[2]}"
    return None


def described_string(field: pa.Field, metadata: Mapping[str, Any], collation: str) -> pa.Field:
    """A field with Spark's information about its strings, to be read by `spark_string`.

    >>> spark_string(described_string(pa.field("name", pa.string()), {}, "UNICODE_CI"), {})
    'STRING COLLATE UNICODE_CI'
    """
    known = {_CHAR: metadata[_CHAR]} if _CHAR in metadata else {_COLLATIONS: {field.name: collation}}
    return field.with_metadata({_FIELD: json.dumps(known).encode()})


@lru_cache(maxsize=64)
def _parsed(content: bytes) -> Described:
    try:
        found = json.loads(content) if content else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
