"""`sparkrules list`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sparkrules import cli


def test_lists_are_put_shown_and_dropped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = ["--ruleset", "alerts", "--store", str(tmp_path / "own")]
    values = tmp_path / "bad.csv"
    values.write_text("ip,why\n10.0.0.0/8,x\n::1,y\n")
    assert cli.main(["list", "bad", "--put", str(values), "--kind", "cidr", "--column", "ip", *store]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:4] == ["bad", "1", "cidr", "2"]
    assert cli.main(["list", "--json", *store]) == 0
    assert [(own["name"], own["values"]) for own in json.loads(capsys.readouterr().out)] == [("bad", 2)]
    assert cli.main(["list", "bad", "--drop", *store]) == 0
    assert cli.main(["list", *store]) == 0
    assert capsys.readouterr().out == "no lists\n"
    assert cli.main(["list", "bad", *store]) == 0
    assert [line.split()[2] for line in capsys.readouterr().out.splitlines()[1:]] == ["cidr", "dropped"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--put", "x.txt"], "name the list"),
        (["../up", "--put", "bad.txt"], "is not a name"),
        (["bad", "--put", "none.txt"], "cannot be read"),
        (["bad", "--drop"], "has no list 'bad'"),
    ],
)
def test_what_cannot_be_done_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], reason: str
) -> None:
    (tmp_path / "bad.txt").write_text("x\n")
    given = [str(tmp_path / own) if own == "bad.txt" else own for own in arguments]
    assert cli.main(["list", *given, "--ruleset", "alerts", "--store", str(tmp_path / "own")]) != 0
    assert reason in capsys.readouterr().err
