"""A store in HDFS: Spark reads from it and publishes to it. Python has no client of HDFS."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException

from sparkrules import RuleSet
from sparkrules.errors import StoreError
from sparkrules.store import Store
from tests.spark.oracle import pairs_by_plugin, pairs_by_where, settings
from tests.store.conformance import check_conformance
from tests.stores.hdfs_server import hdfs
from tests.stores.jars import Unavailable
from tests.stores.test_s3a import RULES, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def cluster(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    try:
        with hdfs(tmp_path_factory.mktemp("hdfs")) as running:
            yield running
    except Unavailable as error:
        pytest.skip(str(error))


@pytest.fixture
def url(spark: SparkSession, cluster: str, tmp_path: Path) -> Iterator[str]:
    """A store that was published to a directory and copied."""
    made = RuleSet("alerts")
    made.subscribe_all(RULES)
    ticket = made.subscribe("mine", "a = 1", ticket=True)
    made.publish(store=tmp_path / "made")
    (tmp_path / "ticket").write_text(ticket)
    store = f"{cluster}/{tmp_path.name}"
    _copy(spark, str(tmp_path / "made"), store, to_hdfs=True)
    with settings(spark, spark_sparkrules_store=store):
        yield store


def _copy(spark: SparkSession, source: str, target: str, *, to_hdfs: bool) -> None:
    jvm: Any = spark._jvm
    path = jvm.org.apache.hadoop.fs.Path
    remote = path(target if to_hdfs else source)
    files = remote.getFileSystem(spark._jsc.hadoopConfiguration())
    if to_hdfs:
        files.copyFromLocalFile(path(source), remote)
    else:
        files.copyToLocalFile(False, remote, path(target), True)


def copied(spark: SparkSession, url: str, directory: Path) -> Path:
    _copy(spark, url, str(directory), to_hdfs=False)
    return directory


def call(spark: SparkSession, procedure: str) -> int:
    (row,) = spark.sql(f"CALL sparkrules.{procedure}").collect()
    return int(row.version)


def test_executors_match_rules_of_hdfs(spark: SparkSession, url: str) -> None:
    truth = pairs_by_where(rows(spark), {**RULES, "mine": "a = 1"})
    assert truth
    assert pairs_by_plugin(rows(spark), "alerts") == truth
    found = spark.sql("SELECT id FROM sparkrules.alerts.subscriptions").collect()
    assert {row.id for row in found} == {*RULES, "mine"}


def test_versions_made_by_sql(spark: SparkSession, url: str, tmp_path: Path) -> None:
    assert call(spark, "unsubscribe('alerts', 'r3')") == 2
    with pytest.raises(PySparkException, match="ticket"):
        call(spark, "unsubscribe('alerts', 'mine', 'guess')")
    ticket = (tmp_path / "ticket").read_text()
    assert call(spark, f"unsubscribe('alerts', 'mine', '{ticket}')") == 3
    assert call(spark, f"rollback('alerts', 2, tickets => array('{ticket}'))") == 4
    local = copied(spark, url, tmp_path / "copied")
    assert set(RuleSet.load("alerts", local).subscriptions) == set(RULES) - {"r3"} | {"mine"}
    assert [len(RuleSet.load("alerts", local, number)) for number in (1, 2, 3, 4)] == [21, 20, 19, 20]
    left = [file.name for file in local.rglob(".*") if file.name.endswith(".tmp")]
    assert not left


def test_publishers_at_once(spark: SparkSession, url: str, tmp_path: Path) -> None:
    ids = list(RULES)[:12]
    with ThreadPoolExecutor(4) as threads:
        numbers = list(threads.map(lambda own: call(spark, f"unsubscribe('alerts', '{own}')"), ids))
    assert sorted(numbers) == list(range(2, 14)), "each version has one publisher, and none is missing"
    local = copied(spark, url, tmp_path / "copied")
    assert set(RuleSet.load("alerts", local).subscriptions) == {*list(RULES)[12:], "mine"}
    for version in Store(local).versions("alerts"):
        Store(local).verify(Store(local).load("alerts", version)[0])


def test_python_says_that_it_has_no_client(url: str) -> None:
    with pytest.raises(StoreError, match="Python has no client for hdfs://"):
        RuleSet.load("alerts", url)


def test_conformance(spark: SparkSession, url: str, tmp_path: Path) -> None:
    call(spark, "unsubscribe('alerts', 'r3')")
    local = copied(spark, url, tmp_path / "copied")
    # Copying changes times: the manifest is the last of all files here, too.
    for manifest in (local / "alerts" / "versions").iterdir():
        manifest.touch()
    check_conformance(local, "alerts")
