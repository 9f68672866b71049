"""Patterns beside rules in every source; bad ones are rejected with reason and place, the others go on."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow as pa
import pytest

from sparkrules import RuleSet, RuleSetError

ROWS: list[dict[str, Any]] = [
    {"id": "breach", "sequence": ["failed login", ["new admin", "root"]], "by": "user", "within": "10 minutes"},
    {"id": "failed login", "where": "action = 'login' AND NOT ok"},
    {"id": "odd", "together": ["port scan", {"where": "action = 'grant'"}], "by": ["host"], "within": "5 minutes"},
    {
        "id": "brute force",
        "count": "failed login",
        "by": ["user", "host"],
        "within": "5 minutes",
        "at_least": 10,
        "distinct": "ip",
        "overlapping": True,
    },
    {
        "id": "silent",
        "absence": {"after": "started", "without": "heartbeat"},
        "by": ["host"],
        "within": "1 hour",
        "metadata": {"owner": "ops"},
    },
    {"id": "hot", "where": "temperature > 30", "on_change": ["sensor"]},
    {"id": "noisy", "where": "loud", "suppress": "1 hour", "by": ["user", "host"], "priority": 3},
]
WORDS = {
    "breach": "failed login, then new admin or root, by user, within 10 minutes",
    "odd": "port scan and (action = 'grant') together, by host, within 5 minutes",
    "brute force": "failed login with 10 different values of ip, by user and host, within 5 minutes, overlapping",
    "silent": "started without heartbeat, by host, within 1 hour",
    "hot": "hot becomes true, by sensor",
    "noisy": "noisy, by user and host, at most once in 1 hour",
}
COLUMNS = list(dict.fromkeys(name for row in ROWS for name in row))


def cell(value: Any) -> str:
    if value is None:
        return ""
    return json.dumps(value) if isinstance(value, (list, dict)) else str(value)


def write_csv(file: Path, rows: list[dict[str, Any]]) -> None:
    with file.open("w", newline="") as out:
        written = csv.writer(out)
        written.writerow(COLUMNS)
        written.writerows([cell(row.get(name)) for name in COLUMNS] for row in rows)


def write_yaml(file: Path, rows: list[dict[str, Any]]) -> None:
    file.write_text("rules:\n" + "".join(f"- {json.dumps(row)}\n" for row in rows))  # JSON is YAML


def write_json_lines(file: Path, rows: list[dict[str, Any]]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


FILES: dict[str, Any] = {"r.csv": write_csv, "r.yaml": write_yaml, "r.jsonl": write_json_lines}


def text_table() -> pa.Table:
    return pa.table({name: pa.array([cell(row.get(name)) or None for row in ROWS]) for name in COLUMNS})


def check(rules: RuleSet, accepted: int) -> None:
    assert rules.rejected == []
    assert accepted == len(ROWS)
    assert {id: str(own) for id, own in rules.patterns.items()} == WORDS
    assert set(rules.subscriptions) == {"failed login", "hot", "noisy"}
    assert rules.patterns["silent"].metadata == {"owner": "ops"}
    assert rules.subscriptions["noisy"].priority == 3


@pytest.mark.parametrize("name", FILES)
def test_files(tmp_path: Path, name: str) -> None:
    FILES[name](tmp_path / name, ROWS)
    rules = RuleSet("alerts")
    check(rules, rules.subscribe_all(tmp_path / name))


def test_the_yaml_of_the_definition(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text(
        """
- {id: breach, sequence: [failed login, [new admin, root]], by: user, within: 10 minutes}
- {id: failed login, where: "action = 'login' AND NOT ok"}
- {id: odd, together: [port scan, {where: "action = 'grant'"}], by: [host], within: 5 minutes}
- {id: brute force, count: failed login, by: "user, host", within: 5 minutes, at_least: 10, distinct: ip,
   overlapping: true}
