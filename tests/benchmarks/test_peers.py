"""The peers of the benchmarks give the same answer as sparkrules."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.cache import Cache
from benchmarks.peers.join import RuleTables
from benchmarks.peers.numpy_masks import match_by_masks
from benchmarks.peers.plain_spark import match_by_case_when
from benchmarks.subject import Subject
from benchmarks.through_spark import floor
from benchmarks.workloads.auctions import auctions
from benchmarks.workloads.thesis import thesis
from benchmarks.workloads.workload import Workload
from tests.spark.oracle import settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORKLOADS = [auctions(200), thesis(200)[0], thesis(200)[-1]]


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_peers_find_the_same_matches(spark: SparkSession, workload: Workload, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    with settings(spark, **{"spark.sparkrules.store": ""}):
        subject = Subject(spark, workload, cache.rules(workload), cache.rows(workload, 1_000))
        df, rules = subject.sample(1_000).df, list(workload.rules())
        expected = subject.matches(df)
        assert expected == sum(subject.matches_by_rule(df).values()) > 0
        assert match_by_masks(df, rules) == expected
        assert match_by_case_when(df, rules[:20]) == sum(
            count for id, count in subject.matches_by_rule(df).items() if id in dict(rules[:20])
        )
        if workload.family == "auctions":
            assert RuleTables(spark, rules, tmp_path).match(df) == expected


def test_the_floor_reads_every_column(spark: SparkSession) -> None:
    rows = spark.sql("SELECT id, id AS `a b` FROM range(3)")
    assert floor(rows) == spark.sql("SELECT sum(hash(id, id)) FROM range(3)").first()[0]
