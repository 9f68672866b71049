"""What holds for every store after each step of every publisher: `docs/store-format.md`, "Publishing"."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from sparkrules.store import Store

_TEMPORARY = re.compile(r"\.[0-9a-f]{32}\.tmp")


def check_conformance(path: Path, rule_set: str, *, finished: bool = True) -> None:
    """Check a rule set against the specification. `finished`: no publisher is at work or has died."""
    store = Store(path)
    home = path / rule_set
    versions = store.versions(rule_set)
    withdrawn = {int(file.name.split(".")[1]) for file in (home / "versions").glob(".*.withdrawn")}
    assert not withdrawn & set(versions), "a withdrawn number is used again"
    for number in versions:
        manifest = store.manifest(rule_set, number)  # its checksum, name and number are checked
        assert manifest.parent is None or manifest.parent < number
        appeared = (home / "versions" / f"{number}.json").stat().st_mtime_ns
        for file in manifest.paths():
            assert (home / file).stat().st_mtime_ns <= appeared, f"version {number} appeared before {file}"
        store.load(rule_set, number)  # every file is there, has its checksum, and says what it may say
        parts = store.open(rule_set, number).parts
        assert [part.live for part in parts] == [entry.live for entry in manifest.segments]
        assert manifest.subscriptions == sum(part.live for part in parts)
        live = Counter(id for part in parts for id in part.body.ids.take(part.live_rows).to_pylist())
        assert max(live.values(), default=1) == 1, "an id is live in two segments"
    if finished:
        left = [file.name for file in home.rglob(".*") if _TEMPORARY.fullmatch(file.name)]
        assert not left, f"temporary files are left: {left}"


def crashed_states(before: Path, after: Path) -> list[list[Path]]:
    """What a publisher can leave when it dies: the new files in the order of the specification, one more each time.

    The first state has none of them; the last has all, the manifest included. Paths are relative to the store.
    """
    old = {file.relative_to(before) for file in before.rglob("*") if file.is_file()}
    new = {file.relative_to(after) for file in after.rglob("*") if file.is_file()} - old
    manifests = sorted(file for file in new if file.parent.name == "versions")
    others = sorted(new - set(manifests), key=lambda file: (after / file).stat().st_mtime_ns)
    ordered = [*others, *manifests]
    return [ordered[:count] for count in range(len(ordered) + 1)]
