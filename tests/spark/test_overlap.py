"""Checks with Spark what the overlap library proves about conditions."""

from __future__ import annotations

import datetime
import random
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sparkrules.logic.exact_overlap import Overlap, overlap
from sparkrules.logic.relations import covers
from sparkrules.sql import parse_rule

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPES = {
    "i": pa.int32(),
    "l": pa.int64(),
    "d": pa.float64(),
    "c": pa.decimal128(10, 2),
    "s": pa.string(),
    "b": pa.bool_(),
    "t": pa.date32(),
}
SPARK_TYPES = {
    "i": "int",
    "l": "bigint",
    "d": "double",
    "c": "decimal(10,2)",
    "s": "string",
    "b": "boolean",
    "t": "date",
}
NUMBERS = ["0", "1", "2", "2.5", "-1", "2.50", "3", "1e0", "2147483647"]
STRINGS = ["''", "'a'", "'ab'", "'abc'", "'b'", "'É'"]
DATES = ["DATE '2024-01-01'", "DATE '2024-01-02'", "'2024-01-03'"]
CONSTANTS = {**dict.fromkeys("ildc", NUMBERS), "s": STRINGS, "b": ["true", "false"], "t": DATES}
VALUES: dict[str, list[str]] = {
    "i": ["NULL", "-2147483648", "-1", "0", "1", "2", "3", "2147483647"],
    "l": ["NULL", "-1", "0", "1", "2", "3", "9007199254740993"],
    "d": ["NULL", "double('NaN')", "-0.0D", "0.0D", "1.0D", "2.5D", "3.0D", "double('infinity')"],
    "c": ["NULL", "0.00", "1.00", "2.49", "2.50", "2.51", "-1.00"],
    "s": ["NULL", "''", "'a'", "'ab'", "'abc'", "'b'", "'xaby'", "'É'", "'a\\u0000'"],
    "b": ["NULL", "true", "false"],
    "t": ["NULL", "DATE '2023-12-31'", "DATE '2024-01-01'", "DATE '2024-01-02'", "DATE '2024-01-03'"],
}


def _test(draw: random.Random) -> str:
    name = draw.choice("ildcsbt")
    shape = draw.randrange(8)
    if shape == 0:
        return f"{name} IS {draw.choice(['', 'NOT '])}NULL"
    if shape == 1:
        listed = draw.sample(CONSTANTS[name], 2) + draw.choice([[], [], ["NULL"]])
        return f"{name} {draw.choice(['', 'NOT '])}IN ({', '.join(listed)})"
    if name == "s" and shape < 5:
        call = draw.choice(["contains", "startswith", "endswith"])
        return f"{draw.choice(['', 'NOT '])}{call}(s, {draw.choice(STRINGS)})"
    if name == "s" and shape == 5:
        return f"s {draw.choice(['', 'NOT '])}LIKE {draw.choice(['%b%', 'a%', '%c', 'a_c', 'a%c', 'ab'])!r}"
    return f"{name} {draw.choice(['=', '<>', '<', '<=', '>', '>=', '<=>'])} {draw.choice(CONSTANTS[name])}"


def _condition(draw: random.Random) -> str:
    parts = [
        f"({_test(draw)} OR {_test(draw)})" if draw.random() < 0.4 else _test(draw) for _ in range(draw.randrange(1, 4))
    ]
    return f"NOT ({' OR '.join(parts)})" if draw.random() < 0.2 else " AND ".join(parts)


def _literal(value: Any, name: str) -> str:
    if isinstance(value, float):
        text = f"double('{value}')"
    elif isinstance(value, str):
        text = "'" + "".join(f"\\u{ord(character):04x}" for character in value) + "'"
    elif name == "t" and value is not None:
        text = f"DATE '{datetime.date(1970, 1, 1) + datetime.timedelta(days=int(value))}'"
    else:
        text = "NULL" if value is None else str(Decimal(value)) if not isinstance(value, bool) else str(value)
    return f"CAST({text} AS {SPARK_TYPES[name]}) AS {name}"


def test_what_is_proved_about_random_conditions_is_so_in_spark(spark: SparkSession) -> None:
    draw = random.Random(20)
    pairs = [(_condition(draw), _condition(draw)) for _ in range(150)]
    found = [overlap(parse_rule(a), parse_rule(b), TYPES) for a, b in pairs]
    assert sum(not answer for answer in found) > 10
    assert sum(answer.certain and answer.overlaps for answer in found) > 50

    _rows_of_proofs_fulfil_both(spark, pairs, found)

    disjoint = [f"({a}) AND ({b})" for (a, b), answer in zip(pairs, found, strict=True) if not answer]
    covered = [
        f"({b}) AND NOT coalesce(({a}), false)"
        for a, b in [*pairs, *((f"{a} OR {b}", b) for a, b in pairs[:40])]
        if covers(parse_rule(a), parse_rule(b), TYPES) == "yes"
    ]
    assert len(covered) > 10
    frame = spark.range(1)
    for name, values in VALUES.items():
        listed = ", ".join(f"CAST({value} AS {SPARK_TYPES[name]})" for value in values)
        frame = frame.crossJoin(spark.sql(f"SELECT explode(array({listed})) AS {name}"))
    frame = frame.sample(0.02, seed=1).localCheckpoint()
    for claims in (disjoint, covered):
        for start in range(0, len(claims), 40):
            part = claims[start : start + 40]
            counts = frame.selectExpr(*(f"count_if({claim}) AS n{at}" for at, claim in enumerate(part))).first()
            wrong = [claim for claim, count in zip(part, counts, strict=True) if count]
            assert wrong == []


def _rows_of_proofs_fulfil_both(spark: SparkSession, pairs: list[tuple[str, str]], found: list[Overlap]) -> None:
    selects = []
    for at, ((a, b), answer) in enumerate(zip(pairs, found, strict=True)):
        if answer.overlaps and answer.certain:
            row = ", ".join(_literal(answer.row.get(name), name) for name in TYPES)
            selects.append(f"SELECT {at} AS pair, ({a}) AND ({b}) AS both FROM (SELECT {row})")
    for start in range(0, len(selects), 50):
        for pair, both in spark.sql(" UNION ALL ".join(selects[start : start + 50])).collect():
            assert both is True, (pairs[pair], found[pair])
