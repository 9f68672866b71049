"""Random patterns over random rows: a batch, and a stream in any split, detect what the specification says."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import hypothesis
import pytest
from hypothesis import strategies as st

import sparkrules
from tests.pattern_cases import BEGIN, COLUMNS, ROW, Definition, Row, definitions, expected, rule_set
from tests.spark.detection_stream import FLUSH, SCHEMA, Stream, detections
from tests.spark.oracle import settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFINITIONS: st.SearchStrategy[list[Definition]] = st.integers(0, 2**32).flatmap(
    lambda _: st.tuples(*(definitions(number) for number in range(40))).map(list)
)


@pytest.fixture(autouse=True)
def _settings(spark: SparkSession) -> Iterator[None]:
    with settings(spark, zone="UTC"):
        yield


@hypothesis.settings(max_examples=10, database=None, phases=[hypothesis.Phase.generate])
@hypothesis.given(DEFINITIONS, st.lists(ROW, min_size=20, max_size=60), st.booleans())
def test_a_batch(spark: SparkSession, definitions: list[Definition], rows: list[Row], with_id: bool) -> None:
    rules = rule_set(definitions, "batch-cases")
    df = spark.createDataFrame([tuple(row[name] for name in COLUMNS) for row in rows], SCHEMA)
    found = detections(sparkrules.detect(df, rules, time="ts", id="id" if with_id else None))
    assert found == expected(rules, rows, with_id=with_id)


@hypothesis.settings(max_examples=3, database=None, phases=[hypothesis.Phase.generate])
@hypothesis.given(
    DEFINITIONS, st.lists(ROW, min_size=20, max_size=40), st.sampled_from([1, 3, 20]), st.integers(0, 2**32)
)
def test_a_stream(
    spark: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
    definitions: list[Definition],
    rows: list[Row],
    delay: int,
    seed: int,
) -> None:
    rules = rule_set(definitions, "stream-cases")
    stream = Stream(spark, rules, delay, tmp_path_factory.mktemp("stream"))
    stream.arrive(*split(rows, delay, random.Random(seed)), [FLUSH])
    assert stream.run() == expected(rules, [*rows, FLUSH])
    assert stream.dropped == 0


def split(rows: Sequence[Row], delay: int, random: random.Random) -> list[list[Row]]:
    """The rows in micro-batches, out of order, but none later than the delay of the watermark allows."""

    def arrival(row: Row) -> float:
        seconds = random.uniform(0, 12) if row["ts"] is None else (row["ts"] - BEGIN).total_seconds()
        return seconds + random.uniform(0, delay * 0.999)

    arriving = sorted(rows, key=arrival)
    cuts = sorted(random.sample(range(1, len(arriving)), random.randint(1, 4)))
    return [arriving[start:end] for start, end in zip([0, *cuts], [*cuts, len(arriving)], strict=True)]
