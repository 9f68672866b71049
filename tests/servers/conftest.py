"""Adds server output to the report of a failed test. One Thrift server serves all tests that need one."""

from __future__ import annotations

import getpass
from collections.abc import Iterator

import pytest

from tests.servers.processes import logs_shown_on_failure
from tests.servers.thrift import BOOKS, SETTINGS, Thrift, publish, running
from tests.servers.thrift import connected as connected


@pytest.fixture(autouse=True)
def _server_logs() -> Iterator[None]:
    with logs_shown_on_failure():
        yield


@pytest.fixture(scope="package")
def thrift(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Thrift]:
    """With a table `books`, and the rule set `goods` for calls that name none. Who runs the tests may change rules."""
    store = tmp_path_factory.mktemp("thrift-store") / "rules"
    publish(store, "goods")
    settings = {**SETTINGS, "spark.sparkrules.admins": f"somebody, {getpass.getuser()}"}
    with running(store, tmp_path_factory.mktemp("thrift"), "goods", settings) as server:
        client = server.connect()
        client.rows(f"CREATE TABLE books USING parquet AS SELECT * FROM {BOOKS}")
        client.close()
        yield server
