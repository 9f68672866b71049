"""`sparkrules lint`: exit code 0 for no serious findings, 1 for findings, 2 if it could not run."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sparkrules import cli


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "rules.csv"
    file.write_text("id,where\nnever,t > 30 AND t < 10\nhot,t > 30\nwarm,t > 20\n")
    return file


def test_people_read_a_text(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["lint", "--rules", str(file)]) == 1
    said = capsys.readouterr().out
    assert said.startswith("error contradiction: never\n    never true: `t > 30` and `t < 10` exclude each other\n")
    assert said.endswith("2 findings in 3 rules: 1 contradiction, 1 covered\n")


def test_programs_read_json(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(file.read_text() + "bad,t >\n")
    assert cli.main(["lint", "--rules", str(file), "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert said["counts"] == {"contradiction": 1, "covered": 1}
    assert [finding["ids"] for finding in said["findings"]] == [["never"], ["hot", "warm"]]
    assert [(rule["id"], rule["line"], rule["column"]) for rule in said["rejected"]] == [("bad", 1, 4)]


@pytest.mark.parametrize(
    ("where", "level", "code"),
    [
        ("t > 5", "info", 0),
        ("t RLIKE 'x'", "info", 1),
        ("t RLIKE 'x'", "warning", 0),
        ("t > 5 AND t > 3", "warning", 1),
        ("t > 5 AND t > 3", "error", 0),
        ("t > 5 AND t < 3", "error", 1),
    ],
)
def test_the_level_decides(where: str, level: str, code: int, file: Path) -> None:
    file.write_text(f"id,where\nr,{where}\n")
    assert cli.main(["lint", "--rules", str(file), "--fail-on", level]) == code


def test_without_a_level_warnings_fail(file: Path) -> None:
    file.write_text("id,where\nr,t > 5 AND t > 3\n")
    assert cli.main(["lint", "--rules", str(file)]) == 1
    file.write_text("id,where\nhot,t > 5\nwarm,t > 3\n")
    assert cli.main(["lint", "--rules", str(file)]) == 0


def test_a_rule_that_is_not_accepted_fails_whatever_the_level(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("id,where\nbad,t >\n")
    assert cli.main(["lint", "--rules", str(file), "--fail-on", "error"]) == 1
    assert "rules.csv, line 2 (line 1, column 4 of its text): expected a value" in capsys.readouterr().err


def test_the_schema_of_a_table(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("id,where\nr,prise < 3\n")
    pq.write_table(pa.table({"price": [1.5]}), tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("price\n1.5\n")
    for table in ("t.parquet", "t.csv"):
        assert cli.main(["lint", "--rules", str(file), "--schema", str(tmp_path / table)]) == 1
        assert "Did you mean `price`?" in capsys.readouterr().out


def test_a_baseline_hides_what_is_accepted_until_the_rule_changes(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    baseline = ["--baseline", str(tmp_path / "baseline.json")]
    assert cli.main(["lint", "--rules", str(file), *baseline, "--update-baseline"]) == 0
    assert cli.main(["lint", "--rules", str(file), *baseline, "--fail-on", "info"]) == 0
    assert capsys.readouterr().out == "no findings in 3 rules\n" * 2
    file.write_text(file.read_text().replace("t < 10", "t < 11"))
    assert cli.main(["lint", "--rules", str(file), *baseline]) == 1


def test_a_published_rule_set(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = ["--store", str(tmp_path / "store")]
    assert cli.main(["publish", "--rules", str(file), *store]) == 0
    assert cli.main(["lint", "--ruleset", "rules@1", *store]) == 1
    assert "error contradiction: never" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rules", "none.csv"], "none.csv cannot be read"),
        (["--rules", "{file}", "--schema", "none.parquet"], "none.parquet cannot be read"),
        (["--rules", "{file}", "--baseline", "none.json"], "none.json cannot be read"),
        (["--rules", "{file}", "--baseline", "{file}"], "is not a baseline of findings"),
        (["--rules", "{file}", "--baseline", "no/such/place.json", "--update-baseline"], "cannot be written"),
        (["--rules", "{file}", "--update-baseline"], "--update-baseline needs --baseline FILE"),
        (["--ruleset", "none"], "there is no rule set 'none'"),
    ],
)
def test_what_cannot_be_done_is_not_taken_for_a_finding(
    arguments: list[str], message: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["lint", *(word.format(file=file) for word in arguments)]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("sparkrules: ")
    assert message in said.err
    assert said.out == ""


@pytest.mark.parametrize(
    "arguments", [[], ["--rules", "a.csv", "--ruleset", "a"], ["--rules", "a.csv", "--fail-on", "bad"]]
)
def test_wrong_usage(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["lint", *arguments])
    assert stopped.value.code == 2
