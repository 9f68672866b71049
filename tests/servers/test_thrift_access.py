"""A Thrift server restricted to a store and some rule sets: no client can get around this, whatever it sends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.thrift import SETTINGS, Client, Thrift, parsed, publish, running

FIXED, ALLOWED = "spark.sparkrules.fixedStore", "spark.sparkrules.allowedRulesets"
MATCH = "SELECT match_subscriptions('{}', *).ids FROM VALUES (1, 5.0D, 'new', 'x') AS t(id, price, state, title)"
REFUSED = "is not among those that this server allows: alerts, fraud*"


@pytest.fixture(scope="module")
def bound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Thrift]:
    """Allowed are `alerts` and `fraud*`; `secret` is in the same store, and in `elsewhere` is another `alerts`."""
    directory = tmp_path_factory.mktemp("bound")
    store = directory / "rules"
    for name in ("alerts", "fraud_eu", "secret"):
        publish(store, name)
    publish(store / "elsewhere", "alerts", {"stolen": "true"})
    settings = {**SETTINGS, FIXED: "true", ALLOWED: "alerts,fraud*"}
    with running(store, directory, "alerts", settings) as server:
        yield server


@pytest.fixture
def client(bound: Thrift) -> Iterator[Client]:
    client = bound.connect()
    yield client
    client.close()


def test_what_is_allowed_works(client: Client, bound: Thrift) -> None:
    assert client.rows(MATCH.format("alerts")) == client.rows(MATCH.format("fraud_eu@1")) != []
    client.rows(f"SET spark.sparkrules.store=file://{bound.store}")  # the same
    assert client.rows(MATCH.format("alerts")) != []
    assert client.rows("SELECT DISTINCT verified FROM sparkrules.alerts.versions") == [(True,)]


@pytest.mark.parametrize(
    "statement",
    [
        MATCH.format("secret"),
        MATCH.format("secret@1"),
        MATCH.format("nothing"),  # the same is said of one that is not there
        MATCH.format("ALERTS"),
        "SELECT * FROM match_subscriptions('secret', TABLE(VALUES (1) AS t(id)))",
        "SELECT overlap_subscriptions('secret', id) FROM range(1)",
        "SELECT overlap_advertisements('secret', id) FROM range(1)",
        "SELECT overlap_any_subscription('secret', id) FROM range(1)",
        "SELECT * FROM overlaps('secret')",
        "CALL sparkrules.refresh('secret')",
        "CALL sparkrules.rollback('secret', 1)",
        "CALL sparkrules.unsubscribe('secret', 'cheap')",
        "CALL sparkrules.unsubscribe(rule_set => 'secret', ids => array('cheap'))",
    ],
)
def test_another_rule_set_is_refused(client: Client, statement: str) -> None:
    assert REFUSED in client.error(statement)


@pytest.mark.parametrize("name", ["../rules/secret", "alerts/../secret", "elsewhere/alerts", "./secret", "alerts@../x"])
def test_paths_are_no_names(client: Client, name: str) -> None:
    message = client.error(MATCH.format(name))
    assert "is not the name of a rule set" in message or "is not a version of a rule set" in message
    assert "NOT_FOUND" in client.error(f"SELECT * FROM sparkrules.`{name}`.subscriptions")


def test_other_rule_sets_are_not_shown(client: Client) -> None:
    message = client.error(MATCH.format("fraud_us"))
    assert "There are: alerts, fraud_eu." in message
    assert client.rows("SHOW NAMESPACES IN sparkrules") == [("alerts",), ("fraud_eu",)]
    for statement in (
        "SELECT * FROM sparkrules.secret.subscriptions",
        "SELECT * FROM sparkrules.secret.versions VERSION AS OF 1",
        "DESCRIBE NAMESPACE sparkrules.secret",
        "SHOW TABLES IN sparkrules.secret",
    ):
        message = client.error(statement)
        assert "NOT_FOUND" in message
        assert message.replace("secret", "...") == client.error(statement.replace("secret", "nothing")).replace(
            "nothing", "..."
        )


def test_settings_of_a_session_do_not_count(client: Client, bound: Thrift) -> None:
    elsewhere = bound.store / "elsewhere"
    for key, value in (
        ("spark.sparkrules.store", str(elsewhere)),
        ("spark.sparkrules.store", f"file://{elsewhere}"),
        ("spark.sparkrules.store", "elsewhere"),
        ("spark.sparkrules.store", "hdfs://127.0.0.1:9/rules"),
        ("spark.sparkrules.store", f"{bound.store}/../rules/elsewhere"),
        (FIXED, "false"),
        (ALLOWED, "*"),
        (ALLOWED, ""),
    ):
        client.rows(f"SET {key}={value}")
        for statement in (MATCH.format("alerts"), "SHOW NAMESPACES IN sparkrules", "CALL sparkrules.refresh('alerts')"):
            assert f"{key} cannot be changed in a session" in client.error(statement)
        client.rows(f"RESET {key}")
    assert client.rows("SHOW NAMESPACES IN sparkrules") == [("alerts",), ("fraud_eu",)]


def test_other_ways_to_another_store(client: Client, bound: Thrift) -> None:
    elsewhere = bound.store / "elsewhere"
    before = client.rows(MATCH.format("alerts"))
    # What a path means is decided by settings of Hadoop.
    for key, value in (
        ("fs.defaultFS", "hdfs://127.0.0.1:9/"),
        ("spark.hadoop.fs.defaultFS", "hdfs://127.0.0.1:9/"),
        ("fs.file.impl", "no.such.FileSystem"),
        ("spark.sql.catalog.sparkrules.store", str(elsewhere)),
        ("spark.sql.catalog.sparkrules.spark.sparkrules.store", str(elsewhere)),
    ):
        client.rows(f"SET {key}={value}")
        assert client.rows(MATCH.format("alerts")) == before
        assert client.rows("SELECT count(*) FROM sparkrules.alerts.subscriptions") != [(1,)]
        client.rows(f"RESET {key}")
    client.rows("SET spark.sql.catalog.mine=sparkrules.catalog.RuleCatalog")
    client.rows(f"SET spark.sql.catalog.mine.store={elsewhere}")
    assert client.rows("SHOW NAMESPACES IN mine") == [("alerts",), ("fraud_eu",)]
    assert "NOT_FOUND" in client.error("SELECT * FROM mine.secret.subscriptions")
    client.rows("SET spark.sparkrules.ruleset=secret")
    assert REFUSED in client.error(MATCH.replace("'{}', ", ""))
    client.rows("RESET spark.sparkrules.ruleset")


def test_views_and_prepared_names(client: Client) -> None:
    client.rows(f"CREATE TEMPORARY VIEW hidden AS {MATCH.format('secret')}")
    assert REFUSED in client.error("SELECT * FROM hidden")
    assert REFUSED in client.error(f"CREATE TABLE stolen AS {MATCH.format('secret')}")


def test_the_options_of_the_command(tmp_path: Path) -> None:
    server = parsed(
        ["--ruleset", "alerts", "--store", str(tmp_path), "--fix-store", "--allow", "alerts", "--allow", "f*"]
    )
    command = server.command()
    assert f"{FIXED}=true" in command
    assert f"{ALLOWED}=alerts,f*" in command
    assert not any(word.startswith((FIXED, ALLOWED)) for word in parsed(["--ruleset", "a"]).command())
    with pytest.raises(SystemExit):
        parsed(["--ruleset", "alerts", "--allow", "a,b"])
