"""The notebooks of examples/ run from top to bottom in a fresh kernel, and print what is stored in them."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tests.docs.notebooks import NOTEBOOKS, executed, outputs


@pytest.mark.programs
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_is_stored_in_it(path: Path) -> None:
    stored = outputs(nbformat.read(path, as_version=4))
    assert any(stored)
    assert outputs(executed(path)) == stored


def test_there_are_notebooks() -> None:
    assert {path.stem for path in NOTEBOOKS} >= {"quickstart", "understanding_rules"}
