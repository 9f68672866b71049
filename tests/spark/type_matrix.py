"""Every column type against a literal of every type, with each operator: generated rules and their table."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import TYPE_CHECKING

import pyspark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

HAS_TIME = tuple(map(int, pyspark.__version__.split(".")[:2])) >= (4, 1)

# Column: its type and values. The columns of texts hold only what the named type can read, so that under ANSI, where
# a text that cannot be read is an error, comparisons with that type are compared as well.
COLUMNS: dict[str, tuple[str, list[str]]] = {
    "tiny": ("TINYINT", ["1", "-128", "127", "0", "5"]),
    "small": ("SMALLINT", ["1", "-32768", "32767", "0", "5"]),
    "i": ("INT", ["1", "-7", "2147483647", "-2147483648", "0", "5"]),
    "big": ("BIGINT", ["1", "9223372036854775807", "-9223372036854775808", "0", "5", "2147483648"]),
    "f": ("FLOAT", ["1.5", "FLOAT('NaN')", "FLOAT('-0.0')", "0", "0.1", "FLOAT('Infinity')", "5", "16777217"]),
    "d": (
        "DOUBLE",
        ["1.5", "DOUBLE('NaN')", "DOUBLE('-0.0')", "0", "0.1", "DOUBLE('-Infinity')", "5", "9.2233720368547758e18"],
    ),
    "dec": ("DECIMAL(10, 2)", ["1.50", "-7.25", "0", "99999999.99", "5", "0.10"]),
    "whole": ("DECIMAL(5, 0)", ["1", "-7", "99999", "0", "5", "127"]),
    "long_dec": ("DECIMAL(18, 6)", ["1.5", "123456789012.123456", "-0.000001", "5", "0.1", "0"]),
    "wide": ("DECIMAL(25, 5)", ["1.5", "12345678901234567890.12345", "-1", "0.1", "5", "0"]),
    "widest": ("DECIMAL(38, 18)", ["1.5", "12345678901234567890.123456789012345678", "-1", "0.1", "5", "0"]),
    "s": (
        "STRING",
        ["'x'", "''", "'X'", "'5'", "' 5 '", "'x  '", "'é'", "'e\u0301'", "'\U0001f600'", "'true'", "'2024-01-01'"],
    ),
    "number_text": ("STRING", ["'1'", "'5'", "' 5 '", "'-7'", "'007'", "'+5'", "'127'"]),
    "decimal_text": ("STRING", ["'1.50'", "'5'", "'1e0'", "'-0.0'", "'.1'", "'NaN'", "'Infinity'"]),
    "date_text": ("STRING", ["'2020-02-29'", "'2024-01-01'", "' 2024-1-1 '", "'1969-12-31'", "'2024-03-31 02:30:00'"]),
    "b": ("BOOLEAN", ["true", "false"]),
    "bin": ("BINARY", ["X'00'", "X''", "X'FF01'", "X'35'", "X'7F'"]),
    "dt": (
        "DATE",
        ["DATE'2020-02-29'", "DATE'1969-12-31'", "DATE'2024-01-01'", "DATE'2024-03-31'", "DATE'0001-01-01'"],
    ),
    "ts": (
        "TIMESTAMP",
        [
            "TIMESTAMP'2020-02-29 12:00:00Z'",
            "TIMESTAMP'1969-12-31 23:59:59.999999Z'",
            "TIMESTAMP'2024-01-01 00:00:00Z'",
            "TIMESTAMP'2023-12-31 23:00:00Z'",
            "TIMESTAMP'2024-03-31 00:59:59Z'",
            "TIMESTAMP'2024-03-31 01:00:00Z'",
            "TIMESTAMP'2024-10-27 00:30:00Z'",
            "TIMESTAMP'2024-10-27 01:30:00Z'",
        ],
    ),
    "ntz": (
        "TIMESTAMP_NTZ",
        [
            "TIMESTAMP_NTZ'2020-02-29 12:00:00'",
            "TIMESTAMP_NTZ'2024-01-01 00:00:00'",
            "TIMESTAMP_NTZ'2024-10-27 02:30:00'",
            "TIMESTAMP_NTZ'1969-12-31 23:59:59.999999'",
        ],
    ),
    "ym": ("INTERVAL YEAR TO MONTH", ["INTERVAL '1' YEAR", "INTERVAL '-1' MONTH", "INTERVAL '0' MONTH"]),
    "months": ("INTERVAL MONTH", ["INTERVAL '12' MONTH", "INTERVAL '-1' MONTH", "INTERVAL '0' MONTH"]),
    "ds": ("INTERVAL DAY TO SECOND", ["INTERVAL '1' DAY", "INTERVAL '-1.5' SECOND", "INTERVAL '0' SECOND"]),
    "hours": ("INTERVAL HOUR", ["INTERVAL '24' HOUR", "INTERVAL '-1' HOUR", "INTERVAL '0' HOUR"]),
    "calendar": ("INTERVAL", ["make_interval(1)", "make_interval(0, 12)"]),
    "arr": ("ARRAY<INT>", ["array(1, 2)", "array()", "array(NULL)", "array(5)"]),
    "st": ("STRUCT<x: INT, y: STRING>", ["named_struct('x', 1, 'y', 'x')", "named_struct('x', NULL, 'y', 'q')"]),
    "m": ("MAP<STRING, INT>", ["map('k', 1)", "map()"]),
    "v": ("VARIANT", ["parse_json('5')", "parse_json('\"x\"')", "parse_json('null')"]),
}

# Literals that are compared with every column.
LITERALS = [
    "NULL",
    "1Y",
    "5",
    "128",
    "2147483648",
    "5L",
    "9223372036854775807",
    "99999999999999999999",
    "1.5",
    "5.0",
    "-0.0",
    "127.5",
    "12345678901234567890.12345",
    "CAST(5 AS DECIMAL(38, 18))",
    "0.1F",
    "0.1D",
    "1e0",
    "-0.0D",
    "DOUBLE('NaN')",
    "DOUBLE('Infinity')",
    "'x'",
    "'5'",
    "' 5 '",
    "'1e0'",
    "'true'",
    "'2024-01-01'",
    "'2024-01-01T00:00:00Z'",
    "'12:00:00'",
    "'é'",
    "true",
    "X'FF01'",
    "DATE'2024-01-01'",
    "DATE'2020-02-29'",
    "TIMESTAMP'2024-01-01 00:00:00'",
    "TIMESTAMP'2024-03-31 02:30:00'",
    "TIMESTAMP_NTZ'2024-01-01 00:00:00'",
    "TIMESTAMP_NTZ'2024-03-31 02:30:00'",
    "INTERVAL '1' YEAR",
    "INTERVAL '12' MONTH",
    "INTERVAL '1' DAY",
    "INTERVAL '24' HOUR",
    "INTERVAL '1 02:03:04.5' DAY TO SECOND",
    "make_interval(1, 0, 0, 1)",
    "array(1, 2)",
    "array('5')",
    "named_struct('x', 1, 'y', 'x')",
    "map('k', 1)",
    "parse_json('5')",
]
if HAS_TIME:
    COLUMNS["tm"] = ("TIME", ["TIME'12:00:00'", "TIME'00:00:00'", "TIME'23:59:59.999999'"])
    COLUMNS["coarse"] = ("TIME(0)", ["TIME'12:00:00'", "TIME'00:00:00'"])
    LITERALS += ["TIME'12:00:00'", "TIME'12:00:00.000001'"]

TEMPORAL_COLUMNS = ["dt", "ts", "ntz", "s", "date_text"]
TEMPORAL_LITERALS = [literal for literal in LITERALS if "2024" in literal or "2020" in literal] + [
    "TIMESTAMP'2024-10-27 02:30:00'",
    "TIMESTAMP_NTZ'2024-03-31 02:30:00'",
    "'2024-03-31 02:30:00'",
    "'2024-10-27 02:30:00'",
    "'2024-01-01 00:00:00 Europe/Berlin'",
]


def table(spark: SparkSession) -> DataFrame:
    """A column `row`, and the columns of the matrix: every value of each, and NULL, once. It is a local relation."""
    rows = []
    for row in range(1 + max(len(values) for _, values in COLUMNS.values())):
        cells = (f"CAST({dict(enumerate(values)).get(row, 'NULL')} AS {type})" for type, values in COLUMNS.values())
        rows.append(f"({row}, {', '.join(cells)})")
    return spark.sql(f"SELECT * FROM VALUES {', '.join(rows)} AS t(row, {', '.join(COLUMNS)})")


FORMS = [
    "{column} = {literal}",
    "{literal} < {column}",
    "{column} >= {literal}",
    "{column} <=> {literal}",
    "NOT {column} <> {literal}",
    "{column} IN ({literal}, NULL)",
    "{column} NOT IN ({literal})",
    "{column} BETWEEN {literal} AND {literal}",
]


def mixed_lists(column: str) -> list[str]:
    """IN lists and BETWEEN with constants of several types, whose common type Spark chooses for the whole list."""
    mixes = ["1, 2.5", "1, '5'", "5, 5L, 5.0", "0.1, 0.1D", "'5', 'x'", "1.5, 12345678901234567890.12345", "5S, NULL"]
    mixes += ["DATE'2024-01-01', '2020-02-29'", "TIMESTAMP'2024-01-01 00:00:00', DATE'2020-02-29'", "1e0, 5.00BD"]
    lists = [f"{column} {negated}IN ({mix})" for mix in mixes for negated in ("", "NOT ")]
    return lists + [f"{column} BETWEEN {low} AND {high}" for low, high in [("0", "5.5"), ("'0'", "7"), ("0.1", "0.1D")]]


def matrix(
    columns: Iterable[str], literals: Iterable[str], forms: int = len(FORMS), first: int = 0
) -> dict[tuple[str, str], list[str]]:
    """Per column and literal, rules that compare them in so many forms from the `first`, other ones from pair to pair.

    Under the literal "mixed": rules with constants of several types.
    """
    pairs = list(product(columns, literals))
    rules = {
        (column, literal): [
            FORMS[(3 * number + first + form) % len(FORMS)].format(column=column, literal=literal)
            for form in range(forms)
        ]
        for number, (column, literal) in enumerate(pairs)
    }
    return rules | {(column, "mixed"): mixed_lists(column) for column, _ in pairs}
