"""What holds for all tests: those in `tests`, and the doctests of the source."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _own_default_store(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test, nor doctest, writes to the store of whoever runs it."""
    monkeypatch.setenv("SPARKRULES_STORE", str(tmp_path_factory.getbasetemp() / "default-store"))
