"""Makes manifests valid again after changes behind the store's back, as a hostile writer would."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sparkrules.store.checksum import FileSum, sealed

Fields = dict[str, Any]


def reseal(home: Path, change: Callable[[Fields], Fields | None] = lambda fields: None) -> None:
    """Change the manifests in the directory of a rule set, and give them and their files the right checksums."""
    for file in (home / "versions").glob("[0-9]*.json"):
        reseal_manifest(file, change)


def reseal_manifest(file: Path, change: Callable[[Fields], Fields | None] = lambda fields: None) -> None:
    """Change one manifest, and give it and its files the right checksums."""
    fields = json.loads(file.read_text(encoding="utf-8"))
    del fields["checksum"]
    fields = change(fields) or fields
    for path in fields["files"]:
        stored = file.parent.parent / path
        if stored.exists():
            found = FileSum.of(stored.read_bytes())
            fields["files"][path] = {"length": found.length, "crc32": found.crc32}
    file.write_text(sealed(json.dumps(fields, indent=2)), encoding="utf-8", newline="\n")


def unverified(home: Path) -> None:
    """Turn all versions of a rule set into what the format before checksums was."""
    for file in (home / "versions").glob("[0-9]*.json"):
        fields = json.loads(file.read_text(encoding="utf-8"))
        del fields["checksum"], fields["files"]
        file.write_text(json.dumps(fields | {"format": 2}, indent=2) + "\n", encoding="utf-8")
    for file in (home / "statistics").glob("*.json"):
        file.unlink()
    key = home / "tickets.key"
    if key.exists():
        key.write_bytes(key.read_bytes()[:32])
