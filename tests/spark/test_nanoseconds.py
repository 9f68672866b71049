"""A frame of pandas has nanoseconds, and Spark's rows have not. Over Connect, Spark refuses such a frame."""

from __future__ import annotations

import pandas as pd
from pyspark.sql import SparkSession

from sparkrules import RuleSet


def test_nanoseconds_are_cut_off_as_by_create_data_frame(spark: SparkSession) -> None:
    frame = pd.DataFrame({"at": pd.to_datetime(pd.Series([-1, -1001, 1, 1999, None]), unit="ns", utc=True)})
    texts = [f"at {sign} TIMESTAMP '1970-01-01 00:00:00Z'" for sign in ("<", "=", ">")]
    rules = RuleSet("nanoseconds")
    rules.subscribe_all({text: text for text in texts})
    columns = [f"({text}) AS r{number}" for number, text in enumerate(texts)]
    rows = spark.createDataFrame(frame).selectExpr(*columns).collect()
    expected = [[texts[number] for number, is_true in enumerate(row) if is_true] for row in rows]
    assert rules.match(frame).ids.to_pylist() == expected
