"""The statistics of a rule set: `<number>.arrow`, and `<number>.json` with its checksum. See `docs/store-format.md`."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa

from sparkrules.errors import CorruptStore
from sparkrules.store.arrow_file import read_arrow, sync_directory, write_arrow, write_text
from sparkrules.store.checksum import FileSum, check_seal, sealed
from sparkrules.store.numbered_files import add_numbered, temporary_in

STATISTICS = pa.schema(
    [
        ("attribute", pa.utf8()),
        ("position", pa.int32()),
        ("lower", pa.utf8()),
        ("upper", pa.utf8()),
        ("rows", pa.int32()),
        ("total", pa.int32()),
    ]
)
_AGAIN = "analyse the rule set again"


def write_statistics(directory: Path, rule_set: str, table: pa.Table) -> int:
    """Store statistics as the newest of a rule set, and return their number."""
    sums: list[FileSum] = []
    number = add_numbered(directory, ".arrow", lambda file, _: sums.append(write_arrow(file, table, STATISTICS)))
    assert number is not None
    # Until the JSON file exists, readers see statistics without a checksum, like those of older versions of sparkrules.
    fields = {"rule_set": rule_set, "number": number, "length": sums[-1].length, "crc32": sums[-1].crc32}
    with temporary_in(directory) as temporary:
        write_text(temporary, sealed(json.dumps(fields, indent=2)))
        temporary.replace(directory / f"{number}.json")  # no one else has this number
    sync_directory(directory)
    return number


def read_statistics(directory: Path, rule_set: str, number: int) -> pa.Table:
    """Read the statistics with a given number. An error names the file."""
    published = _checksum(directory / f"{number}.json", rule_set, number)
    return read_arrow(directory / f"{number}.arrow", STATISTICS, _AGAIN, published)


def _checksum(file: Path, rule_set: str, number: int) -> FileSum | None:
    try:
        content = file.read_bytes()
        check_seal(content)
        fields = json.loads(content.decode())
        found = FileSum.from_json(fields)
        whose = fields["rule_set"], fields["number"]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise CorruptStore(f"{file} is damaged ({error}): {_AGAIN}") from error
    if whose != (rule_set, number):
        raise CorruptStore(f"{file} is of statistics {whose[1]} of rule set {whose[0]!r}: {_AGAIN}")
    return found
