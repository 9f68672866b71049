"""Publishing writes only what is new, and loses nothing that others publish at the same time."""

from __future__ import annotations

import multiprocessing
import random
import threading
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from sparkrules import Policy, RuleSet
from sparkrules.errors import CorruptStore, PublishConflict, RuleSetError, StoreError
from sparkrules.store import Store, place
from sparkrules.store.merge_policy import BESIDE, GROWTH, MOST_PARTS, groups
from tests.store.published import published
from tests.store.resealed import reseal

MANY = 3_000  # more than what is rewritten because it is small


def rules(count: int, first: int = 0, name: str = "alerts") -> RuleSet:
    made = RuleSet(name)
    made.subscribe_all((f"r{number}", f"a = {number}") for number in range(first, first + count))
    return made


def texts(loaded: RuleSet) -> dict[str, str]:
    return {rule.id: rule.where for rule in loaded}


def files(store: Path) -> set[str]:
    return {str(file.relative_to(store)) for file in store.rglob("*") if file.is_file()}


class TestWhatIsWritten:
    def test_adding_writes_a_small_segment(self, tmp_path: Path) -> None:
        made = rules(MANY)
        made.store = tmp_path
        made.publish()
        before = Store(tmp_path).manifest("alerts")
        made.subscribe("new", "b = 1")
        assert made.publish() == 2
        manifest = Store(tmp_path).manifest("alerts")
        assert manifest.segments[0] == before.segments[0]
        assert [(entry.subscriptions, entry.live) for entry in manifest.segments] == [(MANY, MANY), (1, 1)]
        assert (manifest.parent, manifest.subscriptions, manifest.action) == (1, MANY + 1, "publish")
        assert manifest.predicates == before.predicates + 1
        assert manifest.nodes == before.nodes + 1

    def test_removing_writes_the_rows(self, tmp_path: Path) -> None:
        published(rules(MANY), tmp_path)
        before = files(tmp_path)
        loaded = RuleSet.load("alerts", tmp_path)
        loaded.unsubscribe("r7")
        assert loaded.unsubscribe_all(["r8", "r9", "r9"]) == 2
        loaded.publish()
        new = files(tmp_path) - before
        assert sorted(file.split("/")[1] for file in new) == ["removed", "versions"]
        (entry,) = Store(tmp_path).manifest("alerts").segments
        assert entry.live == MANY - 3
        assert texts(RuleSet.load("alerts", tmp_path)).keys() == {f"r{n}" for n in range(MANY)} - {"r7", "r8", "r9"}

    def test_publishing_again_without_a_change_writes_a_manifest(self, tmp_path: Path) -> None:
        made = rules(MANY)
        made.store = tmp_path
        made.publish()
        made.unsubscribe("r1")
        made.publish()
        before = files(tmp_path)
        assert made.publish() == 3
        assert files(tmp_path) - before == {"alerts/versions/3.json"}

    def test_a_rule_set_made_from_nothing_replaces_what_was_there(self, tmp_path: Path) -> None:
        published(rules(3), tmp_path)
        published(rules(2, first=10), tmp_path)
        assert texts(RuleSet.load("alerts", tmp_path)) == {"r10": "a = 10", "r11": "a = 11"}
        assert Store(tmp_path).manifest("alerts").parent is None

    def test_one_rule_set_in_two_stores(self, tmp_path: Path) -> None:
        made = rules(MANY)
        for number, store in enumerate(("one", "two", "one", "two", "one")):
            made.store = tmp_path / store
            made.publish()
            assert texts(RuleSet.load("alerts", tmp_path / store)) == texts(made)
            made.subscribe(f"new{number}", "b = 1")
            made.unsubscribe(f"r{number}")

    def test_without_a_store_it_goes_to_where_it_came_from(self, tmp_path: Path) -> None:
        published(rules(2), tmp_path)
        assert RuleSet.load("alerts", tmp_path).publish() == 2

    def test_a_removed_rule_can_come_back_changed(self, tmp_path: Path) -> None:
        made = rules(MANY)
        made.store = tmp_path
        made.publish()
        made.unsubscribe("r7")
        made.subscribe("r7", "b = 7")
        made.publish()
        loaded = RuleSet.load("alerts", tmp_path)
        assert (len(loaded), loaded.subscriptions["r7"].where) == (MANY, "b = 7")
        assert [rule.where for rule in loaded if rule.id == "r7"] == ["b = 7"]

    def test_a_store_that_was_emptied_is_filled_again(self, tmp_path: Path) -> None:
        made = rules(2)
        made.store = tmp_path / "store"
        made.publish()
        (tmp_path / "store").rename(tmp_path / "gone")
        made.subscribe("new", "b = 1")
        assert made.publish() == 1
        assert len(RuleSet.load("alerts", tmp_path / "store")) == 3

    def test_random_changes_are_all_there(self, tmp_path: Path) -> None:
        choose = random.Random(7)
        expected: dict[str, str] = {}
        held = RuleSet("alerts")
        for step in range(60):
            for _ in range(choose.choice([1, 1, 5, 40])):
                id = f"r{choose.randrange(100_000)}"
                if id not in expected:
                    held.subscribe(id, f"a = {step}")
                    expected[id] = f"a = {step}"
            gone = choose.sample(sorted(expected), min(len(expected), choose.choice([0, 1, 3, 30])))
            held.unsubscribe_all(gone)
            for id in gone:
                del expected[id]
            if step % 3 == 0:
                held.store = tmp_path
                held.publish(merge=choose.choice(["auto", "auto", "none", "all"]))
                if choose.random() < 0.5:
                    held = RuleSet.load("alerts", tmp_path)
            assert len(held) == len(expected)
            assert set(held.subscriptions) == expected.keys()
        held.publish()
        assert texts(RuleSet.load("alerts", tmp_path)) == expected


