"""A small demo runs the way a user runs it, and its output is correct."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sparkrules
from sparkrules import demo
from sparkrules.demo.auctions import auction_rows, auction_rules, write_auctions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(scope="module")
def auctions(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    directory = tmp_path_factory.mktemp("auctions")
    write_auctions(auction_rows(2_000, seed=3), directory)
    return spark.read.parquet(str(directory))


def test_rows_are_written_whole_and_in_several_files(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    write_auctions(auction_rows(105), tmp_path, files=10)
    assert len(list(tmp_path.glob("*.parquet"))) == 10
    assert pq.read_table(tmp_path).column("auction").to_pylist() == list(range(105))


def test_another_seed_gives_other_rules() -> None:
    assert list(auction_rules(20, seed=1)) == list(auction_rules(20, seed=1)) != list(auction_rules(20, seed=2))


def test_plain_spark_gives_the_same_answer(spark: SparkSession, auctions: DataFrame) -> None:
    from sparkrules.demo.plain import compare_with_plain_spark

    compared = compare_with_plain_spark(spark, auctions, seed=3)
    assert (compared.same, compared.rows) == (True, 2_000)
    assert compared.matches > 100


def test_an_overlap_set_is_explained(auctions: DataFrame) -> None:
    from sparkrules.demo.explained import explained_overlap

    rules = sparkrules.RuleSet("demo_overlap")
    rules.subscribe_all(auction_rules(1_000, seed=3))
    explained = explained_overlap(auctions, rules, width=100)
    assert explained is not None
    assert "they share    " in explained
    assert " matches\n  ✓ " in explained
    assert max(map(len, explained.splitlines())) <= 100


def test_wrong_usage_is_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        demo.main(["--rows", "0"])
    assert stopped.value.code == 2
    assert "at least 1 is needed" in capsys.readouterr().err


@pytest.mark.programs
def test_the_whole_demo_in_a_process_of_its_own() -> None:
    sparkrules.jar_path()  # where it must be built, that is said on stderr
    command = [sys.executable, "-m", "sparkrules.cli", "demo", "--rules", "300", "--rows", "5000"]
    root = Path(__file__).resolve().parents[2]
    ran = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=300, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "300 rules on 5,000 book auctions" in ran.stdout
    assert re.search("match / floor +[0-9.]+ x", ran.stdout)
    assert re.search("equal +yes", ran.stdout)
