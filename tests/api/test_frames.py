"""Matching pandas and polars frames without Spark gives Spark's answer for the same rows, read from Parquet."""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from sparkrules import RuleSet
from sparkrules.errors import RuleSetError
from sparkrules.rules.frames import as_arrow, is_frame
from sparkrules.rules.table_schema import arrow_schema

INSTANTS = [datetime(2024, 5, 1, 10, 30, 0, 250_000), datetime(1969, 12, 31, 23, 59, 59), None]  # noqa: DTZ001
ZONED = [None if at is None else at.replace(tzinfo=timezone.utc) for at in INSTANTS]
POLARS = pl.DataFrame(
    {
        "text": ["Rome", "Oslo", None],
        "category": pl.Series(["new", None, "used"], dtype=pl.Categorical),
        "listed": pl.Series(["new", "used", None], dtype=pl.Enum(["used", "new"])),
        "small": pl.Series([1, 255, None], dtype=pl.UInt8),
        "large": pl.Series([1, 2**64 - 1, None], dtype=pl.UInt64),
        "number": pl.Series([-5, 2**40, None], dtype=pl.Int64),
        "ratio": [0.5, float("nan"), None],
        "single": pl.Series([0.5, -1.5, None], dtype=pl.Float32),
        "cost": pl.Series([Decimal("1.50"), Decimal("-3.25"), None], dtype=pl.Decimal(10, 2)),
        "used": [True, False, None],
        "day": [date(2024, 5, 1), date(1969, 12, 31), None],
        "micro": pl.Series(INSTANTS, dtype=pl.Datetime("us")),
        "milli": pl.Series(INSTANTS, dtype=pl.Datetime("ms")),
        "zoned": pl.Series(ZONED, dtype=pl.Datetime("us", "UTC")),
        "rome": pl.Series(ZONED, dtype=pl.Datetime("ms", "UTC")).dt.convert_time_zone("Europe/Rome"),
        "tags": [["a", "b"], [], None],
        "addr": [{"city": "Rome", "at": INSTANTS[0]}, {"city": None, "at": None}, None],
        "void": [None, None, None],
    }
)
NANO = pl.DataFrame({"nano": pl.Series(INSTANTS, dtype=pl.Datetime("ns"))})
TEXTS = [
    *("text = 'Rome'", "text > 'P'", "text LIKE 'R%'", "text IS NULL", "contains(text, 'sl')", "text <> 'Rome'"),
    *("category = 'new'", "category IN ('used', 'old')", "category < 'o'", "category IS NULL", "listed = 'used'"),
    *("small = 255", "small > 1", "small < 300", "large > 18446744073709551614", "large = 1", "large > 9e18"),
    *("number < 0", "number = 1099511627776", "number IN (1, -5)", "number > 1.5", "ratio > 1", "ratio = 0.5"),
    *("single = 0.5", "single < 0", "cost = 1.5", "cost < 0", "cost > 1.49", "used", "NOT used", "used IS NULL"),
    *("day = '2024-05-01'", "day < DATE '1970-01-01'", "day IS NOT NULL", "void IS NULL", "void = 1", "tags IS NULL"),
    *("addr.city = 'Rome'", "addr.city IS NULL", "addr.at > TIMESTAMP_NTZ '2024-01-01 00:00:00'"),
    *(f"{name} > TIMESTAMP_NTZ '2024-05-01 10:30:00.249'" for name in ("micro", "milli")),
    *(f"{name} = TIMESTAMP_NTZ '2024-05-01 10:30:00.25'" for name in ("micro", "milli")),
    *(f"{name} < '1970-01-01T00:00:00'" for name in ("micro", "milli")),
    *(f"{name} = '2024-05-01T10:30:00.25Z'" for name in ("zoned", "rome")),
    *(f"{name} < TIMESTAMP '1970-01-01 00:00:00Z'" for name in ("zoned", "rome")),
]


