"""A Spark with Delta Lake and Iceberg. Runs only on request, with a Spark that both exist for: `make test-lakes`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.lakes.connectors import kafka_jars, settings, unavailable
from tests.lakes.lake import Lake
from tests.stores.jars import Unavailable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    if "SPARKRULES_TEST_LAKES" not in os.environ:
        pytest.skip("Delta Lake and Iceberg, with a Spark of their own: run `make test-lakes`")
    reason = unavailable(tmp_path_factory.mktemp("resolved"))
    if reason is not None:
        pytest.skip(reason)
    from pyspark.sql import SparkSession

    import sparkrules

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").appName("sparkrules tests with Delta Lake and Iceberg")
    for key, value in {
        "spark.driver.memory": "3g",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=256m",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.jars": ",".join(map(str, kafka_if_there(tmp_path_factory.mktemp("kafka-jars")))),
        **settings(tmp_path_factory.mktemp("lakes")),
    }.items():
        builder = builder.config(key, value)
    session = sparkrules.configure(builder, store=tmp_path_factory.mktemp("store")).getOrCreate()
    yield session
    session.stop()


def kafka_if_there(directory: Path) -> list[Path]:
    """Tests of tables do not depend on it; those of streams from Kafka say what is missing."""
    try:
        return kafka_jars(directory)
    except Unavailable:
        return []


@pytest.fixture(params=["delta", "iceberg"])
def lake(spark: SparkSession, request: pytest.FixtureRequest) -> Lake:
    return Lake(request.param, spark)
