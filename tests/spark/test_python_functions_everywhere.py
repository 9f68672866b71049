"""Python functions in rules wherever rules can be asked: each answer equals WHERE, which calls them for every row."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from pyspark.sql.functions import pandas_udf, udf

import sparkrules
from sparkrules.sql import Policy
from tests.spark.oracle import Pairs, compared, differences, pairs_by_plugin, pairs_by_where, rule_set, settings
from tests.spark.test_overlaps import by_brute_force
from tests.spark.versions import VersionWriter

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import DataFrame, SparkSession

NAMES = {
    *("plus_one", "is_x", "joined", "halved", "price", "moment", "date_of", "pair", "letters", "counted", "zero"),
    *("doubled", "text_size", "by_arrow", "of_struct", "of_array", "of_map", "nothing", "scaled", "digits", "flags"),
    *("fails", "slow", "dies", "once", "numbers", "by_columns"),
}
ALLOWED = Policy(extra_functions=NAMES)
COLUMNS = (
    "row INT, i INT, s STRING, d DOUBLE, xs ARRAY<INT>, m MAP<STRING, INT>, st STRUCT<n: INT, t: STRING>, "
    "ts TIMESTAMP, amount DECIMAL(8, 2), deep ARRAY<STRUCT<n: INT, m: MAP<STRING, ARRAY<INT>>>>"
)
# One of each kind of shape and cost; all together match most rows.
RULES = {
    "cheap": "i > 3",
    "behind": "i > 3 AND plus_one(i) > 6",
    "two": "s = 'x' AND plus_one(i) > 2 AND text_size(s) = 1",
    "either": "plus_one(i) = 3 OR i = 5",
    "neither": "NOT (is_x(s) OR doubled(i) > 4)",
    "in an or": "i IS NOT NULL AND (s = 'y' OR joined(i, s) LIKE '%x' OR doubled(plus_one(i)) = 8)",
    "shared": "doubled(i) > 4 OR s = 'yy'",
    "shared too": "s = 'x' OR doubled(i) > 4",
}


def rows(count: int) -> list[tuple[Any, ...]]:
    from datetime import datetime
    from decimal import Decimal

    chance = random.Random(7)

    def some(value: Any) -> Any:
        return None if chance.random() < 0.15 else value

    return [
        (
            row,
            some(chance.randrange(9)),
            some(chance.choice(["x", "y", "yy", "", "7", "ä"])),
            some(chance.choice([0.0, -0.0, float("nan"), 1.5, float("inf")])),
            some([some(chance.randrange(5)) for _ in range(chance.randrange(3))]),
            some({key: some(chance.randrange(3)) for key in "ab"}),
            some((some(chance.randrange(3)), some("x"))),
            some(datetime(2024, 3, 31, chance.randrange(5), 30)),  # noqa: DTZ001
            some(Decimal(chance.randrange(500)) / 100),
            some([(some(chance.randrange(3)), {"k": [1, chance.randrange(3)]})]),
        )
        for row in range(count)
    ]


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(rows(60), COLUMNS).repartition(3).localCheckpoint()


@pytest.fixture(scope="module", autouse=True)
def _functions(spark: SparkSession) -> Iterator[None]:
    register(spark)
    yield
    for name in NAMES:
        spark.sql(f"DROP TEMPORARY FUNCTION IF EXISTS {name}")


def register(spark: SparkSession) -> None:
    """Functions of every kind and type. They are made here so that they reach workers that cannot import this file."""
    from datetime import date, datetime
    from decimal import Decimal

    def of_pandas(name: str, function: Any, returns: str) -> None:
        spark.udf.register(name, pandas_udf(function, returns))  # type: ignore[call-overload]

    def doubled(x: pd.Series) -> pd.Series:
        return x * 2

    def text_size(x: pd.Series) -> pd.Series:
        return x.str.len()

    def by_columns(x: pd.Series) -> pd.DataFrame:
        return pd.DataFrame({"n": x, "t": x.astype(str)})

    register = spark.udf.register
    register("plus_one", lambda x: None if x is None else x + 1, "int")
    register("is_x", lambda s: None if s is None else s == "x", "boolean")
    register("joined", lambda x, s: f"{x}-{s}", "string")
    register("halved", lambda x: None if x is None else float("nan") if x == 0 else x / 2, "double")
    register("price", lambda x: None if x is None else Decimal(x) / 4, "decimal(10, 2)")
    register("moment", lambda x: None if x is None else datetime(2024, 3, 31, x % 24, 30), "timestamp")  # noqa: DTZ001
    register("date_of", lambda x: None if x is None else date(2024, 1, 1 + x % 28), "date")
    register("pair", lambda x, s: None if x is None else (x, s), "struct<n: int, t: string>")
    register("letters", lambda s: None if s is None else [*s, None], "array<string>")
    register("counted", lambda s: None if s is None else {letter: s.count(letter) for letter in s}, "map<string, int>")
    register("zero", lambda: 0, "int")
    register("by_arrow", udf(lambda x, s: f"{x}{s}", "string", useArrow=True))
    register("of_struct", lambda st: None if st is None else st[0], "int")
    register("of_array", lambda xs: None if xs is None else sum(x or 0 for x in xs), "int")
    register("of_map", lambda m: None if m is None else m.get("a"), "int")
    register("nothing", lambda x: None, "string")
    register("scaled", lambda x, by=2: None if x is None or by is None else x * by, "int")
    register("digits", lambda s: s if s is None or not s.isdigit() else s * 2, "string")
    register("flags", lambda x: [True, None, False][(x or 0) % 3], "boolean")
    register("numbers", lambda deep: None if deep is None else [(one.n, one.m["k"]) for one in deep], NUMBERS)
    of_pandas("doubled", doubled, "bigint")
    of_pandas("text_size", text_size, "int")
    of_pandas("by_columns", by_columns, "n int, t string")


NUMBERS = "array<struct<a: int, b: array<int>>>"


def all_as_where(df: DataFrame, *texts: str) -> None:
    assert compared(df, {text: text for text in texts}, "everywhere", ALLOWED) == []


def test_results_of_every_type(df: DataFrame) -> None:
    all_as_where(
        df,
        "halved(d) > 1 AND i > 1",
        "halved(d) = double('NaN')",
        "halved(d) IS NULL OR i = 2",
        "NOT halved(d) < 1",
        "price(i) >= 1.25",
        "price(i) * amount > 3.1",
        "price(i) IN (0.25, 1.00, NULL)",
        "moment(i) < TIMESTAMP'2024-03-31 03:30:00'",
        "moment(i) = ts",
        "date_of(i) BETWEEN DATE'2024-01-02' AND '2024-01-05'",
        "pair(i, s).n > 2 AND pair(i, s).t <> 'x'",
        "pair(i, s) = named_struct('n', 2, 't', 'x')",
        "pair(i, s) IS NULL",
        "array_contains(letters(s), 'y')",
        "get(letters(s), 1) IS NULL AND size(letters(s)) > 1",
        "exists(letters(s), x -> x = 'x' OR i = 4)",
        "counted(s)['y'] = 2",
        "get(map_keys(counted(s)), 0) = s",
        "nothing(i) IS NULL AND i = 3",
        "nothing(i) = 'x' OR i = 3",
        "nothing(i) <=> NULL",
        "flags(i)",
        "NOT flags(i)",
        "flags(i) IS NOT TRUE AND s = 'x'",
        "flags(i) = is_x(s)",
        "numbers(deep)[0].b[1] = 2",
        "by_columns(i).n = 3 AND by_columns(i).t LIKE '3%'",
    )


def test_arguments_of_every_type(df: DataFrame) -> None:
    all_as_where(
        df,
        "of_struct(st) = 1",
        "of_struct(named_struct('n', i, 't', s)) = 4",
        "of_struct(pair(i, s)) = 4",
        "of_array(xs) > 2 AND i > 1",
        "of_array(array(i, 1, NULL)) = 6",
        "of_array(transform(xs, x -> x + i)) > 5",
        "of_array(transform(xs, x -> x + 1)) > 5",
        "of_map(m) = 2",
        "of_map(map('a', i)) = 2 OR s = 'x'",
        "of_map(map_filter(counted(s), (k, v) -> v > 1)) IS NULL",
        "size(numbers(deep)) = 1 AND numbers(slice(deep, 1, 1)) IS NOT NULL",
        "halved(amount) > 1",
        "joined(i, NULL) = '2-None'",
        "joined(row, concat(s, s)) LIKE '%yyyy'",
        "zero() = 0 AND i = 1",
        "zero() = i",
        "zero() > 1",
        "plus_one(5) = 6 AND s = 'x'",
        "plus_one(5) = i",
        "plus_one(NULL) IS NULL AND i = 1",
        "scaled(i) = 6",
        "scaled(i, 3) = 6",
        "date_of(CAST(current_date() > DATE'2020-01-01' AS INT)) = '2024-01-02'",
    )


def test_named_arguments(df: DataFrame) -> None:
    all_as_where(
        df,
        "scaled(x => i, by => 3) = 6",
        "scaled(by => i, x => 3) = 6 AND s = 'x'",
        "scaled(i, by => plus_one(i)) = 6",
    )


def test_calls_within_other_expressions(df: DataFrame) -> None:
    all_as_where(
        df,
        "joined(i, s) LIKE '3%' OR joined(i, s) RLIKE '^[45]-y+$'",
        "joined(i, s) LIKE s",
        "s LIKE joined('', s)",
        "plus_one(i) IN (2, 3, NULL)",
        "plus_one(i) NOT IN (2, 3)",
        "i IN (plus_one(i) - 1, 77)",
        "s IN (digits(s), 'no')",
        "plus_one(i) BETWEEN 3 AND 5",
        "i BETWEEN plus_one(0) AND plus_one(row)",
        "4 BETWEEN plus_one(i) AND doubled(i)",
        "CASE WHEN i > 4 THEN is_x(s) WHEN s = 'y' THEN plus_one(i) = 3 ELSE flags(i) END",
        "CASE plus_one(i) WHEN 3 THEN 'x' ELSE s END = 'x'",
        "coalesce(plus_one(i), text_size(s), 1) = 1",
        "coalesce(s = 'x', is_x('x'))",
        "if(i > 3, plus_one(i), doubled(i)) > 5",
        "nullif(plus_one(i), 4) IS NULL",
        "nvl(plus_one(i), 0) = zero()",
        "plus_one(i) + doubled(i) > 10",
        "plus_one(i) > doubled(i)",
        "plus_one(i) IS DISTINCT FROM i",
        "(plus_one(i) > 3) = (s = 'x')",
        "try_divide(10, plus_one(i) - 1) > 3",
    )


def test_calls_within_calls(df: DataFrame) -> None:
    all_as_where(
        df,
        "doubled(plus_one(i)) > 8",
        "plus_one(CAST(doubled(i) AS INT)) = 9 AND s <> 'x'",
        "text_size(by_arrow(doubled(i), digits(s))) > 3",
        "joined(plus_one(i), upper(by_arrow(i, s))) = '4-3X'",
        "joined(plus_one(plus_one(i)), by_arrow(plus_one(i), s)) = '4-3y'",
        "plus_one(nullif(plus_one(i), 3)) IS NULL",
        "is_x(if(plus_one(i) BETWEEN 2 AND 4, 'x', s))",
        "of_array(transform(array(plus_one(i), 1), x -> x * 2)) > 8",
        "of_array(transform(array(plus_one(i), 1), x -> x * i)) > 8",
        "of_array(filter(array(plus_one(i), 1), x -> x > 3)) > 0",
        "size(letters(nvl(joined(plus_one(i), s), 'none'))) = 4",
        "plus_one(size(letters(s))) = 3",
        "plus_one(coalesce(plus_one(i), i, 0)) = 1",
        "plus_one(pair(plus_one(i), s).n) > 5",
    )


def test_a_call_in_arguments_that_cannot_be_computed(spark: SparkSession, df: DataFrame) -> None:
    """An argument that fails makes only the predicate unknown, also between two calls."""
    rules = {
        "plus_one(CAST(s AS INT)) = 8": "plus_one(try_cast(s AS INT)) = 8",
        "plus_one(CAST(s AS INT)) = 8 OR i = 3": "plus_one(try_cast(s AS INT)) = 8 OR i = 3",
        "plus_one(CAST(digits(s) AS INT)) = 78": "plus_one(try_cast(digits(s) AS INT)) = 78",
        "plus_one(10 DIV i) > 4": "plus_one(IF(i = 0, NULL, 10 DIV i)) > 4",
        "CAST(joined(i, s) AS INT) > 1 OR s = 'x'": "s = 'x'",
    }
    with settings(spark, ansi="true"):
        found = pairs_by_plugin(df, rule_set("arguments", {text: text for text in rules}, ALLOWED))
        assert differences(found, pairs_by_where(df, rules), rules) == []
        failed = sparkrules.rule_errors(df.where("s = 'ä'"), "arguments").select("subscription_id", "message").collect()
    assert {id for id, _ in failed} >= set(list(rules)[:3])
    assert all("'ä'" in message for id, message in failed if "CAST(s" in id or "digits" in id)


def raises(query: DataFrame) -> bool:
    from pyspark.errors import PySparkException

    try:
        query.collect()
    except PySparkException:
        return True
    return False


def test_a_strict_rule_fails_where_spark_fails_whatever_is_open(spark: SparkSession, df: DataFrame) -> None:
    text = "plus_one(i) > 3 AND CAST(s AS INT) > 5 AND i < 7"
    made = rule_set("strict", {"strict": text}, ALLOWED)
    seen = set()
    with settings(spark, ansi="true", spark_sparkrules_strict="true"):
        for part in ("s = '7'", "s = 'x'", "s = 'x' AND i >= 7", "s IS NULL"):
            few = df.where(part).localCheckpoint()
            seen.add(raises(few.where(text)))
            assert raises(sparkrules.match(few, made)) == raises(few.where(text)), part
    assert seen == {True, False}


def test_overlaps(spark: SparkSession, df: DataFrame) -> None:
    """They are of all that is true in a row, whatever had to be asked to find the matches."""
    rules = rule_set("overlapping", RULES, ALLOWED)
    expected = by_brute_force(df, rules)
    assert sum(map(len, expected.values())) > 30
    assert {row.row: row.matches.overlaps for row in sparkrules.match(df, rules).collect()} == expected
    partners = {
        (row, id): sorted({other for group in groups if id in group for other in group} - {id})
        for row, groups in expected.items()
        for id in RULES
    }
    listed = sparkrules.matches(df, rules).collect()
    assert [sorted(row.overlap) for row in listed] == [partners[row.row, row.subscription_id] for row in listed]
    assert {(row.row, row.subscription_id) for row in listed} == pairs_by_where(df, RULES)
    df.createOrReplaceTempView("asked_rows")
    in_sql = spark.sql("SELECT * FROM match_subscriptions('overlapping', TABLE(asked_rows))").collect()
    assert sorted(map(str, in_sql)) == sorted(map(str, listed))


def test_the_first_matches_only(df: DataFrame) -> None:
    rules = rule_set("topped", RULES, ALLOWED)
    truth = pairs_by_where(df, RULES)
    for top in (1, 2):
        matched = sparkrules.match(df, rules, top=top).selectExpr("row", "matches.ids").collect()
        assert [ids for _, ids in matched] == [sorted(id for r, id in truth if r == row)[:top] for row, _ in matched]


def test_counts_per_rule(df: DataFrame) -> None:
    found = sparkrules.matches(df, rule_set("counts", RULES, ALLOWED)).groupBy("subscription_id").count()
    assert ", asks Python" in found._jdf.queryExecution().optimizedPlan().toString()
    truth = pairs_by_where(df, RULES)
    assert dict(found.collect()) == {id: sum(other == id for _, other in truth) for id in {id for _, id in truth}}


def test_joins_views_caches_and_limits(spark: SparkSession, df: DataFrame) -> None:
    rules, truth = rule_set("places", RULES, ALLOWED), pairs_by_where(df, RULES)
    rules.publish(spark)
    df.createOrReplaceTempView("asked_rows")
    spark.sql(
        "CREATE OR REPLACE TEMPORARY VIEW asked AS SELECT row, match_subscriptions('places', *) m FROM asked_rows"
    )
    viewed = spark.sql("SELECT row, explode(m.ids) id FROM asked")
    assert {(row, id) for row, id in viewed.collect()} == truth
    kept = viewed.cache()
    assert {(row, id) for row, id in kept.collect()} == truth
    again = spark.sql("SELECT row, explode(m.ids) id FROM asked")
    assert "InMemoryTableScan" in again._jdf.queryExecution().executedPlan().toString()
    kept.unpersist()
    some = spark.sql("SELECT row, m.ids FROM asked WHERE row < 10 LIMIT 3").collect()
    assert [ids for _, ids in some] == [sorted(id for r, id in truth if r == row) for row, _ in some]
    assert len(spark.sql("SELECT row, m.ids FROM asked LIMIT 7").collect()) == 7
    counted = spark.sql("SELECT count(*) FROM asked_rows WHERE size(match_subscriptions('places', *).ids) > 1").first()
    assert counted is not None
    assert counted[0] == sum(sum(r == row for r, _ in truth) > 1 for row in range(60))
    both = sparkrules.match(df, rules, "one").selectExpr("*", "match_subscriptions('places', row, i, s).ids AS two")
    assert all(row.one.ids == row.two for row in both.collect())


def test_a_call_in_a_join_condition_over_both_sides(spark: SparkSession, df: DataFrame) -> None:
    rules = {"sum": "plus_one(i) = other", "text": "s = 'x' AND joined(i, other) LIKE '%2'"}
    rule_set("joining", rules, ALLOWED).publish(spark)
    df.select("row", "i", "s").createOrReplaceTempView("left_rows")
    spark.sql("SELECT id AS key, CAST(id AS INT) AS other FROM range(6)").createOrReplaceTempView("right_rows")
    found = spark.sql(
        "SELECT row, key FROM left_rows JOIN right_rows ON size(match_subscriptions('joining', i, s, other).ids) > 0"
    ).collect()
    either = " OR ".join(f"({text})" for text in rules.values())
    truth = spark.sql(f"SELECT row, key FROM left_rows JOIN right_rows ON {either}")
    assert sorted(found) == sorted(truth.collect())
    assert len(found) > 20


def test_empty_input_and_empty_partitions(spark: SparkSession, df: DataFrame) -> None:
    rules = rule_set("empty", RULES, ALLOWED)
    assert sparkrules.match(df.where("row < 0"), rules).collect() == []
    assert sparkrules.match(spark.createDataFrame([], COLUMNS), rules).collect() == []
    few = df.where("row IN (3, 40)").repartition(7, "row").localCheckpoint()
    assert pairs_by_plugin(few, rules) == pairs_by_where(few, RULES)
    assert sparkrules.matches(df.where("row < 0"), rules).groupBy("subscription_id").count().collect() == []


def test_columns_of_a_file_and_shuffles(spark: SparkSession, df: DataFrame, tmp_path: Path) -> None:
    df.write.parquet(str(tmp_path / "rows"))
    rules, truth = rule_set("columnar", RULES, ALLOWED), pairs_by_where(df, RULES)
    read = spark.read.parquet(str(tmp_path / "rows"))
    assert pairs_by_plugin(read, rules) == truth
    large = {row.row for row in df.where("i > 2").collect()}
    with settings(spark, spark_sql_adaptive_enabled="false"):
        few = read.select("row", "i", "s").where("i > 2")
        assert pairs_by_plugin(few, rules) == {(row, id) for row, id in truth if row in large}
        shuffled = sparkrules.matches(read.repartition(5, "s"), rules).groupBy("s", "subscription_id").count()
        assert sum(row["count"] for row in shuffled.collect()) == len(truth)


def test_rows_keep_their_order(spark: SparkSession) -> None:
    """Rows that ask nothing wait for those before them."""
    ordered = spark.range(0, 30_000, 1, 1).selectExpr("CAST(id AS INT) AS i", "IF(id % 7 = 0, 'x', 'y') AS s")
    rules = rule_set("ordered", {"asks": "s = 'x' AND doubled(i) % 4 = 0", "rest": "s = 'y'"}, ALLOWED)
    with settings(spark, spark_sparkrules_pythonBufferBytes="200000"):
        found = sparkrules.match(ordered, rules).selectExpr("i", "matches.ids").collect()
    assert found == [(i, ["rest"] if i % 7 else ["asks"] if i % 2 == 0 else []) for i in range(30_000)]


def counting(spark: SparkSession) -> Accumulator[int]:
    """Registers a function that counts its calls."""
    calls = spark.sparkContext.accumulator(0)

    def counted(x: int | None) -> int | None:
        calls.add(1)
        return x

    spark.udf.register("once", udf(counted, "int"))
    return calls


def test_a_removed_or_expired_rule_calls_nothing(spark: SparkSession, df: DataFrame) -> None:
    from datetime import datetime, timedelta, timezone

    calls = counting(spark)
    rules = sparkrules.RuleSet("leaving", policy=ALLOWED)
    rules.subscribe_all({**RULES, "leaves": "i > 3 AND once(row) > 40", "stays": "i > 6 AND once(row) > 40"})
    past = datetime.now(timezone.utc) - timedelta(days=1)
    rules.subscribe("expired", "once(row) > 4 OR s = 'x'", valid_until=past)
    truth = pairs_by_where(df, {**RULES, "leaves": "i > 3 AND row > 40", "stays": "i > 6 AND row > 40"})
    assert pairs_by_plugin(df, rules) == truth
    many, few = df.where("i > 3").count(), df.where("i > 6").count()
    assert calls.value == many > few > 0
    rules.unsubscribe("leaves")
    assert pairs_by_plugin(df, rules) == {(row, id) for row, id in truth if id != "leaves"}
    assert calls.value == many + few
    rules.unsubscribe("stays")
    assert pairs_by_plugin(df, rules) == {(row, id) for row, id in truth if id in RULES}
    assert calls.value == many + few


def test_a_rule_set_of_several_parts(spark: SparkSession, df: DataFrame) -> None:
    calls = counting(spark)
    asking = {"a": "i > 3 AND once(row) > 40", "b": "i > 5 AND once(row) > 5", "c": "s = 'x' AND once(row) > 9"}
    rules = RULES | asking
    truth = pairs_by_where(df, {id: text.replace("once(row)", "row") for id, text in rules.items()})
    writer = VersionWriter(spark, "asked_in_parts", ALLOWED)
    ids = list(rules)
    cuts = [(0, 3), (3, 6), (6, 9), (9, len(ids))]
    segments = [writer.segment({id: rules[id] for id in ids[start:end]}) for start, end in cuts]
    writer.publish(*segments)
    expected = by_brute_force(df, rule_set("asked_in_one", rules, ALLOWED))
    before = calls.value

    def found() -> Pairs:
        matched = sparkrules.match(df, writer.rule_set).selectExpr("row", "matches.ids").collect()
        return {(row, id) for row, ids in matched for id in ids}

    with settings(spark, spark_sparkrules_partRules="1"):
        assert found() == truth
        assert calls.value - before == df.where("i > 3 OR s = 'x'").count(), "one call for all parts that need it"
        overlaps = {row.row: row.matches.overlaps for row in sparkrules.match(df, writer.rule_set).collect()}
        assert overlaps == expected
        before = calls.value
        writer.publish(*segments, removed=["a", "b", "cheap"])
        assert found() == {(row, id) for row, id in truth if id not in ("a", "b", "cheap")}
        assert calls.value - before == df.where("s = 'x'").count()


def test_explanations_and_costs(spark: SparkSession, df: DataFrame) -> None:
    rules = rule_set("explained", RULES, ALLOWED)
    truth = pairs_by_where(df, RULES)
    for row in df.where("i > 2 AND s IS NOT NULL").select("row", "i", "s").limit(2).collect():
        explained = rules.explain(row, spark)
        assert {one.id for one in explained if one.matched} == {id for r, id in truth if r == row.row}
    costs = {row.test: row.rows for row in sparkrules.rule_costs(df, rules).collect()}
    assert any("doubled" in test for test in costs)


def test_a_stream(spark: SparkSession, df: DataFrame, tmp_path: Path) -> None:
    rules, truth = rule_set("asked_stream", RULES, ALLOWED), pairs_by_where(df, RULES)
    df.repartition(3).write.parquet(str(tmp_path / "rows"))
    source = spark.readStream.schema(df.schema).option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "rows"))
    query = (
        sparkrules.matches(source, rules)
        .select("row", "subscription_id")
        .writeStream.format("memory")
        .queryName("asked_stream")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert {(row, id) for row, id in spark.table("asked_stream").collect()} == truth
    assert len(query.recentProgress) >= 3


def test_a_pandas_function_that_raises(spark: SparkSession, df: DataFrame) -> None:
    def fails(x: pd.Series) -> pd.Series:
        if (x == 4).any():
            raise ValueError("four is not allowed")
        return x + 1

    spark.udf.register("fails", pandas_udf(fails, "double"))  # type: ignore[call-overload]
    rules = {"asks": "fails(i) > 3 AND i > 1", "or": "fails(i) > 3 OR s = 'x'", "cheap": "i = 4"}
    means = {"asks": "i + 1 > 3 AND i <> 4", "or": "(i + 1 > 3 AND i <> 4) OR s = 'x'", "cheap": "i = 4"}
    made = rule_set("pandas_fails", rules, ALLOWED)
    assert pairs_by_plugin(df, made) == pairs_by_where(df, means)
    failed = {(row.row, row.subscription_id, row.message) for row in sparkrules.rule_errors(df, made).collect()}
    fours = {row.row for row in df.where("i = 4").collect()}
    assert {row for row, _, _ in failed} == fours
    assert {id for _, id, _ in failed} == {"asks", "or"}
    assert all("four is not allowed" in message for _, _, message in failed)


def test_a_worker_that_dies_ends_the_query(spark: SparkSession, df: DataFrame) -> None:
    """As it does in WHERE: nobody can say which call it was, nor whether the next would end the same way."""

    def dies(x: int | None) -> int | None:
        import os

        if x == 4:
            os._exit(1)
        return x

    spark.udf.register("dies", dies, "int")
    made = rule_set("dying", {"asks": "dies(i) > 3 AND i > 1"}, ALLOWED)
    with pytest.raises(Exception, match="Python worker exited unexpectedly"):
        sparkrules.match(df, made).collect()
    few = df.where("i <> 4 OR i IS NULL")
    assert pairs_by_plugin(few, made) == pairs_by_where(few, {"asks": "i > 3"})


def test_a_query_that_is_cancelled_ends_soon(spark: SparkSession, df: DataFrame) -> None:
    def slow(x: int | None) -> int | None:
        import time

        time.sleep(600)
        return x

    spark.udf.register("slow", slow, "int")
    made = rule_set("slowly", {"asks": "slow(i) > 3 AND i > 1"}, ALLOWED)
    made.publish(spark)
    raised: list[BaseException] = []

    def ask() -> None:
        spark.sparkContext.setJobGroup("slowly", "a query that is cancelled", interruptOnCancel=False)
        try:
            sparkrules.match(df, "slowly").collect()
        except BaseException as error:
            raised.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    tracker = spark.sparkContext.statusTracker()
    deadline = time.monotonic() + 60
    while not tracker.getActiveJobsIds() and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(2)
    spark.sparkContext.cancelAllJobs()
    asking.join(60)
    assert not asking.is_alive()
    assert "cancel" in str(raised[0]).lower()
    while tracker.getActiveStageIds() and time.monotonic() < deadline + 60:
        time.sleep(0.1)
    assert pairs_by_plugin(df, rule_set("after", RULES, ALLOWED)) == pairs_by_where(df, RULES)
