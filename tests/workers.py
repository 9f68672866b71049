"""How pytest-xdist distributes the tests to workers: by the groups of `tests/order.py`, in their order.

xdist's own `--dist loadgroup` writes the group into the names of tests, which pytest 9.2 no longer allows.
"""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.order import group, place


class _Groups(LoadScopeScheduling):
    """A group is what xdist calls a scope: its tests go to one worker, one after the other."""

    def _split_scope(self, nodeid: str) -> str:
        return group(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _Groups:
    config.option.loadscopereorder = False  # the order of `pytest_collection_modifyitems`, not the largest scope first
    return _Groups(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: place(item.nodeid))
