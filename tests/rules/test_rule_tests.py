"""Tests beside rules are read from every source, and what is wrong with them is reported with id and place."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pandas
import pytest
import yaml

from sparkrules import RuleSet
from sparkrules.rules import InvalidTest, RuleTest, read_tests

TESTS = [
    {"row": {"temperature": 35}, "matches": True},
    {"row": {"temperature": None}, "matches": False, "name": "void"},
]
RULES: list[dict[str, Any]] = [
    {"id": "hot", "where": "temperature > 30", "tests": TESTS},
    {"id": "cold", "where": "temperature < 0"},
    {"id": 7, "where": "temperature = 7", "on_change": ["sensor"], "tests": TESTS[:1]},
]
READ = [
    ("hot", 1, ({"temperature": 35},), True, ""),
    ("hot", 2, ({"temperature": None},), False, "void"),
    ("7", 1, ({"temperature": 35},), True, ""),
]


def read(source: object) -> list[tuple[Any, ...]]:
    tests = list(read_tests(source))
    assert all(isinstance(test, RuleTest) for test in tests), tests
    return [(own.id, own.number, own.rows, own.expected, own.name) for own in tests if isinstance(own, RuleTest)]


def test_from_every_source(tmp_path: Path) -> None:
    assert read(RULES) == READ
    assert read({str(own["id"]): {name: own[name] for name in own if name != "id"} for own in RULES}) == READ
    (tmp_path / "r.yaml").write_text(yaml.safe_dump(RULES))
    (tmp_path / "r.json").write_text(json.dumps(RULES))
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, RULES)))
    with (tmp_path / "r.csv").open("w", newline="") as out:
        written = csv.writer(out)
        written.writerow(["id", "where", "tests", "on_change"])
        for own in RULES:
            tests = json.dumps(own["tests"]) if "tests" in own else ""
            written.writerow([own["id"], own["where"], tests, ",".join(own.get("on_change", []))])
    for name, unit, places in (("r.yaml", "rule", "113"), ("r.jsonl", "line", "113"), ("r.csv", "line", "224")):
        file = tmp_path / name
        assert read(file) == READ
        assert [own.source for own in read_tests(file)] == [f"{file}, {unit} {place}" for place in places]
    assert read(tmp_path / "r.json") == READ
    frame = pandas.DataFrame({"id": ["hot"], "where": ["temperature > 30"], "tests": [json.dumps(TESTS)]})
    assert read(frame) == READ[:2]


def test_one_rule_with_tests_is_one_rule(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text(yaml.safe_dump(RULES[0]))
    assert read(tmp_path / "r.yaml") == READ[:2]


def test_a_rule_set_keeps_no_tests(tmp_path: Path) -> None:
    tested, plain = RuleSet("tested", store=tmp_path), RuleSet("plain", store=tmp_path)
    odd = [{**RULES[0], "tests": "no JSON"}, *RULES[1:]]
    assert tested.subscribe_all(odd) == 3
    assert tested.rejected == []
    assert plain.subscribe_all([{name: own[name] for name in own if name != "tests"} for own in RULES]) == 3
    assert list(tested) == list(plain)
    tested.publish()
    assert not any(b"no JSON" in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        ("hot", "a test has the fields row and matches, but this is 'hot'"),
        ({}, "a test of a rule has the fields row, matches and perhaps name, but this has none"),
        ({"row": {"a": 1}}, "a test of a rule has the fields row, matches and perhaps name, but this has row"),
        ({"row": {"a": 1}, "match": True}, "a test of a rule has the fields row, matches and perhaps name"),
        ({"row": {"a": 1}, "matches": True, "why": 1}, "but this has row, matches, why"),
        ({"row": {"a": 1}, "matches": "yes"}, "matches is true or false, not 'yes'"),
        ({"row": {"a": 1}, "matches": None}, "matches is true or false, not None"),
        ({"row": {"a": 1}, "matches": 1}, "matches is true or false, not 1"),
        ({"row": [1], "matches": True}, "a row is a mapping of column to value, as in {temperature: 35}, not [1]"),
        ({"row": {}, "matches": True}, "a row is a mapping of column to value"),
        ({"row": {True: 1}, "matches": True}, "the name of a column is a string, not True: quote it"),
        ({"rows": [], "time": "at", "detections": 1}, "rows is a list of at least one row, not []"),
        ({"rows": [{"a": 1}], "time": 5, "detections": 1}, "time is the name of a column, not 5"),
        ({"rows": [{"a": 1}], "time": "at", "detections": -1}, "detections is how many there are, 0 or more, not -1"),
        ({"rows": [{"a": 1}], "time": "at", "detections": True}, "detections is how many there are"),
        ({"rows": [{"a": 1}], "matches": True}, "a test of a pattern has the fields rows, time, detections"),
    ],
)
def test_bad_tests_are_reported(test: Any, reason: str) -> None:
    good = {"row": {"a": 1}, "matches": True}
    first, found, last = read_tests([{"id": "hot", "where": "a > 1", "tests": [good, test, good]}])
    assert isinstance(first, RuleTest)
    assert isinstance(last, RuleTest)
    assert isinstance(found, InvalidTest)
    assert (found.id, found.number) == ("hot", 2)
    assert reason in found.reason


@pytest.mark.parametrize(("tests", "reason"), [("[{", "tests is not JSON: "), (5, "tests is a list of tests")])
def test_what_is_no_list_is_reported(tests: Any, reason: str) -> None:
    (found,) = read_tests([{"id": "hot", "where": "a > 1", "tests": tests}])
    assert isinstance(found, InvalidTest)
    assert (found.id, found.number) == ("hot", 0)
    assert reason in found.reason
