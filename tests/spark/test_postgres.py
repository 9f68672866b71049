"""Rules translated from PostgreSQL give in Spark what a PostgreSQL server gives: true, false or unknown.

SPARKRULES_POSTGRES_TEXTS sets the number of random texts.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from sparkrules.sql import RuleError, spark_sql
from tests.servers.postgres import server
from tests.spark.postgres_texts import COLUMNS, ROWS, Texts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RANDOM_TEXTS = int(os.environ.get("SPARKRULES_POSTGRES_TEXTS", "500"))
Answers = tuple[bool | None, ...]


@pytest.fixture(scope="module")
def postgres() -> Iterator[Any]:
    with server() as connection:
        columns = ", ".join(f'"{name}" {types[0]}' for name, types in COLUMNS.items())
        connection.execute(f"CREATE TABLE t (id INT, {columns})")
        for id, row in enumerate(ROWS):
            connection.execute(f"INSERT INTO t VALUES ({id}, {', '.join(row)})")
        yield connection


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    types = [spark_type for _, spark_type in COLUMNS.values()]
    rows = (
        ", ".join(
            f"CAST({'r' * (value[0] == chr(39) and chr(92) in value)}{value} AS {type})"
            for value, type in zip(row, types, strict=True)
        )
        for row in ROWS
    )
    names = ", ".join(f"`{name}`" for name in COLUMNS)
    values = ", ".join(f"({id}, {row})" for id, row in enumerate(rows))
    values = values.replace("'it''s'", '"it\'s"')
    # A local relation, in this order: the optimizer evaluates a projection of it, and no job has to run.
    return spark.sql(f"SELECT * FROM VALUES {values} AS t(id, {names})")


def in_postgres(postgres: Any, text: str) -> Answers | None:
    """The answers row by row; None where the server refuses the text or raises an error."""
    import psycopg

    try:
        return tuple(row[0] for row in postgres.execute(f"SELECT ({text}) FROM t ORDER BY id".replace("%", "%%"), ()))
    except psycopg.Error:
        return None


def in_spark(table: DataFrame, texts: Sequence[str]) -> list[Answers | None]:
    """The answers of each text; None where Spark refuses it or raises an error."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    if not texts:
        return []
    try:
        rows = table.selectExpr(*(f"({text}) AS c{at}" for at, text in enumerate(texts))).collect()
    except (PySparkException, Py4JJavaError):
        if len(texts) == 1:
            return [None]
        half = len(texts) // 2
        return in_spark(table, texts[:half]) + in_spark(table, texts[half:])
    return [tuple(row[at] for row in rows) for at in range(len(texts))]


def compared(postgres: Any, table: DataFrame, texts: Sequence[str]) -> tuple[Counter[str], list[Any]]:
    """How many texts went which way, and those with another answer than the server's."""
    tally: Counter[str] = Counter()
    translated: list[tuple[str, str, Answers]] = []
    for text in texts:
        answers = in_postgres(postgres, text)
        if answers is None:
            tally["refused by the server"] += 1
            continue
        try:
            translated.append((text, spark_sql(text, dialect="postgres"), answers))
        except RuleError as error:
            tally["refused"] += 1
            tally[error.reason] += 1
    found: list[Answers | None] = []
    for at in range(0, len(translated), 50):
        found += in_spark(table, [spark for _, spark, _ in translated[at : at + 50]])
    different = []
    for (text, spark, expected), actual in zip(translated, found, strict=True):
        if actual is None:
            tally["refused by Spark"] += 1
            tally[f"Spark: {text}"] += 1
        else:
            tally["compared"] += 1
            if actual != expected:
                different.append((text, spark, expected, actual))
    return tally, different


def test_random_texts(postgres: Any, table: DataFrame) -> None:
    texts = Texts(seed=7)
    tally, different = compared(postgres, table, [texts.condition() for _ in range(RANDOM_TEXTS)])
    assert different == []
    assert tally["compared"] > RANDOM_TEXTS / 4
