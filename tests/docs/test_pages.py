"""Every block of code in README.md and docs/ runs, and prints what the page says it prints."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.docs.blocks import Page, blocks_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
RUN = ("python", "sql")


@pytest.fixture
def settings_kept(spark: SparkSession) -> Iterator[None]:
    """A page leaves the session as it found it."""
    before = _settings(spark)
    views = {table.name for table in spark.catalog.listTables()}
    yield
    for key in _settings(spark).keys() - before.keys():
        spark.conf.unset(key)
    for key, value in before.items():
        if _settings(spark).get(key) != value:
            spark.conf.set(key, value)
    for table in spark.catalog.listTables():
        if table.name not in views:
            spark.sql(f"DROP {'VIEW' if 'VIEW' in table.tableType or table.isTemporary else 'TABLE'} `{table.name}`")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_does_what_it_says(
    path: Path, spark: SparkSession, settings_kept: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spark.conf.set("spark.sparkrules.store", str(tmp_path / "store"))
    page = Page(path, spark, {"spark": spark})
    for block in blocks_of(path.read_text(encoding="utf-8")):
        page.run(block)


def test_there_is_code_to_run() -> None:
    languages = [block.language for path in PAGES for block in blocks_of(path.read_text(encoding="utf-8"))]
    assert sum(language in RUN for language in languages) > 30


def _settings(spark: SparkSession) -> dict[str, str]:
    return {row.key: row.value for row in spark.sql("SET").collect()}
