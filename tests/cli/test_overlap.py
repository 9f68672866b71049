"""`sparkrules overlap`."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sparkrules import cli


@pytest.fixture(autouse=True)
def _published() -> None:
    rules = "id,where\nhot,t > 30\nmild,t > 15 AND t < 25\nRome,\"contains(place, 'Rome')\"\n"
    Path("alerts.csv").write_text(rules)
    Path("sources.csv").write_text("id,where\ncellar,floor < 0 AND t < 20\nattic,floor > 3\n")
    assert cli.main(["publish", "--rules", "alerts.csv", "--advertisements", "sources.csv"]) == 0


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, object]]:
    capsys.readouterr()
    assert cli.main(["overlap", "--ruleset", "alerts", *words, "--json"]) == 0
    listed: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    return listed


def test_rules_that_may_match_a_condition(capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(capsys, "--where", "t BETWEEN 25 AND 35") == [
        {"subscription": "Rome", "certain": False},
        {"subscription": "hot", "certain": True},
    ]


def test_rules_that_may_match_a_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert [own["subscription"] for own in asked(capsys, "--advertisement", "cellar")] == ["Rome", "mild"]


def test_sources_of_a_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(capsys, "--subscription", "hot") == [{"advertisement": "attic", "certain": True}]
    assert [own["advertisement"] for own in asked(capsys, "--subscription", "mild")] == ["cellar", "attic"]


def test_all_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    pairs = [(own["advertisement"], own["subscription"]) for own in asked(capsys)]
    assert pairs == [("cellar", "Rome"), ("cellar", "mild"), ("attic", "Rome"), ("attic", "hot"), ("attic", "mild")]


def test_people_read_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert cli.main(["overlap", "--ruleset", "alerts", "--where", "t > 20 AND t < 28"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "subscription  overlap   where",
        "Rome          possible  contains(place, 'Rome')",
        "mild          certain   t > 15 AND t < 25",
        "",
        "2 overlaps, 1 of them certain",
    ]


def test_types_of_columns_decide(capsys: pytest.CaptureFixture[str]) -> None:
    between = "t > 30 AND t < 31"
    assert [own["subscription"] for own in asked(capsys, "--where", between)] == ["Rome", "hot"]
    pq.write_table(pa.table({"t": pa.array([1], pa.int32()), "place": ["x"]}), "whole.parquet")
    found = asked(capsys, "--where", between, "--schema", "whole.parquet")
    assert [own["subscription"] for own in found] == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--advertisement", "roof"], "there is no advertisement 'roof'; there are: cellar, attic"),
        (["--subscription", "hott"], "has no rule 'hott'"),
    ],
)
def test_what_is_not_there_is_named(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["overlap", "--ruleset", "alerts", *words]) == 1
    assert message in capsys.readouterr().err
