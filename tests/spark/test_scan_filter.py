"""Where rows without a match are dropped anyway, the source gets a filter that all rules imply.

The oracle is the same query without the filter, and Spark's WHERE.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sparkrules
from tests.spark import sigma
from tests.spark.oracle import Pairs, differences, pairs_by_where, rule_set, settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ALWAYS = {"spark_sparkrules_pushDown": "always"}
NEVER = {"spark_sparkrules_pushDown": "never"}

QUERIES = {
    "table function": "SELECT row, subscription_id AS id FROM match_subscriptions('{0}', TABLE({1}))",
    "size": "SELECT row, explode(ids) AS id FROM (SELECT *, match_subscriptions('{0}', *).ids AS ids FROM {1}) "
    "WHERE size(ids) > 0",
    "explode": "SELECT row, explode(match_subscriptions('{0}', *).ids) AS id FROM {1}",
    "inline": "SELECT row, inline(subscription_matches('{0}', *)) AS (id, priority, overlap) FROM {1}",
    "top": "SELECT row, subscription_id AS id FROM match_subscriptions('{0}', TABLE({1}), top => 100000)",
}


def pairs(spark: SparkSession, query: str) -> Pairs:
    return {(row.row, row.id) for row in spark.sql(query).select("row", "id").collect()}


def executed(spark: SparkSession, query: str) -> str:
    text: str = spark.sql(query)._jdf.queryExecution().executedPlan().toString()
    return text


def agree(df: DataFrame, rules: dict[str, str], name: str) -> list[str]:
    """The differences between WHERE and each query that gives the source a filter."""
    spark = df.sparkSession
    df.createOrReplaceTempView(name)
    rule_set(name, rules).publish(spark)
    truth = pairs_by_where(df, rules)
    with settings(spark, **ALWAYS):
        return [
            f"{kind}: {difference}"
            for kind, query in QUERIES.items()
            for difference in differences(pairs(spark, query.format(name, name)), truth, rules)
        ]


@pytest.fixture(scope="module")
def events(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """Events in eight files, each with an hour of its own."""
    path = str(tmp_path_factory.mktemp("events") / "events")
    rows = spark.range(8000).selectExpr(
        "id AS row",
        "timestamp_seconds(id * 3600 DIV 1000) AS at",
        "CAST(id % 7 AS STRING) AS region",
        "CAST(id % 1000 AS DECIMAL(10, 2)) / 10 AS price",
        "named_struct('city', CAST(id % 13 AS STRING), 'zip', id % 99) AS addr",
        "IF(id % 11 = 0, NULL, id % 50) AS n",
    )
    # Spark's default for timestamps, INT96, has no statistics.
    with settings(spark, spark_sql_parquet_outputTimestampType="TIMESTAMP_MICROS"):
        rows.repartitionByRange(8, "at").sortWithinPartitions("at").write.parquet(path)
    df = spark.read.parquet(path)
    df.createOrReplaceTempView("events")
    return df


RULES = {
    "late": "at > TIMESTAMP'1970-01-01 07:00:00' AND region = '3' AND price < 20",
    "later": "at > TIMESTAMP'1970-01-01 07:30:00' AND price < 7.4 AND lower(region) = '2'",
    "either": "(at >= TIMESTAMP'1970-01-01 07:10:00' AND n = 5) OR (at > TIMESTAMP'1970-01-01 07:45:00' AND n IS NULL)",
}


@pytest.mark.parametrize("kind", QUERIES)
def test_the_source_gets_a_filter(spark: SparkSession, events: DataFrame, kind: str) -> None:
    rule_set("late", RULES).publish(spark)
    query = QUERIES[kind].format("late", "events")
    plan = executed(spark, query)
    assert "scan filter: " in plan
    assert "GreaterThan(at,1970-01-01 07:00:00.0)" in plan.split("PushedFilters: [")[1]
    ours = pairs(spark, query)
    assert ours == pairs_by_where(events, RULES)
    assert ours


def test_the_filter_is_not_evaluated_again_and_columns_are_read_as_such(spark: SparkSession, events: DataFrame) -> None:
    rule_set("late", RULES).publish(spark)
    plan = executed(spark, "SELECT row, subscription_id FROM match_subscriptions('late', TABLE(events))")
    below = plan.split("Match [")[1]
    assert "Filter (" not in below
    assert "ColumnarToRow" not in below
    with settings(spark, spark_sparkrules_pushDown="auto"):
        counted = spark.sql(
            "SELECT subscription_id, count(*) FROM match_subscriptions('late', TABLE(events)) GROUP BY subscription_id"
        )
        counted.collect()
        final = counted._jdf.queryExecution().executedPlan().toString().split("== Initial Plan ==")[0]
        assert "Filter (" not in final
        assert "ColumnarToRow" not in final


def test_a_filter_of_the_query_stays(spark: SparkSession, events: DataFrame) -> None:
    rule_set("late", RULES).publish(spark)
    query = (
        "SELECT row, subscription_id AS id FROM match_subscriptions('late', TABLE(SELECT * FROM events WHERE n < 25))"
    )
    with settings(spark, **ALWAYS):
        assert "(n#" in executed(spark, query).split("Match [")[1]
        assert pairs(spark, query) == pairs_by_where(events.where("n < 25"), RULES)


def rows_read(spark: SparkSession, query: str) -> int:
    df = spark.sql(query)
    df.collect()
    plan = df._jdf.queryExecution().executedPlan()
    while plan.children().nonEmpty():
        plan = plan.children().head()
    return int(plan.metrics().apply("numOutputRows").value())


def test_row_groups_that_no_rule_can_match_are_not_read(spark: SparkSession, events: DataFrame) -> None:
    rule_set("late", RULES).publish(spark)
    query = "SELECT row, subscription_id FROM match_subscriptions('late', TABLE(events))"
    with settings(spark, **NEVER):
        assert rows_read(spark, query) == 8000
    assert 0 < rows_read(spark, query) <= 2500


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("array_contains(ids, 'one')", "n = 1"),
        ("array_contains(ids, 'one') OR array_contains(ids, 'two')", "n IN 1, 2"),
        ("arrays_overlap(ids, array('one', 'two'))", "n IN 1, 2"),
        ("size(ids) > 0 AND array_contains(ids, 'two')", "n = 2"),
        ("size(ids) >= 1", "n IN 1, 2, 3"),
        ("cardinality(ids) <> 0", "n IN 1, 2, 3"),
        ("exists(ids, id -> id LIKE 't%')", "n IN 1, 2, 3"),
        ("try_element_at(ids, 1) = 'two'", "n IN 1, 2, 3"),
    ],
)
def test_conditions_on_the_ids(spark: SparkSession, events: DataFrame, condition: str, expected: str) -> None:
    rule_set("named", {"one": "n = 1", "two": "n = 2", "three": "n = 3"}).publish(spark)
    query = f"SELECT row, ids FROM (SELECT *, match_subscriptions('named', *).ids AS ids FROM events) WHERE {condition}"
    plan = executed(spark, query).replace("L", "").replace("(", "").replace(")", "")
    assert f"scan filter: {expected} " in plan
    with settings(spark, **NEVER):
        expected_rows = sorted(spark.sql(query).collect())
    assert sorted(spark.sql(query).collect()) == expected_rows
    assert expected_rows


@pytest.mark.parametrize(
    "condition",
    ["size(ids) >= 0", "size(ids) = 0", "NOT array_contains(ids, 'one')", "n > 5 OR size(ids) > 0", "ids IS NOT NULL"],
)
def test_rows_without_a_match_stay_where_they_are_wanted(
    spark: SparkSession, events: DataFrame, condition: str
) -> None:
    rule_set("named", {"one": "n = 1 AND row > 10"}).publish(spark)
    query = f"SELECT row, ids FROM (SELECT *, match_subscriptions('named', *).ids AS ids FROM events) WHERE {condition}"
    with settings(spark, **ALWAYS):
        assert "scan filter" not in executed(spark, query)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("subscription_id = 'one'", "n = 1"),
        ("subscription_id IN ('one', 'two')", "n IN 1, 2"),
        ("subscription_id LIKE 't%'", "n IN 2, 3"),
        ("priority > 6", "n = 3"),
        ("subscription_id = 'none such'", "false"),
    ],
)
def test_conditions_on_the_rule_of_a_match(
    spark: SparkSession, events: DataFrame, condition: str, expected: str
) -> None:
    rules = sparkrules.RuleSet("per-match")
    for n, id in enumerate(("one", "two", "three"), 1):
        rules.subscribe(id, f"n = {n}", priority=3 * n)
    rules.publish(spark)
    query = f"SELECT row, subscription_id AS id FROM match_subscriptions('per-match', TABLE(events)) WHERE {condition}"
    plan = executed(spark, query).replace("L", "").replace("(", "").replace(")", "")
    assert f"scan filter: {expected} " in plan
    with settings(spark, **NEVER):
        without = pairs(spark, query)
    assert pairs(spark, query) == without


def test_removed_rules_and_rules_that_are_not_valid_do_not_widen_the_filter(
    spark: SparkSession, events: DataFrame
) -> None:
    rules = sparkrules.RuleSet("valid")
    past = datetime.now(timezone.utc) - timedelta(days=1)
    rules.subscribe("now", "n = 1")
    rules.subscribe("before", "n = 2", valid_until=past)
    rules.subscribe("removed", "n = 3")
    rules.publish(spark)
    rules.unsubscribe("removed")
    rules.publish(spark)
    plan = executed(spark, "SELECT row FROM match_subscriptions('valid', TABLE(events))")
    assert "scan filter: (n = 1L) " in plan


def test_a_disjunct_of_two_columns_where_it_skips_more(spark: SparkSession, events: DataFrame) -> None:
    rules = {
        f"tenant {region}": f"region = '{region}' AND at > TIMESTAMP'1970-01-01 0{region}:30:00' AND price < 99"
        for region in range(7)
    }
    assert agree(events, rules, "tenants") == []
    plan = executed(spark, "SELECT row FROM match_subscriptions('tenants', TABLE(events))")
    filtered = plan.split("scan filter: ")[1].split("of the rows")[0]
    assert "(at > TIMESTAMP '1970-01-01 03:30:00') AND (region = '3')" in filtered or (
        "(region = '3') AND (at > TIMESTAMP '1970-01-01 03:30:00')" in filtered
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"spark_sparkrules_strict": "true"}, "no scan filter: strict"),
        ({"spark_sparkrules_pushDown": "never"}, ""),
    ],
)
def test_off_where_it_must_be(spark: SparkSession, events: DataFrame, change: dict[str, str], reason: str) -> None:
    rule_set("late", RULES).publish(spark)
    with settings(spark, **change):
        plan = executed(spark, "SELECT row FROM match_subscriptions('late', TABLE(events))")
    assert reason in plan
    assert " scan filter: (" not in plan


def test_explain_names_the_rules_that_allow_no_filter(spark: SparkSession, events: DataFrame) -> None:
    rule_set("open", {**RULES, "any price": "lower(region) = 'x'", "other": "n = 1 OR lower(region) = 'y'"}).publish(
        spark
    )
    plan = executed(spark, "SELECT row FROM match_subscriptions('open', TABLE(events))")
    assert "no scan filter: no source can filter by what these rules need: any price, other" in plan


def test_rules_that_together_need_everything(spark: SparkSession, events: DataFrame) -> None:
    rules = {"low": "n < 5", "high": "n >= 5", "none": "n IS NULL"}
    assert agree(events, rules, "everything") == []
    plan = executed(spark, "SELECT row FROM match_subscriptions('everything', TABLE(everything))")
    assert "no scan filter: together the rules need every value of a column" in plan


@pytest.mark.parametrize(
    ("count", "note"), [(32, "scan filter: "), (33, "no scan filter: it would"), (3000, "no scan")]
)
def test_strings_to_search_for(spark: SparkSession, events: DataFrame, count: int, note: str) -> None:
    """Each is a column to the source, but a filter as long as the rules are many would take longer than it saves."""
    rules = {f"r{i}": f"addr.city LIKE '%{i}%' AND hash(row) % 2 = 0" for i in range(count)}
    assert agree(events.where("row < 300"), rules, "searched") == []
    plan = executed(spark, "SELECT row FROM match_subscriptions('searched', TABLE(searched))")
    assert f", {note}" in plan


def test_the_ranges_between_many_constants(spark: SparkSession, events: DataFrame) -> None:
    few = ", ".join(str(n) for n in range(0, 90, 3))
    many = ", ".join(str(n) for n in range(1, 60_000, 3))
    assert agree(events, {"few": f"row NOT IN ({few})", "many": f"row NOT IN ({many}, 5)"}, "ranges") == []
    assert agree(events, {"many": f"row NOT IN ({many}, 5)"}, "ranges") == []
    plan = executed(spark, "SELECT row FROM match_subscriptions('ranges', TABLE(ranges))")
    assert ", scan filter: " in plan


def test_boolean_columns_alone_skip_only_partitions(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.range(1000).selectExpr("id AS row", "id % 2 = 0 AS even", "id AS n")
    rule_set("even", {"even": "even AND lower(CAST(n AS STRING)) = '7'", "few": "n < 5"}).publish(spark)
    query = "SELECT row, subscription_id AS id FROM match_subscriptions('even', TABLE({}))"
    for name, written in (("mixed", rows.write), ("parted", rows.write.partitionBy("even"))):
        written.parquet(str(tmp_path / name))
        spark.read.schema(rows.schema).parquet(str(tmp_path / name)).createOrReplaceTempView(name)
        assert len(pairs(spark, query.format(name))) == 5
    with settings(spark, spark_sparkrules_pushDown="auto"):
        assert "some rules need only Boolean columns" in executed(spark, query.format("mixed"))
        assert ", scan filter: " in executed(spark, query.format("parted"))
    with settings(spark, **ALWAYS):
        assert ", scan filter: " in executed(spark, query.format("mixed"))


def test_rules_with_errors_are_still_counted_and_skipped(spark: SparkSession, events: DataFrame) -> None:
    rules = {"bad": "n = 1 AND CAST(region AS DATE) > DATE'2020-01-01'", "good": "n = 2"}
    rule_set("errors", rules).publish(spark)
    with settings(spark, **ALWAYS):
        errors = "SELECT row, size(subscription_errors('errors', *)) AS e FROM events WHERE row < 100"
        assert "scan filter" not in executed(spark, errors)
        got = spark.sql("SELECT row FROM match_subscriptions('errors', TABLE(events))").count()
    assert got == events.where("n = 2").count()


def test_streams_keep_their_watermark(spark: SparkSession, events: DataFrame, tmp_path: Path) -> None:
    rule_set("late", RULES).publish(spark)
    events.write.parquet(str(tmp_path / "in"))
    stream = spark.readStream.schema(events.schema).parquet(str(tmp_path / "in"))
    stream.createOrReplaceTempView("arriving")
    query = "SELECT row, subscription_id AS id FROM match_subscriptions('late', TABLE(arriving))"
    sink = (
        spark.sql(query)
        .writeStream.format("memory")
        .queryName("arrived")
        .option("checkpointLocation", str(tmp_path / "c"))
        .trigger(availableNow=True)
        .start()
    )
    sink.awaitTermination()
    assert pairs(spark, "SELECT row, id FROM arrived") == pairs_by_where(events, RULES)


# Values that sources and Spark order or print differently, and NULL.
VALUES: dict[str, tuple[pa.DataType, list[object], list[str]]] = {
    "b": (pa.bool_(), [True, False, None], ["true", "false"]),
    "i": (pa.int32(), [-(2**31), -1, 0, 1, 7, 2**31 - 1, None], ["-1", "0", "7", "2147483647", "8589934592"]),
    "l": (pa.int64(), [-(2**63), 0, 5, 2**63 - 1, None], ["0", "5", "5.5", "9223372036854775807"]),
    "f": (pa.float32(), [float("nan"), -0.0, 0.0, 1.5, float("inf"), None], ["0.0", "-0.0", "1.5", "FLOAT('NaN')"]),
    "d": (pa.float64(), [float("nan"), -0.0, 0.0, 2.5, float("-inf"), None], ["0.0", "2.5", "1e300", "DOUBLE('NaN')"]),
    "s": (
        pa.string(),
        ["", "a", "A", "ab", "ä", "\U0001f600", "\uffff", None],
        ["''", "'a'", "'ab'", "'\U0001f600'", "'b'"],
    ),
    "day": (pa.date32(), [date(1500, 1, 1), date(2024, 3, 10), None], ["DATE'2024-03-10'", "DATE'1500-01-01'"]),
    "ts": (
        pa.timestamp("us", tz="UTC"),
        [datetime.fromisoformat(t) for t in ("2024-03-10T02:30", "1969-12-31T23:59:59.999999")] + [None],
        ["TIMESTAMP'2024-03-10 02:30:00'", "TIMESTAMP'1970-01-01 00:00:00'", "DATE'2024-03-10'"],
    ),
    "ntz": (
        pa.timestamp("us"),
        [datetime.fromisoformat(t) for t in ("2024-03-10T02:30", "2000-01-01")] + [None],
        ["TIMESTAMP_NTZ'2024-03-10 02:30:00'", "TIMESTAMP_NTZ'2000-01-01 00:00:00'"],
    ),
    "dec": (pa.decimal128(12, 2), [0, 1, -5, 99999, None], ["0", "1.00", "-5.005", "99999", "1e3"]),
}
OPERATORS = ["=", "<", "<=", ">", ">=", "<>", "<=>"]


def random_predicate(column: str, constants: list[str], chance: random.Random) -> str:
    kind = chance.randrange(12)
    if kind == 0:
        return f"{column} IS NULL"
    if kind == 1:
        return f"{column} IS NOT NULL"
    if kind == 2:
        return f"{column} IN ({', '.join(chance.sample(constants, 2))})"
    if kind == 3 and column == "s":
        return f"s LIKE '{chance.choice(['a%', '%b', '%a%', 'a', '%'])}'"
    if kind == 4:
        low, high = chance.sample(constants, 2)
        return f"{column} BETWEEN {low} AND {high}"
    if kind == 5:
        return f"coalesce({column}, {constants[0]}) = {chance.choice(constants)}"
    return f"{column} {chance.choice(OPERATORS)} {chance.choice(constants)}"


def random_rule(prefix: Callable[[str], str], chance: random.Random, depth: int = 2) -> str:
    if depth == 0 or chance.random() < 0.3:
        column = chance.choice(list(VALUES))
        return random_predicate(prefix(column), VALUES[column][2], chance)
    parts = [random_rule(prefix, chance, depth - 1) for _ in range(chance.randrange(2, 4))]
    text = f"({chance.choice([' AND ', ' AND ', ' OR ']).join(parts)})"
    return f"NOT {text}" if chance.random() < 0.1 else text


def written_by_arrow(path: Path, seed: int) -> None:
    """Four files of a few rows each, whose statistics Arrow writes: without NaN, other than Spark's."""
    path.mkdir()
    chance = random.Random(seed)
    for file in range(4):
        columns = {
            name: pa.array([chance.choice(values) for _ in range(6)], kind)
            for name, (kind, values, _) in VALUES.items()
        }
        nested = pa.StructArray.from_arrays(list(columns.values()), names=list(columns))
        rows = pa.array(range(6 * file, 6 * file + 6), pa.int64())
        pq.write_table(pa.table({"row": rows, **columns, "Deep": nested}), path / f"{file}.parquet")


