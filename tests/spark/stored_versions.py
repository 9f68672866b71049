"""Writes versions without the publisher, following docs/store-format.md: several segments, removed rows, tickets."""

from __future__ import annotations

import hashlib
import hmac
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

import sparkrules

KEY = bytes(range(32))
REJECTED = pa.schema(
    [("id", pa.utf8()), ("where", pa.utf8()), ("reason", pa.utf8()), ("line", pa.int32()), ("column", pa.int32())]
)


def read_arrow(file: Path) -> pa.Table:
    return pa.ipc.open_file(pa.BufferReader(file.read_bytes())).read_all()


def write_arrow(file: Path, table: pa.Table, batch: int | None = None) -> None:
    """Write a file in record batches of so many rows, by default in one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with pa.OSFile(str(file), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table.combine_chunks(), max_chunksize=batch)


def write_segment(store: Path, rule_set: str, name: str, rules: Mapping[str, str]) -> Path:
    """Write a segment of these rules, and return its directory."""
    scratch = store / ".scratch"
    made = sparkrules.RuleSet(name)
    made.subscribe_all(rules)
    assert made.rejected == []
    made.store = scratch
    made.publish()
    (segment,) = (scratch / name / "segments").iterdir()
    target = store / rule_set / "segments" / name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(segment, target)
    shutil.rmtree(scratch)
    return target


def change_subscriptions(segment: Path, batch: int | None = None, **columns: Sequence[Any]) -> None:
    """Replace columns of a segment's subscriptions, or only how they are divided into record batches."""
    table = read_arrow(segment / "subscriptions.arrow")
    columns_of = {name: table.column(name) for name in table.schema.names}
    columns_of |= {name: pa.array(values, table.schema.field(name).type) for name, values in columns.items()}
    write_arrow(segment / "subscriptions.arrow", pa.table(columns_of, schema=table.schema), batch)


def write_removed(store: Path, rule_set: str, name: str, rows: Iterable[int]) -> None:
    write_arrow(store / rule_set / "removed" / f"{name}.arrow", pa.table({"row": pa.array(rows, pa.int32())}))


def write_manifest(
    store: Path,
    rule_set: str,
    version: int,
    segments: Mapping[str, str | None],
    **fields: object,
) -> dict[str, Any]:
    """Write the manifest of a version: `segments` are names, each with the name of what is removed."""
    home = store / rule_set
    entries, sizes = [], {"predicates": 0, "nodes": 0}
    for name, removed in segments.items():
        count = read_arrow(home / "segments" / name / "subscriptions.arrow").num_rows
        gone = 0 if removed is None else read_arrow(home / "removed" / f"{removed}.arrow").num_rows
        entries.append({"name": name, "subscriptions": count, "removed": removed, "live": count - gone})
        for table in sizes:
            sizes[table] += read_arrow(home / "segments" / name / f"{table}.arrow").num_rows
    manifest = {
        "format": 2,
        "rule_set": rule_set,
        "version": version,
        "created": "2026-01-31T12:00:00+00:00",
        "publisher": "ann@laptop",
        "action": "publish",
        "parent": version - 1 or None,
        "segments": entries,
        "rejected": None,
        "default_validity": None,
        "subscriptions": sum(entry["live"] for entry in entries),
        **sizes,
        **fields,
    }
    file = home / "versions" / f"{version}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(manifest), encoding="utf-8")
    return manifest


def ticket_hash(ticket: str) -> str:
    return hmac.new(KEY, ticket.encode(), hashlib.sha256).hexdigest()
