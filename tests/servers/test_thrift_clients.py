"""Different clients at the same time all get the same answer, and the newest version."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import sqlalchemy
from impala.dbapi import connect  # type: ignore[import-untyped]

from tests.servers.thrift import RULES, Thrift, publish

CLIENTS = 8


def test_connected_clients_of_every_kind_see_a_new_version(thrift: Thrift) -> None:
    rules = publish(thrift.store, "clients")
    query = "SELECT subscription_id FROM match_subscriptions('clients', TABLE(books)) WHERE id = 1 ORDER BY 1"
    pyhive = thrift.connect()
    impyla = connect("127.0.0.1", thrift.port, auth_mechanism="PLAIN").cursor()
    alchemy = sqlalchemy.create_engine(f"hive://127.0.0.1:{thrift.port}/default").connect()

    def answers() -> list[list[str]]:
        impyla.execute(query)
        found = [pyhive.rows(query), impyla.fetchall(), alchemy.execute(sqlalchemy.text(query)).all()]
        return [[id for (id,) in rows] for rows in found]

    assert answers() == [["opaque", "text"]] * 3
    rules.unsubscribe("text")
    rules.store = thrift.store
    rules.publish()
    assert answers() == [["opaque"]] * 3
    alchemy.close()
    impyla.close()
    pyhive.close()


def test_concurrent_clients_get_the_same_answers(thrift: Thrift) -> None:
    query = "SELECT id, subscription_id FROM match_subscriptions(TABLE(books))"

    def ask(_: int) -> list[list[tuple[int, str]]]:
        client = thrift.connect()
        found = [sorted(client.rows(query)) for _ in range(4)]
        client.close()
        return found

    one = thrift.connect()
    kept = {(id, rule) for rule, where in RULES.items() for (id,) in one.rows(f"SELECT id FROM books WHERE {where}")}
    one.close()
    with ThreadPoolExecutor(CLIENTS) as pool:
        answers = [answer for found in pool.map(ask, range(CLIENTS)) for answer in found]
    assert answers == [sorted(kept)] * CLIENTS * 4
