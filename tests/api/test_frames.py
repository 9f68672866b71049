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
from pyarrow.dataset import dataset
from pyspark.sql import SparkSession

from sparkrules import RuleSet
from sparkrules.errors import RuleSetError
from sparkrules.local import NeedsSpark
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


def test_other_types_of_pandas(spark: SparkSession, tmp_path: Path) -> None:
    """Objects, nullable types, types of Arrow, categories of other types, sparse columns; names that are no strings."""
    columns: dict[object, object] = {
        "objects": pd.Series([1, 2.5, None, float("nan")], dtype=object),
        "texts": pd.Series(["x", pd.NA, None, ""], dtype=object),
        "exact": [Decimal("1.5"), Decimal("-2.255"), None, Decimal(0)],
        "row": [{"city": "Rome", "n": 1}, None, {"city": None, "n": 3}, {"city": "", "n": None}],
        "nullable": pd.array([0.0, None, 2.5, -0.0], dtype="Float64"),
        "nan": pd.Series(pd.arrays.ArrowExtensionArray(pa.array([1.5, float("nan"), None, -0.0]))),
        "arrow": pd.array(["x", None, "", "é"], dtype="string[pyarrow]"),
        "sizes": pd.Categorical([1, 2, None, 1]),
        "seen": pd.Categorical(pd.to_datetime(["2024-05-01", None, "1969-12-31", "2024-05-01"])),
        "sparse": pd.arrays.SparseArray([0, 0, 7, 0]),
        "tokyo": pd.to_datetime(["2024-05-01", None, "1969-12-31", "2024-05-01"]).tz_localize("Asia/Tokyo"),
        "offset": pd.to_datetime(["2024-05-01", None, "1969-12-31", "2024-05-01"]).tz_localize("+05:30"),
        7: [1, 2, 3, 4],
    }
    frame = pd.DataFrame(columns)
    texts = ["objects > 1", "objects IS NULL", "texts = ''", "texts IS NULL", "exact < 0", "exact = 1.5", "row IS NULL"]
    texts += ["row.city = 'Rome'", "row.n IS NULL", "nullable = 0", "nullable > 0", "nullable IS NULL", "`7` > 2"]
    texts += ["nan > 5", "nan IS NULL", "nan = 0", "arrow = 'é'", "arrow LIKE '%'", "sizes = 1", "sizes IS NULL"]
    texts += [f"{name} > TIMESTAMP '2024-04-30 14:00:00Z'" for name in ("tokyo", "offset")]
    texts += [f"{name} < TIMESTAMP '2024-01-01 00:00:00Z'" for name in ("tokyo", "offset")]
    texts += ["seen > TIMESTAMP_NTZ '2024-01-01 00:00:00'", "seen IS NULL", "sparse = 7", "sparse < 7"]
    plain = frame.assign(sparse=[0, 0, 7, 0], sizes=frame["sizes"].astype("Int64"), seen=frame["seen"].astype("object"))
    table = pa.table(
        [pa.array(plain[name], from_pandas=True) for name in plain.columns], [str(name) for name in plain.columns]
    )
    pq.write_table(table, tmp_path / "p.parquet", coerce_timestamps="us", store_schema=False)
    expected = _expected(spark, tmp_path / "p.parquet", texts)
    assert _found(_rules(texts), frame) == expected
    assert {text for row in expected for text in row} == set(texts)


@pytest.mark.filterwarnings("ignore:createDataFrame attempted Arrow optimization")
def test_nanoseconds_anywhere() -> None:
    """In a struct, some of which are NULL, in a category, in several chunks, in a part of a table."""
    nanoseconds = pa.array([-1, None, 1500, -1000], pa.timestamp("ns"))
    table = pa.table(
        {
            "at": nanoseconds,
            "row": pa.StructArray.from_arrays([nanoseconds], ["at"], mask=pa.array([False, False, False, True])),
            "category": nanoseconds.dictionary_encode(),
        }
    )
    table = pa.concat_tables([table, table]).slice(1, 6)
    texts = [f"{name} < TIMESTAMP_NTZ '1970-01-01 00:00:00'" for name in ("at", "category", "row.at")]
    texts.append("row.at IS NULL")
    found = [texts[3:], [], [*texts[:2], texts[3]], texts[:3], texts[3:], []]
    assert _found(_rules(texts), table) == found


