"""`sparkrules publish`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sparkrules import RuleSet, cli


def test_rules_become_a_version(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["publish", str(rules)]) == 0
    assert capsys.readouterr().out == "published alerts version 1: 2 rules, 0 set aside\n"
    assert cli.main(["publish", str(rules)]) == 0
    assert capsys.readouterr().out == "published alerts version 2: 2 rules, 0 set aside\n"


def test_rules_that_are_set_aside_are_shown_and_change_the_exit_code(
    rules: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules.write_text(rules.read_text() + "bad,temperature > 3 AND AND x,\n")
    store = tmp_path / "elsewhere"
    assert cli.main(["publish", str(rules), "--name", "eu.alerts", "--store", str(store)]) == 3
    said = capsys.readouterr()
    assert said.out == "published eu.alerts version 1: 2 rules, 1 set aside\n"
    first, text, mark = said.err.splitlines()
    assert first.startswith("set aside: 'bad' (line 1, column 21): ")
    assert text == "    temperature > 3 AND AND x"
    assert mark == " " * (4 + 20) + "^"
    assert len(RuleSet.load("eu.alerts", store)) == 2


def test_the_line_of_a_longer_text_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    Path("r.jsonl").write_text('{"id": "good", "where": "a"}\n' + json.dumps({"id": "bad", "where": "a > 1\nAND b >"}))
    assert cli.main(["publish", "r.jsonl"]) == 3
    assert "(line 2, column 8)" in (said := capsys.readouterr().err)
    assert said.endswith("\n    AND b >\n           ^\n")


def test_of_many_that_are_set_aside_the_first_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    Path("r.csv").write_text("id,where\ngood,x > 1\n" + "".join(f"bad{i},x >\n" for i in range(1_000)))
    assert cli.main(["publish", "r.csv"]) == 3
    said = capsys.readouterr().err
    assert said.count("set aside: ") == 5
    assert said.endswith("and 995 more; --json has all of them\n")


def test_where_no_rule_is_accepted_nothing_is_published(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["publish", str(rules)]) == 0
    rules.write_text("id,where\nbad,temperature >\n")
    for more in ([], ["--json"]):
        capsys.readouterr()
        assert cli.main(["publish", str(rules), *more]) == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.startswith("set aside: 'bad' (line 1, column 14): expected a value\n")
        assert said.err.endswith("alerts.csv is accepted: nothing is published\n")
    assert len(RuleSet.load("alerts")) == 2


def test_programs_read_json(rules: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules.write_text(rules.read_text() + "bad,temperature >,\n")
    assert cli.main(["publish", str(rules), "--json"]) == 3
    said = capsys.readouterr()
    published = json.loads(said.out)
    assert {name: published[name] for name in ("rule_set", "version", "rules", "store")} == {
        "rule_set": "alerts",
        "version": 1,
        "rules": 2,
        "store": str(tmp_path / "store"),
    }
    assert [(rule["id"], rule["line"], rule["column"]) for rule in published["rejected"]] == [("bad", 1, 14)]
    assert said.err == ""


def test_advertisements_are_published_as_well(rules: Path) -> None:
    Path("sources.csv").write_text("id,where\ncellar,temperature < 20\n")
    assert cli.main(["publish", str(rules), "--advertisements", "sources.csv"]) == 0
    assert list(RuleSet.load("alerts").advertisements) == ["cellar"]


def test_a_store_that_cannot_be_written_is_named(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("store").write_text("a file")
    assert cli.main(["publish", str(rules)]) == 1
    assert "sparkrules: rule set 'alerts' cannot be published to " in capsys.readouterr().err