class TestMerging:
    def test_there_are_few_segments_however_often_one_publishes(self, tmp_path: Path) -> None:
        made = rules(500)
        made.store = tmp_path
        made.publish()
        for number in range(60):
            made.subscribe(f"new{number}", f"b = {number}")
            made.publish()
        manifest = Store(tmp_path).manifest("alerts")
        assert len(manifest.segments) <= 4
        sizes = [entry.live for entry in manifest.segments]
        assert sizes == sorted(sizes, reverse=True)
        assert sum(sizes) == manifest.subscriptions == 560

    @pytest.mark.parametrize("seed", range(20))
    def test_each_part_is_much_larger_than_the_next(self, seed: int) -> None:
        choose = random.Random(seed)
        sizes = [int(10 ** (choose.random() * 6)) + 1 for _ in range(choose.randrange(1, 40))]
        found = groups(sizes)
        assert sorted(number for group in found for number in group) == list(range(len(sizes)))
        totals = [sum(sizes[number] for number in group) for group in found]
        assert len(found) <= MOST_PARTS
        assert BESIDE * sum(totals[:-1]) <= totals[-1], "what lies beside the largest is little"
        assert all(
            min(sizes[n] for n in group) >= GROWTH * total for total, group in zip(totals[1:], found[2:], strict=False)
        )

    def test_a_part_that_is_mostly_removed_is_rewritten(self, tmp_path: Path) -> None:
        made = rules(MANY)
        made.store = tmp_path
        made.publish()
        made.unsubscribe_all([f"r{number}" for number in range(MANY // 2)])
        made.publish()
        assert Store(tmp_path).manifest("alerts").segments[0].removed is not None
        made.unsubscribe(f"r{MANY // 2}")
        made.publish()
        (entry,) = Store(tmp_path).manifest("alerts").segments
        assert (entry.removed, entry.subscriptions) == (None, MANY // 2 - 1)

    def test_all_none_and_nonsense(self, tmp_path: Path) -> None:
        made = rules(10)
        made.store = tmp_path
        made.publish()
        made.subscribe("new", "b = 1")
        made.unsubscribe("r0")
        made.publish(merge="none")
        assert [entry.live for entry in Store(tmp_path).manifest("alerts").segments] == [9, 1]
        made.publish(merge="all")
        (entry,) = Store(tmp_path).manifest("alerts").segments
        assert (entry.subscriptions, entry.removed) == (10, None)
        with pytest.raises(StoreError, match="merge is"):
            made.publish(merge="some")  # type: ignore[arg-type]

    def test_what_has_expired_is_swept_when_segments_are_merged(self, tmp_path: Path) -> None:
        made = rules(10)
        made.subscribe("old", "a = 1", valid_until=datetime.now(timezone.utc) - timedelta(seconds=1))
        made.store = tmp_path
        made.publish(merge="none")
        assert "old" in RuleSet.load("alerts", tmp_path)
        made.publish(merge="all")
        assert "old" not in made
        assert len(RuleSet.load("alerts", tmp_path)) == 10

    def test_everything_can_be_removed(self, tmp_path: Path) -> None:
        made = rules(10)
        made.store = tmp_path
        made.publish()
        made.unsubscribe_all(list(made.subscriptions))
        made.publish()
        loaded = RuleSet.load("alerts", tmp_path)
        assert (len(loaded), list(loaded), len(Store(tmp_path).manifest("alerts").segments)) == (0, [], 1)
        loaded.subscribe("new", "a = 1")
        loaded.publish()
        assert list(RuleSet.load("alerts", tmp_path).subscriptions) == ["new"]


class TestTwoPublishers:
    @pytest.fixture
    def two(self, tmp_path: Path) -> tuple[RuleSet, RuleSet]:
        published(rules(MANY), tmp_path)
        return RuleSet.load("alerts", tmp_path), RuleSet.load("alerts", tmp_path)

    def test_changes_of_different_rules_are_both_kept(self, two: tuple[RuleSet, RuleSet], tmp_path: Path) -> None:
        one, other = two
        one.subscribe("one", "b = 1")
        one.unsubscribe("r1")
        other.subscribe("other", "b = 2")
        other.unsubscribe("r2")
        assert (one.publish(), other.publish()) == (2, 3)
        expected = {f"r{n}" for n in range(MANY)} - {"r1", "r2"} | {"one", "other"}
        assert texts(RuleSet.load("alerts", tmp_path)).keys() == expected
        assert set(other.subscriptions) == expected
        assert other.version == 3
        assert Store(tmp_path).manifest("alerts").parent == 2

    @pytest.mark.parametrize(
        ("mine", "theirs"),
        [
            (lambda r: r.subscribe("x", "b = 1"), lambda r: r.subscribe("x", "b = 2")),
            (lambda r: r.unsubscribe("r1"), lambda r: r.unsubscribe("r1")),
            (lambda r: (r.unsubscribe("r1"), r.subscribe("r1", "b = 1")), lambda r: r.unsubscribe("r1")),
            (lambda r: r.unsubscribe("r1"), lambda r: (r.unsubscribe("r1"), r.subscribe("r1", "b = 1"))),
        ],
    )
    @pytest.mark.parametrize("merge", ["auto", "all"])
    def test_changes_of_the_same_rule_are_refused_with_its_id(
        self,
        two: tuple[RuleSet, RuleSet],
        tmp_path: Path,
        mine: Callable[[RuleSet], object],
        theirs: Callable[[RuleSet], object],
        merge: str,
    ) -> None:
        one, other = two
        theirs(other)
        other.publish(merge=merge)  # type: ignore[arg-type]
        mine(one)
        expected = texts(one)
        with pytest.raises(
            PublishConflict, match=r"others have changed .*load the rule set again and repeat"
        ) as caught:
            one.publish()
        assert caught.value.ids in (("x",), ("r1",))
        assert texts(one) == expected
        assert Store(tmp_path).versions("alerts") == [1, 2]

    def test_others_may_merge_everything_meanwhile(self, two: tuple[RuleSet, RuleSet], tmp_path: Path) -> None:
        one, other = two
        one.unsubscribe("r1")
        one.subscribe("new", "b = 1")
        other.unsubscribe("r2")
        other.publish(merge="all")
        one.publish()
        assert len(RuleSet.load("alerts", tmp_path)) == MANY - 1

    def test_a_rollback_by_others_counts_as_a_change(self, two: tuple[RuleSet, RuleSet], tmp_path: Path) -> None:
        one, other = two
        one.unsubscribe("r1")
        one.publish()
        stale = RuleSet.load("alerts", tmp_path)
        stale.subscribe("r1", "b = 1")
        other = RuleSet.load("alerts", tmp_path)
        other.rollback(1)
        with pytest.raises(PublishConflict, match="'r1'"):
            stale.publish()

    def test_what_both_rejected_is_kept(self, two: tuple[RuleSet, RuleSet], tmp_path: Path) -> None:
        one, other = two
        one.subscribe_all({"bad1": "a >"})
        other.subscribe_all({"bad2": "a >"})
        one.publish()
        other.publish()
        assert [rule.id for rule in RuleSet.load("alerts", tmp_path).rejected] == ["bad1", "bad2"]

    def test_a_version_that_was_collected_meanwhile_can_still_be_published_from(
        self, two: tuple[RuleSet, RuleSet], tmp_path: Path
    ) -> None:
        one, other = two
        other.unsubscribe("r2")
        other.publish(merge="all")
        assert other.collect_garbage(keep=1, older_than=timedelta(0)).versions == (1,)
        one.subscribe("new", "a = 1")
        one.unsubscribe("r1")
        assert one.publish() == 3
        assert len(RuleSet.load("alerts", tmp_path)) == MANY - 1

    @pytest.mark.parametrize("links", [True, False])
    def test_many_threads_lose_nothing(self, tmp_path: Path, links: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        def no_links(*_: object) -> None:
            raise PermissionError("this file system has no links")

        if not links:
            monkeypatch.setattr(place.os, "link", no_links)
        published(rules(100), tmp_path)
        failures: list[BaseException] = []

        def work(number: int) -> None:
            try:
                publish_five(tmp_path, number)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        check_nothing_is_lost(tmp_path, 6)

    def test_many_processes_lose_nothing(self, tmp_path: Path) -> None:
        published(rules(100), tmp_path)
        context = multiprocessing.get_context("spawn")
        processes = [context.Process(target=publish_five, args=(tmp_path, number)) for number in range(3)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
            assert process.exitcode == 0
        check_nothing_is_lost(tmp_path, 3)


def publish_five(store: Path, number: int) -> None:
    held = RuleSet.load("alerts", store)
    for step in range(5):
        held.subscribe(f"p{number}-{step}", f"b = {step}")
        held.unsubscribe(f"r{number * 5 + step}")
        held.publish()


def check_nothing_is_lost(store: Path, publishers: int) -> None:
    loaded = RuleSet.load("alerts", store)
    added = {f"p{number}-{step}" for number in range(publishers) for step in range(5)}
    assert set(loaded.subscriptions) == {f"r{n}" for n in range(5 * publishers, 100)} | added
    assert [manifest.version for manifest in loaded.versions()] == list(range(1, 5 * publishers + 2))
    assert all(manifest.parent == manifest.version - 1 for manifest in loaded.versions()[1:])


class TestVersions:
    def test_versions_say_who_made_what(self, tmp_path: Path) -> None:
        made = rules(3)
        assert RuleSet("alerts", store=tmp_path).versions() == []
        made.store = tmp_path
        made.publish()
        made.unsubscribe("r0")
        made.publish()
        assert [(m.version, m.parent, m.action, m.subscriptions) for m in made.versions()] == [
            (1, None, "publish", 3),
            (2, 1, "publish", 2),
        ]
        assert all("@" in manifest.publisher and manifest.created.endswith("+00:00") for manifest in made.versions())

    def test_an_old_version_becomes_the_newest(self, tmp_path: Path) -> None:
        made = rules(3)
        made.subscribe_all({"bad": "a >"})
        made.store = tmp_path
        made.publish()
        made.unsubscribe_all(["r0", "r1"])
        made.publish()
        assert made.rollback(1) == 3
        assert len(made) == len(RuleSet.load("alerts", tmp_path)) == 3
        assert [rule.id for rule in made.rejected] == ["bad"]
        manifest = Store(tmp_path).manifest("alerts")
        assert (manifest.action, manifest.parent) == ("rollback to 1", 2)
        assert manifest.segments == Store(tmp_path).manifest("alerts", 1).segments
        with pytest.raises(StoreError, match="no version 9"):
            made.rollback(9)

    def test_a_rollback_does_not_throw_changes_away(self, tmp_path: Path) -> None:
        made = rules(3)
        made.store = tmp_path
        made.publish()
        made.subscribe("new", "a = 1")
        with pytest.raises(RuleSetError, match="unpublished changes"):
            made.rollback(1)
        assert "new" in made

    def test_a_diff_names_what_was_added_removed_and_changed(self, tmp_path: Path) -> None:
        made = rules(MANY)
        made.store = tmp_path
        made.publish()
        made.unsubscribe_all(["r1", "r2", "r3", "r4", "r5"])
        made.subscribe("new", "b = 1")
        made.subscribe("r2", "a = 22")
        made.subscribe("r3", "a = 3", priority=1)
        made.subscribe("r4", "a = 4", metadata={"owner": "ops"})
        made.subscribe("r5", "a = 5")
        made.publish()
        made.publish(merge="all")
        for after in (2, 3, None):
            found = made.diff(1, after)
            assert (found.added, found.removed, found.changed) == (("new",), ("r1",), ("r2", "r3", "r4"))
        assert str(found) == "1 added: new\n1 removed: r1\n3 changed: r2, r3, r4"
        backwards = Store(tmp_path).diff("alerts", 2, 1)
        assert (backwards.added, backwards.removed) == (("r1",), ("new",))
        assert not made.diff(2, 3)
        with pytest.raises(StoreError, match="no version 9"):
            made.diff(9)

    def test_validity_counts_as_a_change(self, tmp_path: Path) -> None:
        made = rules(3)
        made.store = tmp_path
        made.publish()
        made.unsubscribe("r0")
        made.subscribe("r0", "a = 0", valid_until=datetime(2099, 1, 1, tzinfo=timezone.utc))
        made.publish()
        assert made.diff(1).changed == ("r0",)

    def test_long_diffs_are_cut_short(self, tmp_path: Path) -> None:
        published(rules(1), tmp_path)
        made = rules(100)
        made.store = tmp_path
        made.publish()
        first = str(made.diff(1)).splitlines()[0]
        assert first == "99 added: r1, r10, r11, r12, r13, r14, r15, r16, r17, r18 and 89 more"


class TestDamage:
    def test_counts_that_do_not_fit_are_refused(self, tmp_path: Path) -> None:
        made = rules(MANY)
        made.store = tmp_path
        made.publish()
        made.unsubscribe("r7")
        made.publish()
        manifest = tmp_path / "alerts" / "versions" / "2.json"
        text = manifest.read_text()
        manifest.write_text(text.replace(f'"live": {MANY - 1}', f'"live": {MANY}'))
        with pytest.raises(CorruptStore, match=r"2\.json is damaged \(its checksum"):
            RuleSet.load("alerts", tmp_path)
        reseal(tmp_path / "alerts")
        with pytest.raises(CorruptStore, match="counts 3000 of 3000"):
            RuleSet.load("alerts", tmp_path)
        manifest.write_text(text.replace(f'"subscriptions": {MANY},', '"subscriptions": 5,'))
        reseal(tmp_path / "alerts")
        with pytest.raises(CorruptStore, match="publish the rule set again"):
            RuleSet.load("alerts", tmp_path)

    def test_a_missing_or_damaged_list_of_removed_rules_is_named(self, tmp_path: Path) -> None:
        made = rules(MANY)
        made.store = tmp_path
        made.publish()
        made.unsubscribe("r7")
        made.publish()
        (file,) = (tmp_path / "alerts" / "removed").iterdir()
        for content in (b"", b"x" * 500):
            file.write_bytes(content)
            with pytest.raises(CorruptStore, match=r"removed/\w+\.arrow is damaged"):
                RuleSet.load("alerts", tmp_path)
        file.unlink()
        with pytest.raises(CorruptStore, match=r"removed/\w+\.arrow is missing"):
            RuleSet.load("alerts", tmp_path)

    def test_a_list_outside_of_the_store_is_not_read(self, tmp_path: Path) -> None:
        published(rules(3), tmp_path)
        manifest = tmp_path / "alerts" / "versions" / "1.json"
        manifest.write_text(manifest.read_text().replace('"removed": null', '"removed": "../x"'))
        reseal(tmp_path / "alerts")
        with pytest.raises(StoreError, match="is not a name"):
            RuleSet.load("alerts", tmp_path)
        manifest.write_text(
            manifest.read_text().replace('"../x"', "null").replace('"rejected": null', '"rejected": "../x"')
        )
        reseal(tmp_path / "alerts")
        with pytest.raises(StoreError, match="is not a name"):
            _ = RuleSet.load("alerts", tmp_path).rejected


class TestCosts:
    def test_they_are_kept_and_changed_one_by_one(self, tmp_path: Path) -> None:
        made = RuleSet("alerts", policy=Policy(costs={"f": 500, "g": 2}), store=tmp_path)
        made.subscribe("a", "a = 1")
        made.publish()
        store = Store(tmp_path)

        def change(id: str, costs: dict[str, float]) -> None:
            loaded = RuleSet.load("alerts", tmp_path, policy=Policy(costs=costs))
            loaded.subscribe(id, "a = 2")
            loaded.publish()

        stale = RuleSet.load("alerts", tmp_path, policy=Policy(costs={"h": 7}))
        change("b", {})
        assert store.manifest("alerts").costs == {"f": 500, "g": 2}
        change("c", {"G": 3})
        assert store.manifest("alerts").costs == {"f": 500, "g": 3}
        stale.subscribe("d", "a = 3")
        stale.publish()
        assert store.manifest("alerts").costs == {"f": 500, "g": 3, "h": 7}
        store.rollback("alerts", 1)
        assert store.manifest("alerts").costs == {"f": 500, "g": 2}
        # A rule set that was not loaded replaces everything.
        published(rules(1), tmp_path)
        assert store.manifest("alerts").costs == {}

    def test_copies_have_those_of_the_version_and_of_the_policy(self, tmp_path: Path) -> None:
        made = RuleSet("alerts", policy=Policy(costs={"f": 500, "g": 2}), store=tmp_path)
        made.subscribe("a", "a = 1 AND b = 2")
        made.publish()
        loaded = RuleSet.load("alerts", tmp_path, policy=Policy(costs={"g": 3}))
        for copy in (loaded.restrict(where="a > 0"), loaded.prune(keep=0.5)):
            copy.publish()
            assert Store(tmp_path).manifest(copy.name).costs == {"f": 500, "g": 3}

    def test_a_manifest_without_them_is_read(self, tmp_path: Path) -> None:
        published(rules(1), tmp_path)
        file = tmp_path / "alerts" / "versions" / "1.json"
        reseal(tmp_path / "alerts", lambda fields: {name: own for name, own in fields.items() if name != "costs"})
        assert '"costs"' not in file.read_text()
        assert Store(tmp_path).manifest("alerts").costs == {}