def _found(rules: RuleSet, frame: object) -> list[list[str]]:
    return rules.match(frame).ids.to_pylist()  # type: ignore[arg-type]


def _expected(spark: SparkSession, file: Path, texts: list[str]) -> list[list[str]]:
    columns = [f"({text}) AS r{number}" for number, text in enumerate(texts)]
    rows = spark.read.parquet(str(file)).selectExpr(*columns).collect()
    return [sorted(texts[number] for number, is_true in enumerate(row) if is_true) for row in rows]


def _rules(texts: list[str]) -> RuleSet:
    made = RuleSet("frames")
    assert made.subscribe_all([(text, text) for text in texts]) == len(texts)
    return made


def test_polars(spark: SparkSession, tmp_path: Path) -> None:
    POLARS.with_columns(pl.col("category", "listed").cast(pl.String)).write_parquet(tmp_path / "p.parquet")
    expected = _expected(spark, tmp_path / "p.parquet", TEXTS)
    assert _found(_rules(TEXTS), POLARS) == expected
    assert _found(_rules(TEXTS), POLARS.lazy()) == expected
    assert _found(_rules(TEXTS), POLARS.to_arrow()) == expected
    assert sum(map(len, expected)) > 50


def test_nanoseconds(spark: SparkSession, tmp_path: Path) -> None:
    """Spark has no nanoseconds: it reads microseconds."""
    texts = ["nano = TIMESTAMP_NTZ '2024-05-01 10:30:00.25'", "nano < '1970-01-01T00:00:00'", "nano IS NULL"]
    NANO.with_columns(pl.col("nano").dt.cast_time_unit("us")).write_parquet(tmp_path / "n.parquet")
    expected = _expected(spark, tmp_path / "n.parquet", texts)
    rules = _rules(texts)
    assert _found(rules, NANO) == expected == [[texts[0]], [texts[1]], [texts[2]]]
    assert _found(rules, pd.DataFrame({"nano": pd.Series(INSTANTS, dtype="datetime64[ns]")})) == expected


def test_pandas(spark: SparkSession, tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "text": ["Rome", "Oslo", None],
            "category": pd.Categorical(["new", None, "used"]),
            "number": pd.array([-5, 2**40, None], dtype="Int64"),
            "ratio": [0.5, float("nan"), 2.0],
            "used": pd.array([True, False, None], dtype="boolean"),
            "micro": pd.to_datetime(pd.Series(INSTANTS)),
            "zoned": pd.to_datetime(pd.Series(ZONED), utc=True),
            "day": [date(2024, 5, 1), date(1969, 12, 31), None],
        },
        index=[7, 7, 9],
    )
    texts = [text for text in TEXTS if text.split(" ")[-1 if text.startswith("NOT") else 0] in frame.columns]
    texts += ["contains(text, 'sl')", "ratio IS NULL"]
    texts = [*dict.fromkeys(texts)]
    table = pa.Table.from_pandas(frame.assign(category=frame["category"].astype("object")), preserve_index=False)
    pq.write_table(table, tmp_path / "p.parquet", coerce_timestamps="us", store_schema=False)
    assert _found(_rules(texts), frame) == _expected(spark, tmp_path / "p.parquet", texts)


def test_a_dataframe_of_spark_is_not_collected(spark: SparkSession) -> None:
    assert not is_frame(spark.range(1))
    with pytest.raises(RuleSetError, match=r"sparkrules\.match\(df, rules\) matches a DataFrame of Spark"):
        _found(_rules(["id > 1"]), spark.range(1))
    never_run = spark.range(1).selectExpr("raise_error('it was run') AS x")
    assert arrow_schema(never_run) is not None


@pytest.mark.parametrize("frame", [pl.DataFrame(), pd.DataFrame(), pl.DataFrame({"number": []}), pa.table({})])
def test_nothing_to_match(frame: object) -> None:
    made = RuleSet("frames")
    assert _found(made, frame) == [[] for _ in range(as_arrow(frame).num_rows)]
