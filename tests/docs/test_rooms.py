"""The pages about the source name every room, and no file that does not exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ROOT / "jars" / "src" / "main" / "scala" / "sparkrules"
PAGES = [ROOT / "docs" / name for name in ("architecture.md", "how-it-works.md")]
PYTHON_ROOMS = sorted(path.parent.name for path in (ROOT / "sparkrules").glob("*/__init__.py"))
SCALA_ROOMS = sorted(path.name for path in PLUGIN.iterdir() if path.is_dir())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_room_is_on_the_map(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    missing = [room for room in PYTHON_ROOMS if not re.search(rf"sparkrules/{room}`|^  {room}/", text, re.MULTILINE)]
    missing += [room for room in SCALA_ROOMS if not re.search(rf"^\| `{room}` \||^    {room}/", text, re.MULTILINE)]
    assert missing == [], f"add these rooms to {page.name}"


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.stem)
def test_files_that_are_named_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    files = [ROOT / name for name in re.findall(r"`((?:sparkrules|tests|docs)/[\w/.-]+)`", text)]
    files += [PLUGIN / name for name in re.findall(r"`(\w+/\w+\.scala)`", text)]
    assert files
    assert [str(file.relative_to(ROOT)) for file in files if not file.exists()] == []
