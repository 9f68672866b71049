"""Patterns over the rows of a batch: what is detected, by which keys and times, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException

import sparkrules
from sparkrules import RuleSet
from tests.spark.oracle import settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(autouse=True)
def _utc(spark: SparkSession) -> Iterator[None]:
    with settings(spark, zone="UTC"):
        yield


def detected(df: DataFrame, rules: RuleSet, *columns: str, **options: Any) -> list[tuple[Any, ...]]:
    """The detections in the order of their times."""
    wanted = columns or ("pattern", "kind", "start", "end", "count")
    found = sparkrules.detect(df, rules, time="ts", **options).orderBy("start", "end", "pattern", "kind")
    return [tuple(row) for row in found.selectExpr(*wanted).collect()]


def events(spark: SparkSession, values: str, columns: str) -> DataFrame:
    """Rows with a time in seconds, as VALUES; not a table that Spark optimizes away."""
    rows = spark.sql(f"SELECT * FROM VALUES {values} AS t({columns})").localCheckpoint()
    others = [f"`{name}`" for name in rows.columns if name != "at"]
    return rows.selectExpr("timestamp_seconds(at) AS ts", *others)


def at(seconds: float) -> datetime:
    """As Spark gives it to Python here: without a zone, in that of this machine."""
    return datetime.fromtimestamp(seconds)  # noqa: DTZ006


# Against plain Spark SQL


@pytest.fixture(scope="module")
def many(spark: SparkSession) -> DataFrame:
    """20,000 rows of 300 keys; about one in 200 has the time of another row of its key."""
    rows = spark.range(20_000).selectExpr(
        "id",
        "concat('k', pmod(hash(id, 1), 300)) AS k",
        "timestamp_micros(1772323200000000 + pmod(hash(id, 2), 20000) * 1000000L) AS ts",
        "pmod(hash(id, 3), 10) AS n",
        "pmod(hash(id, 4), 7) AS v",
    )
    return rows.repartition(3).localCheckpoint()


def test_counts_are_those_of_a_window_function(spark: SparkSession, many: DataFrame) -> None:
    rules = RuleSet("counts-sql")
    rules.subscribe("low", "n < 4")
    for number in (1, 2, 3, 5):
        rules.count(f"{number}", "low", by="k", within="10 minutes", at_least=number, overlapping=True)
    found = sparkrules.detect(many, rules, time="ts", id="id")
    found = found.selectExpr("pattern", "key['k'] AS k", "start", "end", "rows[size(rows) - 1].id AS last")
    many.createOrReplaceTempView("many")
    expected = spark.sql("""
        SELECT CAST(times AS STRING) AS pattern, k, start, ts AS end, CAST(id AS STRING) AS last FROM (
          SELECT *, explode(map(1, ts, 2, second, 3, third, 5, fifth)) AS (times, start) FROM (
            SELECT *, lag(ts, 1) OVER w AS second, lag(ts, 2) OVER w AS third, lag(ts, 4) OVER w AS fifth
            FROM many WHERE n < 4 WINDOW w AS (PARTITION BY k ORDER BY ts, CAST(id AS STRING))))
        WHERE start >= ts - INTERVAL 10 MINUTES""")
    assert expected.count() > 8_000
    assert found.exceptAll(expected).count() == 0
    assert expected.exceptAll(found).count() == 0


def test_sequences_are_those_of_a_self_join(spark: SparkSession, many: DataFrame) -> None:
    rules = RuleSet("sequences-sql")
    rules.subscribe_all({"first": "n < 3", "second": "n BETWEEN 2 AND 4", "third": "n > 7"})
    rules.sequence("two", ["first", "second"], by="k", within="5 minutes", overlapping=True)
    rules.sequence("later", ["first", "second"], by="k", within="5 minutes", after="90 seconds", overlapping=True)
    rules.sequence("three", ["first", "second", "third"], by="k", within="10 minutes", overlapping=True)
    found = sparkrules.detect(many, rules, time="ts", id="id")
    found = found.selectExpr("pattern", "key['k'] AS k", "start", "end", "rows[size(rows) - 1].id AS last")
    many.createOrReplaceTempView("many")
    # A row completes a sequence that begins as late as possible.
    expected = spark.sql("""
        WITH a AS (SELECT * FROM many WHERE n < 3), b AS (SELECT * FROM many WHERE n BETWEEN 2 AND 4),
             c AS (SELECT * FROM many WHERE n > 7)
        SELECT pattern, k, max(start) AS start, end, CAST(id AS STRING) AS last FROM (
          SELECT 'two' AS pattern, b.k, a.ts AS start, b.ts AS end, b.id FROM a JOIN b
            ON a.k = b.k AND a.ts < b.ts AND b.ts <= a.ts + INTERVAL 5 MINUTES
          UNION ALL SELECT 'later', b.k, a.ts, b.ts, b.id FROM a JOIN b
            ON a.k = b.k AND a.ts + INTERVAL 90 SECONDS <= b.ts AND b.ts <= a.ts + INTERVAL 5 MINUTES
          UNION ALL SELECT 'three', c.k, a.ts, c.ts, c.id FROM a JOIN b ON a.k = b.k AND a.ts < b.ts
            JOIN c ON b.k = c.k AND b.ts < c.ts AND c.ts <= a.ts + INTERVAL 10 MINUTES)
        GROUP BY pattern, k, end, id""")
    assert expected.groupBy("pattern").count().count() == 3
    assert found.exceptAll(expected).count() == 0
    assert expected.exceptAll(found).count() == 0


def test_distinct_values_are_those_of_a_self_join(spark: SparkSession, many: DataFrame) -> None:
    rules = RuleSet("distinct-sql")
    rules.subscribe("low", "n < 4")
    rules.count("values", "low", by="k", within="15 minutes", at_least=4, distinct="v", overlapping=True)
    found = sparkrules.detect(many, rules, time="ts", id="id").selectExpr("rows[size(rows) - 1].id AS id")
    many.createOrReplaceTempView("many")
    expected = spark.sql("""
        SELECT CAST(x.id AS STRING) AS id FROM many x JOIN many y ON x.k = y.k AND x.n < 4 AND y.n < 4
          AND y.ts BETWEEN x.ts - INTERVAL 15 MINUTES AND x.ts
          AND (y.ts < x.ts OR CAST(y.id AS STRING) <= CAST(x.id AS STRING))
        GROUP BY x.id HAVING count(DISTINCT y.v) >= 4""")
    assert expected.count() > 100
    assert found.exceptAll(expected).count() == 0
    assert expected.exceptAll(found).count() == 0


# Decisions


def test_the_example_of_the_thesis(spark: SparkSession) -> None:
    rules = RuleSet("stock")
    rules.subscribe("high", "ibm > 30", on_change=["exchange"])
    rows = events(spark, "(1, 29), (2, 31), (3, 35), (4, NULL), (5, 28), (6, NULL), (7, 32)", "at, ibm")
    rows = rows.selectExpr("*", "'NYSE' AS exchange")
    assert detected(rows, rules, "start") == [(at(2),), (at(7),)]


def test_a_row_that_fulfils_both_steps_ends_a_sequence_before_it_begins_one(spark: SparkSession) -> None:
    rules = RuleSet("both-sides")
    rules.subscribe_all({"a": "a", "b": "b"})
    rules.sequence("once", ["a", "b"], within="10 seconds")
    rules.sequence("again", ["a", "b"], within="10 seconds", overlapping=True)
    rows = events(spark, "(1, true, true), (2, true, true), (3, true, true), (4, false, true)", "at, a, b")
    assert detected(rows, rules, "pattern", "start", "end") == [
        ("again", at(1), at(2)),
        ("once", at(1), at(2)),
        ("again", at(2), at(3)),
        ("again", at(3), at(4)),
        ("once", at(3), at(4)),
    ]


def test_rows_of_one_time_are_no_sequence_but_can_be_together(spark: SparkSession) -> None:
    rules = RuleSet("equal-times")
    rules.subscribe_all({"a": "n = 1", "b": "n = 2"})
    rules.sequence("in order", ["a", "b"], within="10 seconds")
    rules.together("in any", ["a", "b"], within="10 seconds")
    rows = events(spark, "(1, 1), (1, 2)", "at, n")
    assert detected(rows, rules, "pattern") == [("in any",)]


def test_rows_without_a_time_or_a_value_of_the_key_take_no_part(spark: SparkSession) -> None:
    rules = RuleSet("nulls")
    rules.subscribe("a", "a")
    rules.count("twice", "a", by=["k", "l"], within="10 seconds", at_least=2)
    rows = events(
        spark,
        "(1, 'x', 'y', true), (NULL, 'x', 'y', true), (2, NULL, 'y', true), (3, NULL, 'y', true), (4, 'x', 'y', NULL)",
        "at, k, l, a",
    )
    assert detected(rows, rules) == []
    more = rows.union(events(spark, "(11, 'x', 'y', true)", "at, k, l, a"))
    assert detected(more, rules, "key", "start", "end") == [({"k": "x", "l": "y"}, at(1), at(11))]


def test_in_a_batch_time_ends_with_the_latest_row(spark: SparkSession) -> None:
    rules = RuleSet("end-of-time")
    rules.subscribe_all({"started": "what = 's'", "beat": "what = 'b'"})
    rules.absence("silent", after="started", without="beat", by="host", within="60 seconds")
    rules.subscribe("any", "what IS NOT NULL", suppress="60 seconds", by="host")
    rows = "(0, 'x', 's'), (60, 'x', 'b'), (100, 'y', 's')"
    silent = ("silent", "absence", at(100), at(160), 1)
    assert silent not in detected(events(spark, f"{rows}, (159, 'z', NULL)", "at, host, what"), rules)
    assert detected(events(spark, f"{rows}, (160, 'z', NULL)", "at, host, what"), rules) == [
        ("any", "match", at(0), at(0), 1),
        ("any", "match", at(60), at(60), 1),
        ("any", "match", at(100), at(100), 1),
        silent,
    ]


KEYS = {
    "DOUBLE": ("0.0D, -0.0D", "double('NaN'), double('NaN')", "0.0", "NaN"),
    "DECIMAL(10, 3)": ("1.50", "1.5", "1.500", "1.500"),
    "DATE": ("DATE'2026-01-01'", "DATE'2026-01-02'", "2026-01-01", "2026-01-02"),
    "BINARY": ("X'ff00'", "X'ff01'", "FF00", "FF01"),
    "BOOLEAN": ("true", "false", "true", "false"),
}


@pytest.mark.parametrize("name", KEYS)
def test_rows_have_the_same_key_if_group_by_says_so(spark: SparkSession, name: str) -> None:
    first, second, *shown = KEYS[name]
    values = [*first.split(", "), *second.split(", ")]
    rules = RuleSet("keys")
    rules.subscribe("any", "TRUE")
    rules.count("one", "any", by="k", within="1 hour", at_least=1)
    rules.count("two", "any", by="k", within="1 hour", at_least=2)
    listed = ", ".join(f"({at}, CAST({value} AS {name}))" for at, value in enumerate(values * 2))
    rows = events(spark, listed, "at, k")
    counted = rows.groupBy("k").count().collect()
    found = detected(rows, rules, "pattern", "key['k']")
    assert sum(pattern == "one" for pattern, _ in found) == len(values) * 2
    assert sum(pattern == "two" for pattern, _ in found) == sum(row["count"] // 2 for row in counted)
    assert {key for _, key in found} == set(shown)


def test_instants_that_look_the_same_are_different_keys(spark: SparkSession) -> None:
    rules = RuleSet("instants")
    rules.subscribe("any", "TRUE")
    rules.count("two", "any", by="k", within="1 hour", at_least=2)
    with settings(spark, zone="Europe/Berlin"):
        # Both are half past two in the morning, when clocks are put back.
        rows = events(spark, "(1, timestamp_seconds(1761438600)), (2, timestamp_seconds(1761442200))", "at, k")
        assert rows.selectExpr("CAST(k AS STRING)").distinct().count() == 1
        assert detected(rows, rules) == []


def test_keys_follow_a_collation_that_can_be_shown(spark: SparkSession) -> None:
    rules = RuleSet("collations")
    rules.subscribe("any", "TRUE")
    rules.count("two", "any", by="k", within="1 hour", at_least=2)
    rows = events(spark, "(1, 'Bob'), (2, 'bob')", "at, k")
    assert detected(rows, rules) == []
    assert detected(rows.selectExpr("ts", "k COLLATE UTF8_LCASE AS k"), rules, "key['k']") == [("bob",)]
    with pytest.raises(PySparkException, match="Column 'k' of pattern 'two' is of the type STRING COLLATE UNICODE"):
        detected(rows.selectExpr("ts", "k COLLATE UNICODE_CI AS k"), rules)


def test_fields_of_structs_and_local_times(spark: SparkSession) -> None:
    rules = RuleSet("fields")
    rules.subscribe("any", "addr.zip > 0")
    rules.count("two", {"where": "addr.zip > 1"}, by="addr.city", within="1 hour", at_least=2, distinct="addr.zip")
    rows = events(spark, "(1, 'Ulm', 1), (2, 'Ulm', 2), (3, 'Ulm', 3)", "at, city, zip")
    rows = rows.selectExpr("CAST(ts AS TIMESTAMP_NTZ) AS ts", "named_struct('city', city, 'zip', zip) AS addr")
    found = sparkrules.detect(rows, rules, time="ts")
    assert [found.schema[name].dataType.simpleString() for name in ("start", "end")] == ["timestamp_ntz"] * 2
    (row,) = found.collect()
    assert row.key == {"addr.city": "Ulm"}
    assert [str(time) for time in (row.start, row.rows[1].time)] == ["1970-01-01 00:00:02", "1970-01-01 00:00:03"]


def test_a_pattern_may_have_no_key_and_any_of_several_rules(spark: SparkSession) -> None:
    rules = RuleSet("no-key")
    rules.subscribe_all({"a": "n = 1", "b": "n = 2", "c": "n = 3"})
    rules.sequence("ab, then c", [["a", "b"], "c"], within="1 hour")
    rows = events(spark, "(1, 2), (2, 3)", "at, n")
    assert detected(rows, rules, "pattern", "key", "count") == [("ab, then c", {}, 2)]


def test_a_table_may_have_columns_with_any_names(spark: SparkSession) -> None:
    rules = RuleSet("odd-names")
    rules.subscribe("any", "`a {b}` > 0")
    rules.count("two", "any", by=["`it's`", "key"], within="1 hour", at_least=2)
    rows = events(spark, "(1, 1, 'x', 'y'), (2, 1, 'x', 'y')", "at, `a {b}`, `it's`, key").withColumnRenamed(
        "ts", "{t}'s"
    )
    found = sparkrules.detect(rows, rules, time="`{t}'s`", id="`a {b}`")
    assert [(row.key, row["count"]) for row in found.collect()] == [({"`it's`": "x", "key": "y"}, 2)]


def test_rules_that_call_python_functions(spark: SparkSession) -> None:
    from pyspark.sql.functions import udf
    from pyspark.sql.types import IntegerType

    spark.udf.register("doubled", udf(lambda n: n * 2, IntegerType()))
    rules = RuleSet("python-patterns", policy=sparkrules.Policy(extra_functions=["doubled"]))
    rules.subscribe("four", "doubled(n) = 4")
    rules.count("twice", "four", within="1 hour", at_least=2)
    rows = events(spark, "(1, 2), (2, 3), (3, 2)", "at, n")
    assert detected(rows, rules, "start", "end") == [(at(1), at(3))]


def test_versions_views_and_the_rule_set_of_the_session(spark: SparkSession) -> None:
    rules = RuleSet("pattern-versions")
    rules.subscribe("any", "TRUE")
    rules.count("two", "any", within="1 hour", at_least=2)
    first = rules.publish(spark)
    events(spark, "(1, 1), (2, 1), (3, 1)", "at, n").createOrReplaceTempView("seen")
    spark.sql("CREATE OR REPLACE TEMP VIEW found AS SELECT * FROM detect_patterns(TABLE(seen), time => 'ts')")
    assert [row.pattern for row in spark.table("found").collect()] == ["two"]
    rules.count("three", "any", within="1 hour", at_least=3)
    rules.publish(spark)
    assert sorted(row.pattern for row in spark.table("found").collect()) == ["three", "two"]
    old = spark.sql(f"SELECT * FROM detect_patterns('pattern-versions@{first}', TABLE(seen), time => 'ts')")
    assert [row.pattern for row in old.collect()] == ["two"]
    listed = spark.table("sparkrules.`pattern-versions`.patterns").select("id", "kind", "steps", "by", "at_least")
    assert [tuple(row) for row in listed.collect()] == [
        ("two", "count", [["any"]], [], 2),
        ("three", "count", [["any"]], [], 3),
    ]


def test_only_rows_with_a_match_leave_the_match(spark: SparkSession) -> None:
    rules = RuleSet("few-rows")
    rules.subscribe("any", "n = 1")
    rules.count("two", "any", within="1 hour", at_least=2)
    found = sparkrules.detect(events(spark, "(1, 1), (2, 2)", "at, n"), rules, time="ts")
    plan = found._jdf.queryExecution().optimizedPlan().toString()
    assert "SortedRows(1 pattern)" in plan
    assert "Filter (size(ids" in plan


# What is refused


def test_errors_say_what_to_do(spark: SparkSession) -> None:
    rules = RuleSet("refused")
    rules.subscribe("any", "n = 1")
    rows = events(spark, "(1, 1, array(1))", "at, n, a")
    with pytest.raises(PySparkException, match=r"refused@\d+ has no patterns"):
        detected(rows, rules)
    rules.count("two", "any", by="n", within="1 hour", at_least=2)
    rules.publish(spark)
    rows.createOrReplaceTempView("rows")
    for call, message in {
        "TABLE(rows)": "takes a table and the column of its times",
        "time => 'ts'": "takes a table and the column of its times",
        "TABLE(rows), time => 'at'": r"time => 'at' is not a column of the table. It has: ts, n, a",
        "TABLE(rows), time => 'n'": "time => 'n' is a column of the type INT",
        "TABLE(rows), time => 'ts', id => 'a'": "id => 'a' is of the type ARRAY<INT>",
        "TABLE(rows), time => 'ts', top => 3": "does not take top => 3",
        "TABLE(rows), time => 'ts', time => 'ts'": "time",
        "'no-such', TABLE(rows), time => 'ts'": "There is no rule set 'no-such'",
    }.items():
        with pytest.raises(PySparkException, match=message):
            spark.sql(f"SELECT * FROM detect_patterns({call})").collect()


def test_a_pattern_that_lacks_a_column_fails_or_is_left_out(spark: SparkSession) -> None:
    rules = RuleSet("lacking")
    rules.subscribe("any", "n = 1")
    rules.count("good", "any", by="n", within="1 hour", at_least=1)
    rules.count("bad", "any", by="user", within="1 hour", at_least=1)
    rows = events(spark, "(1, 1)", "at, n")
    with pytest.raises(PySparkException, match="Pattern 'bad' of lacking@1 names a column that the table lacks: user"):
        detected(rows, rules)
    for setting in ({"spark_sparkrules_invalidRules": "skip"}, {"spark_sparkrules_missingColumns": "null"}):
        with settings(spark, **setting):
            assert detected(rows, rules, "pattern") == [("good",)]


def test_a_bad_condition_is_named_by_its_pattern(spark: SparkSession) -> None:
    rules = RuleSet("bad-condition")
    rules.subscribe("any", "n = 1")
    rules.count("odd", {"where": "nowhere = 1"}, within="1 hour", at_least=1)
    with pytest.raises(PySparkException, match=r"condition 1 of pattern 'odd'.*nowhere"):
        detected(events(spark, "(1, 1)", "at, n"), rules)


def test_times_far_away(spark: SparkSession) -> None:
    rules = RuleSet("far")
    rules.subscribe_all({"a": "n = 1", "b": "n = 2"})
    rules.absence("silent", after="a", without="b", within=timedelta(days=900_000))
    rules.sequence("slow", ["a", "b"], within=timedelta(days=1_000_000), after="1 day")
    rules.count("two", ["a", "b"], within=timedelta(days=1_000_000), at_least=2)
    rows = spark.sql("SELECT * FROM VALUES (TIMESTAMP'0001-01-01', 1), (TIMESTAMP'2700-12-31', 2) AS t(ts, n)")
    assert {pattern for (pattern,) in detected(rows.localCheckpoint(), rules, "pattern")} == {"silent", "slow", "two"}
