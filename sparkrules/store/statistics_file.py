"""The statistics of a rule set: how many rows lie where, and where each predicate of the rules is true.

`<number>.arrow` has the rows, `<number>.predicates.arrow` the predicates and `<number>.json` the checksums of both. See
`docs/store-format.md`.
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from sparkrules.errors import CorruptStore
from sparkrules.store.arrow_file import arrow_bytes, read_arrow
from sparkrules.store.checksum import FileSum, check_seal, sealed
from sparkrules.store.numbered_files import add_numbered
from sparkrules.store.place import Place, overwrite, sync_directory

STATISTICS = pa.schema(
    [
        ("attribute", pa.utf8()),
        ("position", pa.int32()),
        ("lower", pa.utf8()),
        ("upper", pa.utf8()),
        ("rows", pa.int32()),
        ("total", pa.int32()),
        ("nanoseconds", pa.int32()),
    ]
)
_BEFORE_TIMES = pa.schema(list(STATISTICS)[:-1])  # older versions of sparkrules did not measure
COUNTED_PREDICATES = pa.schema(
    [
        ("attribute", pa.utf8()),
        ("operator", pa.utf8()),
        ("constants", pa.utf8()),
        ("slot", pa.utf8()),
        ("type", pa.utf8()),
        ("positions", pa.int32()),
        ("first", pa.list_(pa.int32())),
        ("last", pa.list_(pa.int32())),
    ]
)
_AGAIN = "analyse the rule set again"


def write_statistics(directory: Place, rule_set: str, table: pa.Table) -> int:
    """Store statistics as the newest of a rule set, and return their number."""
    content, written = arrow_bytes(table, STATISTICS)
    number = add_numbered(directory, ".arrow", lambda _: content)
    assert number is not None
    # Until the JSON file exists, readers see statistics without a checksum, like those of older versions of sparkrules.
    _write_checksums(directory, rule_set, number, written, None)
    return number


def write_predicates(directory: Place, rule_set: str, number: int, table: pa.Table) -> None:
    """Add the predicates to the statistics with a given number. Until then, readers see statistics without them."""
    rows = _checksum(directory / f"{number}.json", rule_set, number, None)
    assert rows is not None
    content, found = arrow_bytes(table, COUNTED_PREDICATES)
    overwrite(directory / f"{number}.predicates.arrow", content)
    _write_checksums(directory, rule_set, number, rows, found)


def _write_checksums(directory: Place, rule_set: str, number: int, rows: FileSum, predicates: FileSum | None) -> None:
    fields: dict[str, Any] = {"rule_set": rule_set, "number": number, "length": rows.length, "crc32": rows.crc32}
    if predicates is not None:
        fields["predicates"] = {"length": predicates.length, "crc32": predicates.crc32}
    # No one else has this number.
    overwrite(directory / f"{number}.json", sealed(json.dumps(fields, indent=2)).encode())
    sync_directory(directory)


def read_statistics(directory: Place, rule_set: str, number: int) -> pa.Table:
    """Read the statistics with a given number. An error names the file."""
    published = _checksum(directory / f"{number}.json", rule_set, number, None)
    found = read_arrow(directory / f"{number}.arrow", STATISTICS, _AGAIN, published, older=_BEFORE_TIMES)
    if found.num_columns == len(STATISTICS):
        return found
    return found.append_column(STATISTICS.field("nanoseconds"), pa.array([0] * found.num_rows, pa.int32()))


def read_predicates(directory: Place, rule_set: str, number: int) -> pa.Table | None:
    """Read the predicates of the statistics with a given number; None if they have none."""
    published = _checksum(directory / f"{number}.json", rule_set, number, "predicates")
    if published is None:
        return None
    return read_arrow(directory / f"{number}.predicates.arrow", COUNTED_PREDICATES, _AGAIN, published)


def _checksum(file: Place, rule_set: str, number: int, part: str | None) -> FileSum | None:
    """The checksum of the rows, or of another part of the statistics; None if there is none."""
    try:
        content = bytes(file.read_bytes())
        check_seal(content)
        fields = json.loads(content.decode())
        own = fields if part is None else fields.get(part)
        found = None if own is None else FileSum.from_json(own)
        whose = fields["rule_set"], fields["number"]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CorruptStore(f"{file} is damaged ({error}): {_AGAIN}") from error
    if whose != (rule_set, number):
        raise CorruptStore(f"{file} is of statistics {whose[1]} of rule set {whose[0]!r}: {_AGAIN}")
    return found
