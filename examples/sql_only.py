"""SQL only: the rules come from a file by the command line, everything else is SQL that any client can send.

python examples/sql_only.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

import sparkrules
from sparkrules import cli

RULES = """\
id,where,priority
cheap,price < 10,
cheap and new,price < 10 AND condition = 'new',5
crime,category = 'crime',
"""

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
        Path(directory, "books.csv").write_text(RULES, encoding="utf-8")
        store = str(Path(directory, "store"))
        assert cli.main(["publish", "--rules", str(Path(directory, "books.csv")), "--store", store]) == 0

        spark.sql(f"SET spark.sparkrules.store = {store}")
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
