"""A table with a column of every type that rules compare, including awkward values, and random rules over it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_VALUES = {
    "t": ["CAST(1 AS TINYINT)", "CAST(-128 AS TINYINT)", "CAST(127 AS TINYINT)", "NULL", "CAST(0 AS TINYINT)"],
    "i": ["1", "-7", "2147483647", "NULL", "0", "5", "6"],
    "l": ["1L", "9223372036854775807L", "-9223372036854775808L", "NULL", "5L", "0L"],
    "f": ["CAST(1.5 AS FLOAT)", "CAST('NaN' AS FLOAT)", "CAST(-0.0 AS FLOAT)", "NULL", "CAST(0.1 AS FLOAT)"],
    "d": ["1.5D", "DOUBLE('NaN')", "-0.0D", "0.0D", "NULL", "DOUBLE('Infinity')", "DOUBLE('-Infinity')", "0.1D", "5D"],
    "dec": ["1.50BD", "-7.25BD", "NULL", "0BD", "99999999.99BD", "5BD"],
    "wide": ["1.50000BD", "12345678901234567890.12345BD", "-1BD", "NULL", "0BD"],
    "s": ["'x'", "''", "'X'", "'xyz'", "NULL", "'5'", "'ä%_b'", "' x '", "'a\\\\b'", "'zebra'", "'\U0001f600'"],
    "b": ["true", "false", "NULL"],
    "dt": ["DATE'2020-02-29'", "DATE'1969-12-31'", "NULL", "DATE'2024-01-01'"],
    "ts": ["TIMESTAMP'2020-02-29 12:00:00'", "NULL", "TIMESTAMP'1969-12-31 23:59:59.999999'", "TIMESTAMP'2024-01-01'"],
    "ntz": ["TIMESTAMP_NTZ'2020-02-29 12:00:00'", "NULL", "TIMESTAMP_NTZ'2024-01-01 00:00:00'"],
    "bin": ["X'00'", "X''", "X'FF01'", "NULL"],
    "st": ["named_struct('x', 1, 'y', 'x')", "named_struct('x', CAST(NULL AS INT), 'y', 'q')", "NULL"],
    "tags": ["array('a', 'b')", "array()", "NULL", "array('x', NULL)"],
    "props": ["map('k', 1)", "map('k', 5, 'q', 7)", "NULL"],
}
_TYPES = {
    "t": "TINYINT",
    "i": "INT",
    "l": "BIGINT",
    "f": "FLOAT",
    "d": "DOUBLE",
    "dec": "DECIMAL(10, 2)",
    "wide": "DECIMAL(25, 5)",
    "s": "STRING",
    "b": "BOOLEAN",
    "dt": "DATE",
    "ts": "TIMESTAMP",
    "ntz": "TIMESTAMP_NTZ",
    "bin": "BINARY",
    "st": "STRUCT<x: INT, y: STRING>",
    "tags": "ARRAY<STRING>",
    "props": "MAP<STRING, INT>",
}

_NUMBERS = ["0", "1", "5", "-7", "1.5", "5.5", "0.1", "-0.0", "1e0", "127", "2147483648", "1.50", "5L", "0.1D", "NULL"]
_INTEGERS = ["0", "1", "5", "-7", "127", "1.5", "5.5", "2147483647", "2147483648", "-9223372036854775808", "NULL"]
_STRINGS = ["'x'", "''", "'xyz'", "'5'", "'X'", "'ä%_b'", "'zebra'", "'nothing'", "NULL", "lower('XYZ')"]
_PATTERNS = ["'x%'", "'%y%'", "'%'", "''", "'_'", "'x'", "'%\\\\%%'", "'ä\\%\\_b'", "'%z'"]
_REGEXES = ["'^x'", "'z$'", "'[xX].*'", "'(?i)XYZ'", "'a|e'"]
_DATES = ["DATE'2020-02-29'", "'2020-02-29'", "DATE'2024-01-01'", "NULL"]
_TIMES = ["TIMESTAMP'2020-02-29 12:00:00'", "'2024-01-01'", "DATE'2024-01-01'", "NULL"]
# Attribute and the constants it is compared with.
_COMPARED = {
    "t": _INTEGERS,
    "i": _INTEGERS,
    "l": _INTEGERS,
    "f": _NUMBERS,
    "d": [*_NUMBERS, "DOUBLE('NaN')", "float('Infinity')"],
    "dec": _NUMBERS,
    "wide": _NUMBERS,
    "s": _STRINGS,
    "b": ["true", "false", "NULL"],
    "dt": _DATES,
    "ts": _TIMES,
    "ntz": ["TIMESTAMP_NTZ'2020-02-29 12:00:00'", "'2024-01-01 00:00:00'", "NULL"],
    "bin": ["X'00'", "X'FF01'", "X''", "NULL"],
    "st.x": _INTEGERS,
    "st.y": _STRINGS,
    "lower(s)": _STRINGS,
    "length(s)": ["0", "1", "3", "NULL"],
    "l / 2": _INTEGERS,
    "d / 2": _NUMBERS,
    "coalesce(i, 0)": _INTEGERS,
    "get(tags, 0)": _STRINGS,
    "props['k']": _INTEGERS,
    "year(dt)": ["2020", "2024", "NULL"],
    "CASE WHEN b THEN i ELSE l END": _INTEGERS,
    "`i`": _INTEGERS,
    "I": _INTEGERS,
    "size(tags)": ["0", "2"],
}
_OPAQUE = [
    "i > l",
    "s = lower(s)",
    "array_contains(tags, 'x')",
    "d = f",
    "dec > d",
    "dt < ts",
    "tags = array('a', 'b')",
    "st = named_struct('x', 1, 'y', 'x')",
    "exists(tags, x -> x = 'a')",
    "isnan(d)",
    "s LIKE 'x!%' ESCAPE '!'",
    "i BETWEEN l AND 6",
    "NULL",
    "true",
    "false",
    "b IS UNKNOWN",
    "(i > 3) IS NOT TRUE",
    "i IN (l, 5)",
    "1 = 1",
    "bin IS NULL",
    "props IS NOT NULL",
    "s ILIKE 'X%'",
    "s LIKE ANY ('x%', '%a')",
    "abs(d - 0.1) < 0.5",
    "(b OR i > 0) <=> (l > 0)",
    "(i > 0) = (l > 1)",
    "(i > 0) <> (d > 1)",
    "i > 0 IS NULL",
    "i = 1 = true",
]


def all_types(spark: SparkSession, rows: int = 150, seed: int = 7) -> DataFrame:
    """A column `row` that numbers the rows, and one column of each type; the first rows have every value once."""
    rand = random.Random(seed)
    values = []
    for row in range(rows):
        cells = [all[row] if row < len(all) else rand.choice(all) for all in _VALUES.values()]
        cast = (f"CAST({cell} AS {_TYPES[name]})" for name, cell in zip(_VALUES, cells, strict=True))
        values.append(f"({row}, {', '.join(cast)})")
    names = ", ".join(["row", *_VALUES])
    return spark.sql(f"SELECT * FROM VALUES {', '.join(values)} AS t({names})").localCheckpoint()


def random_rules(count: int, seed: int = 11) -> dict[str, str]:
    """Rules of one to a dozen predicates, in AND, OR, NOT and brackets."""
    rand = random.Random(seed)
    rules = {f"opaque-{i}": text for i, text in enumerate(_OPAQUE)}
    while len(rules) < count:
        rules[f"rule-{len(rules)}"] = _condition(rand, rand.choice([0, 1, 1, 2, 2, 3]))
    return rules


def _condition(rand: random.Random, depth: int) -> str:
    if depth == 0:
        return _predicate(rand)
    parts = [_condition(rand, depth - rand.choice([1, 1, 2])) if depth > 1 else _predicate(rand) for _ in range(2)]
    joined = f" {rand.choice(['AND', 'OR'])} ".join(f"({part})" if rand.random() < 0.7 else part for part in parts)
    return f"NOT ({joined})" if rand.random() < 0.25 else joined


def _predicate(rand: random.Random) -> str:
    if rand.random() < 0.12:
        return f"({rand.choice(_OPAQUE)})"
    attribute = rand.choice(list(_COMPARED))
    constants = _COMPARED[attribute]
    one, two = rand.choice(constants), rand.choice(constants)
    kind = rand.randrange(12)
    negated = "NOT " if rand.random() < 0.3 else ""
    if kind == 0:
        return f"{attribute} IS {negated}NULL"
    if kind == 1:
        many = ", ".join(rand.choice(constants) for _ in range(rand.randint(1, 5)))
        return f"{attribute} {negated}IN ({many})"
    if kind == 2:
        return f"{attribute} {negated}BETWEEN {one} AND {two}"
    if kind == 3:
        return f"{attribute} IS {negated}DISTINCT FROM {one}"
    if kind == 4 and constants is _STRINGS:
        return f"{attribute} {negated}LIKE {rand.choice(_PATTERNS)}"
    if kind == 5 and constants is _STRINGS:
        return f"{rand.choice(['contains', 'startswith', 'endswith'])}({attribute}, {one})"
    if kind == 6 and constants is _STRINGS:
        return f"{attribute} {negated}RLIKE {rand.choice(_REGEXES)}"
    if kind == 7 and attribute == "b":
        return f"{negated}b"
    operator = rand.choice(["=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>"])
    return f"{one} {operator} {attribute}" if kind == 8 else f"{negated}{attribute} {operator} {one}"
