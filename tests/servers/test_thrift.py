"""Rules in a Thrift server, as any JDBC or ODBC client sees them; here the client is PyHive."""

from __future__ import annotations

import json

import pytest

import sparkrules
from tests.servers.thrift import RULES, Client, Thrift, publish
from tests.spark.logins import COLUMNS, DETECTED, LOGINS, alerts


@pytest.fixture
def rules(thrift: Thrift, request: pytest.FixtureRequest) -> sparkrules.RuleSet:
    return publish(thrift.store, request.node.name)


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


def test_a_match_has_fields_of_its_rule(client: Client, thrift: Thrift) -> None:
    made = sparkrules.RuleSet("thrift_fields", store=thrift.store)
    made.subscribe("some", "id < 2", metadata={"severity": 3}, tags=["t"])
    made.subscribe("first", "id = 0", status="shadow", tags=["t"])
    made.publish()
    arguments = "fields => array('severity'), tags => array('t'), shadow => true"
    found = client.rows(
        "SELECT id, subscription_id, severity, version, status FROM "
        f"match_subscriptions('thrift_fields', TABLE(books), {arguments}) ORDER BY id, status"
    )
    assert found == [(0, "some", 3, 1, "live"), (0, "first", None, 1, "shadow"), (1, "some", 3, 1, "live")]


def test_the_next_query_of_a_connection_sees_a_new_version(
    client: Client, rules: sparkrules.RuleSet, thrift: Thrift
) -> None:
    query = f"SELECT id FROM books WHERE size(match_subscriptions('{rules.name}', *).ids) > 0 ORDER BY id"
    assert client.rows(query) == [(0,), (1,), (2,), (3,)]
    for id in ("cheap", "text", "opaque"):
        rules.unsubscribe(id)
    rules.store = thrift.store
    rules.publish()
    assert client.rows(query) == [(0,), (2,)]
    assert client.rows(query.replace(rules.name, f"{rules.name}@1")) == [(0,), (1,), (2,), (3,)]


def test_views_are_shared_by_connections_and_follow_the_newest_version(
    client: Client, rules: sparkrules.RuleSet, thrift: Thrift
) -> None:
    client.rows(f"CREATE VIEW matched AS SELECT id, match_subscriptions('{rules.name}', *).ids AS ids FROM books")
    client.rows(f"CREATE VIEW flat AS SELECT * FROM match_subscriptions('{rules.name}', TABLE(books))")
    client.rows(f"SET spark.sparkrules.ruleset={rules.name}")
    assert client.rows("SELECT match_subscriptions(*).ids FROM books WHERE id = 2") == [('["no-price"]',)]
    other = thrift.connect()
    try:
        assert other.rows("SELECT ids FROM matched WHERE id = 2") == [('["no-price"]',)]
        assert other.rows("SELECT subscription_id FROM flat WHERE id = 2") == [("no-price",)]
        rules.unsubscribe("no-price")
        rules.subscribe("second", "id = 2")
        rules.store = thrift.store
        rules.publish()
        assert other.rows("SELECT ids FROM matched WHERE id = 2") == [('["second"]',)]
        assert client.rows("SELECT subscription_id FROM flat WHERE id = 2") == [("second",)]
    finally:
        other.close()


def test_the_catalog_is_there_for_any_client(client: Client, rules: sparkrules.RuleSet, thrift: Thrift) -> None:
    table = f"sparkrules.{rules.name}.subscriptions"
    assert ("sparkrules",) in client.rows("SHOW CATALOGS")
    assert (rules.name,) in client.rows("SHOW NAMESPACES IN sparkrules")
    names = [row[1] for row in client.rows(f"SHOW TABLES IN sparkrules.{rules.name}")]
    assert names == [
        "advertisements",
        "lists",
        "overlaps",
        "patterns",
        "predicates",
        "rejected",
        "selectivity",
        "statistics",
        "subscriptions",
        "versions",
    ]
    assert dict(client.rows(f"SELECT id, `where` FROM {table}")) == RULES
    constants = f"SELECT constants FROM sparkrules.{rules.name}.predicates WHERE predicate = 'price < 10'"
    assert client.rows(constants) == [('["10"]',)]
    assert client.rows(f"CALL sparkrules.unsubscribe('{rules.name}', array('cheap', 'text'))") == [
        (rules.name, 2, 3, 2)
    ]
    # Clients come and go; Hive then closes the class loader of the first.
    other = thrift.connect()
    try:
        assert other.rows(f"SELECT count(*) FROM {table}") == [(3,)]
        assert other.rows(f"CALL sparkrules.rollback('{rules.name}', 1)") == [(rules.name, 3, 5)]
    finally:
        other.close()
    assert client.rows(f"SELECT count(*) FROM {table}") == [(5,)]
    assert client.rows(f"SELECT count(*) FROM {table} VERSION AS OF 2") == [(3,)]
    assert "There is no version 9" in client.error(f"CALL sparkrules.rollback('{rules.name}', 9)")
    assert "is not the name of a rule set" in client.error("CALL sparkrules.refresh('../x')")