- {id: silent, absence: {after: started, without: heartbeat}, by: [host], within: 1 hour, metadata: {owner: ops}}
- {id: hot, where: "temperature > 30", on_change: [sensor]}
- {id: noisy, where: loud, suppress: 1 hour, by: [user, host], priority: 3}
"""
    )
    rules = RuleSet("alerts")
    check(rules, rules.subscribe_all(tmp_path / "r.yaml"))


def test_csv_with_columns_in_plain_cells(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(
        "id,where,count,by,within,at_least,on_change,overlapping\n"
        'many,,failed login,"user, host",5 minutes,3,,TRUE\n'
        "hot,t > 30,,,,,sensor,\n"
        "plain,t > 3,,,,,,\n"
    )
    rules = RuleSet("alerts")
    assert rules.subscribe_all(tmp_path / "r.csv") == 3
    assert [str(own) for own in rules.patterns.values()] == [
        "failed login 3 times, by user and host, within 5 minutes, overlapping",
        "hot becomes true, by sensor",
    ]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(lambda: ROWS, id="list"),
        pytest.param(lambda: iter(ROWS), id="iterator"),
        pytest.param(lambda: {row["id"]: {n: v for n, v in row.items() if n != "id"} for row in ROWS}, id="mapping"),
        pytest.param(text_table, id="arrow"),
        pytest.param(lambda: text_table().to_pandas(), id="pandas"),
        pytest.param(lambda: pandas.DataFrame(ROWS).drop(columns="sequence").assign(
            sequence=[json.dumps(row.get("sequence")) if "sequence" in row else None for row in ROWS]
        ).assign(together=[json.dumps(row["together"]) if "together" in row else None for row in ROWS],
                 by=[", ".join(row["by"]) if isinstance(row.get("by"), list) else row.get("by") for row in ROWS]),
            id="pandas with lists"),
        pytest.param(lambda: polars.from_arrow(text_table()), id="polars"),
    ],
)  # fmt: skip
def test_objects_and_tables(source: Any) -> None:
    rules = RuleSet("alerts")
    check(rules, rules.subscribe_all(source()))


def test_a_table_of_patterns_alone() -> None:
    rules = RuleSet("alerts")
    table = pa.table(
        {
            "id": ["a", "b"],
            "sequence": [["x", "y"], None],
            "absence": [None, {"after": "x", "without": "y"}],
            "within": ["1 h", "2 h"],
            "by": [["k"], []],
        }
    )
    assert rules.subscribe_all(table) == 2
    assert [str(own) for own in rules.patterns.values()] == [
        "x, then y, by k, within 1 hour",
        "x without y, within 2 hours",
    ]
    with pytest.raises(RuleSetError, match="has no column where"):
        rules.subscribe_all(pa.table({"id": ["a"], "within": ["1 h"]}))


def test_one_pattern_is_a_document(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text("{id: many, count: hot, within: 1 h, at_least: 2}")
    rules = RuleSet("alerts")
    assert rules.subscribe_all(tmp_path / "r.yaml") == 1
    with pytest.raises(RuleSetError, match="this is one rule"):
        rules.subscribe_all({"id": "many", "count": "hot", "within": "1 h", "at_least": 2})


BAD: list[tuple[dict[str, Any], str]] = [
    ({"id": "x", "sequence": ["a"], "within": "1 h"}, "a sequence has 2 to 32 steps, not 1"),
    ({"id": "x", "sequence": "a, b", "within": "1 h"}, "sequence is a list of steps, not 'a, b'"),
    ({"id": "x", "sequence": ["a", "b"]}, "a sequence needs within"),
    ({"id": "x", "sequence": ["a", "b"], "within": "1 month"}, "within '1 month': a month has no fixed length"),
    ({"id": "x", "sequence": ["a", "b"], "together": ["a", "b"], "within": "1 h"}, "not sequence and together"),
    ({"id": "x", "sequence": ["a", "b"], "within": "1 h", "where": "a > 1"}, "has both where and sequence"),
    ({"id": "x", "count": "a", "within": "1 h", "at_least": "many"}, "at_least is an integer"),
    ({"id": "x", "count": "a", "within": "1 h", "at_least": 2, "priority": 3}, "has a priority: its rules have that"),
    ({"id": "x", "count": "a", "within": "1 h", "at_least": 2, "overlapping": "yes"}, "overlapping is true or false"),
    ({"id": "x", "absence": ["a", "b"], "within": "1 h"}, "absence has the fields after and without"),
    ({"id": "x", "absence": {"after": "a"}, "within": "1 h"}, "absence has the fields after and without"),
    ({"id": "x", "within": "1 h"}, "has one of sequence, together, count, absence, not none"),
    ({"id": "x", "where": "a > 1", "by": "k"}, "by is for a rule with suppress"),
    ({"id": "x", "where": "a >", "on_change": "k"}, "expected a value"),
    ({"id": "x", "where": "a > 1", "on_change": ["k", "k"]}, "by names the column 'k' twice"),
    ({"id": "x", "where": "a > 1", "on_change": "k", "priority": "high"}, "a priority is an integer"),
    ({"id": None, "sequence": ["a", "b"], "within": "1 h"}, "an id is a non-empty string"),
]


@pytest.mark.parametrize(("bad", "reason"), BAD)
@pytest.mark.parametrize("name", [None, *FILES])
def test_bad_ones_are_rejected_and_the_others_go_on(
    tmp_path: Path, name: str | None, bad: dict[str, Any], reason: str
) -> None:
    rows = [*ROWS[:2], bad, *ROWS[2:]]
    rules = RuleSet("alerts")
    if name is None:
        assert rules.subscribe_all(rows) == len(ROWS)
    else:
        FILES[name](tmp_path / name, rows)
        assert rules.subscribe_all(tmp_path / name) == len(ROWS)
    (rejected,) = rules.rejected
    assert reason in rejected.reason
    assert rejected.id == (bad["id"] or "")
    place = {"r.csv": "line 4", "r.yaml": "rule 3", "r.jsonl": "line 3"}
    assert rejected.source == (None if name is None else f"{tmp_path / name}, {place[name]}")
    rules.rejected = []
    check(rules, len(ROWS))


def test_the_place_of_an_error_is_in_the_text_that_is_shown() -> None:
    rules = RuleSet("alerts")
    rules.subscribe_all([{"id": "x", "sequence": ["a", {"where": "b > 1 AND"}], "within": "1 h"}])
    (rejected,) = rules.rejected
    assert (rejected.where, rejected.line, rejected.column) == ("b > 1 AND", 1, 10)
    rules.subscribe_all([{"id": "y", "sequence": ["a"], "within": "1 h"}])
    assert rules.rejected[1].where == '{"sequence": ["a"], "within": "1 h"}'


def test_a_cell_that_is_not_json(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text('id,sequence,within\nx,"[a, b]",1 h\ny,"[""a"", ""b""]",1 h\n')
    rules = RuleSet("alerts")
    assert rules.subscribe_all(tmp_path / "r.csv") == 1
    assert rules.rejected[0].reason.startswith("sequence is not JSON")
    assert (rules.rejected[0].id, rules.rejected[0].source) == ("x", f"{tmp_path / 'r.csv'}, line 2")


class TestIds:
    def test_a_pattern_and_a_rule_may_have_the_same(self) -> None:
        rules = RuleSet("alerts")
        rows = [{"id": "x", "where": "a > 1"}, {"id": "x", "count": "x", "within": "1 h", "at_least": 2}]
        assert rules.subscribe_all(rows) == 2
        assert rules.subscribe_all(list(reversed(rows))) == 0
        assert [own.reason for own in rules.rejected] == [
            "rule set 'alerts' already has a pattern 'x'; remove_pattern('x') first",
            "rule set 'alerts' already has a rule 'x'; unsubscribe it first",
        ]

    def test_the_first_of_two_is_kept(self) -> None:
        rules = RuleSet("alerts")
        rows = [{"id": "x", "count": "x", "within": "1 h", "at_least": n} for n in (0, 2, 3)]
        assert rules.subscribe_all(rows) == 1
        assert rules.patterns["x"].at_least == 2
        assert len(rules.rejected) == 2

    def test_a_rule_is_not_added_without_its_pattern(self) -> None:
        rules = RuleSet("alerts")
        rules.count("x", "a", within="1 h", at_least=2)
        rows = [{"id": "y", "where": "b > 1"}, {"id": "x", "where": "a > 1", "on_change": "k"}]
        assert rules.subscribe_all(rows) == 1
        assert list(rules.subscriptions) == ["y"]
        assert rules.rejected[0].where == "a > 1"
        assert rules.patterns["x"].kind == "count"

    def test_a_pattern_is_not_added_without_its_rule(self) -> None:
        rules = RuleSet("alerts")
        rules.subscribe("x", "a > 1")
        rows = [{"id": "x", "where": "a > 2", "on_change": "k"}, {"id": "y", "where": "a > 2", "on_change": "k"}] * 2
        assert rules.subscribe_all(rows) == 1
        assert list(rules.patterns) == ["y"]
        assert [own.id for own in rules.rejected] == ["x", "x", "y"]


def test_many_rules_with_options_are_compiled_together() -> None:
    rules = RuleSet("alerts")
    rows = [{"id": f"r{n}", "where": f"a > {n}", "on_change": "k"} for n in range(1_500)]
    assert rules.subscribe_all(rows) == 1_500
    assert len(rules.patterns) == len(rules) == 1_500
