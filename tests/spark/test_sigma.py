"""A sample of the real corpus: Sigma's rules match real events as WHERE does. `benchmarks.sigma` compares all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import sparkrules
from tests.spark import sigma
from tests.spark.oracle import differences, pairs_by_plugin

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.skipif(not sigma.DATA.exists(), reason="the corpus is not part of the project")


def test_rules_match_events_as_where_does(spark: SparkSession) -> None:
    part = sigma.corpus(spark, every_rule=5, every_event=40)
    assert set(part.rejected.values()) <= {"ip_cidr_contains"}
    rules = sparkrules.RuleSet("sigma")
    assert rules.subscribe_all(part.rules) == len(part.rules)
    assert differences(pairs_by_plugin(part.events, rules), sigma.truth(part), part.rules) == []
