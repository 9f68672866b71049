"""Random tables: columns of any type under awkward names, with the values on which types differ."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hypothesis import strategies as st

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Some that a change of clocks leaves out or repeats: in Berlin, New York, Sao Paulo.
_TIMES = [
    *("'2020-02-29 12:00:00'", "'2024-03-31 02:30:00'", "'2024-03-31 03:30:00'", "'2024-03-10 02:30:00'"),
    *("'2024-03-10 03:30:00'", "'2024-11-03 01:30:00'", "'2018-11-04 00:00:00'", "'2018-11-04 01:00:00'"),
]
# Per type: its kind, which decides what may be done with it, and values as SQL.
TYPES: dict[str, tuple[str, list[str]]] = {
    "TINYINT": ("number", ["0", "1", "-1", "127", "-128", "5"]),
    "SMALLINT": ("number", ["0", "1", "-7", "32767", "5"]),
    "INT": ("number", ["0", "1", "-7", "5", "6", "2147483647", "-2147483648"]),
    "BIGINT": ("number", ["0", "1", "5", "9223372036854775807", "-9223372036854775808", "9007199254740993"]),
    "FLOAT": ("number", ["0", "-0.0", "0.1", "1.5", "'NaN'", "'Infinity'", "16777217", "1e-40"]),
    "DOUBLE": ("number", ["0", "-0.0", "0.1", "1.5", "'NaN'", "'-Infinity'", "9007199254740993", "5"]),
    "DECIMAL(5, 2)": ("number", ["0", "1.50", "-7.25", "999.99", "5", "0.1"]),
    "DECIMAL(20, 4)": ("number", ["0", "1.5000", "-7.25", "1234567890123456.7891", "5"]),
    "DECIMAL(38, 10)": ("number", ["0", "1.5", "1234567890123456789012345678.0123456789", "-1"]),
    "STRING": (
        "text",
        ["''", "'x'", "'X'", "'xyz'", "'5'", "'1.50'", "' x '", "'ä%_b'", "'true'", "'2020-02-29'", "'\U0001f600'"],
    ),
    "STRING COLLATE UTF8_LCASE": ("text", ["''", "'x'", "'X'", "'xYz'", "'\u0130x'", "'i'", "'I'", "'5'"]),
    "STRING COLLATE UNICODE_CI": ("text", ["''", "'x'", "'X'", "'xyz'", "'\u00df'", "'SS'", "'5'"]),
    "STRING COLLATE UNICODE": ("text", ["''", "'x'", "'X'", "'\u00e4'", "'a\u0308'", "'5'"]),
    "STRING COLLATE UTF8_BINARY_RTRIM": ("text", ["''", "'x'", "'x  '", "'X '", "'5'"]),
    "CHAR(1)": ("text", ["''", "'x'", "'X'", "'5'"]),
    "CHAR(5)": ("text", ["''", "'x'", "'X'", "'xyz'", "'5'", "'1.50'", "' x'", "'\u00e4%_b'", "'true'", "'xyzxy'"]),
    "VARCHAR(5)": ("text", ["''", "'x'", "'x  '", "'X'", "'xyz'", "'5'", "'1.50'"]),
    "STRUCT<x: INT, y: CHAR(3)>": ("struct", ["named_struct('x', 1, 'y', 'x')", "named_struct('x', NULL, 'y', '5')"]),
    "BOOLEAN": ("truth", ["true", "false"]),
    "DATE": ("date", ["'2020-02-29'", "'1969-12-31'", "'2024-01-01'", "'0001-01-01'", "'2024-03-10'", "'2018-11-04'"]),
    "TIMESTAMP": (
        "time",
        [*_TIMES, "'1969-12-31 23:59:59.999999'", "'2024-11-03 05:30:00Z'", "'2024-11-03 06:30:00Z'"],
    ),
    "TIMESTAMP_NTZ": ("time", [*_TIMES, "'2024-01-01 00:00:00'"]),
    "BINARY": ("binary", ["X''", "X'00'", "X'FF01'", "'x'"]),
    "ARRAY<INT>": ("array", ["array()", "array(1, 5)", "array(NULL, 5)"]),
    "ARRAY<STRING>": ("array", ["array()", "array('x', 'y')", "array('x', NULL)"]),
    "MAP<STRING, INT>": ("map", ["map()", "map('k', 1)", "map('k', 5, 'q', NULL)"]),
    "STRUCT<x: INT, y: STRING>": ("struct", ["named_struct('x', 1, 'y', 'x')", "named_struct('x', NULL, 'y', '5')"]),
    "INTERVAL DAY TO SECOND": ("duration", ["INTERVAL '1' DAY", "INTERVAL '-1 2:03:04' DAY TO SECOND"]),
    "INTERVAL YEAR TO MONTH": ("months", ["INTERVAL '1' YEAR", "INTERVAL '-5' MONTH"]),
}
_NAMES = ["a", "b", "price", "Name", "select", "we ird", "x.y", "tick`s", "größe", "_1", "date", "user", "e"]


@dataclass(frozen=True)
class Table:
    """Columns (name as SQL, type), and a seed for the rows."""

    columns: tuple[tuple[str, str], ...]
    seed: int
    rows: int

    def of_kind(self, kind: str) -> list[str]:
        return [name for name, type in self.columns if TYPES[type][0] == kind]

    def dataframe(self, spark: SparkSession) -> DataFrame:
        rand = random.Random(self.seed)

        def cell(type: str) -> str:
            return f"CAST({'NULL' if rand.random() < 0.15 else rand.choice(TYPES[type][1])} AS {type})"

        rows = (f"({row}, {', '.join(cell(type) for _, type in self.columns)})" for row in range(self.rows))
        if any("CHAR(" in type for _, type in self.columns):
            # Spark has such columns in stored tables only.
            columns = ", ".join(["row INT", *(f"{name} {type}" for name, type in self.columns)])
            spark.sql("DROP TABLE IF EXISTS fuzzed")
            spark.sql(f"CREATE TABLE fuzzed ({columns}) USING parquet")
            spark.sql(f"INSERT INTO fuzzed VALUES {', '.join(rows)}")
            return spark.table("fuzzed")
        names = ", ".join(["row", *(name for name, _ in self.columns)])
        return spark.sql(f"SELECT * FROM VALUES {', '.join(rows)} AS t({names})").localCheckpoint()


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`" if not name.isidentifier() or name in ("select", "größe", "_1") else name


@st.composite
def tables(draw: st.DrawFn, rows: int = 40) -> Table:
    names = draw(st.lists(st.sampled_from(_NAMES), min_size=3, max_size=7, unique_by=str.lower))
    types = [draw(st.sampled_from(list(TYPES))) for _ in names]
    return Table(tuple(zip(map(_quoted, names), types, strict=True)), draw(st.integers(0, 2**32)), rows)
