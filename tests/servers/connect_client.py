"""Run in a process of its own by test_connect.py: what a Spark Connect client sees, written as JSON.

python -m tests.servers.connect_client RESULT_FILE REMOTE STORE
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import sparkrules
from tests.spark.oracle import pairs_by_plugin, pairs_by_where, rule_set

RULES = {
    "cheap": "price < 10",
    "cheap-and-new": "price < 10 AND state = 'new'",
    "text": "state LIKE 'n%' AND contains(lower(title), 'pot')",
    "derived": "price * 2 > quantity",
    "opaque": "price > quantity",
    "no-price": "price IS NULL",
}
ROWS = [(0, 5.0, "new", "Teapot", 3), (1, 12.5, "used", "kettle", 30), (2, None, None, None, None), (3, 6.0, "", "", 6)]
COLUMNS = "row INT, price DOUBLE, state STRING, title STRING, quantity INT"


def main(result: str, remote: str, store: str) -> None:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.remote(remote)
    if remote.startswith("local"):
        builder = builder.config("spark.driver.memory", "1g").config("spark.ui.enabled", "false")
    spark = sparkrules.configure(builder, store=store).getOrCreate()
    books = spark.createDataFrame(ROWS, COLUMNS)
    rules = rule_set("books", RULES)
    seen: dict[str, object] = {"session": type(spark).__module__}

    seen["plugin"] = sorted(pairs_by_plugin(books, rules))
    seen["where"] = sorted(pairs_by_where(books, RULES))
    flat = sparkrules.matches(books, rules).where("row = 0").orderBy("subscription_id")
    seen["matches"] = [[row.subscription_id, row.overlap] for row in flat.collect()]
    books.createOrReplaceTempView("books")
    query = spark.sql("SELECT match_subscriptions('books', *).ids AS ids FROM books WHERE row = 0")
    table = spark.sql("SELECT subscription_id FROM match_subscriptions('books', TABLE(books)) WHERE row = 0 ORDER BY 1")
    seen["sql"] = query.collect()[0].ids
    seen["table function"] = [row.subscription_id for row in table.collect()]

    found = rules.analyze(books)
    seen["analyzed"] = [found.rows, found.selectivity["price < 10"], found.attributes["price"].null_share]

    dated = books.selectExpr("*", "DATE '2024-05-01' + row AS day")
    page = rules.report(Path(store) / "report.html", dated, time="day")
    seen["report"] = "Of 6 rules, 6 hit at least one of 4 rows, 0 never did." in page.read_text(encoding="utf-8")

    rules.unsubscribe("cheap")
    rules.subscribe("second", "price < 10", priority=1)
    seen["version"] = rules.publish(spark)
    seen["same DataFrame"] = query.collect()[0].ids
    seen["default rule set"] = spark.sql("SELECT match_subscriptions(*).ids FROM books WHERE row = 0").collect()[0][0]
    seen["pinned"] = spark.sql("SELECT match_subscriptions('books@1', *).ids FROM books WHERE row = 0").collect()[0][0]

    catalog = spark.sql("SELECT id, `where` FROM sparkrules.books.subscriptions VERSION AS OF 1 ORDER BY id")
    seen["catalog"] = [list(row) for row in catalog.collect()]
    seen["catalogs"] = [row.catalog for row in spark.sql("SHOW CATALOGS").collect()]
    called = spark.sql("CALL sparkrules.rollback('books', 1)")
    # A procedure is called when it is sent, not again whenever somebody looks at its result.
    seen["called"] = [list(called.collect()[0]), list(called.collect()[0]), called.count()]
    seen["unsubscribed"] = list(spark.sql("CALL sparkrules.unsubscribe('books', array('cheap', 'text'))").collect()[0])
    versions = spark.sql(
        "SELECT version, action, parent, subscriptions FROM sparkrules.books.versions ORDER BY version"
    )
    seen["versions"] = [list(row) for row in versions.collect()]
    seen["no such version"] = _error(lambda: spark.sql("CALL sparkrules.rollback('books', 99)").collect())

    seen["no such column"] = _error(lambda: sparkrules.match(books, rule_set("unfit", {"typo": "prise > 1"})).collect())
    seen["no such rule set"] = _error(lambda: spark.sql("SELECT match_subscriptions('none', *) FROM books").collect())
    seen["after errors"] = spark.sql("SELECT count(*) FROM books").collect()[0][0]
    Path(result).write_text(json.dumps(seen), encoding="utf-8")
    spark.stop()


def _error(action: Callable[[], object]) -> list[str]:
    from pyspark.errors import PySparkException

    try:
        action()
    except PySparkException as error:
        return [type(error).__name__, str(error)]
    return []


if __name__ == "__main__":
    main(*sys.argv[1:])
