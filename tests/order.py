"""Which tests belong together when workers share the suite, and in which order they are handed out.

`make test` has several workers, each with a Spark of its own. Tests that share a server or other costly fixtures go to
one worker, as a group. The longest groups come first: so no worker is left with a long one when the others are done.
"""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# Group: the files or folders in it. Longest first; every other file is a group of its own and comes after these.
GROUPS: dict[str, tuple[str, ...]] = {
    "connect": ("tests/servers/test_connect.py",),
    "thrift": (
        "tests/servers/test_thrift.py",
        "tests/servers/test_thrift_clients.py",
        "tests/servers/test_bi_page.py",
    ),
    "doctests": ("sparkrules", "docs"),
}


def arrange(items: list[pytest.Item]) -> None:
    """Give each test its group, and sort the tests by group."""
    names = list(GROUPS)
    place = {item: _group(item.path.relative_to(ROOT).as_posix()) for item in items}
    for item, group in place.items():
        item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: names.index(place[item]) if place[item] in GROUPS else len(names))


def _group(path: str) -> str:
    for name, members in GROUPS.items():
        if any(path == member or path.startswith(f"{member}/") for member in members):
            return name
    return path
