"""A file of matches is written as a whole, or left unchanged."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sparkrules import SparkRulesError, cli
from sparkrules.cli.match_output import write_tables

TABLE = pa.table({"row": [0, 1], "ids": [["hot"], []]})
SUFFIXES = pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
ERRORS = pytest.mark.parametrize("error", [KeyboardInterrupt(), SparkRulesError("no"), OSError("full"), ValueError()])


def _broken_off(error: BaseException) -> Iterator[pa.Table]:
    yield TABLE
    raise error


def _names(directory: str = ".") -> list[str]:
    return sorted(file.name for file in Path(directory).iterdir())


@SUFFIXES
@ERRORS
def test_what_breaks_off_leaves_the_file_as_it_was(error: BaseException, suffix: str) -> None:
    out = Path(f"out{suffix}")
    out.write_text("old")
    with pytest.raises(SparkRulesError if isinstance(error, OSError) else type(error)):
        write_tables(_broken_off(error), out)
    assert out.read_text() == "old"
    assert _names() == [out.name]


@SUFFIXES
def test_what_breaks_off_leaves_no_new_file(suffix: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        write_tables(_broken_off(KeyboardInterrupt()), Path(f"out{suffix}"))
    assert _names() == []


def test_data_that_is_broken_in_the_middle(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        pq.write_table(pa.table({"temperature": range(1000)}), f"{name}.parquet")
    with Path("b.parquet").open("r+b") as file:
        file.seek(4)  # behind the first bytes, which say that this is Parquet; what the file has in it is at its end
        file.write(b"\xff" * 100)
    Path("out.csv").write_text("old")
    before = _names()
    words = ["match", "a.parquet", "b.parquet", "--rules", str(rules), "--engine", "python", "--output", "out.csv"]
    assert cli.main(words) == 1
    assert "b.parquet cannot be read: " in capsys.readouterr().err
    assert Path("out.csv").read_text() == "old"
    assert _names() == before


def test_a_file_that_is_replaced_keeps_its_mode_and_its_links() -> None:
    Path("there").mkdir()
    Path("there/real").write_text("old")
    Path("there/real").chmod(0o640)
    Path("out.jsonl").symlink_to("there/real")
    assert write_tables([TABLE, TABLE], Path("out.jsonl")) == 4
    assert Path("out.jsonl").is_symlink()
    assert Path("there/real").read_text() == '{"row": 0, "ids": ["hot"]}\n{"row": 1, "ids": []}\n' * 2
    assert stat.S_IMODE(Path("there/real").stat().st_mode) == 0o640
    assert _names("there") == ["real"]


def test_a_new_file_may_be_read_by_those_who_may_read_others() -> None:
    Path("other").touch()
    write_tables([TABLE], Path("out.parquet"))
    assert Path("out.parquet").stat().st_mode == Path("other").stat().st_mode


def test_a_pipe_is_written_to() -> None:
    os.mkfifo("pipe.jsonl")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe.jsonl").read_text()))
    reader.start()
    write_tables([TABLE], Path("pipe.jsonl"))
    reader.join(10)
    assert read == ['{"row": 0, "ids": ["hot"]}\n{"row": 1, "ids": []}\n']
    assert Path("pipe.jsonl").is_fifo()


def test_a_directory_is_not_replaced() -> None:
    Path("out.csv").mkdir()
    with pytest.raises(SparkRulesError, match=r"^out\.csv cannot be written: "):
        write_tables([TABLE], Path("out.csv"))
    assert Path("out.csv").is_dir()
