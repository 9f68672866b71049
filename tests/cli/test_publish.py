"""`sparkrules publish`."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sparkrules import RuleSet, cli
from sparkrules.store import Store


def test_rules_become_a_version(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["publish", "--rules", str(rules)]) == 0
    assert capsys.readouterr().out == "published alerts version 1: 2 rules, 0 rejected\n"
    assert cli.main(["publish", "--rules", str(rules)]) == 0
    assert capsys.readouterr().out == "published alerts version 2: 2 rules, 0 rejected\n"


def test_rejected_rules_are_shown_and_change_the_exit_code(
    rules: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules.write_text(rules.read_text() + "bad,temperature > 3 AND AND x,\n")
    store = tmp_path / "elsewhere"
    assert cli.main(["publish", "--rules", str(rules), "--ruleset", "eu.alerts", "--store", str(store)]) == 3
    said = capsys.readouterr()
    assert said.out == "published eu.alerts version 1: 2 rules, 1 rejected\n"
    first, text, mark, remedy = said.err.splitlines()
    assert first.startswith(f"rejected: 'bad', {rules}, line 4 (line 1, column 21 of its text): ")
    assert text == "    temperature > 3 AND AND x"
    assert mark == " " * (4 + 20) + "^"
    assert remedy.startswith("    ")
    assert len(RuleSet.load("eu.alerts", store)) == 2


def test_the_line_of_a_longer_text_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    Path("r.jsonl").write_text('{"id": "good", "where": "a"}\n' + json.dumps({"id": "bad", "where": "a > 1\nAND b >"}))
    assert cli.main(["publish", "--rules", "r.jsonl"]) == 3
    assert "'bad', r.jsonl, line 2 (line 2, column 8 of its text)" in (said := capsys.readouterr().err)
    assert said.endswith("\n    AND b >\n           ^\n")


def test_of_many_rejected_rules_the_first_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    Path("r.csv").write_text("id,where\ngood,x > 1\n" + "".join(f"bad{i},x >\n" for i in range(1_000)))
    assert cli.main(["publish", "--rules", "r.csv"]) == 3
    said = capsys.readouterr().err
    assert said.count("rejected: ") == 20
    assert said.endswith("and 980 more; sparkrules lint --json lists all of them\n")


def test_where_no_rule_is_accepted_nothing_is_published(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["publish", "--rules", str(rules)]) == 0
    rules.write_text("id,where\nbad,temperature >\n")
    for more in ([], ["--json"]):
        capsys.readouterr()
        assert cli.main(["publish", "--rules", str(rules), *more]) == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.startswith(
            f"rejected: 'bad', {rules}, line 2 (line 1, column 14 of its text): expected a value\n"
        )
        assert said.err.endswith("alerts.csv are rejected: nothing is published\n")
    assert len(RuleSet.load("alerts")) == 2


def test_programs_read_json(rules: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules.write_text(rules.read_text() + "bad,temperature >,\n")
    assert cli.main(["publish", "--rules", str(rules), "--json"]) == 3
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
    assert cli.main(["publish", "--rules", str(rules), "--advertisements", "sources.csv"]) == 0
    assert list(RuleSet.load("alerts").advertisements) == ["cellar"]


def test_a_store_that_cannot_be_written_is_named(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("store").write_text("a file")
    assert cli.main(["publish", "--rules", str(rules)]) == 1
    assert "sparkrules: rule set 'alerts' cannot be published to " in capsys.readouterr().err


class TestSchema:
    """`--schema` and `--strict`."""

    @pytest.fixture
    def odd(self) -> Path:
        pq.write_table(pa.table({"temperature": [1.5], "kind": ["x"], "at": [date(2025, 1, 1)]}), "rows.parquet")
        texts = ["kind = login", "at > '2025-13-45'", "temperature > 'hot'", "temperature = NULL OR kind = 'x'"]
        lines = "".join(f'bad{number},"{text}"\n' for number, text in enumerate(texts))
        Path("odd.csv").write_text(f"id,where\ngood,temperature > 1\n{lines}")
        return Path("odd.csv")

    def test_rules_that_can_never_match_are_shown_and_published(
        self, odd: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert cli.main(["publish", "--rules", str(odd), "--schema", "rows.parquet"]) == 0
        said = capsys.readouterr()
        assert said.out == "published odd version 1: 5 rules, 0 rejected\n"
        assert said.err.count("error ") == 4
        assert "Did you mean 'login'? A string needs quotes." in said.err
        assert cli.main(["publish", "--rules", str(odd), "--schema", "rows.parquet", "--json"]) == 0
        said = capsys.readouterr()
        assert (said.err, len(json.loads(said.out)["errors"])) == ("", 4)

    def test_strict_publishes_nothing(self, odd: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.main(["publish", "--rules", str(odd), "--schema", "rows.parquet", "--strict"]) == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.count("error ") == 4
        assert said.err.endswith("0 rules rejected, 4 errors found: nothing is published, because of --strict\n")
        assert "odd" not in Store().rule_sets()

    def test_strict_without_a_schema_knows_less(self, odd: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.main(["publish", "--rules", str(odd), "--strict"]) == 1
        assert "0 rules rejected, 1 error found" in capsys.readouterr().err

    def test_strict_lets_nothing_be_rejected(self, rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
        rules.write_text(rules.read_text() + "bad,temperature >,\n")
        assert cli.main(["publish", "--rules", str(rules), "--strict"]) == 1
        said = capsys.readouterr().err
        assert "rejected: 'bad'" in said
        assert said.endswith("1 rule rejected, 0 errors found: nothing is published, because of --strict\n")

    def test_rules_without_errors_are_published(self, rules: Path) -> None:
        assert cli.main(["publish", "--rules", str(rules), "--strict"]) == 0
