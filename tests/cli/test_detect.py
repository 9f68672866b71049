"""`sparkrules detect`, and what the other commands say about patterns."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sparkrules import RuleSet, cli

RULES = """
- {id: failed login, where: "action = 'login' AND NOT ok"}
- {id: new admin, where: "action = 'grant'"}
- {id: breach, sequence: [failed login, new admin], by: user, within: 10 minutes}
"""
EVENTS = """at,user,action,ok,number
2026-01-31 12:00:00,ann,login,false,1
2026-01-31 12:01:00,bob,login,false,2
2026-01-31 12:05:00,ann,grant,true,3
2026-01-31 12:20:00,bob,grant,true,4
"""
BREACH = {
    "pattern": "breach",
    "kind": "sequence",
    "key": {"user": "ann"},
    "start": "2026-01-31 12:00:00",
    "end": "2026-01-31 12:05:00",
    "count": 2,
    "rows": [
        {"step": 1, "time": "2026-01-31 12:00:00", "id": "1"},
        {"step": 2, "time": "2026-01-31 12:05:00", "id": "3"},
    ],
}


@pytest.fixture(autouse=True)
def _files(_own_directory: None) -> None:
    Path("alerts.yaml").write_text(RULES)
    Path("events.csv").write_text(EVENTS)


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    capsys.readouterr()
    assert cli.main([*words]) == code
    return capsys.readouterr().out


def found(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> list[dict[str, Any]]:
    out = said(capsys, "detect", "events.csv", "--time", "at", "--json", *words, code=code)
    return [_times(json.loads(line)) for line in out.splitlines()]


def _times(line: dict[str, Any]) -> dict[str, Any]:
    """Times as text with a blank, whatever the format."""
    return json.loads(json.dumps(line).replace("2026-01-31T", "2026-01-31 "))  # type: ignore[no-any-return]


def test_people_read_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, "detect", "events.csv", "--rules", "alerts.yaml", "--time", "at", "--id", "number")
    assert out.splitlines() == [
        "pattern  kind      key       start                end                  count  rows",
        "breach   sequence  user=ann  2026-01-31 12:00:00  2026-01-31 12:05:00      2  1, 3",
        "",
        "1 detection of 1 pattern",
    ]


def test_nothing_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    Path("events.csv").write_text(EVENTS.replace("grant", "leave"))
    assert (
        said(capsys, "detect", "events.csv", "--rules", "alerts.yaml", "--time", "at") == "0 detections of 1 pattern\n"
    )


def test_programs_read_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert found(capsys, "--rules", "alerts.yaml", "--id", "number") == [BREACH]
    (without,) = found(capsys, "--rules", "alerts.yaml")
    assert [row["id"] for row in without["rows"]] == [None, None]


@pytest.mark.parametrize("name", ["out.parquet", "out.csv", "out.jsonl"])
def test_files_are_written(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--rules", "alerts.yaml", "--time", "at", "--id", "number", "--output", name]
    assert said(capsys, "detect", "events.csv", *options) == ""
    if name == "out.parquet":
        (row,) = pq.read_table(name).to_pylist()
        assert (row["pattern"], row["key"]) == ("breach", [("user", "ann")])
    elif name == "out.csv":
        with Path(name).open() as lines:
            (written,) = csv.DictReader(lines)
        assert json.loads(written["key"]) == {"user": "ann"}
    else:
        assert _times(json.loads(Path(name).read_text())) == BREACH


def test_several_files_are_taken_together(capsys: pytest.CaptureFixture[str]) -> None:
    head, *lines = EVENTS.splitlines(keepends=True)
    Path("later.csv").write_text(head + "".join(lines[2:]))
    Path("events.csv").write_text(head + "".join(lines[:2]))
    out = said(capsys, "detect", "later.csv", "events.csv", "--rules", "alerts.yaml", "--time", "at", "--json")
    assert len(out.splitlines()) == 1


def test_a_published_rule_set(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, "publish", "--rules", "alerts.yaml")
    assert out == "published alerts version 1: 2 rules, 1 pattern, 0 rejected\n"
    assert json.loads(said(capsys, "publish", "--rules", "alerts.yaml", "--json"))["patterns"] == 1
    assert found(capsys, "--ruleset", "alerts@1", "--id", "number") == [BREACH]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--rules", "alerts.yaml", "--time", "when"], "time: there is no column 'when'"),
        (["--rules", "alerts.yaml", "--time", "user"], "the time of a row is a timestamp"),
        (["--rules", "alerts.yaml", "--time", "at", "--output", "x.xls"], "written to .parquet"),
        (["--rules", "plain.yaml", "--time", "at"], "has no patterns; `sparkrules match`"),
        (["--rules", "odd.yaml", "--time", "at"], "p: there is no column 'host'\nThe data has: at, user,"),
        (["--rules", "spark.yaml", "--time", "at", "--engine", "python"], "some patterns need Spark (--engine spark)"),
    ],
)
def test_errors(words: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("plain.yaml").write_text('- {id: a, where: "ok"}\n')
    Path("odd.yaml").write_text('- {id: p, count: {where: "ok"}, by: host, within: 1 h, at_least: 2}\n')
    Path("spark.yaml").write_text("- {id: p, count: {where: \"upper(user) = 'ANN'\"}, within: 1 h, at_least: 2}\n")
    assert cli.main(["detect", "events.csv", *words]) == 1
    assert reason in capsys.readouterr().err


def test_rejected_patterns_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    Path("alerts.yaml").write_text(RULES + "- {id: odd, sequence: [a, b], within: 1 month}\n")
    assert len(found(capsys, "--rules", "alerts.yaml", code=3)) == 1
    assert cli.main(["detect", "events.csv", "--time", "at", "--rules", "alerts.yaml"]) == 3
    assert "rejected: 'odd', alerts.yaml, rule 4: pattern 'odd': within '1 month'" in capsys.readouterr().err


class TestOtherCommands:
    @pytest.fixture
    def rules(self) -> RuleSet:
        rules = RuleSet("alerts")
        rules.subscribe_all(Path("alerts.yaml"))
        rules.publish()
        rules.remove_pattern("breach")
        rules.sequence("breach", ["failed login", "new admin"], by="user", within="1 hour")
        rules.count("many", "failed login", within="1 h", at_least=3)
        rules.publish()
        return rules

    def test_versions(self, rules: RuleSet, capsys: pytest.CaptureFixture[str]) -> None:
        headings, *lines = (line.split() for line in said(capsys, "versions", "--ruleset", "alerts").splitlines())
        assert headings[2:4] == ["subscriptions", "patterns"]
        assert [line[2:4] for line in lines] == [["2", "1"], ["2", "2"]]
        assert said(capsys, "versions").splitlines()[0].split() == [
            *("rule", "set", "version", "created", "subscriptions", "patterns", "publisher")
        ]

    def test_diff(self, rules: RuleSet, capsys: pytest.CaptureFixture[str]) -> None:
        out = said(capsys, "diff", "--ruleset", "alerts", "1")
        sequence = "failed login, then new admin, by user"
        assert out.splitlines()[1:] == [
            "pattern added    many    failed login 3 times, within 1 hour",
            f"pattern changed  breach  {sequence}, within 10 minutes → {sequence}, within 1 hour",
            "",
            "0 added, 0 removed, 0 changed, 1 pattern added, 1 pattern changed",
        ]
        assert json.loads(said(capsys, "diff", "--ruleset", "alerts", "1", "--json"))["patterns"] == {
            "added": ["many"],
            "removed": [],
            "changed": ["breach"],
        }

    def test_lint(self, rules: RuleSet, capsys: pytest.CaptureFixture[str]) -> None:
        rules.sequence("typo", ["failed logon", "new admin"], within="1 h")
        rules.publish()
        out = said(capsys, "lint", "--ruleset", "alerts", code=1)
        assert "error unknown rule: typo" in out
        assert "Did you mean `failed login`?" in out

    def test_a_strict_publish(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("alerts.yaml").write_text(RULES + "- {id: typo, sequence: [failed logon, new admin], within: 1 h}\n")
        assert cli.main(["publish", "--rules", "alerts.yaml", "--strict"]) == 1
        assert "nothing is published, because of --strict" in capsys.readouterr().err
        pq.write_table(pa.table({"action": ["x"], "ok": [True], "usr": ["x"]}), "schema.parquet")
        assert cli.main(["publish", "--rules", "alerts.yaml", "--schema", "schema.parquet"]) == 0
        assert "`by` names the column `user`, which does not exist" in capsys.readouterr().err
