"""Data quality: each rule describes a bad row. Good rows go on, bad ones are kept with the reasons.

python examples/data_quality.py
"""

from __future__ import annotations

import tempfile

from pyspark.sql import SparkSession

import sparkrules

CHECKS = [
    ("amount missing", "amount IS NULL", 10),
    ("amount negative", "amount < 0", 10),
    ("currency unknown", "currency IS NULL OR currency NOT IN ('EUR', 'USD', 'CHF')", 5),
    ("paid before ordered", "paid_on < ordered_on", 1),
    ("e-mail malformed", "NOT email RLIKE '^[^@ ]+@[^@ ]+$'", 1),
]


def main(spark: SparkSession) -> dict[int, list[str]]:
    """What is wrong with each bad order, the most important first."""
    orders = spark.sql(
        """SELECT * FROM VALUES
             (1, 19.90BD, 'EUR', DATE '2024-03-01', DATE '2024-03-02', 'a@example.org'),
             (2, -5.00BD, 'EUR', DATE '2024-03-01', DATE '2024-02-01', 'b@example.org'),
             (3, NULL, 'XXX', DATE '2024-03-01', NULL, 'nobody'),
             (4, 7.50BD, NULL, DATE '2024-03-04', NULL, NULL)
           AS t(id, amount, currency, ordered_on, paid_on, email)"""
    )
    checks = sparkrules.RuleSet("checks")
    checks.subscribe_all(CHECKS)
    assert checks.rejected == []

    checked = sparkrules.match(orders, checks, output="problems").cache()
    good = checked.where("size(problems.ids) = 0").drop("problems")
    bad = checked.where("size(problems.ids) > 0").selectExpr("id", "problems.ids AS problems").orderBy("id")
    print(f"{good.count()} good rows")
    bad.show(truncate=False)

    print("Why order 2 has these problems:")
    found = {row.id: row.problems for row in bad.collect()}
    print(*checks.explain(orders.where("id = 2").collect()[0], spark, ids=found[2]), sep="\n")

    checked.unpersist()
    assert found == {
        2: ["amount negative", "paid before ordered"],
        3: ["amount missing", "currency unknown", "e-mail malformed"],
        4: ["currency unknown"],
    }
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as store:
        main(sparkrules.configure(SparkSession.builder.master("local[2]"), store=store).getOrCreate())
