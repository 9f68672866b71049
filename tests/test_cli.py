"""The command line, without Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sparkrules import RuleSet, __version__, cli


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    (tmp_path / "alerts.csv").write_text("id,where,priority\nhot,temperature > 30,5\ncold,temperature < 0,\n")
    return tmp_path / "alerts.csv"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data.csv").write_text("temperature\n35\n20\n-1\n")
    return tmp_path / "data.csv"


def test_publish_then_match(rules: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(tmp_path / "store")
    assert cli.main(["publish", str(rules), "--store", store]) == 0
    assert capsys.readouterr().out == "published alerts version 1: 2 rules, 0 set aside\n"
    assert cli.main(["match", str(data), "--name", "alerts@1", "--store", store]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert found == [{"row": 0, "ids": ["hot"]}, {"row": 2, "ids": ["cold"]}]


def test_match_rules_of_a_file(rules: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["match", str(data), "--rules", str(rules), "--all"]) == 0
    assert [json.loads(line)["ids"] for line in capsys.readouterr().out.splitlines()] == [["hot"], [], ["cold"]]


def test_rules_that_are_set_aside_are_named_and_change_the_exit_code(
    rules: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules.write_text(rules.read_text() + "bad,temperature >,\n")
    store = tmp_path / "store"
    assert cli.main(["publish", str(rules), "--name", "eu.alerts", "--store", str(store)]) == 3
    said = capsys.readouterr()
    assert "published eu.alerts version 1: 2 rules, 1 set aside" in said.out
    assert said.err.startswith("set aside: 'bad' (line 1, column ")
    assert len(RuleSet.load("eu.alerts", store)) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["publish", "none.csv"], "none.csv cannot be read"),
        (["publish", "none.csv", "--name", "a b"], "'a b' is not a name"),
        (["match", "none.csv", "--name", "none"], "there is no rule set 'none'"),
        (["match", "none.csv", "--name", "none@x"], "write none@12 with a number"),
    ],
)
def test_a_failure_is_one_message_and_exit_code_1(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(arguments) == 1
    said = capsys.readouterr().err
    assert said.startswith("sparkrules: ")
    assert message in said


def test_data_that_cannot_be_read_is_named(rules: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("none.parquet", "data.xls"):
        assert cli.main(["match", str(tmp_path / name), "--rules", str(rules)]) == 1
        assert name in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["unknown"], ["publish"], ["match", "data.csv"]])
def test_wrong_usage_is_exit_code_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    assert stopped.value.code == 2


@pytest.mark.parametrize("arguments", [["--help"], ["publish", "--help"], ["match", "--help"], ["build-jar", "--help"]])
def test_every_command_has_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    assert stopped.value.code == 0
    assert "usage: sparkrules" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"sparkrules {__version__}\n"
