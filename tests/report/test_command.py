"""`sparkrules report`, with a Spark that it starts itself."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sparkrules import RuleSet, cli

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.csv").write_text("id,where\nhot,t > 30\nnever,t > 100\nbad,t >\n")
    (tmp_path / "rows.csv").write_text("t,at\n35,2024-01-01T10:00:00\n5,2024-01-02T10:00:00\n,\n")
    return tmp_path


def test_a_report_of_a_file_of_rules(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", "--rules", "rules.csv"]) == 3
    assert capsys.readouterr().out.startswith("report.html: 2 rules, ")
    assert "What the rules of <em>rules</em> do" in (files / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--time", "at"], "give them with --data FILE"),
        (["--data", "none.csv"], "none.csv cannot be read: there is no such file"),
        (["--data", "rows.xls"], "rows.xls: data is read from .parquet, .csv, .jsonl"),
        (["--data", "rows.csv", "rules.jsonl"], "all files must have the same format, not csv and json"),
        (["--data", "empty"], "empty contains no .parquet, .csv, .jsonl, .ndjson, .json files"),
        (["--data", "broken.parquet"], "broken.parquet cannot be read: "),
    ],
)
def test_what_is_wrong_is_said(
    files: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    (files / "empty").mkdir()
    (files / "broken.parquet").write_text("no Parquet")
    assert cli.main(["report", "--rules", "rules.csv", *arguments]) == 1
    shown = capsys.readouterr().err
    assert said in shown
    assert "starting Spark" not in shown


@pytest.mark.programs
def test_a_report_of_a_published_rule_set_and_rows(files: Path) -> None:
    store = files / "store"
    rules = RuleSet("alerts")
    rules.subscribe_all({"hot": "t > 30", "never": "t > 100", "typo": "tt > 100"})
    rules.store = store
    rules.publish()
    command = [sys.executable, "-m", "sparkrules.cli", "report", "--ruleset", "alerts", "--store", str(store)]
    command += ["--data", "rows.csv", "--time", "at", "--output", "alerts.html"]
    settings = ["--conf", "spark.sparkrules.missingColumns=null"]
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[2])}

    done = subprocess.run([*command, *settings], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout[:22]) == (0, "alerts.html: 3 rules, "), done.stderr
    assert done.stderr.splitlines()[:2] == ["sparkrules: starting Spark", "sparkrules: matching rows"]
    page = (files / "alerts.html").read_text(encoding="utf-8")
    assert "Of 3 rules, 1 hit at least one of 3 rows, 2 never did." in page
    assert "version 1 ·" in page
    assert RuleSet.load("alerts", store).versions()[-1].version == 1


class TestRows:
    """A report reads the same rows as `sparkrules match`."""

    def test_a_directory_of_parquet_files(self, files: Path, spark: SparkSession) -> None:
        for name, more in (("many/day=2024-05-01/a", {}), ("many/day=2024-05-02/b", {"place": ["x"]})):
            Path(name).parent.mkdir(parents=True)
            pq.write_table(pa.table({"t": [40], **more}), f"{name}.parquet")
        rules = {"hot": "t > 30", "late": "day > DATE '2024-05-01'", "place": "place = 'x'", "never": "t > 40"}
        assert "Of 4 rules, 3 hit at least one of 2 rows, 1 never did." in _page(rules, "many", "--time", "day")

    def test_compressed_text_of_several_files(self, files: Path, spark: SparkSession) -> None:
        Path("a.csv.gz").write_bytes(gzip.compress(b"t,void\n40,\n"))
        Path("b.csv").write_text("t,void\n1.5,\n")
        rules = {"hot": "t > 30", "half": "t = 1.5", "void": "void IS NOT NULL"}
        assert "Of 3 rules, 2 hit at least one of 2 rows, 1 never did." in _page(rules, "a.csv.gz", "b.csv")

    def test_columns_have_the_types_that_they_have_in_match(
        self, files: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]
    ) -> None:
        Path("typed.csv").write_text("n,x,day,at,sharp\n1,1.5,2024-05-01,2024-05-01T10:00:00,2024-05-01 10:00:00.5Z\n")
        kinds = {"n": "bigint", "x": "double", "day": "date", "at": "timestamp_ntz", "sharp": "timestamp"}
        rules = {name: f"typeof({name}) = '{kind}'" for name, kind in kinds.items()}
        assert "Of 5 rules, 5 hit at least one of 1 row. " in _page(rules, "typed.csv", "--time", "sharp")
        capsys.readouterr()
        assert cli.main(["match", "typed.csv", "--rules", "own.csv", "--json"]) == 0
        assert sorted(json.loads(capsys.readouterr().out)["ids"]) == sorted(rules)

    def test_what_cannot_be_matched(self, files: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
        Path("own.csv").write_text("id,where\nodd,place = 'x'\n")
        assert cli.main(["report", "--rules", "own.csv", "--data", "rows.csv"]) == 1
        said = capsys.readouterr().err
        assert "Spark cannot match: [SPARKRULES] 1 rule of own@1 is rejected on the input (t, at):" in said
        assert "Settings are given with --conf KEY=VALUE." in said


def _page(rules: dict[str, str], *data: str) -> str:
    Path("own.csv").write_text("id,where\n" + "".join(f'{id},"{where}"\n' for id, where in rules.items()))
    assert cli.main(["report", "--rules", "own.csv", "--no-lint", "--data", *data]) == 0
    return Path("report.html").read_text(encoding="utf-8")
