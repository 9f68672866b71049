"""A store, a file of rules and a file of data, in a directory in which commands run."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPARKRULES_STORE", str(tmp_path / "store"))


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    (tmp_path / "alerts.csv").write_text("id,where,priority\nhot,temperature > 30,5\ncold,temperature < 0,\n")
    return tmp_path / "alerts.csv"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data.csv").write_text("temperature,place\n35,cellar\n20,attic\n-1,Cellar\n")
    return tmp_path / "data.csv"
