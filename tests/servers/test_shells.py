"""The shells that come with Spark, as the documentation shows them: `spark-sql`, and Scala in `spark-shell`."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from sparkrules.catalyst.jar import jar_path
from tests.docs.blocks import Block, blocks_of
from tests.servers.processes import own_environment, spark_command
from tests.servers.thrift import publish

PAGE = Path(__file__).resolve().parents[2] / "docs" / "operating.md"
SMALL = (
    "--master",
    "local[1]",
    "--conf",
    "spark.driver.memory=1g",
    "--conf",
    "spark.ui.enabled=false",
    "--conf",
    "spark.sql.catalogImplementation=in-memory",
)


@pytest.fixture
def blocks(tmp_path: Path) -> list[Block]:
    """Those of the section; the rules that they use are published."""
    found = re.search(r"^## Scala and the spark-sql shell\n(.*?)^## ", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert found
    blocks = blocks_of(found.group(1))
    rules = dict(line.split(",") for line in _block(blocks, "csv").splitlines()[1:])
    publish(tmp_path / "rules", "numbers", rules)
    return blocks


def test_spark_sql(blocks: list[Block], tmp_path: Path) -> None:
    said = _run(_line(blocks, "spark-sql"), tmp_path)
    assert said.splitlines() == ['0\t["small"]', '1\t["odd","small"]', "2\t[]"]


def test_scala(blocks: list[Block], tmp_path: Path) -> None:
    said = _run(_line(blocks, "spark-shell"), tmp_path, _block(blocks, "scala"))
    shown = [
        re.findall(r"^\|\s*(\d+)\|\s*(.*?)\|$", table, re.M) for table in said.split("scala> ") if "+---+" in table
    ]
    assert shown == [
        [("0", "[small]"), ("1", "[odd, small]"), ("2", "[]"), ("3", "[odd]")],
        [("1", "[odd, small]")],
        [("0", "small"), ("1", "odd"), ("1", "small")],
    ]


def _block(blocks: list[Block], language: str) -> str:
    (text,) = (block.text for block in blocks if block.language == language)
    return text


def _line(blocks: list[Block], command: str) -> str:
    (line,) = (
        line
        for block in blocks
        for line in block.text.replace("\\\n", " ").splitlines()
        if line.startswith(f"{command} ")
    )
    return line


def _run(line: str, directory: Path, text: str = "") -> str:
    command, *options = (jar_path() if word == "$(sparkrules jar-path)" else word for word in shlex.split(line))
    words = [spark_command(command), *SMALL, *options]
    ran = subprocess.run(words, cwd=directory, env=own_environment(), input=text, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
