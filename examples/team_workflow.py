"""A team's workflow: rules in a table, their tests in CI, a store, shadow, live, metrics, and the way back.

python examples/team_workflow.py

The table is a Delta table if the session has Delta Lake, else a Parquet table. Where moto is installed, its server
plays Amazon S3, and a service without Spark reads the rules there.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import yaml
from pyspark.sql import DataFrame, SparkSession

import sparkrules
from sparkrules.cli import main as sparkrules_command

RULES = """
- id: big transfer
  where: amount > 10000 AND country <> 'CH'
  priority: 5
  tags: [money]
  tests:
    - {row: {amount: 20000, country: IT}, matches: true}
    - {row: {amount: 20000, country: CH}, matches: false}
- id: night login
  where: kind = 'login' AND hour BETWEEN 1 AND 4
  tags: [access]
  tests:
    - {row: {kind: login, hour: 2}, matches: true}
    - {row: {kind: login, hour: 12}, matches: false}
"""
NEW_RULE = """
- id: many failures
  where: kind = 'login' AND failures >= 3
  status: shadow
  tags: [access]
  tests:
    - {row: {kind: login, failures: 7}, matches: true}
    - {row: {kind: transfer, failures: 7}, matches: false}
"""


def main(spark: SparkSession) -> dict[str, int]:
    """How often each rule matches, at the end."""
    events = spark.range(1000).selectExpr(
        "id",
        "IF(id % 3 = 0, 'login', 'transfer') AS kind",
        "CAST(id % 24 AS INT) AS hour",
        "CAST(id % 5 AS INT) AS failures",
        "id * 20 AS amount",
        "element_at(array('IT', 'CH', 'DE'), CAST(id % 3 AS INT) + 1) AS country",
    )
    team = sparkrules.RuleSet("team")

    print("1. Tests stand beside the rules, and CI runs them: `sparkrules test rules.yaml`.\n")
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "rules.yaml")
        file.write_text(RULES + NEW_RULE)
        assert sparkrules_command(["test", str(file)]) == 0

        print("\n2. The rules are rows of a table, and what is in the table is published.\n")
        write_table(spark, RULES)
        print(team.sync("team_rules", spark))
        proven = team.version
        assert proven is not None

        if all(importlib.util.find_spec(package) for package in ("moto", "flask", "boto3", "obstore")):
            print("\n   The same rules in S3, for a service that has no Spark:")
            with s3() as url:
                sparkrules.RuleSet("team", store=url).sync(str(file))
                service = sparkrules.RuleSet.load("team", store=url)
                event = {"kind": ["login"], "hour": [3], "failures": [9], "amount": [0], "country": ["IT"]}
                found = service.match(pa.table(event)).ids.to_pylist()
            print(f"   {found}")
            assert found == [["night login"]]

    print("\n3. A new rule is a shadow rule: it is matched, but nobody is woken.\n")
    write_table(spark, RULES + NEW_RULE)
    print(team.sync("team_rules", spark))
    compared = sparkrules.matches(events, "team", shadow=True).groupBy("subscription_id", "status").count()
    compared.orderBy("subscription_id").show()
    assert "many failures" not in hits(sparkrules.matches(events, "team"))

    print("4. It finds what it should, and goes live.\n")
    write_table(spark, RULES + NEW_RULE.replace("status: shadow", "status: live"))
    print(team.sync("team_rules", spark))

    print("\n5. What each rule does in production.\n")
    metrics = sparkrules.RuleMetrics()
    alerts = hits(sparkrules.matches(events, "team", observe=metrics))
    for rule, count in metrics.get["hits"].items():
        print(f"{count:5} {rule}")
    assert metrics.get["hits"] == alerts
    assert alerts["many failures"] > alerts["night login"]

    print("\n6. Too many alerts: an earlier version becomes the newest, and the next query takes it.\n")
    team.rollback(proven)
    for version in team.versions():
        print(f"team@{version.version}: {version.action}, {version.subscriptions} rules")
    left = hits(sparkrules.matches(events, "team"))
    assert left == {rule: count for rule, count in alerts.items() if rule != "many failures"}
    spark.sql("DROP TABLE team_rules")
    return left


def write_table(spark: SparkSession, rules: str) -> None:
    """The rules as a table. A team edits it in SQL, or fills it from the files of its repository, as here."""
    rows = [
        (own["id"], own["where"], own.get("priority", 0), own.get("status"), own["tags"])
        for own in yaml.safe_load(rules)
    ]
    frame = spark.createDataFrame(rows, "id STRING, where STRING, priority INT, status STRING, tags ARRAY<STRING>")
    has_delta = "delta" in (spark.conf.get("spark.sql.extensions", "") or "").lower()
    frame.write.format("delta" if has_delta else "parquet").mode("overwrite").saveAsTable("team_rules")


def hits(matches: DataFrame) -> dict[str, int]:
    """How many rows each rule matches."""
    return {row["subscription_id"]: row["count"] for row in matches.groupBy("subscription_id").count().collect()}


@contextmanager
def s3() -> Iterator[str]:
    """A store in a bucket of moto's server, which the environment names meanwhile."""
    import boto3
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    own = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "example",
        "AWS_SECRET_ACCESS_KEY": "example",
    }
    before = {name: os.environ.get(name) for name in own}
    os.environ.update(own)
    try:
        boto3.client("s3", region_name="us-east-1").create_bucket(Bucket="team")
        yield "s3://team/rules"
    finally:
        server.stop()
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as store:
        main(sparkrules.configure(SparkSession.builder.master("local[2]"), store=store).getOrCreate())
