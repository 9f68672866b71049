"""The scripts in examples/ run on the shared session. Each checks its own result."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(
    path: Path,
    spark: SparkSession,
    settings_kept: None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    spark.conf.set("spark.sparkrules.store", str(tmp_path / "store"))
    names = runpy.run_path(str(path))
    assert names["main"](spark)
    assert capsys.readouterr().out
