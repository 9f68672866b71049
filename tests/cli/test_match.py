"""`sparkrules match`: both engines agree, for all input and output formats."""

from __future__ import annotations

import csv
import gzip
import json
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sparkrules import RuleSet, cli
from tests.cli.process import run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def found(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert cli.main(["match", *map(str, words), "--json"]) == code
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture
def only_spark() -> Path:
    """Rules that need Spark, and some that do not."""
    Path("spark.csv").write_text("id,where,priority\ncellar,lower(place) = 'cellar',7\nhot,temperature > 30,5\n")
    return Path("spark.csv")


class TestWhatIsWritten:
    def test_people_read_a_table(self, rules: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.main(["match", str(data), "--rules", str(rules)]) == 0
        said = capsys.readouterr()
        assert said.out.splitlines() == [
            "row  ids   temperature  place",
            "  0  hot            35  cellar",
            "  2  cold           -1  Cellar",
            "",
            "2 of 3 rows match, 2 matches",
        ]
        assert said.err == "sparkrules: matching without Spark\n"

    def test_nothing_matches(self, rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
        Path("mild.csv").write_text("temperature\n20\n")
        assert cli.main(["match", "mild.csv", "--rules", str(rules)]) == 0
        assert capsys.readouterr().out == "0 of 1 row match, 0 matches\n"

    def test_a_long_table_is_cut_and_says_so(self, rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
        Path("many.csv").write_text("temperature\n" + "40\n" * 100)
        assert cli.main(["match", "many.csv", "--rules", str(rules)]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == 1 + 20 + 2
        assert lines[-1] == "100 of 100 rows match, 100 matches; the first 20 are shown, --limit 0 shows all"
        assert cli.main(["match", "many.csv", "--rules", str(rules), "--limit", "0"]) == 0
        assert len(capsys.readouterr().out.splitlines()) == 1 + 100 + 2

    def test_on_a_terminal_many_matches_of_a_row_are_counted(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Path("many.csv").write_text("id,where\n" + "".join(f"rule {n:02},t > {n}\n" for n in range(50)))
        Path("data.csv").write_text("t,place\n100,attic\n")
        with monkeypatch.context() as terminal:
            terminal.setattr("sparkrules.cli.match_output.terminal_width", lambda: 80)
            assert cli.main(["match", "data.csv", "--rules", "many.csv"]) == 0
        line = capsys.readouterr().out.splitlines()[1]
        assert " ".join(line.split()) == "0 rule 00, rule 01, rule 02 and 47 more 100 attic"
        assert cli.main(["match", "data.csv", "--rules", "many.csv"]) == 0
        assert "rule 00, rule 01, rule 02, rule 03" in capsys.readouterr().out

    def test_data_that_is_elsewhere_is_for_spark(self, rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.main(["match", "s3a://bucket/data.parquet", "--rules", str(rules)]) == 1
        assert "Only local files are read; in Spark: sparkrules.match(spark.read" in capsys.readouterr().err

    def test_data_that_is_not_utf8_is_named(self, rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
        Path("latin.csv").write_bytes("temperature,place\n40,Orléans\n".encode("latin-1"))
        assert cli.main(["match", "latin.csv", "--rules", str(rules)]) == 1
        assert "latin.csv cannot be read: column 'place' is not UTF-8." in capsys.readouterr().err

    def test_control_characters_of_data_do_not_reach_the_terminal(
        self, rules: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        Path("odd.jsonl").write_text(json.dumps({"temperature": 40, "place": "a\x1b[2Jb\nc"}))
        assert cli.main(["match", "odd.jsonl", "--rules", str(rules)]) == 0
        assert "  0  hot           40  a [2Jb c\n" in capsys.readouterr().out

    def test_programs_read_json_lines(self, rules: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert found(capsys, data, "--rules", rules) == [{"row": 0, "ids": ["hot"]}, {"row": 2, "ids": ["cold"]}]
        assert [line["ids"] for line in found(capsys, data, "--rules", rules, "--all")] == [["hot"], [], ["cold"]]
        assert found(capsys, data, "--rules", rules, "--columns", "place")[0] == {
            "row": 0,
            "place": "cellar",
            "ids": ["hot"],
        }
        assert found(capsys, data, "--rules", rules, "--per", "match", "--columns", "*")[0] == {
            "row": 0,
            "temperature": 35,
            "place": "cellar",
            "subscription_id": "hot",
            "priority": 5,
        }

    @pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
    def test_files(self, suffix: str, rules: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        out = Path(f"out{suffix}")
        words = ["match", str(data), "--rules", str(rules), "--output", str(out)]
        assert cli.main([*words, "--per", "match"]) == 0
        said = capsys.readouterr()
        assert said.out == ""
        assert "2 lines written to out" in said.err
        lines = [
            {"row": 0, "temperature": 35, "place": "cellar", "subscription_id": "hot", "priority": 5},
            {"row": 2, "temperature": -1, "place": "Cellar", "subscription_id": "cold", "priority": 0},
        ]
        assert _read(out) == (lines if suffix != ".csv" else [{k: str(v) for k, v in line.items()} for line in lines])
        assert cli.main([*words, "--all", "--columns", ""]) == 0
        ids = [["hot"], [], ["cold"]]
        assert [line["ids"] for line in _read(out)] == ([json.dumps(own) for own in ids] if suffix == ".csv" else ids)

    @pytest.mark.parametrize("suffix", [".parquet", ".csv"])
    def test_a_file_without_matches_has_its_columns(self, suffix: str, rules: Path) -> None:
        pq.write_table(pa.table({"temperature": pa.array([], pa.int32())}), "empty.parquet")
        assert cli.main(["match", "empty.parquet", "--rules", str(rules), "--output", f"out{suffix}"]) == 0
        if suffix == ".csv":
            assert Path("out.csv").read_text() == '"row","temperature","ids"\n'
        else:
            assert pq.read_table("out.parquet").column_names == ["row", "temperature", "ids"]

    def test_a_column_with_a_name_of_ours(self, rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
        Path("odd.csv").write_text("row,temperature\n7,40\n")
        assert cli.main(["match", "odd.csv", "--rules", str(rules), "--output", "out.csv"]) == 1
        assert "the data has a column 'row', and so do the matches" in capsys.readouterr().err
        assert cli.main(["match", "odd.csv", "--rules", str(rules)]) == 0
        assert capsys.readouterr().out.startswith("row  ids  temperature\n  0  hot           40\n")

    def test_counts_per_rule(self, rules: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        rules.write_text(rules.read_text() + "any,temperature > -100,\nnever,temperature > 1000,\n")
        assert cli.main(["match", str(data), "--rules", str(rules), "--summary"]) == 0
        assert capsys.readouterr().out.splitlines() == [
            "subscription_id  matches",
            "any                    3",
            "cold                   1",
            "hot                    1",
            "never                  0",
            "",
            "3 of 3 rows match, 5 matches; 1 rule never",
        ]
        assert found(capsys, data, "--rules", rules, "--summary")[-1] == {
            "subscription_id": "never",
            "matches": 0,
            "priority": 0,
        }

    def test_rejected_rules_change_the_exit_code(
        self, rules: Path, data: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rules.write_text(rules.read_text() + "bad,temperature >,\n")
        assert len(found(capsys, data, "--rules", rules, code=3)) == 2


class TestWhatIsRead:
    def test_a_published_version(self, rules: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.main(["publish", "--rules", str(rules)]) == 0
        rules.write_text("id,where\nnone,temperature > 1000\n")
        assert cli.main(["publish", "--rules", str(rules)]) == 0
        assert len(found(capsys, data, "--ruleset", "alerts@1")) == 2
        assert len(found(capsys, data, "--ruleset", "alerts")) == 0

    @pytest.mark.parametrize("name", ["d.jsonl", "d.ndjson", "d.json", "d.jsonl.gz", "d.parquet", "d.CSV"])
    def test_every_format(self, name: str, rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
        rows = [{"temperature": 40}, {"temperature": 20}]
        lines = "".join(f"{json.dumps(row)}\n" for row in rows)
        if name == "d.parquet":
            pq.write_table(pa.Table.from_pylist(rows), name)
        elif name == "d.CSV":
            Path(name).write_text("temperature\n40\n20\n")
        else:
            Path(name).write_bytes(gzip.compress(lines.encode()) if name.endswith(".gz") else lines.encode())
        assert found(capsys, name, "--rules", rules) == [{"row": 0, "ids": ["hot"]}]

    def test_json_as_one_array(self, rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
        Path("d.json").write_text('[\n {"temperature": 20},\n {"temperature": 40}\n]')
        assert found(capsys, "d.json", "--rules", rules) == [{"row": 1, "ids": ["hot"]}]

    def test_several_files_and_directories(self, rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
        Path("many/deep").mkdir(parents=True)
        Path("many/a.csv").write_text("temperature\n20\n40\n")
        Path("many/deep/b.csv").write_text("temperature\n-1.5\n")
        Path("many/_hidden.csv").write_text("temperature\n50\n")
        Path("many/notes.txt").write_text("no data")
        Path("c.csv").write_text("temperature\n50\n")
        assert found(capsys, "many", "c.csv", "--rules", rules) == [
            {"file": "c.csv", "row": 0, "ids": ["hot"]},
            {"file": "many/a.csv", "row": 1, "ids": ["hot"]},
            {"file": "many/deep/b.csv", "row": 0, "ids": ["cold"]},
        ]

    def test_timestamps_as_spark_writes_them_are_instants(
        self, rules: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        seen = pa.array([datetime(2024, 5, 1, hour, tzinfo=timezone.utc) for hour in (11, 13)], pa.timestamp("us"))
        pq.write_table(pa.table({"seen": seen}), "int96.parquet", use_deprecated_int96_timestamps=True)
        rules.write_text("id,where\nlate,seen > TIMESTAMP '2024-05-01T12:00:00Z'\n")
        words = ["int96.parquet", "--rules", rules, "--engine", "python", "--columns", "seen"]
        assert found(capsys, *words) == [{"row": 1, "seen": "2024-05-01T13:00:00+00:00", "ids": ["late"]}]

    def test_directories_that_name_values_of_csv_and_json(
        self, rules: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rules.write_text("id,where\nlate,day > DATE '2024-05-01'\nhot,temperature > 30\nnone,place IS NULL\n")
        days = [("2024-05-01", "S%C3%BCd"), ("2024-05-02", "__HIVE_DEFAULT_PARTITION__")]
        for day, place in days:
            for kind, text in (("csv", "temperature\n40\n"), ("json", '{"temperature": 40}')):
                directory = Path(kind, f"day={day}", f"place={place}")
                directory.mkdir(parents=True)
                (directory / f"a.{kind}").write_text(text)
        for kind in ("csv", "json"):
            words = [kind, "--rules", rules, "--engine", "python", "--columns", "*"]
            expected = [
                {"temperature": 40, "day": "2024-05-01", "place": "Süd", "ids": ["hot"]},
                {"temperature": 40, "day": "2024-05-02", "place": None, "ids": ["hot", "late", "none"]},
            ]
            files = [f"{kind}/day={day}/place={place}/a.{kind}" for day, place in days]
            assert found(capsys, *words) == [
                {"file": file, "row": 0, **line} for file, line in zip(files, expected, strict=True)
            ]

    def test_parquet_files_that_contradict_each_other(self, rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
        pq.write_table(pa.table({"temperature": [1]}), "a.parquet")
        pq.write_table(pa.table({"temperature": [{"celsius": 1}]}), "b.parquet")
        assert cli.main(["match", "a.parquet", "b.parquet", "--rules", str(rules)]) == 1
        assert "the columns of a.parquet and the other files differ: " in capsys.readouterr().err

    def test_a_column_without_values(self, rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
        Path("void.csv").write_text("temperature,note\n40,\n")
        for suffix in (".csv", ".parquet", ".jsonl"):
            assert cli.main(["match", "void.csv", "--rules", str(rules), "--output", f"out{suffix}"]) == 0
            assert _read(Path(f"out{suffix}"))[0]["note"] in (None, "")

    def test_a_column_that_is_missing(self, rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
        Path("odd.csv").write_text("temprature\n40\n")
        assert cli.main(["match", "odd.csv", "--rules", str(rules)]) == 1
        said = capsys.readouterr().err
        assert "hot: there is no column `temperature`\n" in said
        assert "The data has: temprature.\n" in said
        assert "--conf spark.sparkrules.missingColumns=null" in said


class TestSpark:
    def test_rules_that_only_spark_can_match(
        self, only_spark: Path, data: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert cli.main(["match", str(data), "--rules", str(only_spark)]) == 0
        said = capsys.readouterr()
        assert said.out.splitlines()[:3] == [
            "row  ids          temperature  place",
            "  0  cellar, hot           35  cellar",
            "  2  cellar                -1  Cellar",
        ]
        assert said.err == "sparkrules: matching with Spark: 1 rule needs it: cellar\n"
        assert cli.main(["match", str(data), "--rules", str(only_spark), "--engine", "python"]) == 1
        assert "some rules need Spark (--engine spark):\n  cellar: " in capsys.readouterr().err

    def test_a_published_version_is_taken_from_its_store(
        self, only_spark: Path, data: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = spark.conf.get("spark.sparkrules.store")
        assert cli.main(["publish", "--rules", str(only_spark), "--ruleset", "alerts"]) == 0
        assert cli.main(["publish", "--rules", str(only_spark), "--ruleset", "alerts"]) == 0
        lines = found(capsys, data, "--ruleset", "alerts@1", "--per", "match")
        assert [(line["row"], line["subscription_id"], line["priority"]) for line in lines] == [
            (0, "cellar", 7),
            (0, "hot", 5),
            (2, "cellar", 7),
        ]
        assert spark.conf.get("spark.sparkrules.store") == before
        assert spark.getActiveSession() is not None
        assert spark.getActiveSession().conf.get("spark.sparkrules.store") == before  # type: ignore[union-attr]

    def test_both_engines_agree_on_all_formats(
        self, spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        instants = [datetime(2024, 5, day, 12, tzinfo=timezone.utc) for day in (1, 2, 3)]
        table = pa.table(
            {
                "i": pa.array([1, None, 3], pa.int32()),
                "d": pa.array([Decimal("1.50"), Decimal("2.50"), None], pa.decimal128(10, 2)),
                "s": ["a", "b", "ä"],
                "seen": pa.array(instants, pa.timestamp("us", "UTC")),
                "void": pa.nulls(3),
                "f": [1.5, float("nan"), 0.0],
            }
        )
        rules = RuleSet("r")
        rules.subscribe_all(
            {"i": "i >= 1", "d": "d > 2", "s": "s < 'b'", "void": "void IS NULL", "f": "f > 1", "null": "i IS NULL"}
        )
        rules.publish()
        pq.write_table(table.drop_columns(["void"]).slice(0, 2), "part [1] of {2}.parquet")
        pq.write_table(table.drop_columns(["void"]).slice(2), "part 2%20.parquet")
        Path("d.csv").write_text(
            "i,d,s,f,void,seen\n1,1.5,a,1.5,,2024-05-01 12:00:00.5Z\n,2.5,b,NaN,,\n3,,ä,0.0,,2024-05-02 12:00:00Z\n"
        )
        Path("d.jsonl").write_text(
            '{"i":1,"d":1.5,"s":"a","f":1.5,"void":null,"x":[],"y":{"z":null}}\n{"s":"b","f":2}\n'
        )
        rules.unsubscribe("void")
        rules.publish()
        for files in (["part [1] of {2}.parquet", "part 2%20.parquet"], ["d.csv"], ["d.jsonl"]):
            version = "r@2" if files[0].endswith("parquet") else "r@1"
            for more in ([], ["--all"], ["--per", "match", "--columns", "i,d,s"], ["--columns", "*"]):
                words = [*files, "--ruleset", version, *more]
                by_python = found(capsys, *words, "--engine", "python")
                assert by_python
                assert found(capsys, *words, "--engine", "spark") == by_python

    def test_files_with_different_columns_and_partitions(
        self, rules: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for name, more in (("p/day=2024-05-01/a", {}), ("p/day=2024-05-02/b", {"place": ["x"]})):
            Path(name).parent.mkdir(parents=True)
            pq.write_table(pa.table({"temperature": [40], **more}), f"{name}.parquet")
        rules.write_text("id,where\nlate,day > DATE '2024-05-01'\nhot,temperature > 30\nplace,place = 'x'\n")
        assert found(capsys, "p", "--rules", rules) == [
            {"file": "p/day=2024-05-01/a.parquet", "row": 0, "ids": ["hot"]},
            {"file": "p/day=2024-05-02/b.parquet", "row": 0, "ids": ["hot", "late", "place"]},
        ]
        assert [line["day"] for line in found(capsys, "p", "--rules", rules, "--columns", "day")] == [
            "2024-05-01",
            "2024-05-02",
        ]
        assert cli.main(["match", "p", "--rules", str(rules), "--engine", "python"]) == 1
        assert "need --engine spark" in capsys.readouterr().err

    def test_settings_of_spark(self, only_spark: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
        Path("odd.csv").write_text("temperature\n40\n")
        assert cli.main(["match", "odd.csv", "--rules", str(only_spark)]) == 1
        said = capsys.readouterr().err
        assert "Spark cannot match: [SPARKRULES] 1 rule of rules@1 is rejected on the input (temperature):" in said
        assert "Settings are given with --conf KEY=VALUE." in said
        missing = ["--conf", "spark.sparkrules.missingColumns=null"]
        assert found(capsys, "odd.csv", "--rules", only_spark, *missing) == [{"row": 0, "ids": ["hot"]}]

    def test_rules_that_are_left_out_are_named(
        self, data: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]
    ) -> None:
        Path("some.csv").write_text("id,where\nhot,temperature > 30\nodd,length(unheard_of) > 3\n")
        skip = ["--conf", "spark.sparkrules.invalidRules=skip"]
        assert cli.main(["match", str(data), "--rules", "some.csv", "--json", *skip]) == 0
        said = capsys.readouterr()
        assert "1 rule skipped (spark.sparkrules.invalidRules=skip):\n  odd: there is no column unheard_of" in said.err
        assert [json.loads(line)["ids"] for line in said.out.splitlines()] == [["hot"]]

    def test_no_matches_are_written_with_their_columns(self, only_spark: Path, spark: SparkSession) -> None:
        Path("d.csv").write_text("temperature,place\n20,attic\n")
        assert cli.main(["match", "d.csv", "--rules", str(only_spark), "--output", "out.parquet"]) == 0
        assert pq.read_schema("out.parquet").names == ["row", "temperature", "place", "ids"]

    @pytest.mark.programs
    def test_a_process_of_its_own_starts_a_spark_that_says_nothing(self, only_spark: Path, data: Path) -> None:
        ran = run("-m", "sparkrules", "match", str(data), "--rules", str(only_spark), "--json")
        assert (ran.returncode, ran.stderr) == (0, "sparkrules: matching with Spark: 1 rule needs it: cellar\n")
        assert [json.loads(line)["ids"] for line in ran.stdout.splitlines()] == [["cellar", "hot"], ["cellar"]]


def test_where_there_is_no_java_that_is_said(
    only_spark: Path, data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    ran = run("-m", "sparkrules", "match", str(data), "--rules", str(only_spark))
    assert ran.returncode == 1
    assert "Traceback" not in ran.stderr
    assert "there is no bin/java in it. Install a Java runtime" in ran.stderr


def _read(file: Path) -> list[dict[str, Any]]:
    if file.suffix == ".parquet":
        rows: list[dict[str, Any]] = pq.read_table(file).to_pylist()
        return rows
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines)) if file.suffix == ".csv" else [json.loads(line) for line in lines]


class TestLabels:
    """Fields of metadata, tags and status."""

    @pytest.fixture
    def labelled(self) -> Path:
        rules = [
            {"id": "hot", "where": "temperature > 30", "metadata": {"severity": 3}, "tags": ["heat"]},
            {"id": "warm", "where": "temperature > 15"},
            {"id": "cold", "where": "temperature < 0", "status": "shadow", "tags": ["heat"]},
            {"id": "odd", "where": "no_such_column > 0", "status": "draft"},
        ]
        Path("labelled.jsonl").write_text("\n".join(map(json.dumps, rules)))
        return Path("labelled.jsonl")

    def test_only_live_rules_match(self, labelled: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert [line["ids"] for line in found(capsys, data, "--rules", labelled)] == [["hot", "warm"], ["warm"]]
        assert cli.main(["match", str(data), "--rules", str(labelled), "--summary"]) == 0
        assert "cold" not in capsys.readouterr().out

    def test_tags_and_status(self, labelled: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        chosen = found(capsys, data, "--rules", labelled, "--tags", "heat")
        assert [line["ids"] for line in chosen] == [["hot"]]
        shadow = found(capsys, data, "--rules", labelled, "--tags", "heat", "--status", "shadow")
        assert [(line["row"], line["ids"]) for line in shadow] == [(2, ["cold"])]
        assert cli.main(["match", str(data), "--rules", str(labelled), "--tags", "haet"]) != 0
        assert "no rule of rule set 'rules' has the tag 'haet'; there are: heat" in capsys.readouterr().err

    def test_fields(self, labelled: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        lines = found(capsys, data, "--rules", labelled, "--per", "match", "--fields", "severity")
        kept = [(line["row"], line["subscription_id"], line["severity"]) for line in lines]
        assert kept == [(0, "hot", 3), (0, "warm", None), (1, "warm", None)]
        for words, message in (
            (["--fields", "severity"], "--fields needs --per match"),
            (["--fields", "titel", "--per", "match"], "no rule of rule set 'rules' has a field 'titel'"),
            (["--fields", "priority", "--per", "match"], "there is a column 'priority' already"),
        ):
            assert cli.main(["match", str(data), "--rules", str(labelled), *words]) != 0
            assert message in capsys.readouterr().err
