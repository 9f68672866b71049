"""Servers of object stores, one of each per test worker."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from tests.stores.s3_server import BUCKET, S3Server, environment, missing_package, s3_server

_numbers = itertools.count(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name == "stores":
            item.add_marker(pytest.mark.programs)


@pytest.fixture(scope="session")
def server() -> Iterator[S3Server]:
    reason = missing_package()
    if reason is not None:
        pytest.skip(reason)
    with s3_server() as running:
        yield running


@pytest.fixture
def s3(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """The server, which the environment of the test names."""
    for name, value in environment(server.endpoint).items():
        monkeypatch.setenv(name, value)
    return server


@pytest.fixture
def prefix(s3: S3Server) -> str:
    """A directory in the bucket for one test."""
    return f"test-{next(_numbers)}"


@pytest.fixture
def url(prefix: str) -> str:
    """A store for one test."""
    return f"s3://{BUCKET}/{prefix}"
