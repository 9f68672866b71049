"""Rules in a Thrift server, as any JDBC or ODBC client sees them; here the client is PyHive."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyhive import hive  # type: ignore[import-untyped]

import sparkrules
from tests.servers.processes import spark_command, started

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


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("thrift-store")


@pytest.fixture(scope="module")
def port(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    directory = tmp_path_factory.mktemp("thrift")
    settings = {
        "spark.driver.memory": "1g",
        "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:memory:metastore;create=true",
        "spark.sparkrules.store": str(store),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(directory / "warehouse"),
        "spark.ui.enabled": "false",
    }
    command = [
        *(spark_command("spark-submit"), "--master", "local[2]", "--jars", sparkrules.jar_path()),
        *(word for key, value in settings.items() for word in ("--conf", f"{key}={value}")),
        *("--class", "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2", "spark-internal"),
        *("--hiveconf", "hive.server2.thrift.bind.host=127.0.0.1", "--hiveconf", "hive.server2.thrift.port=0"),
    ]
    with started("thrift-server", command, directory) as server:
        said = server.wait_until_it_says(r"Starting ThriftBinaryCLIService on port (\d+)")
        server.wait_until_it_says("HiveThriftServer2 started")
        yield int(said.group(1))


class Client:
    """One connection, and so one session of the server."""

    def __init__(self, port: int) -> None:
        self.connection = hive.connect("127.0.0.1", port)

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        with self.connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def error(self, statement: str) -> str:
        with pytest.raises(hive.OperationalError) as caught:
            self.rows(statement)
        message: str = caught.value.args[0].status.errorMessage
        return message


@pytest.fixture
def client(port: int) -> Iterator[Client]:
    client = Client(port)
    client.rows(f"CREATE TABLE IF NOT EXISTS books USING parquet AS SELECT * FROM {BOOKS}")
    yield client
    client.connection.close()


@pytest.fixture
def rules(store: Path, request: pytest.FixtureRequest) -> sparkrules.RuleSet:
    rules = sparkrules.RuleSet(request.node.name)
    rules.subscribe_all(RULES)
    assert rules.rejected == []
    rules.publish(store=store)
    return rules


def test_the_function_matches_as_where_does(client: Client, rules: sparkrules.RuleSet) -> None:
    found = client.rows(f"SELECT id, m.ids, m FROM (SELECT *, match_subscriptions('{rules.name}', *) AS m FROM books)")
    kept = {(id, rule) for rule, where in RULES.items() for (id,) in client.rows(f"SELECT id FROM books WHERE {where}")}
    # Hive's protocol has no arrays and structs for clients: they arrive as JSON.
    assert {(id, rule) for id, ids, _ in found for rule in json.loads(ids)} == kept
    assert len(kept) == 9
    whole = {id: json.loads(matches) for id, _, matches in found}
    assert whole[0] == {"ids": ["cheap", "cheap-and-new", "opaque", "text"], "overlaps": [["cheap", "cheap-and-new"]]}


def test_the_table_function_gives_a_row_per_match(client: Client, rules: sparkrules.RuleSet) -> None:
    matches = f"match_subscriptions('{rules.name}', TABLE(books))"
    query = f"SELECT id, subscription_id, overlap FROM {matches} WHERE id < 2 ORDER BY id, subscription_id"
    assert client.rows(query) == [
        (0, "cheap", '["cheap-and-new"]'),
        (0, "cheap-and-new", '["cheap"]'),
        (0, "opaque", "[]"),
        (0, "text", "[]"),
        (1, "opaque", "[]"),
        (1, "text", "[]"),
    ]


def test_the_next_query_of_a_connection_sees_a_new_version(
    client: Client, rules: sparkrules.RuleSet, store: Path
) -> None:
    query = f"SELECT id FROM books WHERE size(match_subscriptions('{rules.name}', *).ids) > 0 ORDER BY id"
    assert client.rows(query) == [(0,), (1,), (2,), (3,)]
    for id in ("cheap", "text", "opaque"):
        rules.unsubscribe(id)
    rules.publish(store=store)
    assert client.rows(query) == [(0,), (2,)]
    assert client.rows(query.replace(rules.name, f"{rules.name}@1")) == [(0,), (1,), (2,), (3,)]


def test_views_are_shared_by_connections_and_follow_the_newest_version(
    client: Client, rules: sparkrules.RuleSet, store: Path, port: int
) -> None:
    client.rows(f"CREATE VIEW matched AS SELECT id, match_subscriptions('{rules.name}', *).ids AS ids FROM books")
    client.rows(f"CREATE VIEW flat AS SELECT * FROM match_subscriptions('{rules.name}', TABLE(books))")
    client.rows(f"SET spark.sparkrules.ruleset={rules.name}")
    assert client.rows("SELECT match_subscriptions(*).ids FROM books WHERE id = 2") == [('["no-price"]',)]
    other = Client(port)
    try:
        assert other.rows("SELECT ids FROM matched WHERE id = 2") == [('["no-price"]',)]
        assert other.rows("SELECT subscription_id FROM flat WHERE id = 2") == [("no-price",)]
        rules.unsubscribe("no-price")
        rules.subscribe("second", "id = 2")
        rules.publish(store=store)
        assert other.rows("SELECT ids FROM matched WHERE id = 2") == [('["second"]',)]
        assert client.rows("SELECT subscription_id FROM flat WHERE id = 2") == [("second",)]
    finally:
        other.connection.close()


def test_the_catalog_is_there_for_any_client(client: Client, rules: sparkrules.RuleSet, port: int) -> None:
    table = f"sparkrules.{rules.name}.subscriptions"
    assert ("sparkrules",) in client.rows("SHOW CATALOGS")
    assert (rules.name,) in client.rows("SHOW NAMESPACES IN sparkrules")
    names = [row[1] for row in client.rows(f"SHOW TABLES IN sparkrules.{rules.name}")]
    assert names == ["predicates", "rejected", "statistics", "subscriptions", "versions"]
    assert dict(client.rows(f"SELECT id, `where` FROM {table}")) == RULES
    constants = f"SELECT constants FROM sparkrules.{rules.name}.predicates WHERE predicate = 'price < 10'"
    assert client.rows(constants) == [('["10"]',)]
    assert client.rows(f"CALL sparkrules.unsubscribe('{rules.name}', array('cheap', 'text'))") == [
        (rules.name, 2, 3, 2)
    ]
    # Clients come and go; Hive then closes the class loader of the first.
    other = Client(port)
    try:
        assert other.rows(f"SELECT count(*) FROM {table}") == [(3,)]
        assert other.rows(f"CALL sparkrules.rollback('{rules.name}', 1)") == [(rules.name, 3, 5)]
    finally:
        other.connection.close()
    assert client.rows(f"SELECT count(*) FROM {table}") == [(5,)]
    assert client.rows(f"SELECT count(*) FROM {table} VERSION AS OF 2") == [(3,)]
    assert "There is no version 9" in client.error(f"CALL sparkrules.rollback('{rules.name}', 9)")
    assert "is not the name of a rule set" in client.error("CALL sparkrules.refresh('../x')")


def test_errors_are_readable(client: Client, store: Path) -> None:
    unfit = sparkrules.RuleSet("unfit")
    unfit.subscribe("typo", "prise > 1")
    unfit.publish(store=store)
    message = client.error("SELECT match_subscriptions('unfit', *) FROM books")
    assert "1 rule of unfit@1 cannot be used on the input (id, price, state, title)" in message
    assert "'typo': there is no column prise" in message
    assert "There is no rule set 'nothing'" in client.error("SELECT match_subscriptions('nothing', *) FROM books")
    assert "TABLE(t)" in client.error("SELECT * FROM match_subscriptions('unfit')")
    assert client.rows("SELECT count(*) FROM books") == [(4,)], "the connection is still good"
