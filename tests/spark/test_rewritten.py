"""Comparisons that Spark's optimizer rewrites: WHERE evaluates the result, and so do the engines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sparkrules.local.matcher import NeedsSpark
from tests.spark.oracle import disagreements, pairs_by_filter, rule_set, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NEW_YORK = "America/New_York"  # no 02:30 on 2024-03-10, two 01:30 on 2024-11-03
ZONES = [NEW_YORK, "Europe/Berlin", "America/Sao_Paulo", "America/Havana", "Australia/Lord_Howe", "UTC"]
TIMES = """
    SELECT * FROM VALUES
      (0, TIMESTAMP_NTZ'2024-03-10 02:30:00', DATE'2024-03-10', TIMESTAMP'2024-03-10 07:30:00Z'),
      (1, TIMESTAMP_NTZ'2024-03-10 03:30:00', DATE'2024-03-11', TIMESTAMP'2024-03-10 06:59:59Z'),
      (2, NULL, NULL, NULL),
      (3, TIMESTAMP_NTZ'2024-11-03 01:30:00', DATE'2024-11-03', TIMESTAMP'2024-11-03 05:30:00Z'),
      (4, TIMESTAMP_NTZ'2024-11-03 00:00:00', DATE'2018-11-04', TIMESTAMP'2024-11-03 06:30:00Z'),
      (5, TIMESTAMP_NTZ'2018-11-04 00:00:00', DATE'2018-11-03', TIMESTAMP'2018-11-04 03:00:00Z'),
      (6, TIMESTAMP_NTZ'2018-11-04 00:30:00', DATE'0001-01-01', TIMESTAMP'2018-11-04 02:59:59Z'),
      (7, TIMESTAMP_NTZ'2024-03-31 02:30:00', DATE'2024-03-31', TIMESTAMP'2024-03-31 01:00:00Z'),
      (8, TIMESTAMP_NTZ'1883-11-18 12:00:00', DATE'1883-11-18', TIMESTAMP'1883-11-18 17:00:00Z')
    AS t(row, n, d, t)
"""
INSTANTS = [
    "TIMESTAMP'2024-03-10 02:30:00'",
    "TIMESTAMP'2024-03-10 03:30:00'",
    "TIMESTAMP'2024-11-03 01:30:00'",
    "TIMESTAMP'2024-11-03 06:30:00Z'",
    "TIMESTAMP'2018-11-04 00:00:00'",
    "TIMESTAMP'2018-11-04 01:00:00'",
    "TIMESTAMP'2024-03-31 02:30:00'",
]
LOCAL = [instant.replace("TIMESTAMP", "TIMESTAMP_NTZ").replace("0Z'", "0'") for instant in INSTANTS]
DATES = ["DATE'2024-03-10'", "DATE'2024-11-03'", "DATE'2018-11-04'"]
OPERATORS = ["=", "<>", "<", "<=", ">", ">=", "<=>"]


def _compared(attribute: str, constants: list[str]) -> list[str]:
    pairs = [f"{attribute} {operator} {constant}" for operator in OPERATORS for constant in constants]
    return [
        *pairs,
        f"NOT ({attribute} <=> {constants[0]})",
        f"{attribute} IN ({constants[1]})",
        f"{attribute} IN ({', '.join(constants)})",
        f"{attribute} NOT IN ({constants[0]}, {constants[1]})",
        f"{attribute} IN ({constants[1]}, NULL)",
        f"{attribute} BETWEEN {constants[0]} AND {constants[1]}",
        f"{constants[1]} > {attribute}",
    ]


@pytest.mark.parametrize("zone", ZONES)
def test_times_of_other_kinds(spark: SparkSession, zone: str) -> None:
    texts = [
        *_compared("n", INSTANTS),
        *_compared("t", LOCAL),
        *_compared("d", INSTANTS[:5]),
        *_compared("CAST(n AS TIMESTAMP)", INSTANTS[:2]),
        *_compared("CAST(t AS DATE)", DATES),
        *_compared("to_date(t)", DATES[:2]),
        *_compared("t", DATES[:2]),
        *_compared("n", DATES[:2]),
        "n = t",
        "n < t",
        "d = t",
        "d >= n",
        "n = t + INTERVAL 1 HOUR",
        "date_trunc('DAY', n) = TIMESTAMP'2024-03-10 00:00:00'",
        "(n = TIMESTAMP'2024-03-10 03:30:00') IS NOT TRUE",
    ]
    with settings(spark, zone=zone):
        df = spark.sql(TIMES).localCheckpoint()
        # The Python engine has one query for each: enough that it is right in one zone.
        engines = texts if zone == NEW_YORK else texts[::7]
        assert disagreements(df, engines, "times") == []


def test_the_hour_that_there_is_not(spark: SparkSession) -> None:
    with settings(spark, zone=NEW_YORK):
        df = spark.sql(TIMES).localCheckpoint()
        assert [row.row for row in df.where("n = TIMESTAMP'2024-03-10 02:30:00'").collect()] == [1]
        assert disagreements(df, ["n = TIMESTAMP'2024-03-10 02:30:00'"], "gap") == []


COLLATED = """
    SELECT row, a COLLATE UTF8_LCASE AS lc, b COLLATE UNICODE_CI AS ci, b COLLATE UNICODE AS u,
      a COLLATE UTF8_BINARY_RTRIM AS trimmed, named_struct('f', a COLLATE UTF8_LCASE) AS st
    FROM VALUES (0, 'I', 'ab'), (1, 'i', 'AB'), (2, '\u0130x', 'x'), (3, 'ix', NULL), (4, '\u0130', '\u00df'),
      (5, 'i  ', 'SS'), (6, '', '\u00e4'), (7, 'xI', 'a\u0308') AS t(row, a, b)
