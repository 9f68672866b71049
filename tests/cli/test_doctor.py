"""`sparkrules doctor` names what is broken, with the fix, and exits with code 1."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sparkrules import __version__, cli
from tests.store.resealed import unverified

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def checked(capsys: pytest.CaptureFixture[str], code: int, *words: str) -> dict[str, dict[str, Any]]:
    capsys.readouterr()
    assert cli.main(["doctor", "--no-spark", "--json", *words]) == code
    said = json.loads(capsys.readouterr().out)
    assert (said["sparkrules"], said["ok"]) == (__version__, code == 0)
    return {check["name"]: check for check in said["checks"]}


def test_all_is_well(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["publish", "--rules", str(rules)]) == 0
    found = checked(capsys, 0)
    assert {name: found[name]["status"] for name in ("Python", "PySpark", "Java", "pyarrow", "store", "Spark")} == {
        **dict.fromkeys(("Python", "PySpark", "Java", "pyarrow", "store"), "ok"),
        "Spark": "skipped",
    }
    assert found["rule set alerts"]["found"] == "1 version, the newest 1: 2 rules"


def test_spark_is_tried(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert f"{spark.version} starts with the plugin and matches, in " in said
    assert said.endswith("\neverything works\n")


def test_no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    java = checked(capsys, 1)["Java"]
    assert java["status"] == "broken"
    assert "there is no bin/java in it. Install a Java runtime" in java["found"]
    assert cli.main(["doctor"]) == 1
    assert "skipped  Spark             not started: fix the above first\n" in capsys.readouterr().out


def test_another_spark_than_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "spark-core_2.13-4.9.0.jar").touch()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    pyspark = checked(capsys, 1)["PySpark"]
    assert "4.9.0" in pyspark["found"]
    assert pyspark["fix"].startswith("Unset SPARK_HOME")


def test_a_jar_that_is_not_built_yet(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPARKRULES_CACHE", str(tmp_path / "cache"))
    assert checked(capsys, 0)["plugin"]["found"].startswith("not built yet")


def test_a_store_that_is_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("store").touch()
    assert checked(capsys, 1)["store"]["found"].endswith(" is a file")


def test_a_damaged_manifest(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert cli.main(["publish", "--rules", str(rules)]) == 0
    Path("store/alerts/versions/1.json").write_text("{")
    found = checked(capsys, 1)["rule set alerts"]
    assert "1.json is not a manifest" in found["found"]
    assert "sparkrules rollback --ruleset alerts N" in found["fix"]


def test_a_segment_that_is_gone(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["publish", "--rules", str(rules)]) == 0
    shutil.rmtree("store/alerts/segments")
    assert checked(capsys, 1)["rule set alerts"]["status"] == "broken"
    assert cli.main(["doctor", "--no-spark"]) == 1
    said = capsys.readouterr().out
    assert said.endswith("\nbroken: rule set alerts\n")
    assert "→ Restore a backup" in said


def test_versions_without_checksums_and_other_files_that_are_damaged(
    rules: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["publish", "--rules", str(rules)]) == 0
    home = Path("store/alerts")
    (home / "tickets.key").write_bytes(b"short")
    assert "tickets.key is damaged" in checked(capsys, 1)["rule set alerts"]["found"]
    (home / "tickets.key").unlink()
    segment = next((home / "segments").iterdir())
    functions = segment / "functions.arrow"
    functions.write_bytes(functions.read_bytes() + b"x")
    assert "functions.arrow is damaged" in checked(capsys, 1)["rule set alerts"]["found"]
    functions.write_bytes(functions.read_bytes()[:-1])
    unverified(home)
    found = checked(capsys, 0)["rule set alerts"]
    assert found["status"] == "note"
    assert "unverified" in found["found"]