@pytest.mark.parametrize("seed", range(6))
def test_random_rules_on_every_type(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    written_by_arrow(tmp_path / "t", seed)
    df = spark.read.parquet(str(tmp_path / "t"))
    chance = random.Random(seed)
    prefix: Callable[[str], str] = (lambda c: c) if seed % 2 else (lambda c: f"deep.{c.upper()}")
    # Rules of an AND: a filter exists. A few at a time, or together they are true of most rows.
    for round in range(4):
        rules = {
            str(i): " AND ".join(random_rule(prefix, chance) for _ in range(3)) for i in range(chance.randrange(1, 5))
        }
        with settings(spark, spark_sql_parquet_filterPushdown="false"):
            truth = pairs_by_where(df, rules)
        df.createOrReplaceTempView("every_type")
        rule_set(f"random-{seed}", rules).publish(spark)
        with settings(spark, **ALWAYS):
            for query in list(QUERIES.values())[:2]:
                ours = pairs(spark, query.format(f"random-{seed}", "every_type"))
                assert differences(ours, truth, rules) == [], round


@pytest.mark.parametrize("column", ["b", "i", "l", "s", "day", "ts", "dec", "d"])
def test_partition_columns_of_every_type(spark: SparkSession, tmp_path: Path, column: str) -> None:
    written_by_arrow(tmp_path / "flat", 1)
    flat = spark.read.parquet(str(tmp_path / "flat")).drop("Deep")
    flat.write.partitionBy(column).parquet(str(tmp_path / "t"))
    df = spark.read.schema(flat.schema).parquet(str(tmp_path / "t"))
    constants = VALUES[column][2]
    rules = {
        "equal": f"{column} = {constants[0]} AND row >= 0",
        "more": f"{column} > {constants[0]} AND {column} < {constants[1]}",
        "null": f"{column} IS NULL AND row < 10",
    }
    assert agree(df, rules, f"partitions_{column}") == []


def test_partitions_that_no_rule_can_match_are_not_listed(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(1000).selectExpr("id AS row", "id % 10 AS part", "id % 7 AS n").write.partitionBy("part").parquet(
        str(tmp_path / "t")
    )
    df = spark.read.parquet(str(tmp_path / "t"))
    rules = {"three": "part = 3 AND n = 1", "four": "part = 4 AND n > 2", "never": "part = 5 AND part = 6"}
    assert agree(df, rules, "listed") == []
    plan = executed(spark, "SELECT row FROM match_subscriptions('listed', TABLE(listed))")
    assert "PartitionFilters: [" in plan
    assert "PartitionFilters: []" not in plan
    assert rows_read(spark, "SELECT row FROM match_subscriptions('listed', TABLE(listed))") == 200


def test_case_insensitive_names_and_several_parts(spark: SparkSession, events: DataFrame) -> None:
    rules = sparkrules.RuleSet("parts")
    texts = {f"r{i}": f"N = {i % 5} AND AT > TIMESTAMP'1970-01-01 0{i % 8}:00:00'" for i in range(40)}
    with settings(spark, spark_sparkrules_partRules="10", **ALWAYS):
        for start in range(0, 40, 20):
            rules.subscribe_all(dict(list(texts.items())[start : start + 20]))
            rules.publish(spark)
        events.createOrReplaceTempView("parts")
        for query in QUERIES.values():
            assert pairs(spark, query.format("parts", "parts")) == pairs_by_where(events, texts)


def test_no_filter_for_a_value_that_the_query_computes(spark: SparkSession, events: DataFrame) -> None:
    rule_set("computed", {"one": "total > 60 AND n = 1"}).publish(spark)
    query = (
        "SELECT row FROM (SELECT row, match_subscriptions('computed', named_struct('total', price * 2, 'n', n)).ids "
        "AS ids FROM events) WHERE size(ids) > 0"
    )
    plan = executed(spark, query)
    assert "price" not in plan.split("scan filter: ")[1].split("of the rows")[0]
    with settings(spark, **NEVER):
        without = spark.sql(query).count()
    assert spark.sql(query).count() == without > 0


def test_a_column_may_have_the_name_that_computed_inputs_get(spark: SparkSession, events: DataFrame) -> None:
    events.withColumnRenamed("at", "rule_input").createOrReplaceTempView("named")
    rules = {"one": "rule_input > TIMESTAMP'1970-01-01 07:00:00' AND lower(region) = '3'"}
    rule_set("named", rules).publish(spark)
    query = QUERIES["size"].format("named", "named")
    assert "GreaterThan(at,1970-01-01 07:00:00.0)" in executed(spark, query)
    assert pairs(spark, query) == pairs_by_where(spark.table("named"), rules)


@pytest.mark.skipif(not sigma.DATA.exists(), reason="the corpus is not part of the project")
def test_real_rules(spark: SparkSession) -> None:
    part = sigma.corpus(spark, every_rule=5, every_event=40)
    rules = sparkrules.RuleSet("sigma-scan")
    rules.subscribe_all(part.rules)
    rules.publish(spark)
    part.events.createOrReplaceTempView("sigma_scan")
    with settings(spark, **ALWAYS):
        ours = pairs(spark, QUERIES["table function"].format("sigma-scan", "sigma_scan"))
    assert differences(ours, sigma.truth(part), part.rules) == []