def test_rules_by_sql_alone(client: Client, thrift: Thrift) -> None:
    name = "by_sql"
    made = client.rows(f"CALL sparkrules.subscribe('{name}', 'cheap', 'price < 10', metadata => map('a', 'b'))")
    assert made == [(name, 1, 1, None)]
    client.rows("CREATE TABLE rule_rows USING parquet AS SELECT 'new' AS id, \"state = 'new'\" AS `where`")
    published = client.rows(f"CALL sparkrules.publish('{name}', table => 'rule_rows')")
    assert sorted(row[:3] for row in published) == [(2, "added", "new"), (2, "removed", "cheap")]
    assert client.rows(f"SELECT id FROM match_subscriptions('{name}', TABLE(books))") == [(0,)]
    message = client.error(f"CALL sparkrules.subscribe('{name}', 'broken', 'price <')")
    assert "rule 'broken': expected a value at line 1, column 8" in message


def test_only_admins_change_rules(client: Client, thrift: Thrift, rules: sparkrules.RuleSet) -> None:
    name = rules.name
    ticket = client.rows(f"CALL sparkrules.subscribe('{name}', 'mine', 'price < 1', ticket => true)")[0][3]
    other = Client(thrift.port, "mallory")
    try:
        for call in (
            f"subscribe('{name}', 'x', 'true')",
            f"publish('{name}', 'books')",
            f"unsubscribe('{name}', 'cheap')",
            f"unsubscribe('{name}', 'mine')",
            f"rollback('{name}', 1)",
            f"rollback('{name}', 1, array('{ticket}'))",
            f"advertise('{name}', 'x', 'true')",
            f"unadvertise('{name}', 'x')",
        ):
            assert "user 'mallory' may not change rules here" in other.error(f"CALL sparkrules.{call}"), call
        other.rows("SET spark.sparkrules.admins=mallory")
        message = other.error(f"CALL sparkrules.unsubscribe('{name}', 'cheap')")
        assert "spark.sparkrules.admins cannot be changed in a session" in message
        other.rows("RESET spark.sparkrules.admins")
        assert other.rows(f"CALL sparkrules.refresh('{name}')") == [(name, 2, 6)]
        # A ticket is good for its rule only.
        other.rows(f"CALL sparkrules.renew('{name}', 'mine', '{ticket}', TIMESTAMP '2099-01-01 00:00:00')")
        assert "that can be removed with this ticket" in other.error(
            f"CALL sparkrules.unsubscribe('{name}', 'cheap', ticket => '{ticket}')"
        )
        assert other.rows(f"CALL sparkrules.unsubscribe('{name}', 'mine', ticket => '{ticket}')")[0][3] == 1
    finally:
        other.close()


def test_matches_are_materialised(client: Client, rules: sparkrules.RuleSet, thrift: Thrift) -> None:
    query = f"SELECT id, subscription_id FROM match_subscriptions('{rules.name}', TABLE(books))"
    client.rows(f"CREATE TABLE stored USING parquet AS {query}")
    before = sorted(client.rows(query))
    assert len(before) == 9
    rules.unsubscribe("text")
    rules.store = thrift.store
    rules.publish()
    assert len(client.rows(query)) == 6, "a table keeps its rows, whatever is published"
    assert sorted(client.rows("SELECT * FROM stored")) == before
    client.rows(f"INSERT OVERWRITE stored {query}")
    assert len(client.rows("SELECT * FROM stored")) == 6


def test_patterns_are_detected(client: Client, thrift: Thrift) -> None:
    rules = alerts("logins")
    rules.store = thrift.store
    rules.publish()
    detections = f"detect_patterns('logins', TABLE({LOGINS}), time => 'at', id => 'id')"
    assert sorted(client.rows(f"SELECT {COLUMNS} FROM {detections}")) == DETECTED
    (row,) = client.rows(f"SELECT key, rows.step FROM {detections} WHERE pattern = 'breach'")
    assert [json.loads(value) for value in row] == [{"user": "ann"}, [1, 2]]


def test_errors_are_readable(client: Client, thrift: Thrift) -> None:
    unfit = sparkrules.RuleSet("unfit")
    unfit.subscribe("typo", "prise > 1")
    unfit.store = thrift.store
    unfit.publish()
    message = client.error("SELECT match_subscriptions('unfit', *) FROM books")
    assert "1 rule of unfit@1 is rejected on the input (id, price, state, title)" in message
    assert "'typo': there is no column prise" in message
    assert "There is no rule set 'nothing'" in client.error("SELECT match_subscriptions('nothing', *) FROM books")
    assert "TABLE(t)" in client.error("SELECT * FROM match_subscriptions('unfit')")
    assert client.rows("SELECT count(*) FROM books") == [(4,)], "the connection is still good"
