"""The status and tags of rules: read from every source, checked, stored as documented, and carried over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas
import pyarrow as pa
import pytest

from sparkrules import RuleSet
from sparkrules.errors import CorruptStore, NewerFormat, RuleSetError
from sparkrules.index.tables import SCHEMAS
from sparkrules.store import Store
from sparkrules.store.arrow_file import write_arrow
from tests.store.published import published
from tests.store.resealed import reseal

MARKED: list[dict[str, Any]] = [
    {"id": "hot", "where": "t > 30", "status": "shadow", "tags": ["windows", "attack.t1059", "windows"]},
    {"id": "cold", "where": "t < 0", "status": "Draft"},
    {"id": "mild", "where": "t BETWEEN 0 AND 30", "tags": ["linux"]},
    {"id": "odd", "where": "t IS NULL", "status": None, "tags": None},
]
KEPT = {
    "hot": ("shadow", ("attack.t1059", "windows")),
    "cold": ("draft", ()),
    "mild": ("live", ("linux",)),
    "odd": ("live", ()),
}


def marks(rules: RuleSet) -> dict[str, tuple[str, tuple[str, ...]]]:
    return {id: (rule.status, rule.tags) for id, rule in rules.subscriptions.items()}


def of(source: Any) -> RuleSet:
    rules = RuleSet("alerts")
    rules.subscribe_all(source)
    assert rules.rejected == []
    return rules


def file_format(store: Path, version: int | None = None) -> int:
    return Store(store).manifest("alerts", version).format


def stored_columns(store: Path, version: int | None = None) -> set[tuple[str, ...]]:
    """The columns of the files of a version's rules."""
    found = set()
    for entry in Store(store).manifest("alerts", version).segments:
        file = store / "alerts" / "segments" / entry.name / "subscriptions.arrow"
        with pa.ipc.open_file(pa.memory_map(str(file))) as opened:
            found.add(tuple(opened.schema.names))
    return found


def test_every_source_has_them(tmp_path: Path) -> None:
    lines, document, table = tmp_path / "rules.jsonl", tmp_path / "rules.yaml", tmp_path / "rules.csv"
    lines.write_text("\n".join(map(json.dumps, MARKED)), encoding="utf-8")
    document.write_text(json.dumps(MARKED), encoding="utf-8")
    table.write_text(
        'id,where,status,tags\nhot,t > 30,shadow,"windows, attack.t1059"\ncold,t < 0,draft,\n'
        'mild,t BETWEEN 0 AND 30,,"[""linux""]"\nodd,t IS NULL,live,\n',
        encoding="utf-8",
    )
    tuples = [(rule["id"], rule["where"], 0, None, None, None, rule.get("status"), rule.get("tags")) for rule in MARKED]
    by_id = {rule["id"]: {name: value for name, value in rule.items() if name != "id"} for rule in MARKED}
    one_by_one = RuleSet("alerts")
    for rule in MARKED:
        one_by_one.subscribe(**rule)
    assert marks(one_by_one) == KEPT
    for source in (
        MARKED,
        tuples,
        by_id,
        lines,
        document,
        table,
        pandas.DataFrame(MARKED),
        pa.Table.from_pylist(MARKED),
    ):
        assert marks(of(source)) == KEPT


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("status", "stable", "a status is live, shadow or draft, not 'stable'"),
        ("status", 1, "a status is live, shadow or draft, not 1"),
        ("status", "", "a status is live, shadow or draft, not ''"),
        ("tags", [""], "a tag is a non-empty string, not ''"),
        ("tags", ["  "], "a tag is a non-empty string"),
        ("tags", [7], "a tag is a non-empty string, not 7"),
        ("tags", ["a", None], "a tag is a non-empty string, not None"),
        ("tags", "a,,b", "a tag is a non-empty string"),
        ("tags", "[1", "tags are not JSON"),
        ("tags", {"a": 1}, "tags are a list of strings"),
        ("tags", 7, "tags are a list of strings, not 7"),
        ("tags", b"ab", "tags are a list of strings"),
        ("tags", ["a,b"], "contains a comma"),
        ("tags", ["a\0b"], "cannot be printed"),
        ("tags", ["\ud800"], "cannot be printed"),
        ("tags", ["x" * 201], "at most 200 characters"),
        ("tags", [f"t{number}" for number in range(101)], "at most 100 tags"),
    ],
)
def test_what_is_invalid_is_rejected_alone(field: str, value: Any, reason: str) -> None:
    rules = RuleSet("alerts")
    with pytest.raises(RuleSetError, match=reason):
        rules.subscribe("bad", "t > 1", **{field: value})
    assert rules.subscribe_all([{"id": "bad", "where": "t > 1", field: value}, {"id": "good", "where": "t > 2"}]) == 1
    assert [rejected.id for rejected in rules.rejected] == ["bad"]
    assert reason in rules.rejected[0].reason


