"""Patterns of a rule set in a batch and in a stream."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.spark.logins import DETECTED, alerts, detected, detected_in_stream, logins
from tests.spark.oracle import settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STATE_STORE = "spark.sql.streaming.stateStore.providerClass"


@pytest.fixture(autouse=True)
def _own_store(spark: SparkSession, tmp_path: Path) -> Iterator[None]:
    with settings(spark, spark_sparkrules_store=str(tmp_path / "store")):
        yield
    spark.conf.unset(STATE_STORE)


def test_a_batch_and_a_stream_give_the_same_detections(spark: SparkSession, tmp_path: Path) -> None:
    assert detected(logins(spark), alerts("logins")) == DETECTED
    assert detected_in_stream(logins(spark), alerts("logins"), tmp_path) == DETECTED
