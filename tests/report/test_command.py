"""`sparkrules report`, with a Spark that it starts itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sparkrules import RuleSet, cli


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.csv").write_text("id,where\nhot,t > 30\nnever,t > 100\nbad,t >\n")
    (tmp_path / "rows.csv").write_text("t,at\n35,2024-01-01T10:00:00\n5,2024-01-02T10:00:00\n,\n")
    return tmp_path


def test_a_report_of_a_file_of_rules(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", "rules.csv"]) == 3
    assert capsys.readouterr().out.startswith("report.html: 2 rules, ")
    assert "What the rules of <em>rules</em> do" in (files / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--time", "at"], "give them too, --data FILE"),
        (["--data", "none.csv"], "none.csv: there is no such file"),
        (["--data", "rows.xls"], "rows.xls: data is read from .parquet, .csv"),
    ],
)
def test_what_is_wrong_is_said(
    files: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert cli.main(["report", "rules.csv", *arguments]) == 1
    assert said in capsys.readouterr().err


def test_a_report_of_a_published_rule_set_and_rows(files: Path) -> None:
    store = files / "store"
    rules = RuleSet("alerts")
    rules.subscribe_all({"hot": "t > 30", "never": "t > 100", "typo": "tt > 100"})
    rules.publish(store=store)
    command = [sys.executable, "-m", "sparkrules.cli", "report", "--name", "alerts", "--store", str(store)]
    command += ["--data", "rows.csv", "--time", "at", "--output", "alerts.html"]
    settings = ["--conf", "spark.sparkrules.missingColumns=null"]
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[2])}

    done = subprocess.run([*command, *settings], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout[:22]) == (0, "alerts.html: 3 rules, "), done.stderr
    assert done.stderr.splitlines()[:2] == ["starting Spark ...", "matching rows ..."]
    page = (files / "alerts.html").read_text(encoding="utf-8")
    assert "Of 3 rules, 1 hit at least one of 3 rows, 2 never did." in page
    assert "version 1 ·" in page
    assert RuleSet.load("alerts", store).versions()[-1].version == 1
