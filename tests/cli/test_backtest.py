"""`sparkrules backtest`: what rules of a file would change, before they are published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sparkrules import Store, cli

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_rows_gained_and_lost(rules: Path, data: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["publish", "--rules", str(rules)]) == 0
    Path("next.csv").write_text("id,where\nhot,temperature > 15\nnew,place = 'Cellar'\nbroken,temperature >\n")
    capsys.readouterr()
    words = ["backtest", str(data), "--rules", "next.csv", "--against", "alerts"]
    assert cli.main(words) == 3
    assert capsys.readouterr().out.splitlines() == [
        "cold: 0 gained, 1 lost, 0 kept",
        '  - {"temperature": -1, "place": "Cellar"}',
        "",
        "hot: 1 gained, 0 lost, 1 kept",
        '  + {"temperature": 20, "place": "attic"}',
        "",
        "new: 1 gained, 0 lost, 0 kept",
        '  + {"temperature": -1, "place": "Cellar"}',
        "",
        "3 rules gain or lose rows against alerts@1; 0 match the same rows",
    ]
    store = Store(Path("store"))
    assert (store.rule_sets(), store.versions("alerts")) == (["alerts"], [1])
    assert cli.main([*words, "--json", "--samples", "0"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert (found["against"], found["unchanged"]) == ("alerts@1", 0)
    assert found["rules"][1] == {
        "id": "hot",
        "gained": 1,
        "lost": 0,
        "kept": 1,
        "gained_rows": [],
        "lost_rows": [],
    }


def test_a_version_against_itself(
    rules: Path, data: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["publish", "--rules", str(rules)]) == 0
    capsys.readouterr()
    assert cli.main(["backtest", str(data), "--ruleset", "alerts", "--against", "alerts@1"]) == 0
    said = capsys.readouterr()
    assert said.out == "0 rules gain or lose rows against alerts@1; 2 match the same rows\n"
    assert cli.main(["backtest", str(data), "--ruleset", "alerts", "--against", "alerts@7"]) == 1
    assert "alerts" in capsys.readouterr().err
