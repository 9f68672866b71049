"""Garbage collection removes what nobody needs, and nothing else."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path

import pytest

from sparkrules import RuleSet
from sparkrules.errors import StoreError
from sparkrules.store import Store

NOW = timedelta(0)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    rules = RuleSet("alerts")
    for number in range(5):
        rules.subscribe(f"r{number}", f"a = {number}")
        rules.subscribe_all({f"bad{number}": "a >"})
        rules.publish(store=tmp_path, merge="all")
    return Store(tmp_path)


def files(store: Store) -> set[str]:
    return {str(file.relative_to(store.path / "alerts")) for file in store.path.rglob("*") if file.is_file()}


def age(store: Store, days: float) -> None:
    then = time.time() - days * 86_400
    for file in [*store.path.rglob("*"), *store.path.rglob(".*")]:
        os.utime(file, (then, then))


def test_old_versions_and_their_files_go(store: Store) -> None:
    found = store.collect_garbage("alerts", keep=2, older_than=NOW)
    assert found.versions == (1, 2, 3)
    assert len([file for file in found.files if file.startswith("segments/")]) == 3
    assert len([file for file in found.files if file.startswith("rejected/")]) == 3
    assert str(found) == "3 versions, 6 files and segments"
    assert store.versions("alerts") == [4, 5]
    for version in (4, 5):
        assert len(list(RuleSet.load("alerts", store.path, version))) == version
    assert len(files(store)) == 2 * (6 + 1 + 1)
    assert store.collect_garbage("alerts", keep=2, older_than=NOW).files == ()


def test_the_newest_version_is_always_kept(store: Store) -> None:
    age(store, 400)
    store.collect_garbage("alerts", keep=1)
    assert store.versions("alerts") == [5]
    with pytest.raises(StoreError, match="at least one version is kept, not 0"):
        store.collect_garbage("alerts", keep=0)
    with pytest.raises(StoreError, match="older_than"):
        store.collect_garbage("alerts", older_than=timedelta(days=-1))
    with pytest.raises(StoreError, match="no published rule set"):
        store.collect_garbage("alarms")


def test_what_is_young_is_kept(store: Store) -> None:
    before = files(store)
    found = store.collect_garbage("alerts", keep=1)
    assert (found.versions, found.files) == ((), ())
    assert files(store) == before


def test_the_files_of_a_version_stay_for_a_while_after_it(store: Store) -> None:
    age(store, 2)
    reader = RuleSet.load("alerts", store.path, version=1)
    found = store.collect_garbage("alerts", keep=1)
    assert (found.versions, found.files) == ((1, 2, 3, 4), ())
    assert [rule.id for rule in reader] == ["r0"]
    with pytest.raises(StoreError, match="no version 1"):
        RuleSet.load("alerts", store.path, version=1)
    age(store, 2)
    assert len(store.collect_garbage("alerts", keep=1).files) == 8


def test_a_rollback_that_was_under_way_keeps_its_files(store: Store) -> None:
    age(store, 2)
    old = store.manifest("alerts", 2)
    store.collect_garbage("alerts", keep=1)
    store.commit(old, after=5)  # what a rollback does with the manifest that it has read before
    age(store, 2)
    store.collect_garbage("alerts", keep=1)
    assert [rule.id for rule in RuleSet.load("alerts", store.path)] == ["r0", "r1"]


def test_files_that_are_shared_by_versions_stay(tmp_path: Path) -> None:
    rules = RuleSet("alerts")
    rules.subscribe_all((f"r{number}", f"a = {number}") for number in range(3_000))
    rules.publish(store=tmp_path)
    for number in range(4):
        rules.unsubscribe(f"r{number}")
        rules.publish()
    found = rules.collect_garbage(keep=1, older_than=NOW)
    assert found.versions == (1, 2, 3, 4)
    assert [file.split("/")[0] for file in found.files] == ["removed"] * 3
    assert len(RuleSet.load("alerts", tmp_path)) == 2_996


def test_left_overs_of_publishers_that_died_go(store: Store) -> None:
    home = store.path / "alerts"
    (home / "versions" / ".0b6f.tmp").write_text("{")
    (home / "versions" / ".9.claim").mkdir()
    (home / "segments" / "half").mkdir()
    (home / "segments" / "half" / "nodes.arrow").write_text("")
    (home / "removed").mkdir()
    (home / "removed" / "77aa.arrow").write_text("")
    (home / "tickets.key").write_bytes(b"k" * 32)
    found = store.collect_garbage("alerts", older_than=NOW)
    assert set(found.files) == {
        "versions/.0b6f.tmp", "versions/.9.claim", "segments/half", "removed/77aa.arrow"
    }  # fmt: skip
    assert (home / "tickets.key").exists()
    assert len(RuleSet.load("alerts", store.path)) == 5


def test_with_a_damaged_manifest_nothing_is_removed_that_it_might_need(store: Store) -> None:
    (store.path / "alerts" / "versions" / "4.json").write_text("{")
    before = {file for file in files(store) if not file.startswith("versions")}
    with pytest.raises(StoreError, match=r"nothing more was removed, .*4\.json is not a manifest"):
        store.collect_garbage("alerts", keep=2, older_than=NOW)
    assert {file for file in files(store) if not file.startswith("versions")} == before
