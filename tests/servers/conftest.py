"""What servers said is part of the report of a test that failed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.processes import logs_shown_on_failure


@pytest.fixture(autouse=True)
def _server_logs() -> Iterator[None]:
    with logs_shown_on_failure():
        yield
