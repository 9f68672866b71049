"""The command line, without Spark."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
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


class TestLint:
    """0 nothing that bad, 1 findings, 2 it could not be done."""

    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        file = tmp_path / "rules.csv"
        file.write_text("id,where\nnever,t > 30 AND t < 10\nhot,t > 30\nwarm,t > 20\n")
        return file

    def test_people_read_a_text(self, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.main(["lint", str(file)]) == 1
        said = capsys.readouterr().out
        assert said.startswith("error contradiction: never\n    never true: `t > 30` and `t < 10` exclude each other\n")
        assert said.endswith("2 findings in 3 rules: 1 contradiction, 1 covered\n")

    def test_programs_read_json(self, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file.write_text(file.read_text() + "bad,t >\n")
        assert cli.main(["lint", str(file), "--json"]) == 1
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
    def test_the_level_decides(self, where: str, level: str, code: int, file: Path) -> None:
        file.write_text(f"id,where\nr,{where}\n")
        assert cli.main(["lint", str(file), "--fail-on", level]) == code

    def test_without_a_level_warnings_fail(self, file: Path) -> None:
        file.write_text("id,where\nr,t > 5 AND t > 3\n")
        assert cli.main(["lint", str(file)]) == 1
        file.write_text("id,where\nhot,t > 5\nwarm,t > 3\n")
        assert cli.main(["lint", str(file)]) == 0

    def test_a_rule_that_is_not_accepted_fails_whatever_the_level(
        self, file: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file.write_text("id,where\nbad,t >\n")
        assert cli.main(["lint", str(file), "--fail-on", "error"]) == 1
        assert "set aside: 'bad' (line 1, column 4)" in capsys.readouterr().err

    def test_the_schema_of_a_table(self, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file.write_text("id,where\nr,prise < 3\n")
        pq.write_table(pa.table({"price": [1.5]}), tmp_path / "t.parquet")
        (tmp_path / "t.csv").write_text("price\n1.5\n")
        for table in ("t.parquet", "t.csv"):
            assert cli.main(["lint", str(file), "--schema", str(tmp_path / table)]) == 1
            assert "Did you mean `price`?" in capsys.readouterr().out

    def test_a_baseline_hides_what_is_accepted_until_the_rule_changes(
        self, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        baseline = ["--baseline", str(tmp_path / "baseline.json")]
        assert cli.main(["lint", str(file), *baseline, "--update-baseline"]) == 0
        assert cli.main(["lint", str(file), *baseline, "--fail-on", "info"]) == 0
        assert capsys.readouterr().out == "no findings in 3 rules\n" * 2
        file.write_text(file.read_text().replace("t < 10", "t < 11"))
        assert cli.main(["lint", str(file), *baseline]) == 1

    def test_a_published_rule_set(self, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        store = ["--store", str(tmp_path / "store")]
        assert cli.main(["publish", str(file), *store]) == 0
        assert cli.main(["lint", "--name", "rules@1", *store]) == 1
        assert "error contradiction: never" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["none.csv"], "none.csv cannot be read"),
            (["{file}", "--schema", "none.parquet"], "none.parquet cannot be read"),
            (["{file}", "--baseline", "none.json"], "none.json cannot be read"),
            (["{file}", "--baseline", "{file}"], "is not a baseline of findings"),
            (["{file}", "--baseline", "no/such/place.json", "--update-baseline"], "cannot be written"),
            (["{file}", "--update-baseline"], "--update-baseline needs --baseline FILE"),
            (["--name", "none"], "there is no rule set 'none'"),
        ],
    )
    def test_what_cannot_be_done_is_not_taken_for_a_finding(
        self, arguments: list[str], message: str, file: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert cli.main(["lint", *(word.format(file=file) for word in arguments)]) == 2
        said = capsys.readouterr()
        assert said.err.startswith("sparkrules: ")
        assert message in said.err
        assert said.out == ""

    @pytest.mark.parametrize("arguments", [[], ["rules.csv", "--name", "rules"], ["rules.csv", "--fail-on", "bad"]])
    def test_wrong_usage(self, arguments: list[str]) -> None:
        with pytest.raises(SystemExit) as stopped:
            cli.main(["lint", *arguments])
        assert stopped.value.code == 2


class TestVersions:
    @pytest.fixture
    def store(self, tmp_path: Path) -> list[str]:
        rules = RuleSet("alerts")
        rules.subscribe("hot", "t > 30")
        rules.publish(store=tmp_path)
        rules.unsubscribe("hot")
        rules.subscribe_all({"cold": "t < 0", "mild": "t = 20"})
        rules.publish()
        return ["--store", str(tmp_path)]

    def test_they_are_listed(self, store: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.main(["versions", "alerts", *store]) == 0
        first, second = capsys.readouterr().out.splitlines()
        assert first.startswith("1  20")
        assert "  2 subscriptions  publish  " in second
        assert cli.main(["versions", "alerts", "--json", *store]) == 0
        listed = json.loads(capsys.readouterr().out)
        assert [(own["version"], own["subscriptions"]) for own in listed] == [(1, 1), (2, 2)]

    def test_two_are_compared(self, store: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.main(["diff", "alerts", "1", *store]) == 0
        assert capsys.readouterr().out == "2 added: cold, mild\n1 removed: hot\n0 changed\n"
        assert cli.main(["diff", "alerts", "2", "1", "--json", *store]) == 0
        changes = json.loads(capsys.readouterr().out)
        assert changes == {"added": ["hot"], "removed": ["cold", "mild"], "changed": []}

    def test_an_old_one_is_published_again(self, store: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.main(["rollback", "alerts", "1", *store]) == 0
        assert capsys.readouterr().out == "published alerts version 3: the content of version 1\n"
        assert list(RuleSet.load("alerts", store[1]).subscriptions) == ["hot"]
        assert cli.main(["rollback", "alerts", "2", "--json", *store]) == 0
        assert json.loads(capsys.readouterr().out) == {"rule_set": "alerts", "version": 4, "content_of": 2}

    @pytest.mark.parametrize("command", [["versions", "none"], ["diff", "none", "1"], ["rollback", "alerts", "9"]])
    def test_what_is_not_there_is_named(
        self, command: list[str], store: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert cli.main([*command, *store]) == 1
        assert "sparkrules: there is no" in capsys.readouterr().err


def test_the_module_can_be_run() -> None:
    done = subprocess.run([sys.executable, "-m", "sparkrules.cli", "--version"], capture_output=True, text=True)
    assert done.stdout == f"sparkrules {__version__}\n"
