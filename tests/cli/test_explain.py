"""`sparkrules explain`."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sparkrules import cli

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RULES = ["--rules", "alerts.csv"]


@pytest.fixture(autouse=True)
def _rules() -> None:
    rules = "id,where\nhot,t > 30 AND NOT indoors\ncold,t < 0\ncellar,lower(place) = 'cellar' AND t > 1\n"
    Path("alerts.csv").write_text(rules)


def test_those_that_match_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", *RULES, "--row", '{"t": 35, "indoors": false}']) == 0
    said = capsys.readouterr()
    assert said.out == "hot matches\n  ✓ and\n    ✓ indoors is false\n    ✓ t > 30\n"
    assert said.err == "sparkrules: skipped, because the row lacks a column: cellar\n"


def test_those_that_are_named_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    row = '{"t": 35, "indoors": true}'
    assert cli.main(["explain", *RULES, "--row", row, "--id", "hot", "--id", "cold"]) == 0
    said = capsys.readouterr().out
    assert "hot does not match\n  ✗ and\n    ✗ indoors is false\n    ✓ t > 30\n" in said
    assert "cold does not match\n  ✗ t < 0\n" in said


def test_none_matches(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", *RULES, "--row", '{"t": 5, "indoors": false}']) == 0
    assert capsys.readouterr().out.startswith("no rule matches this row; ")


def test_a_row_from_stdin_and_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO('{"t": 35, "indoors": true}'))
    assert cli.main(["explain", *RULES, "--row", "-", "--id", "hot", "--json"]) == 0
    (explained,) = json.loads(capsys.readouterr().out)
    assert (explained["id"], explained["matched"]) == ("hot", False)
    assert [(part["text"], part["truth"]) for part in explained["tree"]["children"]] == [
        ("indoors is false", False),
        ("t > 30", True),
    ]


def test_a_part_that_occurs_again_is_written_once(capsys: pytest.CaptureFixture[str]) -> None:
    Path("alerts.csv").write_text(f"id,where\nxor,{' XOR '.join(f'c{i} > 0' for i in range(12))}\n")
    row = json.dumps({f"c{i}": i for i in range(12)})
    assert cli.main(["explain", *RULES, "--row", row, "--id", "xor", "--json"]) == 0
    said = capsys.readouterr().out
    assert '"as_above": true' in said
    assert len(said) < 100_000


def test_spark_explains_what_only_it_can(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    Path("data.jsonl").write_text(
        '{"t": 5, "indoors": true, "place": "Attic"}\n{"t": 5, "indoors": true, "place": "CELLAR"}\n'
    )
    assert cli.main(["explain", *RULES, "--data", "data.jsonl", "--row-number", "1"]) == 0
    said = capsys.readouterr()
    assert said.out == "cellar matches\n  ✓ and\n    ✓ lower(place) = 'cellar'\n    ✓ t > 1\n"
    assert said.err == "sparkrules: explaining with Spark\n"
    assert cli.main(["explain", *RULES, "--data", "data.jsonl", "--engine", "python"]) == 1
    assert "some rules need Spark (--engine spark):\n  cellar: " in capsys.readouterr().err


def test_spark_explains_all(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    row = '{"t": -1, "indoors": true, "place": "x"}'
    assert cli.main(["explain", *RULES, "--row", row, "--all", "--engine", "spark", "--json"]) == 0
    found = {own["id"]: own["matched"] for own in json.loads(capsys.readouterr().out)}
    assert found == {"hot": False, "cold": True, "cellar": False}
