"""Tables of PostgreSQL through JDBC, as data and as rules: the same matches, whatever Spark lets the server compare.

A server compares strings by the collation of their column, which may not be Spark's order: no scan filter asks it to.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import sparkrules
from tests.servers.postgres import server
from tests.spark.oracle import differences, pairs_by_where, rule_set, settings
from tests.spark.test_scan_filter import ALWAYS, NEVER, QUERIES, executed, pairs, random_rule, written_by_arrow
from tests.stores.s3_server import free_port

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Database:
    """A server, and how Spark reads its tables."""

    def __init__(self, connection: Any, port: int, spark: SparkSession) -> None:
        self.connection = connection
        self.spark = spark
        self.options = {
            "url": f"jdbc:postgresql://127.0.0.1:{port}/postgres",
            "user": "test",
            "driver": "org.postgresql.Driver",
        }

    def table(self, name: str, **options: str) -> DataFrame:
        return self.spark.read.format("jdbc").options(**self.options, dbtable=name, **options).load()


@pytest.fixture(scope="module")
def database(spark: SparkSession) -> Iterator[Database]:
    port = free_port()
    with server(port) as connection:
        yield Database(connection, port, spark)


def disagreements(database: Database, df: DataFrame, rules: dict[str, str], name: str) -> list[str]:
    """How matching a table differs from the truth of each rule, computed by Spark for all rows."""
    rule_set(name, rules).publish(database.spark)
    df.createOrReplaceTempView("of_postgres")
    # A column for each rule, and no filter: Spark itself computes it.
    truth, found = pairs_by_where(df, rules), []
    for way in (ALWAYS, NEVER):
        with settings(database.spark, **way):
            ours = pairs(database.spark, QUERIES["table function"].format(name, "of_postgres"))
            found += [f"{way}: {difference}" for difference in differences(ours, truth, rules)]
    return found


@pytest.mark.parametrize("seed", range(3))
def test_random_rules_on_every_type(database: Database, tmp_path: Path, seed: int) -> None:
    spark = database.spark
    written_by_arrow(tmp_path / "t", seed)
    spark.read.parquet(str(tmp_path / "t")).drop("Deep").coalesce(1).write.format("jdbc").options(
        **database.options, dbtable=f"every_type_{seed}"
    ).save()
    df = database.table(f"every_type_{seed}", preferTimestampNTZ="true" if seed else "false")
    chance, pushed = random.Random(seed), 0
    for _ in range(8):
        rules = {
            str(i): " AND ".join(random_rule(str, chance) for _ in range(3)) for i in range(chance.randrange(1, 3))
        }
        assert disagreements(database, df, rules, f"jdbc-{seed}") == [], rules
        with settings(spark, **ALWAYS):
            plan = executed(spark, QUERIES["table function"].format(f"jdbc-{seed}", "of_postgres"))
            pushed += " scan filter: (" in plan
    assert pushed >= 1


def test_collations_of_the_server(database: Database) -> None:
    """Its order is another, or it takes different strings for equal."""
    database.connection.execute(
        "CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
    )
    database.connection.execute(
        'CREATE TABLE texts ("row" BIGINT, bytes TEXT COLLATE "C", dictionary TEXT COLLATE "und-x-icu", '
        "any_case TEXT COLLATE any_case, padded CHAR(5), n INT)"
    )
    texts = ["a", "A", "b", "B", "Zebra", "zebra", "ä", "", " a", "a ", None, "é", "￿", "\U0001f600"]
    with database.connection.cursor() as cursor:
        for row, text in enumerate(texts):
            short = None if text is None else text[:5]
            values = (row, text, text, text, short, None if row % 5 == 0 else row)
            cursor.execute("INSERT INTO texts VALUES (%s, %s, %s, %s, %s, %s)", values)
    df = database.table("texts")
    rules = {
        f"{column} {operator} '{text}' AND n > 0"
        for column in ("bytes", "dictionary", "any_case", "padded")
        for operator, text in (("<", "Zz"), (">", "Z"), ("<>", "A"), ("=", "zebra"), ("<=", "a"), (">=", "é"))
    } | {"any_case NOT IN ('b', 'ZEBRA') AND n < 100", "dictionary BETWEEN 'A' AND 'Z' AND n > 1"}
    # Each by itself, or the filter of all would let every row pass.
    found = []
    for text in sorted(rules):
        found += disagreements(database, df, {text: text}, "collations")
    assert found == []
    with settings(database.spark, **ALWAYS):
        plan = executed(database.spark, QUERIES["table function"].format("collations", "of_postgres"))
    (pushed,) = re.findall(r"PushedFilters: \[(.*?)\]", plan)
    assert "GreaterThan(n,0)" in pushed
    assert "padded" not in pushed


def test_rules_in_a_table_of_the_server(database: Database) -> None:
    spark, connection = database.spark, database.connection
    connection.execute('CREATE TABLE rules (id TEXT, "where" TEXT, priority INT, enabled BOOLEAN)')
    connection.execute(
        "INSERT INTO rules VALUES ('low', 'n < 3', 1, true), ('high', 'n >= 8 OR n IS NULL', 2, true), "
        "('bad', 'n <', 0, true), ('off', 'n = 4', 0, false)"
    )
    connection.execute(
        'CREATE TABLE numbers AS SELECT i::BIGINT AS "row", NULLIF(i % 10, 5)::INT AS n FROM generate_series(0, 99) i'
    )
    database.table("rules").createOrReplaceTempView("rules_of_postgres")
    numbers = database.table("numbers", partitionColumn='"row"', lowerBound="0", upperBound="99", numPartitions="3")

    def matched() -> set[tuple[int, str]]:
        found = sparkrules.matches(numbers, "from-postgres").select("row", "subscription_id").collect()
        return {tuple(row) for row in found}  # type: ignore[misc]

    rules = sparkrules.RuleSet("from-postgres")
    done = rules.sync("rules_of_postgres", spark, where="enabled")
    assert [rejected.id for rejected in done.rejected] == ["bad"]
    assert matched() == pairs_by_where(numbers, {"low": "n < 3", "high": "n >= 8 OR n IS NULL"})
    connection.execute("UPDATE rules SET enabled = true WHERE id = 'off'")
    connection.execute("DELETE FROM rules WHERE id = 'low'")
    changes = rules.sync("rules_of_postgres", spark, where="enabled").changes
    assert (changes.added, changes.removed, changes.changed) == (("off",), ("low",), ())
    truth = pairs_by_where(numbers, {"off": "n = 4", "high": "n >= 8 OR n IS NULL"})
    assert matched() == truth
    # Matches go back to the server.
    sparkrules.matches(numbers, "from-postgres").select("row", "subscription_id").write.format("jdbc").options(
        **database.options, dbtable="alerts"
    ).save()
    assert set(connection.execute('SELECT "row", subscription_id FROM alerts').fetchall()) == truth
