"""What all commands have in common: help, usage, exit codes, errors in one message."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sparkrules import __version__, cli
from tests.cli.process import environment, run

COMMANDS = (
    *("demo", "publish", "match", "detect", "explain", "overlap", "lint", "test", "backtest"),
    *("versions", "diff", "rollback"),
    *("jar-path", "build-jar", "doctor", "thriftserver", "report"),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main([command, "--help"])
    assert stopped.value.code == 0
    said = capsys.readouterr().out
    assert said.startswith(f"usage: sparkrules {command} ")
    assert "\nexamples:\n  spark" in said


def test_the_list_of_commands_says_how_they_end(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["--help"])
    assert stopped.value.code == 0
    said = capsys.readouterr().out
    assert "Exit codes: 0 done, 1 failed, 2 wrong usage" in said
    assert [name for name in COMMANDS if f"\n    {name}" not in said] == []


@pytest.mark.parametrize(
    "arguments",
    [
        *([], ["unknown"], ["publish"], ["match", "data.csv"], ["match", "data.csv", "--ruleset", "a", "--rules", "b"]),
        *(["match", "d.csv", "--ruleset", "a", "--limit", "x"], ["match", "d.csv", "--ruleset", "a", "--conf", "x"]),
        *(["explain", "--ruleset", "a"], ["overlap", "--ruleset", "a", "--where", "x", "--subscription", "y"]),
        ["publish", "--rules", "rules.csv", "--dialect", "klingon"],
        *(["diff", "--ruleset", "alerts", "one"], ["demo", "--rows", "0"]),
    ],
)
def test_wrong_usage_is_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    assert stopped.value.code == 2
    assert "usage: sparkrules" in capsys.readouterr().err


@pytest.mark.parametrize(("typo", "meant"), [("publsh", "publish"), ("version", "versions"), ("docter", "doctor")])
def test_a_misspelt_command_is_guessed(typo: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main([typo])
    assert stopped.value.code == 2
    assert f"did you mean {meant}?" in capsys.readouterr().err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"sparkrules {__version__}\n"


@pytest.mark.parametrize("module", ["sparkrules", "sparkrules.cli"])
def test_the_module_can_be_run(module: str) -> None:
    assert run("-m", module, "--version").stdout == f"sparkrules {__version__}\n"


def test_help_needs_no_pyspark() -> None:
    found = run("-c", "import sys, sparkrules.cli as cli; cli._parser(); print('pyspark' in sys.modules)")
    assert (found.stdout, found.stderr) == ("False\n", "")


def test_who_reads_no_further_gets_no_stack(rules: Path) -> None:
    Path("many.csv").write_text("temperature\n" + "40\n" * 50_000)
    command = [sys.executable, "-m", "sparkrules", "match", "many.csv", "--rules", str(rules), "--json"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True, env=environment()) as own:
        assert own.stdout is not None
        assert own.stderr is not None
        own.stdout.readline()
        own.stdout.close()
        assert own.stderr.read() == "sparkrules: matching without Spark\n"
        assert own.wait() == 1


def test_a_terminal_of_ascii_gets_question_marks(rules: Path) -> None:
    words = ["-m", "sparkrules", "explain", "--rules", str(rules), "--row", '{"temperature": 40}']
    ran = run(*words, PYTHONIOENCODING="ascii")
    assert (ran.returncode, ran.stdout) == (0, "hot matches\n  ? temperature > 30\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["publish", "--rules", "none.csv"], "none.csv cannot be read"),
        (["publish", "--rules", "none.csv", "--ruleset", "a b"], "'a b' is not a name"),
        (["publish", "--rules", "a b.csv"], "name the rule set with --ruleset"),
        (["match", "none.csv", "--ruleset", "none"], "there is no rule set 'none'"),
        (["match", "none.csv", "--ruleset", "none@x"], "write none@12 with a number"),
        (["match", "none.csv", "--rules", "alerts.csv"], "none.csv cannot be read: there is no such file"),
        (["match", "data.xls", "--rules", "alerts.csv"], "data is read from .parquet, .csv"),
        (["match", "data.csv", "--rules", "alerts.csv", "--output", "x.xls"], "matches are written to .parquet"),
        (["match", "data.csv", "--rules", "alerts.csv", "--output", "no/x.csv"], "there is no directory"),
        (["match", "data.csv", "--rules", "alerts.csv", "--columns", "plaice"], "it has: temperature, place"),
        (
            ["match", "data.csv", "alerts.csv", "b.jsonl", "--rules", "alerts.csv"],
            "all files must have the same format",
        ),
        (["match", "store", "--rules", "alerts.csv"], "store contains no .parquet"),
        (["explain", "--rules", "alerts.csv", "--row", "{t: 1}"], "--row is not JSON"),
        (["explain", "--rules", "alerts.csv", "--row", "[1]"], "--row is an object of column and value"),
        (["explain", "--rules", "alerts.csv", "--row", "{}", "--id", "hit"], "did you mean 'hot'?"),
        (["explain", "--rules", "alerts.csv", "--row", "{}", "--id", "hot"], "hot: there is no column `temperature`"),
        (["explain", "--rules", "alerts.csv", "--data", "data.csv", "--row-number", "3"], "data.csv has no row 3"),
        (["overlap", "--rules", "alerts.csv"], "has no advertisements"),
        (["overlap", "--rules", "alerts.csv", "--where", "t >"], "expected a value at line 1, column 4"),
        (["versions", "--ruleset", "none"], "there is no rule set 'none'"),
        (["explain", "--row", "{}", "--ruleset", "alerts.csv"], "rules of a file are named with --rules alerts.csv"),
        (["match", "data.csv", "--rules", "alerts"], "a published rule set is named with --ruleset alerts"),
    ],
)
def test_a_failure_is_one_message_and_exit_code_1(
    arguments: list[str], message: str, rules: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("store").mkdir()
    assert cli.main(arguments) == 1
    said = capsys.readouterr()
    assert said.err.startswith("sparkrules: ")
    assert message in said.err
    assert said.out == ""


@pytest.mark.parametrize("name", ["x.parquet", "x.jsonl", "x.json", "x.csv.gz"])
def test_data_that_is_damaged_is_named(name: str, rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path(name).write_bytes(b"[{ this is not data \xff\x00")
    assert cli.main(["match", name, "--rules", str(rules)]) == 1
    assert capsys.readouterr().err.startswith(f"sparkrules: {name} cannot be read: ")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("versions --name alerts", "did you mean --ruleset?"),
        ("versions alerts", "rules are named with --ruleset NAME"),
        ("diff alerts 3", "rules are named with --ruleset NAME"),
        ("explain alerts --rules a.csv --row {}", "rules are named with --ruleset NAME or --rules FILE"),
        ("versions --jsno", "did you mean --json?"),
        ("publish --rules a.csv --shcema x", "did you mean --schema?"),
        ("lint --rules a.csv --fail-on eror", "did you mean error?"),
        ("match a.csv --ruleset x --engine sprak", "did you mean spark?"),
        ("versions --unheard-of", "sparkrules versions --help lists the options"),
    ],
)
def test_a_wrong_option_is_answered_with_the_right_one(
    words: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(words.split())
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(f"; {hint}\n")
