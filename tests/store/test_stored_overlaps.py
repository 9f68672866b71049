"""The overlapping pairs of advertisements and subscriptions are part of a version, and each is decided once."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sparkrules import RuleSet
from sparkrules.errors import CorruptStore
from sparkrules.index import Segment
from sparkrules.rules.overlapping import decided
from sparkrules.rules.publication import Publication
from sparkrules.store import Manifest, Pairs, Store, publish_draft
from sparkrules.store.overlaps_file import OVERLAPS, write_overlaps
from tests.store.published import published
from tests.store.resealed import reseal

Triple = tuple[str, str, bool]


def rules(*sizes: int, **advertisements: str) -> RuleSet:
    """Rules `r0`, `r1` and so on: `t = 0`, `t = 1`."""
    made = RuleSet("alerts")
    for number in range(*sizes):
        made.subscribe(f"r{number}", f"t = {number}")
    for id, where in advertisements.items():
        made.advertise(id, where)
    return made


def stored(store: Path, version: int | None = None) -> set[Triple]:
    """What the files of a version say, as a reader has to take it."""
    opened = Store(store)
    version_ = opened.open("alerts", version)
    ids = sorted(own.id for own in opened.advertisements(version_.manifest))
    found = set()
    for part, entry in zip(version_.parts, version_.manifest.segments, strict=True):
        if entry.overlaps is None:
            assert not ids or not part.live
            continue
        pairs = opened.overlaps(version_.manifest, entry, len(ids))
        for own, row, certain in zip(*(column.tolist() for column in pairs), strict=True):
            if not part.removed[row]:
                found.add((ids[own], part.body.ids[row].as_py(), certain))
    return found


def known(store: Path) -> list[str | None]:
    return [entry.overlaps for entry in Store(store).manifest("alerts").segments]


def expected(loaded: RuleSet, **options: Any) -> set[Triple]:
    return {tuple(pair) for pair in loaded.advertisements.overlaps(**options)}


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> int:
    """How much work is done unasked: less than usual."""
    few = 50
    # Not the module by its name: pytest imports it once more for its doctests.
    monkeypatch.setitem(publish_draft.__globals__["overlap_files"].__globals__, "UNASKED", few)
    return few


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Sequence[str], Sequence[str]]]:
    """Which subscriptions were compared with which advertisements."""
    questions: list[tuple[Sequence[str], Sequence[str]]] = []

    def noted(subscriptions: Segment, advertisements: Segment, types: pa.Schema | None) -> Pairs:
        questions.append((subscriptions.rules.id.tolist(), advertisements.rules.id.tolist()))
        return decided(subscriptions, advertisements, types)

    # Not the module by its name: pytest imports it once more for its doctests.
    monkeypatch.setitem(Publication.publish.__globals__, "decided", noted)
    return questions


def test_a_few_are_found_out_unasked(tmp_path: Path) -> None:
    made = rules(10, low="t < 3", high="t > 7")
    made.store = tmp_path
    made.publish()
    assert stored(tmp_path) == expected(made)
    assert len(stored(tmp_path)) == 5


def test_without_advertisements_there_are_none(tmp_path: Path) -> None:
    published(rules(10), tmp_path, overlaps=True)
    assert known(tmp_path) == [None]
    assert not (tmp_path / "alerts" / "overlaps").exists()


def test_many_are_found_out_only_if_somebody_asks(tmp_path: Path, little: int) -> None:
    made = rules(little + 1, low="t < 3")
    made.store = tmp_path
    made.publish()
    assert known(tmp_path) == [None]
    made.publish(overlaps=True)
    assert stored(tmp_path) == expected(made)
    assert len(stored(tmp_path)) == 3


@pytest.mark.slow
def test_thousands_of_pairs_are_found_out_unasked(tmp_path: Path) -> None:
    made = RuleSet("alerts", store=tmp_path)
    made.subscribe_all((f"r{n}", " AND ".join(f"a{i} > {n + i}" for i in range(10))) for n in range(600))
    for number in range(10):
        made.advertise(f"source {number}", f"a{number} < {60 * number}")
    made.publish()
    assert stored(tmp_path) == expected(made)
    assert 0 < len(stored(tmp_path)) < 6_000


def test_the_predicates_of_rules_are_counted(tmp_path: Path, little: int) -> None:
    made = RuleSet("alerts", store=tmp_path)
    made.subscribe_all((f"r{n}", f"a > {n} AND b > {n} AND c > {n}") for n in range(little // 3 + 1))
    made.advertise("low", "t < 3")
    made.publish()
    assert known(tmp_path) == [None]
    made.unsubscribe("r0")
    made.publish(merge="all")
    assert stored(tmp_path) == expected(made)


def test_what_is_decided_is_not_decided_again(
    tmp_path: Path, little: int, asked: list[tuple[Sequence[str], Sequence[str]]]
) -> None:
    made = rules(little + 1, low="t < 3")
    made.store = tmp_path
    made.publish(overlaps=True)
    (before,) = known(tmp_path)
    asked.clear()
    made.subscribe("new", "t = 2 OR t = 7")
    made.publish()
    assert asked == [(["new"], ["low"])]
    assert before in known(tmp_path)
    made.unsubscribe("r1")
    made.publish()
    made.publish(overlaps=True)
    made.publish(merge="all")
    assert len(known(tmp_path)) == 1
    made.advertise("high", f"t > {little - 3}")
    made.publish(overlaps=True)
    assert [own for _, own in asked] == [["low"], ["high"]]
    made.unadvertise("low")
    made.publish()
    assert len(asked) == 2
    made.unadvertise("high")
    made.advertise("high", "t < 1")
    made.publish(overlaps=True)
    assert [own for _, own in asked] == [["low"], ["high"], ["high"]]
    assert stored(tmp_path) == expected(made) == {("high", "r0", True)}


def test_a_rule_that_was_replaced_is_decided_again(tmp_path: Path) -> None:
    made = rules(10, low="t < 3")
    made.store = tmp_path
    made.publish()
    made.unsubscribe("r0")
    made.subscribe("r0", "t = 100")
    made.publish(merge="none")
    assert stored(tmp_path) == expected(made) == {("low", f"r{number}", True) for number in (1, 2)}
    made.publish(merge="all")
    assert stored(tmp_path) == expected(made)


def test_where_too_many_are_open_they_are_missing_until_somebody_asks(tmp_path: Path, little: int) -> None:
    made = rules(10, low="t < 3")
    made.store = tmp_path
    made.publish()
    for number in range(10, little + 20):
        made.subscribe(f"r{number}", f"t = {number}")
    made.publish(merge="none")
    assert [name is None for name in known(tmp_path)] == [True, False]
    made.publish(overlaps=True)
    assert stored(tmp_path) == expected(made)


def test_versions_keep_their_own(tmp_path: Path) -> None:
    made = rules(10, low="t < 3")
    made.store = tmp_path
    made.publish()
    made.unsubscribe("r0")
    made.unadvertise("low")
    made.advertise("high", "t > 7")
    made.publish()
    made.rollback(1)
    assert stored(tmp_path, 2) == {("high", "r8", True), ("high", "r9", True)}
    assert stored(tmp_path, 3) == stored(tmp_path, 1) == expected(made)
    assert len(made.collect_garbage(keep=1, older_than=timedelta(0)).files) == 3
    assert stored(tmp_path) == expected(made)


class TestTypes:
    SCHEMA = pa.schema([("t", pa.int32())])

    def between(self) -> RuleSet:
        made = RuleSet("alerts")
        made.subscribe("above", "t > 5")
        made.advertise("below", "t < 6")
        return made

    def test_a_schema_decides_and_is_kept(self, tmp_path: Path) -> None:
        made = self.between()
        made.store = tmp_path
        made.publish()
        assert stored(tmp_path) == expected(made) == {("below", "above", False)}
        made.publish(overlaps=self.SCHEMA.with_metadata({"a": "b"}))
        assert stored(tmp_path) == expected(made, schema=self.SCHEMA) == set()
        made.subscribe("also above", "t > 5.5")
        made.subscribe("equal", "t = 5")
        made.publish(merge="none")
        assert stored(tmp_path) == expected(made, schema=self.SCHEMA) == {("below", "equal", True)}
        made.publish(merge="all")
        manifest = Store(tmp_path).manifest("alerts")
        assert Store(tmp_path).types_of_overlaps(manifest, manifest.segments[0]) == self.SCHEMA

    def test_another_schema_decides_anew(self, tmp_path: Path) -> None:
        made = self.between()
        made.store = tmp_path
        made.publish(overlaps=self.SCHEMA)
        made.publish(overlaps=pa.schema([("t", pa.float64())]))
        assert stored(tmp_path) == {("below", "above", True)}


def test_two_publishers(tmp_path: Path) -> None:
    published(rules(10, low="t < 3"), tmp_path)
    ann, bob = RuleSet.load("alerts", tmp_path), RuleSet.load("alerts", tmp_path)
    ann.advertise("high", "t > 7")
    bob.subscribe("new", "t = 2 OR t = 9")
    bob.unsubscribe("r1")
    ann.publish()
    bob.publish()
    assert stored(tmp_path) == expected(RuleSet.load("alerts", tmp_path))
    assert ("high", "new", True) in stored(tmp_path)


@pytest.mark.parametrize("seed", range(5))
def test_whatever_is_changed_the_files_say_what_python_says(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)

    def condition() -> str:
        tests = [
            f"{chance.choice('ab')} {chance.choice(['<', '>', '=', '<>'])} {chance.randrange(6)}" for _ in range(3)
        ]
        return f"{tests[0]} AND ({tests[1]} OR {tests[2]})"

    made, total = RuleSet("alerts", store=tmp_path), 0
    for step in range(25):
        for number in range(chance.randrange(1, 6)):
            made.subscribe(f"s{step}-{number}", condition())
        for id in chance.sample(sorted(made.subscriptions), min(len(made), chance.randrange(3))):
            made.unsubscribe(id)
        if step == 0 or chance.random() < 0.3:
            made.advertise(f"a{step}", condition())
        if len(made.advertisements) > 1 and chance.random() < 0.15:
            made.unadvertise(chance.choice(list(made.advertisements)))
        if chance.random() < 0.2 and step > 3:
            made.publish()
            made.rollback(chance.choice([manifest.version for manifest in made.versions()]))
        else:
            made.publish(merge=chance.choice(["auto", "none", "all"]))
        assert stored(tmp_path) == expected(made)
        total += len(stored(tmp_path))
    assert total > 100


class TestDamage:
    def damage(self, store: Path, pairs: Pairs) -> RuleSet:
        made = rules(3, low="t < 3")
        made.store = store
        made.publish()
        (name,) = known(store)
        write_overlaps(store / "alerts" / "overlaps" / f"{name}.arrow", pairs, None)
        reseal(store / "alerts")
        return RuleSet.load("alerts", store)

    @pytest.mark.parametrize(("own", "row"), [(1, 0), (0, 3), (-1, 0), (0, -1)])
    def test_a_row_that_is_not_there(self, tmp_path: Path, own: int, row: int) -> None:
        made = self.damage(tmp_path, Pairs(np.array([own]), np.array([row]), np.array([True])))
        made.advertise("high", "t > 7")
        with pytest.raises(CorruptStore, match="it names a row that is not there"):
            made.publish()

    @pytest.mark.parametrize("types", ["x", "xxxx", ""])
    def test_types_that_are_none(self, tmp_path: Path, types: str) -> None:
        made = rules(3, low="t < 3")
        made.store = tmp_path
        made.publish()
        (name,) = known(tmp_path)
        file = tmp_path / "alerts" / "overlaps" / f"{name}.arrow"
        with pa.ipc.new_file(str(file), OVERLAPS.with_metadata({"types": types})) as writer:
            writer.write_table(OVERLAPS.empty_table())
        for _ in range(2):
            with pytest.raises(CorruptStore, match="publish the rule set again"):
                RuleSet.load("alerts", tmp_path).publish()
            reseal(tmp_path / "alerts")

    def test_a_name_that_leaves_the_store(self, tmp_path: Path) -> None:
        published(rules(3, low="t < 3"), tmp_path)
        file = tmp_path / "alerts" / "versions" / "1.json"
        (name,) = known(tmp_path)
        file.write_text(file.read_text().replace(str(name), "../../x"))
        reseal(tmp_path / "alerts")
        assert Manifest.from_json(file.read_text(), "1.json").segments[0].overlaps == "../../x"
        with pytest.raises(Exception, match="is not a name"):
            RuleSet.load("alerts", tmp_path)