def test_a_pattern_has_neither() -> None:
    rules = RuleSet("alerts")
    steps = {"id": "p", "sequence": ["a", "b"], "by": ["x"], "within": "1 hour"}
    assert rules.subscribe_all([{**steps, "status": "draft"}, {**steps, "tags": ["a"]}]) == 0
    assert all("a pattern has not" in rejected.reason for rejected in rules.rejected)


def test_only_files_that_need_it_have_the_columns(tmp_path: Path) -> None:
    base = tuple(name for name in SCHEMAS["subscriptions"].names if name not in ("status", "tags", "exemptions"))
    published(of({"a": "t > 1"}), tmp_path)
    assert (file_format(tmp_path), stored_columns(tmp_path)) == (3, {base})
    rules = RuleSet.load("alerts", tmp_path)
    rules.subscribe("b", "t > 2", tags=["x"])
    published(rules, tmp_path)
    assert (file_format(tmp_path), stored_columns(tmp_path)) == (5, {(*base, "tags")})
    rules.subscribe("c", "t > 3", status="shadow")
    published(rules, tmp_path, merge="none")
    assert (file_format(tmp_path), stored_columns(tmp_path)) == (5, {(*base, "tags"), (*base, "status")})
    rules.unsubscribe("b")
    published(rules, tmp_path, merge="none")  # the file is still there, with a removed row
    assert file_format(tmp_path) == 5
    rules.unsubscribe("c")
    published(rules, tmp_path, merge="all")
    assert (file_format(tmp_path), stored_columns(tmp_path)) == (3, {base})
    Store(tmp_path).rollback("alerts", 3)
    assert file_format(tmp_path) == 5
    assert marks(RuleSet.load("alerts", tmp_path)) == {"a": ("live", ()), "b": ("live", ("x",)), "c": ("shadow", ())}
    Store(tmp_path).rollback("alerts", 1)
    assert file_format(tmp_path) == 3


def test_a_version_with_patterns_as_well(tmp_path: Path) -> None:
    rules = of(MARKED)
    rules.sequence("p", ["hot", "cold"], within="1 hour")
    published(rules, tmp_path)
    assert file_format(tmp_path) == 5
    rules.remove_pattern("p")
    published(rules, tmp_path)
    assert file_format(tmp_path) == 5
    assert marks(RuleSet.load("alerts", tmp_path)) == KEPT


@pytest.mark.parametrize("merge", ["none", "all"])
def test_they_are_stored_merged_and_compared(tmp_path: Path, merge: Any) -> None:
    rules = of(MARKED)
    published(rules, tmp_path)
    again = RuleSet.load("alerts", tmp_path)
    assert again.subscriptions["hot"].tags == ("attack.t1059", "windows")  # read alone
    assert marks(again) == KEPT
    again.unsubscribe_all(["hot", "mild"])
    again.subscribe_all([{**MARKED[0], "status": "live"}, {**MARKED[2], "tags": ["linux", "macos"]}])
    again.subscribe("new", "t > 3", tags=["windows"])
    published(again, tmp_path, merge=merge)
    changed = Store(tmp_path).diff("alerts", 1, 2)
    assert (changed.added, changed.removed, changed.changed) == (("new",), (), ("hot", "mild"))
    expected = {
        **KEPT,
        "hot": ("live", KEPT["hot"][1]),
        "mild": ("live", ("linux", "macos")),
        "new": ("live", ("windows",)),
    }
    assert marks(RuleSet.load("alerts", tmp_path)) == expected
    # The same rules in other segments are no change.
    moved = RuleSet.load("alerts", tmp_path)
    published(moved, tmp_path, merge="all")
    assert not Store(tmp_path).diff("alerts", 2, 3)


