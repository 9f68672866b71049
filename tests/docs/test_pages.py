"""Every block of code in README.md and docs/ runs, and prints what the page says it prints."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sparkrules.lint.finding import KINDS
from tests.docs.blocks import Page, blocks_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUN = ("python", "sql")
SERVED = ("bi",)  # its blocks talk to a server: tests/servers/test_bi_page.py


@pytest.mark.parametrize(
    "path",
    [path for path in PAGES if path.stem not in SERVED],
    ids=lambda path: str(path.relative_to(ROOT).with_suffix("")),
)
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


def test_every_kind_of_finding_is_documented() -> None:
    page = (ROOT / "docs" / "overlap.md").read_text(encoding="utf-8")
    assert [kind for kind in KINDS if f"| `{kind}` |" not in page] == []


def test_every_function_is_documented() -> None:
    reference = (ROOT / "docs" / "sql-reference.md").read_text(encoding="utf-8")
    source = ROOT / "jars" / "src" / "main" / "scala" / "sparkrules"
    files = [*source.rglob("Functions.scala"), *source.rglob("Question.scala")]
    code = "".join(file.read_text(encoding="utf-8") for file in files)
    functions = re.findall(r'(?:scalar|FunctionIdentifier|extends OfRegion)\(\s*"(\w+)"', code)
    functions += re.findall(r'extends OfRegion\("\w+", "(\w+)"', code)
    assert {"overlap_any_subscription", "overlap_any_advertisement"} <= set(functions)
    assert {"match_subscriptions", "overlap_subscriptions", "overlap_advertisements", "overlaps"} <= set(functions)
    assert [name for name in functions if f"## {name}" not in reference] == []
