"""Spark reads from a bucket what Python has published to it, and publishes to it: by Hadoop's client of S3."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException

import sparkrules
from sparkrules import RuleSet
from sparkrules.cli import main
from sparkrules.store import Store
from tests.spark.oracle import pairs_by_plugin, pairs_by_where, settings
from tests.store.conformance import check_conformance
from tests.stores.conftest import FAULTY, IGNORANT, UNCONDITIONAL
from tests.stores.faults import Proxy
from tests.stores.s3_server import BUCKET, S3Server, environment

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RULES = {f"r{number}": f"a % {number + 2} = 0 AND b > {number}" for number in range(20)}


def rows(spark: SparkSession) -> DataFrame:
    return spark.range(0, 300, 1, 4).selectExpr("id AS row", "id AS a", "IF(id % 7 = 0, NULL, id % 23) AS b")


@pytest.fixture
def rules(spark: SparkSession, s3: S3Server, url: str) -> Iterator[RuleSet]:
    """Published to the bucket, which is the store of the session."""
    made = RuleSet("alerts")
    made.subscribe_all(RULES)
    with settings(spark, spark_sparkrules_store="", spark_sparkrules_ruleset=""):
        made.store = url
        made.publish(spark)
        yield made


def call(spark: SparkSession, procedure: str) -> dict[str, Any]:
    (row,) = spark.sql(f"CALL sparkrules.{procedure}").collect()
    return row.asDict()


def ids(store: str | Path, version: int | None = None) -> set[str]:
    return set(RuleSet.load("alerts", store, version).subscriptions)


def test_executors_match_rules_of_the_bucket(spark: SparkSession, rules: RuleSet, url: str) -> None:
    assert spark.conf.get("spark.sparkrules.store") == url
    truth = pairs_by_where(rows(spark), RULES)
    assert truth
    assert pairs_by_plugin(rows(spark), "alerts") == truth
    assert pairs_by_plugin(rows(spark), "alerts@1") == truth


def test_tables_of_the_catalog(spark: SparkSession, rules: RuleSet) -> None:
    found = spark.sql("SELECT id FROM sparkrules.alerts.subscriptions").collect()
    assert {row.id for row in found} == set(RULES)
    assert [row.version for row in spark.sql("SELECT version FROM sparkrules.alerts.versions").collect()] == [1]


def test_statistics(spark: SparkSession, rules: RuleSet, url: str) -> None:
    rules.analyze(rows(spark))
    assert Store(url).analysis("alerts") is not None
    assert pairs_by_plugin(rows(spark), "alerts") == pairs_by_where(rows(spark), RULES)


def test_versions_made_by_sql(
    spark: SparkSession, s3: S3Server, rules: RuleSet, prefix: str, url: str, tmp_path: Path
) -> None:
    ticket = rules.subscribe("mine", "a = 1", ticket=True)
    rules.publish()
    assert call(spark, "unsubscribe('alerts', 'r3')")["version"] == 3
    with pytest.raises(PySparkException, match="ticket"):
        call(spark, "unsubscribe('alerts', 'mine', 'guess')")
    assert call(spark, f"unsubscribe('alerts', 'mine', '{ticket}')")["version"] == 4
    assert ids(url) == set(RULES) - {"r3"}
    assert call(spark, "rollback('alerts', 1)")["version"] == 5
    assert ids(url) == set(RULES)
    check_conformance(s3.download(prefix, tmp_path), "alerts")


def test_python_and_sql_publish_at_once(
    spark: SparkSession, s3: S3Server, rules: RuleSet, prefix: str, url: str, tmp_path: Path
) -> None:
    program = subprocess.Popen(
        [sys.executable, "-m", "tests.stores.publisher", url, "python", "12"],
        env=os.environ | environment(s3.endpoint),
        stdout=subprocess.PIPE,
        text=True,
    )
    with ThreadPoolExecutor(2) as threads:
        made = list(
            threads.map(lambda own: call(spark, f"unsubscribe('alerts', '{own}')")["version"], list(RULES)[:12])
        )
    numbers = [int(number) for number in program.communicate(timeout=600)[0].split()]
    assert program.returncode == 0
    assert sorted(numbers + made) == list(range(2, 26)), "each version has one publisher, and none is missing"
    assert ids(url) == set(list(RULES)[12:]) | {f"python-{number}" for number in range(12)}
    check_conformance(s3.download(prefix, tmp_path), "alerts")


def test_every_tenth_request_fails(spark: SparkSession, s3: S3Server, proxy: Proxy) -> None:
    store = f"s3://{FAULTY}/rules"
    made = RuleSet("alerts")
    made.subscribe_all(RULES)
    made.publish(store=store)
    before = proxy.faults.total()
    with settings(spark, spark_sparkrules_store=store):
        for number, id in enumerate(list(RULES)[:10]):
            assert call(spark, f"unsubscribe('alerts', '{id}')")["version"] == number + 2
        assert pairs_by_plugin(rows(spark), "alerts") == pairs_by_where(
            rows(spark), {id: RULES[id] for id in list(RULES)[10:]}
        )
    assert proxy.faults.total() - before > 10
    assert ids(store) == set(list(RULES)[10:])


def test_a_client_that_cannot_create_conditionally_is_refused(spark: SparkSession, s3: S3Server) -> None:
    store = f"s3a://{UNCONDITIONAL}/rules"
    made = RuleSet("alerts")
    made.subscribe_all(RULES)
    made.publish(store=store)
    with settings(spark, spark_sparkrules_store=store):
        with pytest.raises(PySparkException, match=r"Nothing was written to .*fs\.s3a\.create\.conditional\.enabled"):
            call(spark, "rollback('alerts', 1)")
        assert pairs_by_plugin(rows(spark), "alerts"), "reading needs no condition"
    assert Store(store).versions("alerts") == [1]


def test_a_server_that_ignores_conditions_is_refused(spark: SparkSession, s3: S3Server) -> None:
    store = f"s3a://{IGNORANT}/rules"
    made = RuleSet("alerts")
    made.subscribe_all(RULES)
    made.publish(store=store)  # not through the proxy
    refused = pytest.raises(PySparkException, match=r"No version was made: the server of .* replaces a file")
    with settings(spark, spark_sparkrules_store=store), refused:
        call(spark, "rollback('alerts', 1)")
    assert Store(store).versions("alerts") == [1]


def test_a_flipped_byte_is_an_error_that_names_the_file(
    spark: SparkSession, s3: S3Server, rules: RuleSet, prefix: str
) -> None:
    key = next(key for key in s3.keys(f"{prefix}/") if key.endswith("constants.arrow"))
    content = s3.read(key)
    s3.write(key, content[:-200] + bytes([content[-200] ^ 1]) + content[-199:])
    with pytest.raises(PySparkException, match=rf"{key} is damaged"):
        sparkrules.match(rows(spark), "alerts").collect()
    s3.delete(key)
    with pytest.raises(PySparkException, match=rf"{key} is missing from the store"):
        sparkrules.match(rows(spark), "alerts").collect()


def test_the_command_line_with_spark(
    spark: SparkSession, rules: RuleSet, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rows.csv").write_text("a,b\n6,20\n7,1\n", encoding="utf-8")
    arguments = ["match", "--ruleset", "alerts", str(tmp_path / "rows.csv"), "--engine", "spark", "--store", url]
    assert main(arguments) == 0
    assert "r4" in capsys.readouterr().out


def test_s3_is_s3a_for_spark(spark: SparkSession, rules: RuleSet, prefix: str) -> None:
    for scheme in ("s3", "s3a"):
        with settings(spark, spark_sparkrules_store=f"{scheme}://{BUCKET}/{prefix}"):
            assert spark.sql("SELECT id FROM sparkrules.alerts.subscriptions").count() == len(RULES)
