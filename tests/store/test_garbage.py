"""Garbage collection removes what no one needs, and nothing else."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from sparkrules import RuleSet
from sparkrules.errors import StoreError
from sparkrules.store import Store, garbage, place

NOW = timedelta(0)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    rules = RuleSet("alerts")
    for number in range(5):
        rules.subscribe(f"r{number}", f"a = {number}")
        rules.subscribe_all({f"bad{number}": "a >"})
        rules.store = tmp_path
        rules.publish(merge="all")
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
    rules.store = tmp_path
    rules.publish()
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


class TestSymbolicLinks:
    """Their targets are outside the store, and stay."""

    @pytest.fixture
    def outside(self, tmp_path_factory: pytest.TempPathFactory) -> Path:
        directory = tmp_path_factory.mktemp("outside")
        (directory / "precious.arrow").write_text("precious")
        then = time.time() - 400 * 86_400
        os.utime(directory / "precious.arrow", (then, then))
        return directory

    @staticmethod
    def is_whole(outside: Path) -> bool:
        file = outside / "precious.arrow"
        return file.read_text() == "precious" and time.time() - file.stat().st_mtime > 300 * 86_400

    @pytest.mark.parametrize("kind", ["segments", "removed", "rejected", "overlaps"])
    def test_of_directories_and_files(self, store: Store, outside: Path, kind: str) -> None:
        home = store.path / "alerts"
        (home / kind).mkdir(exist_ok=True)
        (home / kind / "directory").symlink_to(outside)
        (home / kind / "file.arrow").symlink_to(outside / "precious.arrow")
        (home / kind / "nowhere").symlink_to(outside / "nothing")
        found = store.collect_garbage("alerts", keep=1, older_than=NOW)
        assert {f"{kind}/directory", f"{kind}/file.arrow", f"{kind}/nowhere"} <= set(found.files)
        assert not any(entry.is_symlink() for entry in (home / kind).iterdir())
        assert self.is_whole(outside)
        assert len(RuleSet.load("alerts", store.path)) == 5

    def test_in_a_segment(self, store: Store, outside: Path) -> None:
        segment = store.path / "alerts" / "segments" / "half"
        segment.mkdir()
        (segment / "inner").symlink_to(outside)
        assert "segments/half" in store.collect_garbage("alerts", older_than=NOW).files
        assert not segment.exists()
        assert self.is_whole(outside)

    @pytest.mark.parametrize("name", [".1.collected", ".x.tmp", ".9.claim", ".1.withdrawn", "1.json"])
    def test_of_manifests_and_left_overs(self, store: Store, outside: Path, name: str) -> None:
        for target in (outside, outside / "precious.arrow"):
            link = store.path / "alerts" / "versions" / name
            link.unlink(missing_ok=True)
            link.symlink_to(target)
            try:
                store.collect_garbage("alerts", keep=1, older_than=NOW)
            except StoreError as error:  # a manifest that is none
                assert "nothing more was removed" in str(error)  # noqa: PT017
            assert self.is_whole(outside)

    @pytest.mark.parametrize("kind", ["segments", "removed", "versions", "statistics", "."])
    def test_in_place_of_the_stores_own_directories(self, store: Store, tmp_path: Path, kind: str) -> None:
        home = store.path / "alerts"
        (home / "removed").mkdir()
        (home / "statistics").mkdir()
        moved, elsewhere = (home if kind == "." else home / kind), tmp_path / "elsewhere"
        moved.rename(elsewhere)
        moved.symlink_to(elsewhere)
        before = sorted(elsewhere.rglob("*"))
        with pytest.raises(StoreError, match="is a symbolic link"):
            store.collect_garbage("alerts", keep=1, older_than=NOW)
        assert sorted(elsewhere.rglob("*")) == before

    def test_the_store_itself_may_be_one(self, store: Store, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(store.path)
        assert Store(tmp_path / "link").collect_garbage("alerts", keep=2, older_than=NOW).versions == (1, 2, 3)


class TestBesidePublishers:
    """If publishing takes longer than `older_than`, the publisher's files may have been collected."""

    def test_a_version_whose_files_are_gone_is_withdrawn(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        link = place.link

        def collected_just_before(temporary: Path, final: Path) -> None:
            Store(store.path).collect_garbage("alerts", older_than=NOW)
            link(temporary, final)

        rules = RuleSet.load("alerts", store.path)
        rules.subscribe("new", "a = 7")
        monkeypatch.setattr(place, "link", collected_just_before)
        monkeypatch.setattr(garbage, "_LEFT_OVER", re.compile("nothing"))  # else the manifest itself would be gone
        with pytest.raises(StoreError, match=r"\.arrow was removed as garbage while version 6 .* was withdrawn"):
            rules.publish()
        monkeypatch.undo()
        assert store.versions("alerts") == [1, 2, 3, 4, 5]
        assert len(RuleSet.load("alerts", store.path)) == 5
        assert rules.publish() == 7, "the number is not used again: somebody may have seen it"
        assert "new" in RuleSet.load("alerts", store.path)
        store.collect_garbage("alerts", keep=1, older_than=NOW)
        assert files(store) == {f"versions/{7}.json", *store.manifest("alerts").paths()}

    def test_a_file_that_is_referred_to_meanwhile_is_put_back(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The reverse: the collector has classified files as garbage, then a manifest refers to them."""
        old = store.manifest("alerts", 1)
        (store.path / "alerts" / "versions" / "1.json").unlink()
        needed, calls = garbage._needed, []

        def published_meanwhile(versions: Path) -> set[str]:
            calls.append(needed(versions))
            if len(calls) == 1:
                assert store.commit(old, after=5) is not None
            return calls[-1]

        monkeypatch.setattr(garbage, "_needed", published_meanwhile)
        assert store.collect_garbage("alerts", keep=6, older_than=NOW).files == ()
        assert len(calls) == 2
        assert [rule.id for rule in RuleSet.load("alerts", store.path)] == ["r0"]

    def test_a_newest_version_that_lacks_a_file_keeps_the_others(self, store: Store) -> None:
        """Its publisher may be about to withdraw it, which makes the previous version the newest."""
        name = store.manifest("alerts").segments[0].name
        (store.path / "alerts" / "segments" / name / "nodes.arrow").unlink()
        with pytest.raises(StoreError, match=r"nothing was removed, since .*nodes\.arrow, a file of the newest"):
            store.collect_garbage("alerts", keep=1, older_than=NOW)
        assert store.versions("alerts") == [1, 2, 3, 4, 5]
        (store.path / "alerts" / "versions" / "5.json").write_text("{")
        with pytest.raises(StoreError, match=r"nothing was removed, .*5\.json is not a manifest"):
            store.collect_garbage("alerts", keep=1, older_than=NOW)

    def test_what_a_run_that_died_has_put_aside_is_put_back_or_removed(self, store: Store) -> None:
        segments = store.path / "alerts" / "segments"
        needed = segments / store.manifest("alerts").segments[0].name
        needed.rename(segments / f".{needed.name}.collecting")
        (segments / ".half.collecting").mkdir()
        with pytest.raises(StoreError, match="is missing"):
            RuleSet.load("alerts", store.path)
        assert store.collect_garbage("alerts", older_than=NOW).files == ("segments/half",)
        assert len(RuleSet.load("alerts", store.path)) == 5

    def test_a_publisher_and_a_collector_that_waits_for_nobody(self, tmp_path: Path) -> None:
        """Two processes: the result is always complete, whichever was faster each time."""
        rules = RuleSet("alerts")
        rules.subscribe("first", "a = 1")
        rules.store = tmp_path
        rules.publish()
        collect = (
            "import sys, time\n"
            "from datetime import timedelta\n"
            "from sparkrules.errors import StoreError\n"
            "from sparkrules.store import Store\n"
            "store, end = Store(sys.argv[1]), time.time() + 600\n"
            "print('ready', flush=True)\n"
            "while time.time() < end:\n"
            "    try:\n"
            "        store.collect_garbage('alerts', 1, timedelta(0))\n"
            "    except StoreError:\n"
            "        pass\n"
        )
        with subprocess.Popen([sys.executable, "-c", collect, tmp_path], stdout=subprocess.PIPE) as collector:
            try:
                assert collector.stdout is not None
                collector.stdout.readline()
                outcomes: Counter[str] = Counter()
                tries = itertools.count(1)
                while next(tries) <= 60 or not {"published", "withdrawn"} <= outcomes.keys():
                    loaded = RuleSet.load("alerts", tmp_path)
                    loaded.subscribe(f"r{sum(outcomes.values())}", "a = 2")
                    try:
                        loaded.publish()
                        outcomes["published"] += 1
                    except StoreError as error:
                        outcomes["withdrawn" if "was withdrawn" in str(error) else "refused"] += 1
                    if sum(outcomes.values()) == 1_000:
                        break
            finally:
                collector.kill()
        store = Store(tmp_path)
        for version in store.versions("alerts"):
            store.verify(store.manifest("alerts", version))
        assert len(RuleSet.load("alerts", tmp_path)) == 1 + outcomes["published"]