@pytest.mark.parametrize("kind", [pl.Int128, pl.UInt128, pl.Float16])
def test_other_numbers_of_polars(kind: type[pl.DataType]) -> None:
    frame = pl.DataFrame({"n": pl.Series([2, 1, None], dtype=kind)})
    assert _found(_rules(["n > 1", "n IS NULL"]), frame) == [["n > 1"], [], ["n IS NULL"]]


class _Stream:
    """Nothing but a table that exports itself."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return _TABLE.__arrow_c_stream__(requested_schema)


class _Batch:
    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return _TABLE.combine_chunks().to_batches()[0].__arrow_c_array__(requested_schema)


_TABLE = pa.table({"n": [1, None, 3], "text": ["a", "b", None]})


@pytest.mark.parametrize(
    "table",
    [_Stream(), _Batch(), _TABLE.to_reader(), dataset(_TABLE), dataset(_TABLE).scanner(columns=["n"]), _TABLE],
    ids=lambda table: type(table).__name__,
)
def test_whatever_exports_arrow(table: object) -> None:
    assert _found(_rules(["n > 1", "n IS NULL"]), table) == [[], ["n IS NULL"], ["n > 1"]]


def test_a_relation_of_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("SELECT * FROM (VALUES (1, 'a', DATE '2024-05-01'), (NULL, 'b', NULL)) AS t(n, text, day)")
    texts = ["n > 0", "text = 'b'", "day = '2024-05-01'", "n IS NULL"]
    assert _found(_rules(texts), relation) == [["day = '2024-05-01'", "n > 0"], ["n IS NULL", "text = 'b'"]]


def test_run_ends_and_a_name_twice() -> None:
    runs = pa.table({"text": pa.RunEndEncodedArray.from_arrays([2, 3], ["a", None])})
    assert _found(_rules(["text = 'a'", "text IS NULL"]), runs) == [["text = 'a'"], ["text = 'a'"], ["text IS NULL"]]
    twice = pd.DataFrame([[1, 2, 3]], columns=["a", "a", "b"])
    assert _found(_rules(["b = 3"]), twice) == [["b = 3"]]
    with pytest.raises(NeedsSpark, match="`a` is ambiguous"):
        _found(_rules(["a = 1"]), twice)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"b": [1, 2], "a": [1, "x"]}), "the column 'a' of pandas cannot become one of Arrow: .*drop it"),
        (pd.DataFrame({"a": [1j]}), "the column 'a' of pandas cannot become one of Arrow"),
        (pa.table({"a": pa.array([2**60], pa.timestamp("s"))}), r"'a', a timestamp\[s\], has values that a timestamp"),
        (pa.table({"a": pa.array([2**60], pa.timestamp("ms"))}), r"'a', a timestamp\[ms\], has values"),
        (pl.DataFrame({"a": pl.Series([10**38], dtype=pl.Int128)}), "'a', a Int128, has values that a decimal of 38"),
        (pd.Series([1]), "table must be an Arrow table, or a DataFrame of pandas or polars, not a Series of pandas"),
        (pl.Series([1]), "not a Series of polars"),
        (pa.chunked_array([[1]]), "not a ChunkedArray of pyarrow"),
        (pa.array([{"a": 1}]), "not a StructArray of pyarrow"),
    ],
)
def test_what_cannot_be_matched(frame: object, message: str) -> None:
    with pytest.raises(RuleSetError, match=message):
        _found(_rules(["a IS NULL"]), frame)
