"""Servers of object stores, one of each per test worker, and a Spark that reads from them: `make test-stores`."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.stores.faults import Proxy, failing_proxy
from tests.stores.s3_server import BUCKET, S3Server, environment, missing_package, s3_server

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_numbers = itertools.count(1)
FAULTY = "faulty"  # a bucket that Spark reaches through the proxy
IGNORANT = "ignorant"  # a bucket whose server ignores conditions
UNCONDITIONAL = "unconditional"  # a bucket for which Spark must not create conditionally


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name == "stores":
            item.add_marker(pytest.mark.programs)


@pytest.fixture(scope="session")
def server() -> Iterator[S3Server]:
    reason = missing_package()
    if reason is not None:
        pytest.skip(reason)
    with s3_server() as running:
        yield running


@pytest.fixture
def s3(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """The server, which the environment of the test names."""
    for name, value in environment(server.endpoint).items():
        monkeypatch.setenv(name, value)
    return server


@pytest.fixture
def prefix(s3: S3Server) -> str:
    """A directory in the bucket for one test."""
    return f"test-{next(_numbers)}"


@pytest.fixture
def url(prefix: str) -> str:
    """A store for one test."""
    return f"s3://{BUCKET}/{prefix}"


@pytest.fixture(scope="session")
def proxy(server: S3Server) -> Iterator[Proxy]:
    with failing_proxy(server.endpoint) as running:
        yield running


@pytest.fixture(scope="session")
def ignorant(server: S3Server) -> Iterator[Proxy]:
    with failing_proxy(server.endpoint, every=10**9, strips="if-none-match") as running:
        yield running


@pytest.fixture(scope="session")
def spark(
    server: S3Server, proxy: Proxy, ignorant: Proxy, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkSession]:
    """A Spark with Hadoop's client of S3, whose executors are other processes."""
    if "SPARKRULES_TEST_STORES" not in os.environ:
        pytest.skip("Hadoop's client of S3 (700 MB) in a Spark of its own: run `make test-stores`")
    from pyspark.sql import SparkSession

    import sparkrules
    from tests.stores.jars import S3A, S3A_EXCLUDED, Unavailable, fetched

    try:
        jars = fetched("s3a", S3A, S3A_EXCLUDED, tmp_path_factory.mktemp("resolved"))
    except Unavailable as error:
        pytest.skip(str(error))
    for bucket in (FAULTY, IGNORANT, UNCONDITIONAL):
        server.client.create_bucket(Bucket=bucket)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    s3a = {
        "access.key": environment(server.endpoint)["AWS_ACCESS_KEY_ID"],
        "secret.key": environment(server.endpoint)["AWS_SECRET_ACCESS_KEY"],
        "endpoint": server.endpoint,
        "endpoint.region": "us-east-1",
        "path.style.access": "true",
        "connection.ssl.enabled": "false",
        f"bucket.{FAULTY}.endpoint": proxy.endpoint,
        f"bucket.{IGNORANT}.endpoint": ignorant.endpoint,
        f"bucket.{UNCONDITIONAL}.create.conditional.enabled": "false",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("sparkrules tests of stores")
    for key, value in {
        "spark.jars": ",".join(map(str, jars)),
        "spark.driver.memory": "2g",
        "spark.executor.memory": "1g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        **{f"spark.hadoop.fs.s3a.{name}": own for name, own in s3a.items()},
    }.items():
        builder = builder.config(key, value)
    session = sparkrules.configure(builder, store=tmp_path_factory.mktemp("store")).getOrCreate()
    yield session
    session.stop()
