"""SQL only: the rules are the rows of a table, and everything is SQL that any client can send.

python examples/sql_only.py
"""

from __future__ import annotations

import tempfile

from pyspark.sql import SparkSession

import sparkrules

RULES = """
CREATE OR REPLACE TEMPORARY VIEW rules AS
SELECT * FROM VALUES
  ('cheap', 'price < 10', 0, true),
  ('cheap and new', "price < 10 AND condition = 'new'", 5, true),
  ('old', 'price > 1000', 0, false)
  AS t(id, where, priority, enabled)"""

PUBLISH = "CALL sparkrules.publish('books', table => 'rules', where => 'enabled')"

SUBSCRIBE = """CALL sparkrules.subscribe('books', 'crime', "category = 'crime'")"""

BOOKS = """
CREATE OR REPLACE TEMPORARY VIEW books AS
SELECT * FROM VALUES
  (1, 'Silent River', 'crime', 4.50, 'new'),
  (2, 'Iron Orchard', 'poetry', 12.00, 'used'),
  (3, 'Winter Voyage', 'crime', 19.90, 'used')
  AS t(id, title, category, price, condition)"""

MATCHED = """
CREATE OR REPLACE TEMPORARY VIEW matched AS
SELECT id, title, match_subscriptions('books', *).ids AS ids FROM books"""

REPORT = """
SELECT subscription_id, count(*) AS books, collect_list(title) AS titles
FROM match_subscriptions('books', TABLE(books))
GROUP BY subscription_id ORDER BY subscription_id"""


def main(spark: SparkSession) -> list[tuple[str, int]]:
    """The report as (rule, number of books)."""
    with tempfile.TemporaryDirectory() as directory:
        spark.sql(f"SET spark.sparkrules.store = {directory}")
        spark.sql(RULES)
        spark.sql(PUBLISH).show(truncate=False)
        spark.sql(SUBSCRIBE).show()
        spark.sql(BOOKS)
        spark.sql(MATCHED)
        spark.sql("SELECT * FROM matched WHERE size(ids) > 0 ORDER BY id").show(truncate=False)
        report = spark.sql(REPORT)
        report.show(truncate=False)
        found = [(row.subscription_id, row.books) for row in report.collect()]
    assert found == [("cheap", 1), ("cheap and new", 1), ("crime", 2)]
    return found


if __name__ == "__main__":
    main(sparkrules.configure(SparkSession.builder.master("local[2]")).getOrCreate())
