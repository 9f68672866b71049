"""A Thrift server started by `sparkrules thriftserver`, and a connection to it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyhive import hive  # type: ignore[import-untyped]

import sparkrules
from sparkrules.catalyst.thrift_server import ThriftServer
from sparkrules.cli.thriftserver_command import add_thriftserver, server_of
from tests.servers.processes import Program, started

SETTINGS = {"spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "2", "spark.ui.enabled": "false"}
RULES = {
    "cheap": "price < 10",
    "cheap-and-new": "price < 10 AND state = 'new'",
    "text": "title LIKE '%pot%' OR upper(state) = 'USED'",
    "opaque": "price > id * 5",
    "no-price": "price IS NULL",
}
BOOKS = """
    VALUES (0, 5.0D, 'new', 'teapot'), (1, 12.5D, 'used', 'kettle'), (2, NULL, NULL, NULL), (3, 9.0D, 'newer', 'pots')
    AS books(id, price, state, title)"""


@dataclass(frozen=True)
class Thrift:
    """A server that is ready: the program that was started, and what it said of itself."""

    program: Program
    store: Path
    port: int
    pid: int
    jdbc_url: str
    said: Mapping[str, Any]

    def connect(self) -> Client:
        return Client(self.port)


class Client:
    """One connection of PyHive, and so one session of the server."""

    def __init__(self, port: int, user: str | None = None) -> None:
        self.connection = hive.connect("127.0.0.1", port, username=user)

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        with self.connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def error(self, statement: str) -> str:
        with pytest.raises(hive.OperationalError) as caught:
            self.rows(statement)
        message: str = caught.value.args[0].status.errorMessage
        return message

    def close(self) -> None:
        self.connection.close()


@pytest.fixture(name="client")
def connected(thrift: Thrift) -> Iterator[Client]:
    """For a conftest to import: a connection to the server that its fixture `thrift` gives."""
    client = thrift.connect()
    yield client
    client.close()


def publish(store: Path, name: str, rules: Mapping[str, str] = RULES) -> sparkrules.RuleSet:
    """A rule set that was published to a store."""
    made = sparkrules.RuleSet(name)
    made.subscribe_all(rules)
    assert made.rejected == []
    made.store = store
    made.publish()
    return made


def thriftserver(store: Path, rule_set: str, *options: str, settings: Mapping[str, str] = SETTINGS) -> list[str]:
    """The words of the command."""
    return [
        *(sys.executable, "-m", "sparkrules.cli", "thriftserver", "--store", str(store), "--ruleset", rule_set),
        *("--port", "0", "--master", "local[2]", "--json"),
        *(word for key, value in settings.items() for word in ("--conf", f"{key}={value}")),
        *options,
    ]


def parsed(options: Sequence[str]) -> ThriftServer:
    """The server that options of the command describe."""
    parser = argparse.ArgumentParser()
    add_thriftserver(parser.add_subparsers())
    return server_of(parser.parse_args(["thriftserver", *options]))


@contextmanager
def running(
    store: Path,
    directory: Path,
    rule_set: str,
    settings: Mapping[str, str] = SETTINGS,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Thrift]:
    """A server with a warehouse in `directory`, until the end of the block."""
    command = thriftserver(store, rule_set, "--warehouse", str(directory / "warehouse"), settings=settings)
    with started("thriftserver", command, directory, environment) as program:
        said = json.loads(program.wait_until_it_says(r"^\{.*\}$").group())
        yield Thrift(program, store, said["port"], said["pid"], said["jdbc_url"], said)