def test_changes_of_others_are_kept(tmp_path: Path) -> None:
    published(of(MARKED), tmp_path)
    mine, theirs = RuleSet.load("alerts", tmp_path), RuleSet.load("alerts", tmp_path)
    theirs.subscribe("theirs", "t > 3", status="draft")
    published(theirs, tmp_path)
    mine.subscribe("mine", "t > 4", tags=["x"])
    published(mine, tmp_path)
    expected = {**KEPT, "theirs": ("draft", ()), "mine": ("live", ("x",))}
    assert marks(RuleSet.load("alerts", tmp_path)) == expected


def test_an_unknown_status_in_a_file_is_damage(tmp_path: Path) -> None:
    published(of(MARKED), tmp_path)
    entry = Store(tmp_path).manifest("alerts").segments[0]
    file = tmp_path / "alerts" / "segments" / entry.name / "subscriptions.arrow"
    with pa.ipc.open_file(pa.memory_map(str(file))) as opened:
        table = opened.read_all()
    for name, damage in (("status", pa.array(["live"] * 4)), ("tags", pa.array([[None]] * 4, pa.list_(pa.utf8())))):
        file.unlink()
        write_arrow(file, table.set_column(table.schema.get_field_index(name), name, damage), table.schema)
        reseal(tmp_path / "alerts", lambda fields: fields)
        with pytest.raises(CorruptStore, match=r"status|NULL"):
            _ = RuleSet.load("alerts", tmp_path)._segment


def test_an_older_reader_refuses_it_by_its_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    published(of(MARKED), tmp_path)
    monkeypatch.setattr("sparkrules.store.manifest.EXTENDED", 4)
    with pytest.raises(NewerFormat, match="has format 5, and this sparkrules reads the formats 2 to 4"):
        Store(tmp_path).manifest("alerts")


def test_a_status_is_changed_by_ids_or_tags(tmp_path: Path) -> None:
    rules = published(of(MARKED), tmp_path)
    assert rules.set_status("live", ["hot", "hot", "odd"]) == 1
    assert rules.set_status("shadow", tags=["linux", "windows"]) == 2
    assert rules.set_status("Draft", iter(["hot"])) == 1
    expected = {**KEPT, "hot": ("draft", KEPT["hot"][1]), "mild": ("shadow", ("linux",))}
    assert marks(rules) == expected
    published(rules, tmp_path)
    assert marks(RuleSet.load("alerts", tmp_path)) == expected
    for wrong, message in (
        ({"status": "on", "ids": ["hot"]}, "a status is live, shadow or draft"),
        ({"status": "live"}, "by their ids, or by tags"),
        ({"status": "live", "ids": ["hot"], "tags": ["linux"]}, "by their ids, or by tags"),
        ({"status": "live", "ids": "hot"}, "must be a list of ids"),
        ({"status": "live", "ids": ["nobody"]}, "has no rule 'nobody'"),
        ({"status": "live", "tags": ["nothing"]}, "has the tag 'nothing'; there are: attack.t1059, linux, windows"),
    ):
        with pytest.raises(RuleSetError, match=message):
            rules.set_status(**wrong)
    assert marks(rules) == expected


def test_the_owner_of_a_rule_is_asked(tmp_path: Path) -> None:
    rules = RuleSet("alerts")
    ticket = rules.subscribe("hot", "t > 30", ticket=True)
    for own in (rules, RuleSet.load("alerts", published(rules, tmp_path).store)):
        with pytest.raises(RuleSetError):
            own.set_status("draft", ["hot"])
        assert own.set_status("draft", ["hot"], force=True) == 1
        own.unsubscribe("hot", ticket=ticket)
        with pytest.raises(RuleSetError):
            own.set_status("live", ["hot"], force=True)
