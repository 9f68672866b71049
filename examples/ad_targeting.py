"""Ad targeting: campaigns say whom they want, a request for an ad is a row; the best three that run now may bid.

python examples/ad_targeting.py
"""

from __future__ import annotations

import tempfile
from datetime import datetime, timezone

from pyspark.sql import SparkSession

import sparkrules

# Each campaign: id, whom it wants, and its bid in cents as its priority.
CAMPAIGNS = [
    ("running shoes", "array_contains(interests, 'sport') AND age BETWEEN 18 AND 45", 120),
    ("ski passes", "country IN ('CH', 'AT') AND array_contains(interests, 'ski')", 300),
    ("coffee", "hour BETWEEN 6 AND 11 AND NOT app LIKE 'game%'", 80),
    ("game of the week", "app LIKE 'game%' AND (os = 'android' OR os = 'ios' AND os_version >= 17)", 95),
    ("everywhere", "true", 5),
]

REQUESTS = """
SELECT * FROM VALUES
  (1, 'CH', 34, array('ski', 'sport'), 'news', 'ios', 17.1, 8),
  (2, 'DE', 16, array('music'), 'game of stones', 'ios', 16.4, 20),
  (3, 'AT', 52, array('ski'), 'game of stones', 'android', 14.0, 21),
  (4, 'FR', 40, NULL, 'weather', NULL, NULL, 7)
  AS t(request, country, age, interests, app, os, os_version, hour)"""


def main(spark: SparkSession) -> dict[int, list[str]]:
    """The campaigns that may bid for each request, the highest bid first."""
    requests = spark.sql(REQUESTS)
    campaigns = sparkrules.RuleSet("campaigns")
    campaigns.subscribe_all(CAMPAIGNS)
    campaigns.subscribe(
        "last summer", "country = 'CH'", 999, valid_until=datetime(2024, 9, 1, tzinfo=timezone.utc)
    )  # published, and over

    auction = sparkrules.match(requests, campaigns, output="bids", top=3)
    auction.select("request", "bids.ids").orderBy("request").show(truncate=False)

    print("How many of the requests each campaign would reach:")
    reach = sparkrules.matches(requests, campaigns).groupBy("subscription_id").count()
    reach.orderBy("subscription_id").show(truncate=False)

    print("Why the game did not bid for request 2:")
    row = requests.where("request = 2").collect()[0]
    print(*campaigns.explain(row, spark, ids=["game of the week"]), sep="\n")

    found = {row.request: row.bids.ids for row in auction.collect()}
    assert found == {
        1: ["ski passes", "running shoes", "coffee"],
        2: ["everywhere"],
        3: ["ski passes", "game of the week", "everywhere"],
        4: ["coffee", "everywhere"],
    }
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as store:
        main(sparkrules.configure(SparkSession.builder.master("local[2]"), store=store).getOrCreate())
