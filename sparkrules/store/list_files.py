"""The reference lists of a rule set: `lists/<name>/<number>.json`, and the Arrow file of values that it names.

A list has numbers of its own: the highest one is the list. No file is ever changed. A dropped list is a number without
a file. See `docs/store-format.md`.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from itertools import pairwise
from typing import Any

import pyarrow as pa

from sparkrules.errors import CorruptStore, StoreError
from sparkrules.store.arrow_file import read_arrow, write_arrow
from sparkrules.store.checksum import FileSum, check_seal, sealed
from sparkrules.store.manifest import publisher
from sparkrules.store.names import check_name, is_name
from sparkrules.store.numbered_files import add_numbered, numbers
from sparkrules.store.place import Place, entries, remove

VALUES = pa.schema([("value", pa.utf8())])
_AGAIN = "put the list again"


@dataclass(frozen=True)
class ListVersion:
    """A list as it was put: its kind, how many values it has, when and by whom. One that was dropped has no kind.

    `nulls` is how many NULLs of the source were left out. Only `put_list` knows it: the store does not keep it.
    """

    name: str
    number: int
    kind: str | None
    values: int
    created: str
    publisher: str
    file: str | None = None
    sum: FileSum | None = None
    nulls: int = field(default=0, compare=False)

    def __str__(self) -> str:
        what = "dropped" if self.kind is None else f"{self.values:,} {self.kind}"
        nulls = f", {self.nulls:,} NULLs left out" if self.nulls else ""
        return f"{self.name} {self.number}: {what}{nulls}, {self.created} by {self.publisher}"


def put_list(home: Place, name: str, kind: str, values: Iterable[str]) -> ListVersion:
    """Store values, sorted and distinct, as the newest version of a list."""
    directory = _made(home, name)
    table = pa.table({"value": pa.array(values, pa.utf8())})
    file = f"{uuid.uuid4().hex}.arrow"
    written = write_arrow(directory / file, table, VALUES)
    return _added(home, name, kind, table.num_rows, file, written)


def drop_list(home: Place, name: str) -> ListVersion:
    """Say that there is no such list any more."""
    return _added(home, name, None, 0, None, None)


def _made(home: Place, name: str) -> Place:
    directory = home / "lists" / check_name(name)
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def _added(
    home: Place, name: str, kind: str | None, count: int, file: str | None, written: FileSum | None
) -> ListVersion:
    made = datetime.now(timezone.utc).isoformat(timespec="seconds")
    fields: dict[str, Any] = {"rule_set": home.name, "list": name, "number": 0, "kind": kind, "values": count}
    fields |= {"created": made, "publisher": publisher(), "file": file}
    if written is not None:
        fields |= {"length": written.length, "crc32": written.crc32}

    def content(number: int) -> bytes:
        return sealed(json.dumps(fields | {"number": number}, indent=2)).encode()

    number = add_numbered(_made(home, name), ".json", content)
    assert number is not None
    return ListVersion(name, number, kind, count, made, str(fields["publisher"]), file, written)


def newest_list(home: Place, name: str) -> ListVersion | None:
    """The list of a name, as it is now; None if there is none, or it was dropped."""
    found = numbers(home / "lists" / check_name(name), ".json")
    newest = read_version(home, name, found[-1]) if found else None
    return None if newest is None or newest.kind is None else newest


def newest_lists(home: Place) -> Iterator[ListVersion]:
    """All lists as they are now, by name."""
    for name in sorted(own.name for own in entries(home / "lists") if is_name(own.name)):
        newest = newest_list(home, name)
        if newest is not None:
            yield newest


def list_versions(home: Place, name: str) -> list[ListVersion]:
    """All versions of a list that are still there, the oldest first."""
    return [read_version(home, name, number) for number in numbers(home / "lists" / check_name(name), ".json")]


def read_version(home: Place, name: str, number: int) -> ListVersion:
    """What a number of a list is. An error names the file."""
    file = home / "lists" / name / f"{number}.json"
    try:
        content = bytes(file.read_bytes())
        check_seal(content)
        own = json.loads(content.decode())
        whose = own["rule_set"], own["list"], own["number"]
        named = own["file"]
        if named is not None and not is_name(named):
            raise ValueError(f"{named!r} is not the name of a file")
        kept = None if named is None else FileSum.from_json(own)
        found = ListVersion(name, number, own["kind"], own["values"], own["created"], own["publisher"], named, kept)
    except FileNotFoundError as error:
        raise CorruptStore(f"{file} is missing from the store: {_AGAIN}") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CorruptStore(f"{file} is damaged ({error}): {_AGAIN}") from error
    if whose != (home.name, name, number):
        raise CorruptStore(f"{file} is of list {whose[1]!r} {whose[2]} of rule set {whose[0]!r}: {_AGAIN}")
    return found


def read_values(home: Place, version: ListVersion) -> pa.ChunkedArray:
    """The values of a version of a list."""
    if version.file is None:
        raise StoreError(f"the list {version.name!r} was dropped")
    file = home / "lists" / version.name / version.file
    return read_arrow(file, VALUES, _AGAIN, version.sum).column("value")


def collect_lists(home: Place, keep: int, grace: float) -> Iterator[str]:
    """Remove all but the newest `keep` versions of each list, and files that no version names, if they are old."""
    for directory in [own for own in entries(home / "lists") if is_name(own.name) and not own.is_symlink()]:
        known = numbers(directory, ".json")
        for number, next_one in list(pairwise(known))[: max(len(known) - keep, 0)]:
            if _age(directory / f"{next_one}.json") >= grace:  # so long ago it was the newest
                remove(directory / f"{number}.json")
                yield f"lists/{directory.name}/{number}.json"
        candidates = [file for file in entries(directory) if file.name.endswith(".arrow") and _age(file) >= grace]
        needed = {read_version(home, directory.name, number).file for number in numbers(directory, ".json")}
        for file in candidates:
            if file.name not in needed:
                remove(file)
                yield f"lists/{directory.name}/{file.name}"


def _age(file: Place) -> float:
    try:
        return time.time() - file.lstat().st_mtime
    except FileNotFoundError:
        return 0.0