"""


def test_collated_columns(spark: SparkSession) -> None:
    texts = [
        *(
            f"lc {negated}LIKE '{p}'"
            for negated in ("", "NOT ")
            for p in ("i%", "%x", "%i%", "i", "i%x", "_", "I_", "")
        ),
        *("lc ILIKE 'I%'", "lc RLIKE '^i'", "lc LIKE ANY ('i%', '%x')", "lc LIKE ALL ('i%', '%x')", "lc LIKE NULL"),
        *("startswith(lc, 'I')", "contains(lc, 'I')", "endswith(lc, 'X')", "st.f = 'I'", "st.f LIKE 'i%'"),
        *(f"{column} {op} 'ab'" for column in ("lc", "ci", "u", "trimmed") for op in OPERATORS),
        *("lc = 'I'", "lc IN ('I', 'IX')", "lc NOT IN ('i', 'x')", "ci = 'ss'", "ci IN ('AB', 'SS')", "u = '\u00e4'"),
        *("ci BETWEEN 'aa' AND 'b'", "trimmed = 'i '", "trimmed IN ('i    ', 'x')", "lc = ci COLLATE UTF8_LCASE"),
        "lc IN ('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l')",
    ]
    assert disagreements(spark.sql(COLLATED).localCheckpoint(), texts, "collated") == []


def test_numpy_refuses_collations(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    import pyarrow.parquet as pq

    path = str(tmp_path_factory.mktemp("collated") / "table")
    df = spark.sql(COLLATED)
    df.coalesce(1).write.parquet(path)
    tables = [(pq.read_table(path), None), (df.toArrow(), df.schema)]
    for table, schema in tables:
        for text in ("lc = 'i'", "lc LIKE 'i%'", "ci IN ('ab', 'x')", "u < 'x'", "st.f = 'i'", "trimmed = 'i'"):
            with pytest.raises(NeedsSpark, match="only Spark knows how STRING COLLATE"):
                rule_set("numpy_collated", {"it": text}).match(table, schema=schema)
        nulls = rule_set("numpy_nulls", {"it": "ci IS NULL"}).match(table, schema=schema)
        assert sum(map(len, nulls.ids.to_pylist())) == 1


NUMBERS = """
    SELECT * FROM VALUES
      (0, 9223372036854775807L, 127Y, CAST(1.5 AS FLOAT), 1.50BD, true),
      (1, NULL, NULL, NULL, NULL, NULL),
      (2, -9223372036854775808L, -128Y, CAST('NaN' AS FLOAT), -7.25BD, false),
      (3, 0L, 5Y, CAST('-0.0' AS FLOAT), 0BD, true),
      (4, 5L, 0Y, CAST(0.1 AS FLOAT), 99.99BD, true) AS t(row, a, b, f, c, o)
"""


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_numbers_beyond_the_type(spark: SparkSession, ansi: str) -> None:
    """Spark turns `a < 9223372036854775808` into TRUE, even where a is NULL."""
    constants = ["9223372036854775808", "-9223372036854775809", "9223372036854775807.5", "12345678901234567890123.4"]
    texts = [f"{c} {op} {n}" for c in ("a", "b", "a % 7", "c") for op in OPERATORS for n in constants]
    small = ["128", "127", "-129", "-128", "5.5", "0.1", "0.1D", "1e300D", "float('NaN')", "5L", "100.001"]
    texts += [f"{c} {op} {n}" for c in ("b", "f", "c") for op in OPERATORS for n in small]
    texts += [f"a {op}IN ({constants[0]}, 5)" for op in ("", "NOT ")] + [
        "b IN (5, 300)",
        "b IN (300)",
        "b NOT IN (300)",
    ]
    texts += ["o = true", "o <> false", "o <=> NULL", "NOT o", "9223372036854775808 > a"]
    with settings(spark, ansi=ansi):
        assert disagreements(spark.sql(NUMBERS).localCheckpoint(), texts, "beyond") == []


def test_numpy_knows_numbers_beyond_64_bits(spark: SparkSession) -> None:
    df = spark.sql(NUMBERS)
    texts = [f"a {op} {n}" for op in OPERATORS for n in ("9223372036854775808", "-9223372036854775809")]
    rows, kept = df.toArrow(), pairs_by_filter(df, {text: text for text in texts})
    for text in texts:
        found = rule_set("numpy_beyond", {"it": text}).match(rows).ids.to_pylist()
        truth = {row for row, id in kept if id == text}
        assert {row for row, ids in zip(rows["row"].to_pylist(), found, strict=True) if ids} == truth, text
