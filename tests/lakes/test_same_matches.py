"""On Delta and Iceberg tables, the same matches as WHERE, with and without the filter of the scan.

The oracle computes the truth of each rule for all rows of the table: its query has no filter.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.lakes.lake import DELETES_ASIDE, Lake
from tests.spark.oracle import differences, pairs_by_where, rule_set, settings
from tests.spark.test_scan_filter import ALWAYS, NEVER, QUERIES, VALUES, executed, pairs, random_rule, written_by_arrow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def disagreements(lake: Lake, source: str, rules: Mapping[str, str], name: str) -> list[str]:
    """How queries on a table, or a part of one, differ from WHERE."""
    spark = lake.spark
    rule_set(name, dict(rules)).publish(spark)
    truth = pairs_by_where(spark.sql(f"SELECT * FROM {source}"), rules)
    found = []
    for way in (ALWAYS, NEVER):
        with settings(spark, **way):
            for kind in ("table function", "size"):
                ours = pairs(spark, QUERIES[kind].format(name, f"(SELECT * FROM {source})"))
                found += [f"{way}, {kind}: {difference}" for difference in differences(ours, truth, rules)]
    return found


def disagreements_alone(lake: Lake, table: str, texts: Iterable[str], name: str) -> list[str]:
    """How each rule by itself differs from WHERE: a query that asks for one rule has a filter for that rule only."""
    rules = {str(number): text for number, text in enumerate(sorted(texts))}
    rule_set(name, rules).publish(lake.spark)
    truth, ours = pairs_by_where(lake.spark.table(table), rules), set()
    with settings(lake.spark, **ALWAYS):
        for id in rules:
            ours |= pairs(lake.spark, f"{QUERIES['table function'].format(name, table)} WHERE subscription_id = '{id}'")
    return differences(ours, truth, rules)


def test_the_comparison_finds_a_filter_that_drops_too_much(lake: Lake) -> None:
    table = lake.make("small", lake.spark.range(10).selectExpr("id AS row"))
    rules = {"all": "row >= 0"}
    assert disagreements(lake, table, rules, "small") == []
    rule_set("small", {"all": "row >= 1"}).publish(lake.spark)
    ours = pairs(lake.spark, QUERIES["table function"].format("small", table))
    assert differences(ours, pairs_by_where(lake.spark.table(table), rules), rules) == ["not matched, row 0: row >= 0"]


@pytest.mark.parametrize("seed", range(6))
def test_random_rules_on_every_type(lake: Lake, tmp_path: Path, seed: int) -> None:
    """NULL, NaN, -0.0, strings that formats cut, microseconds; six rows to a file."""
    written_by_arrow(tmp_path / "t", seed)
    rows = lake.spark.read.parquet(str(tmp_path / "t"))
    table = lake.make("every_type", rows.limit(0))
    for file in sorted((tmp_path / "t").iterdir()):
        lake.add("every_type", lake.spark.read.parquet(str(file)).coalesce(1))
    chance = random.Random(seed)
    prefix: Callable[[str], str] = (lambda c: c) if seed % 2 else (lambda c: f"deep.{c.upper()}")
    pushed = 0
    for round in range(6):
        rules = {
            str(i): " AND ".join(random_rule(prefix, chance) for _ in range(3)) for i in range(chance.randrange(1, 5))
        }
        assert disagreements(lake, table, rules, f"random-{seed}") == [], (round, rules)
        with settings(lake.spark, **ALWAYS):
            pushed += " scan filter: (" in executed(
                lake.spark, QUERIES["table function"].format(f"random-{seed}", table)
            )
    assert pushed >= 1


@pytest.mark.parametrize("column", ["b", "i", "l", "s", "day", "ts", "dec", "d"])
def test_partition_columns_of_every_type(lake: Lake, tmp_path: Path, column: str) -> None:
    written_by_arrow(tmp_path / "flat", 1)
    rows = lake.spark.read.parquet(str(tmp_path / "flat")).drop("Deep")
    table = lake.make("partitions", rows, column)
    constants = VALUES[column][2]
    rules = {
        "equal": f"{column} = {constants[0]} AND row >= 0",
        "more": f"{column} > {constants[0]} AND {column} < {constants[1]}",
        "null": f"{column} IS NULL AND row < 10",
        **{f"one {i}": f"{column} <=> {constant} AND row > 3" for i, constant in enumerate(constants)},
    }
    assert disagreements(lake, table, rules, "partitions") == []


def test_zeros_and_nan_alone_in_their_files(lake: Lake) -> None:
    """A file whose lowest and highest value is -0.0, 0.0 or NaN, or that has only NULL."""
    spark = lake.spark
    kinds = ["-0.0D", "0.0D", "double('NaN')", "CAST(NULL AS DOUBLE)", "double('-Infinity')", "1.5D"]
    table = ""
    for i, value in enumerate(kinds):
        rows = spark.range(3).coalesce(1).selectExpr(f"id + {3 * i} AS row", f"{value} AS d", f"float({value}) AS f")
        if i == 0:
            table = lake.make("zeros", rows)
        else:
            lake.add("zeros", rows)
    rules = {
        f"{column} {operator} {constant} AND row >= 0"
        for column in ("d", "f")
        for operator in ("=", "<", "<=", ">", ">=", "<=>", "<>")
        for constant in ("0.0D", "-0.0D", "double('NaN')", "double('Infinity')")
    }
    assert disagreements_alone(lake, table, rules, "zeros") == []


def test_long_strings_whose_statistics_are_cut(lake: Lake) -> None:
    spark = lake.spark
    long = "x" * 40
    texts = [long, f"{long}a", f"{long}b", "\U0001f600" * 40, "￿" * 40, "x" * 31 + "\U0001f600"]
    table = lake.make("texts", spark.range(0).selectExpr("id AS row", "'' AS s"))
    for i, text in enumerate(texts):
        lake.add("texts", spark.range(2).coalesce(1).selectExpr(f"id + {2 * i} AS row", f"'{text}' AS s"))
    compared = [*texts, "x" * 32, "x" * 16]
    rules = {f"s {operator} '{text}' AND row >= 0" for operator in ("=", "<", "<=", ">", ">=") for text in compared}
    rules |= {f"s LIKE '{text}%' AND row >= 0" for text in (long, f"{long}a", "x" * 33, "\U0001f600")}
    assert disagreements_alone(lake, table, rules, "texts") == []


RULES = {
    "low": "row < 40 AND n > 2",
    "some": "row BETWEEN 100 AND 120 OR (row > 350 AND n IS NULL)",
    "updated": "n = 1000 AND row >= 0",
}


@pytest.mark.parametrize("kind", DELETES_ASIDE)
def test_deleted_and_changed_rows_that_their_files_still_have(spark: SparkSession, kind: str) -> None:
    lake = Lake(kind.split()[0], spark)
    rows = spark.range(0, 400, 1, 4).selectExpr("id AS row", "IF(id % 5 = 0, NULL, id % 13) AS n")
    table = lake.make("deletes", rows, **DELETES_ASIDE[kind])
    spark.sql(f"DELETE FROM {table} WHERE row % 7 = 3")
    assert lake.deleted_aside("deletes") > 0
    assert disagreements(lake, table, RULES, "deletes") == []
    spark.sql(f"UPDATE {table} SET n = 1000 WHERE row % 50 = 1")
    assert disagreements(lake, table, RULES, "deletes") == []
    assert pairs_by_where(spark.table(table), {"updated": RULES["updated"]})
    spark.range(390, 420).selectExpr("id AS row", "3 AS n").createOrReplaceTempView("changes")
    spark.sql(
        f"MERGE INTO {table} t USING changes c ON t.row = c.row "
        "WHEN MATCHED THEN UPDATE SET n = c.n WHEN NOT MATCHED THEN INSERT (row, n) VALUES (c.row, c.n)"
    )
    assert disagreements(lake, table, RULES | {"merged": "row > 380 AND n = 3"}, "deletes") == []


def test_earlier_versions_of_a_table(lake: Lake) -> None:
    spark = lake.spark
    rows = spark.range(0, 400, 1, 4).selectExpr("id AS row", "id % 13 AS n")
    table = lake.make("travel", rows)
    before = lake.versions("travel")[-1]
    spark.sql(f"DELETE FROM {table} WHERE row < 200")
    lake.add("travel", spark.range(1000, 1100).selectExpr("id AS row", "5 AS n"))
    after = lake.versions("travel")[-1]
    rules = {"five": "n = 5 AND row >= 0", "low": "row < 100 AND n > 3", "new": "row >= 1000 AND n = 5"}
    assert disagreements(lake, f"{table} VERSION AS OF {before}", rules, "travel") == []
    assert disagreements(lake, f"{table} VERSION AS OF {after}", rules, "travel") == []
    spark.sql(f"SELECT * FROM {table} VERSION AS OF {before}").createOrReplaceTempView("before")
    spark.table(table).createOrReplaceTempView("now")
    query = QUERIES["table function"]
    low = {
        version: [id for _, id in pairs(spark, query.format("travel", version))].count("low")
        for version in ("before", "now")
    }
    assert low["before"] > 0
    assert low["now"] == 0


def test_columns_that_are_added_and_renamed_later(lake: Lake) -> None:
    spark = lake.spark
    properties = {"delta.columnMapping.mode": "name"} if lake.format == "delta" else {}
    table = lake.make("evolved", spark.range(0, 100, 1, 2).selectExpr("id AS row", "id % 10 AS old"), **properties)
    spark.sql(f"ALTER TABLE {table} ADD COLUMNS (late STRING)")
    spark.sql(f"ALTER TABLE {table} RENAME COLUMN old TO renamed")
    rows = spark.range(100, 200, 1, 2).selectExpr(
        "id AS row", "id % 10 + 100 AS renamed", "CAST(id % 3 AS STRING) AS late"
    )
    lake.add("evolved", rows)
    rules = {
        "missing": "late IS NULL AND renamed = 3",
        "there": "late = '1' AND renamed > 104",
        "neither": "NOT (late <=> '1') AND renamed IN (5, 105)",
    }
    for id, text in rules.items():
        assert disagreements(lake, table, {id: text}, "evolved") == []
    assert disagreements(lake, table, rules, "evolved") == []


# Delta has no DELETE with a subquery.
@pytest.mark.parametrize(("format", "statement"), [("delta", "merge"), ("iceberg", "merge"), ("iceberg", "delete")])
def test_rows_with_a_match_are_deleted_and_written_elsewhere(spark: SparkSession, format: str, statement: str) -> None:
    """The table that is matched is the one that is changed."""
    lake = Lake(format, spark)
    rules = {"low": "row < 100 AND n = 3", "high": "row >= 300 AND n IN (4, 5)"}
    rule_set("changed", rules).publish(spark)
    left = {}
    for way, setting in {"always": ALWAYS, "never": NEVER}.items():
        table = lake.make(f"changed_{way}", spark.range(0, 400, 1, 4).selectExpr("id AS row", "id % 13 AS n"))
        copy = lake.make(f"matched_{way}", spark.range(0).selectExpr("id AS row", "'' AS id"))
        matched = f"SELECT row, subscription_id AS id FROM match_subscriptions('changed', TABLE({table}))"
        merge = f"MERGE INTO {table} t USING (SELECT DISTINCT row FROM ({matched})) m ON t.row = m.row"
        with settings(spark, **setting):
            spark.sql(f"INSERT INTO {copy} {matched}")
            if statement == "delete":
                spark.sql(f"DELETE FROM {table} WHERE row IN (SELECT row FROM ({matched}))")
            else:
                spark.sql(f"{merge} WHEN MATCHED THEN DELETE")
        left[way] = sorted(spark.table(table).collect()), sorted(spark.table(copy).collect())
    assert left["always"] == left["never"]
    assert 0 < len(left["always"][0]) < 400
    assert len(left["always"][0]) + len(left["always"][1]) == 400


def test_streams_from_a_table(lake: Lake, tmp_path: Path) -> None:
    spark = lake.spark
    table = lake.make("arriving", spark.range(0, 200, 1, 2).selectExpr("id AS row", "id % 13 AS n"))
    rules = {"low": "row < 50 AND n = 3", "high": "row >= 250 AND n IN (4, 5)"}
    rule_set("streamed", rules).publish(spark)
    spark.readStream.table(table).createOrReplaceTempView("arriving_rows")
    query = "SELECT row, subscription_id AS id FROM match_subscriptions('streamed', TABLE(arriving_rows))"
    name = f"arrived_{lake.format}"

    def run() -> None:
        with settings(spark, **ALWAYS):
            stream = spark.sql(query).writeStream.format("parquet").outputMode("append")
            stream = stream.option("checkpointLocation", str(tmp_path / "c")).option("path", str(tmp_path / name))
            stream.trigger(availableNow=True).start().awaitTermination()

    run()
    lake.add("arriving", spark.range(200, 400, 1, 2).selectExpr("id AS row", "id % 13 AS n"))
    run()
    arrived = {(row.row, row.id) for row in spark.read.parquet(str(tmp_path / name)).collect()}
    truth = pairs_by_where(spark.table(table), rules)
    assert arrived == truth
    assert {id for _, id in truth} == set(rules)
