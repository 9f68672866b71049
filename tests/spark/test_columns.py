"""Rows in column batches, with and without dictionaries; and matches as rows or only counted."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, timezone
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import Row

from tests.spark.oracle import compared, rule_set, settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = 10_000  # more than two batches
WORDS = ["", "a", "ab", "ab ", "b", "ß", "日本", "zz"]
RULES = {
    "word": "word = 'ab'",
    "word in": "word IN ('', 'b', 'ß')",
    "word or nothing": "word IS NULL OR word = 'zz'",
    "word is not": "word <> 'ab'",
    "words in order": "word >= 'ab' AND word < 'zz'",
    "part": "word LIKE '%b%' AND code < 3",
    "code": "code = 3",
    "codes": "code IN (1, 5, 7)",
    "code from": "code >= 6",
    "code between": "code BETWEEN 2 AND 4",
    "price": "price < 10",
    "nan": "price = double('NaN') OR price > 90",
    "flag": "flag",
    "not flag": "NOT flag AND price >= 50",
    "either": "flag OR code = 2 OR word = 'a'",
    "both": "(code = 1 OR word = 'b') AND (price < 50 OR flag)",
    "day": "day = DATE'2024-01-03'",
    "deep": "size(tags) = 2 AND tags[0] = 'ab'",
}


def rows() -> pa.Table:
    numbers = range(ROWS)
    return pa.table(
        {
            "row": pa.array(numbers, pa.int64()),
            "word": pa.array([None if i % 11 == 0 else WORDS[i * 7 // 3 % len(WORDS)] for i in numbers]),
            "code": pa.array([None if i % 13 == 0 else i // 5 % 9 for i in numbers], pa.int32()),
            "price": pa.array([float("nan") if i % 97 == 0 else (i * 31 % 1000) / 10 for i in numbers]),
            "flag": pa.array([None if i % 17 == 0 else i % 3 == 0 for i in numbers]),
            "day": pa.array([19_724 + i % 4 for i in numbers], pa.int32()).cast(pa.date32()),
            "tags": pa.array([WORDS[i % 4 : i % 4 + i % 3] for i in numbers]),
        }
    )


@pytest.fixture(scope="module", params=["dictionary", "plain", "orc"])
def table(request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path: Path = tmp_path_factory.mktemp("columns") / f"{request.param}.parquet"
    pq.write_table(rows(), path, use_dictionary=request.param != "plain", row_group_size=4_000)
    if request.param != "orc":
        return spark.read.parquet(str(path))
    spark.read.parquet(str(path)).write.orc(f"{path}.orc")
    return spark.read.orc(f"{path}.orc")


def plan_of(df: DataFrame) -> str:
    text: str = df._jdf.queryExecution().executedPlan().toString()
    return text


def test_batches_give_the_answer_of_where(spark: SparkSession, table: DataFrame) -> None:
    rules = rule_set("columns", RULES)
    rules.publish(spark)
    # The array makes Spark read rows; without it the scan gives columns.
    flat = table.drop("tags")
    plain = {id: text for id, text in RULES.items() if "tags" not in text}
    assert not compared(table, RULES)
    assert not compared(flat, plain)
    flat.createOrReplaceTempView("flat")
    with settings(spark, **{"spark.sparkrules.invalidRules": "skip"}):
        matched = spark.sql("SELECT row, match_subscriptions('columns', *).ids AS ids FROM flat")
        assert "ColumnarToRow" not in plan_of(matched)
        above_a_filter = spark.sql("SELECT match_subscriptions('columns', *).ids AS ids FROM flat WHERE row % 2 = 0")
        assert "ColumnarToRow" in plan_of(above_a_filter)
        assert above_a_filter.count() == ROWS // 2


@pytest.fixture(scope="module")
def view(spark: SparkSession, table: DataFrame) -> str:
    rule_set("columns", RULES).publish(spark)
    table.createOrReplaceTempView("columns")
    return "columns"


def test_counting_needs_no_row_per_match(spark: SparkSession, view: str) -> None:
    listed = spark.sql(f"SELECT inline(subscription_matches('columns', *)) FROM {view}").collect()
    expected = Counter(row.subscription_id for row in listed)
    assert len(expected) == len(RULES)
    table = f"match_subscriptions('columns', TABLE({view}))"
    queries = [
        f"SELECT subscription_id, count(*) FROM {table} GROUP BY subscription_id",
        f"SELECT subscription_id, count(1) AS n FROM {table} GROUP BY ALL",
        f"SELECT subscription_id AS id, count(subscription_id) FROM {table} GROUP BY subscription_id",
    ]
    for query in queries:
        counted = spark.sql(query)
        assert dict(map(tuple, counted.collect())) == expected
        assert "sum(count#" in plan_of(counted)
    assert spark.sql(f"SELECT count(*) FROM {table}").collect()[0][0] == len(listed)
    others = [
        f"SELECT subscription_id, count(price) FROM {table} GROUP BY 1",
        f"SELECT subscription_id, count(DISTINCT code) FROM {table} GROUP BY 1",
        f"SELECT subscription_id, count(*) FILTER (WHERE flag) FROM {table} GROUP BY 1",
    ]
    for query in others:
        counted = spark.sql(query)
        assert "sum(count#" not in plan_of(counted)
        assert len(counted.collect()) == len(RULES)


def test_a_row_per_match_computes_only_what_is_read(spark: SparkSession, view: str) -> None:
    whole = spark.sql(f"SELECT row, subscription_id, overlap FROM match_subscriptions('columns', TABLE({view}))")
    ids = spark.sql(f"SELECT row, subscription_id FROM match_subscriptions('columns', TABLE({view}))")
    assert "overlap#" in plan_of(whole)
    assert "overlap#" not in plan_of(ids)
    assert sorted(map(tuple, ids.collect())) == sorted((row, id) for row, id, _ in whole.collect())
    filtered = spark.sql(
        f"SELECT row FROM match_subscriptions('columns', TABLE({view})) WHERE subscription_id = 'code' AND row < 100"
    )
    assert [row for (row,) in filtered.orderBy("row").collect()] == [
        row for row, id in sorted(map(tuple, ids.collect())) if id == "code" and row < 100
    ]


NESTED = [
    "exists(i, e -> e = 0)", "NOT exists(i, e -> e = 1)", "exists(i, e -> e IS NULL)", "forall(i, e -> e < 9)",
    "size(filter(l, e -> e IS NULL)) = 1", "get(transform(d, e -> e + 1), 0) IS NULL",
    "aggregate(i, 0, (x, e) -> x + e) = 5",
    "exists(b, e -> NOT e)", "NOT exists(s, e -> e = '')", "exists(t, e -> e < DATE'2024-01-02')",
    "exists(aa, e -> exists(e, f -> f = 0))", "exists(st, e -> e.x = 0)", "exists(st, e -> e IS NULL)",
    "exists(map_values(m), e -> e = 0)", "size(map_filter(m, (k, v) -> v IS NULL)) = 1", "m['k'] IS NULL",
    "get(zip_with(i, l, (x, y) -> x + y), 1) IS NULL", "i = array(NULL, 5)", "i <=> array(CAST(NULL AS INT))",
    "i < array(5)",
    "one.x IS NULL", "one.y = array(NULL, 1)", "one = named_struct('x', NULL, 'y', array(NULL, 1))", "i IS NULL",
    "exists(one.y, e -> e = 0)", "array_contains(i, 5)", "array_max(i) = 5", "get(sort_array(l), 0) IS NULL",
    "exists(i, e -> e = one.x)", "NOT exists(st, e -> e.x IS NULL) AND size(st) = 1", "get(st.x, 0) IS NULL",
    "one IS NULL",
    "one.x = 0", "one.x + 1 = 1", "one.x IS NOT NULL", "size(one.y) = 2 AND one.y[0] IS NULL", "one.y IS NULL",
    "array_contains(one.y, 1)", "array_contains(one.y, 0)", "one.y <=> NULL", "one.y = array(0)",
]  # fmt: skip
DEEP = [
    "deep.n IS NULL", "deep.n = 0", "deep.f = 0", "deep.t = ''", "deep.t IS NULL", "deep.t LIKE '%i%'", "deep.d = 0",
    "deep.day = DATE'1970-01-01'", "deep.at IS NULL", "deep.yes IS FALSE", "NOT deep.yes", "deep.raw = X''",
    "deep.inner IS NULL", "deep.inner.k IS NULL", "deep.inner.k = 0", "deep.inner.m['a'] IS NULL",
    "deep.inner.m['a'] = 0", "size(deep.inner.m) = 1", "exists(deep.inner.l, e -> e.v = 0)",
    "get(deep.inner.l, 0).v IS NULL",
    "exists(deep.inner.l, e -> e IS NULL)", "exists(map_values(deep.inner.m), e -> e = 0)",
    "map_contains_key(deep.inner.m, 'a') AND deep.n <=> NULL", "forall(deep.inner.l, e -> e.v = deep.inner.k)",
    "deep.inner.l = array(named_struct('v', 0))", "deep.inner.l <=> array(NULL, named_struct('v', NULL))",
    "deep IS NULL",
    "coalesce(deep.n, 7) = 7", "size(filter(lm, e -> e['a'] IS NULL)) = 1", "exists(lm, e -> e['a'] = 0)",
    "exists(map_values(ml), e -> exists(e, f -> f = 0))", "get(ml['a'], 0) IS NULL", "exists(ml['a'], e -> e IS NULL)",
    "exists(map_keys(mk), e -> e.a IS NULL)", "size(map_filter(mk, (k, v) -> k.a = 0)) = 1",
]  # fmt: skip


def test_nulls_inside_of_nested_columns(spark: SparkSession, tmp_path: Path) -> None:
    """Elements of a batch's arrays, maps and structs, which Spark's expressions never see as they lie in a batch."""
    spark.sql(
        "SELECT * FROM VALUES "
        "(0, array(NULL, 5), array(NULL, 5L), array(NULL, 5D), array(NULL, true), array(NULL, 'x'), "
        "array(NULL, DATE'2024-01-01'), array(NULL, array(NULL, 1)), "
        "array(NULL, named_struct('x', CAST(NULL AS INT))), "
        "map('k', CAST(NULL AS INT)), named_struct('x', CAST(NULL AS INT), 'y', array(NULL, 1))), "
        "(1, array(1), array(1L), array(1D), array(false), array(''), array(DATE'2023-01-01'), array(array(0)), "
        "array(named_struct('x', 0)), map('k', 0), named_struct('x', 0, 'y', array(0))), "
        "(2, array(), array(), array(), array(), array(), array(), array(), array(), map(), NULL), "
        "(3, array(NULL), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), "
        "(4, NULL, array(0L), NULL, NULL, NULL, NULL, NULL, NULL, map('j', 1), named_struct('x', 1, 'y', NULL)) "
        "AS t(row, i, l, d, b, s, t, aa, st, m, one)"
    ).coalesce(1).write.parquet(str(tmp_path / "nested"))
    df = spark.read.parquet(str(tmp_path / "nested"))
    assert compared(df, {text: text for text in NESTED}, "nested") == []
    with settings(spark, spark_sparkrules_strict="true"):
        assert compared(df, {text: text for text in NESTED}, "nested_strictly") == []


def test_nulls_in_nested_columns_of_nested_columns(spark: SparkSession, tmp_path: Path) -> None:
    """Fields of structs are read where they lie in a batch, whatever their types; NULL at every level."""
    inner = "struct<k: int, m: map<string, int>, l: array<struct<v: int>>>"
    fields = "n: int, f: double, t: string, d: decimal(30, 2), day: date, at: timestamp, yes: boolean, raw: binary"
    deep = f"struct<{fields}, inner: {inner}>"
    columns = f"deep {deep}, lm array<map<string, int>>, ml map<string, array<int>>, mk map<struct<a: int>, int>"
    full = {
        "n": 0, "f": 0.0, "t": "", "d": Decimal(0), "day": date(1970, 1, 1),
        "at": datetime.fromtimestamp(0, timezone.utc), "yes": False,
        "raw": bytearray(), "inner": {"k": 0, "m": {"a": 0}, "l": [{"v": 0}]},
    }  # fmt: skip
    empty = {"inner": {"k": None, "m": {"a": None}, "l": [None, {"v": None}]}}
    rows = [
        (full, [{"a": 0}], {"a": [0]}, {Row(a=0): 0}),
        (empty, [{"a": None}, None], {"a": [None, 5]}, {Row(a=None): None}),
        (full | {"t": "hi", "inner": {"k": 1, "m": {}, "l": []}}, [], {}, {}),
        (full | {"inner": None}, [{}], {"a": None}, {Row(a=1): 0, Row(a=None): 1}),
        ({}, None, None, None),
        (None, [None], {"b": [0]}, {Row(a=0): None}),
    ]
    numbered = [(number, *row) for number, row in enumerate(rows * 3)]
    frame = spark.createDataFrame(numbered, f"row bigint, {columns}")
    frame.coalesce(1).write.parquet(str(tmp_path / "deep"))
    df = spark.read.parquet(str(tmp_path / "deep"))
    assert compared(df, {text: text for text in DEEP}, "deep") == []
    both = {f"{one} OR {two}": f"{one} OR {two}" for one, two in pairwise(DEEP)}
    assert compared(df, both, "deep_pairs") == []
