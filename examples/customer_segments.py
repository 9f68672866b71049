"""Customer segments that overlap: which customers are in which, how large each is, and which go together.

python examples/customer_segments.py
"""

from __future__ import annotations

import tempfile

from pyspark.sql import SparkSession
from pyspark.sql.functions import avg, count, explode

import sparkrules

SEGMENTS = {
    "young": "age < 30",
    "young in town": "age < 30 AND city IN ('Rome', 'Oslo')",
    "loyal": "orders >= 10 OR years >= 5",
    "at risk": "last_order < DATE '2024-06-01' AND orders > 0",
    "newsletter": "email LIKE '%@%' AND NOT opted_out",
}


def main(spark: SparkSession) -> dict[str, int]:
    """How many customers each segment has."""
    customers = spark.sql(
        """SELECT *, floor(months_between(DATE '2025-01-01', since) / 12) AS years FROM VALUES
             (1, 25, 'Rome', 12, DATE '2024-11-03', DATE '2023-01-10', 'a@example.org', false),
             (2, 61, 'Oslo', 3, DATE '2024-02-17', DATE '2017-05-01', NULL, false),
             (3, 28, 'Bern', 0, NULL, DATE '2024-12-20', 'c@example.org', true),
             (4, 22, 'Oslo', 1, DATE '2024-05-30', DATE '2024-01-15', 'd@example.org', false)
           AS t(customer, age, city, orders, last_order, since, email, opted_out)"""
    )
    rules = sparkrules.RuleSet("segments")
    rules.subscribe_all(SEGMENTS)

    members = sparkrules.matches(customers, rules)
    summary = members.groupBy("subscription_id").agg(count("*").alias("customers"), avg("orders").alias("orders"))
    summary.orderBy("subscription_id").show(truncate=False)

    print("Segments of a customer that share a condition:")
    together = sparkrules.match(customers, rules).select("customer", explode("matches.overlaps").alias("overlap"))
    together.orderBy("customer").show(truncate=False)

    sizes = {row["subscription_id"]: row["customers"] for row in summary.collect()}
    assert sizes == {"young": 3, "young in town": 2, "loyal": 2, "at risk": 2, "newsletter": 2}
    assert [row.customer for row in together.collect()] == [1, 4]
    return sizes


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as store:
        main(sparkrules.configure(SparkSession.builder.master("local[2]"), store=store).getOrCreate())
