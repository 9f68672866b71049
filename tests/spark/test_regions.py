"""`overlap_subscriptions` gives every rule that matches a row of the region, and no other where codes decide.

`overlap_advertisements` does the same with the advertisements. `overlap_any_subscription` and
`overlap_any_advertisement` say whether there is any.
"""

from __future__ import annotations

import itertools
import math
import random
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException

import sparkrules
from sparkrules.demo.auctions import auction_rows, auction_rules
from sparkrules.sql import Policy
from tests.spark.oracle import rule_set, settings
from tests.spark.versions import VersionWriter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPES = {"i": "INT", "d": "DOUBLE", "s": "STRING"}
# Between any two constants of rules, and beyond them, there is a value.
VALUES: dict[str, list[Any]] = {
    "i": [-1, 0, 1, 2, 3, 4],
    "d": [-1.0, -0.0, 0.5, 1.0, 2.0, 2.5, 2.7, 3.0, 4.0, math.inf, math.nan],
    "s": ["", "A", "a", "aa", "ab", "abc", "b", "c", "É"],
}
CONSTANTS = {"i": ["0", "1", "2", "3"], "d": ["0", "1.0", "2.5", "3"], "s": ["''", "'a'", "'ab'", "'b'"]}
SHAPES = ("value", "array", "bounds", "bounds and nulls")
Region = dict[str, Any]


def order(value: Any) -> tuple[bool, Any]:
    return (isinstance(value, float) and math.isnan(value), value)


def one_test(chance: random.Random, name: str) -> str:
    constants = CONSTANTS[name]
    shape = chance.randrange(10)
    if shape == 0:
        return f"{name} IS {chance.choice(['', 'NOT '])}NULL"
    if shape < 4:
        listed = ", ".join(chance.sample(constants, chance.randrange(2, 4)))
        return f"{name} {chance.choice(['', 'NOT '])}IN ({listed})"
    return f"{name} {chance.choice(['=', '<>', '<', '<=', '>', '>=', '<=>'])} {chance.choice(constants)}"


def simple_rule(chance: random.Random) -> str:
    """One test of each attribute at most."""
    names = chance.sample(sorted(TYPES), chance.randrange(1, 4))
    tests = [one_test(chance, name) for name in names]
    if len(tests) == 3:
        return f"{tests[0]} {chance.choice(['AND', 'OR'])} ({tests[1]} {chance.choice(['AND', 'OR'])} {tests[2]})"
    return chance.choice([" AND ", " OR "]).join(tests)


def any_rule(chance: random.Random) -> str:
    others = ["s LIKE '%b%'", "lower(s) = 'a'", "i + 1 > 2", "i > d", "i < 2.5", "length(s) = i", "d = i", "s > 1"]

    def part() -> str:
        return chance.choice(others) if chance.random() < 0.3 else one_test(chance, chance.choice(sorted(TYPES)))

    parts = [f"({part()} OR {part()})" if chance.random() < 0.3 else part() for _ in range(chance.randrange(1, 5))]
    return f"NOT ({' OR '.join(parts)})" if chance.random() < 0.2 else " AND ".join(parts)


def column(name: str, shape: str) -> str:
    kind = TYPES[name]
    fields = f"min: {kind}, max: {kind}" + (", nulls: BOOLEAN" if shape == "bounds and nulls" else "")
    return {"value": f"{name} {kind}", "array": f"{name} ARRAY<{kind}>"}.get(shape, f"{name} STRUCT<{fields}>")


def described(chance: random.Random, name: str, shape: str) -> tuple[Any, list[Any]]:
    """What describes a region, and the values that it has there."""
    values = VALUES[name]
    if chance.random() < 0.15:
        return None, [None, *values]
    if shape == "value":
        value = chance.choice(values)
        return value, [value]
    if shape == "array":
        some = chance.sample([None, *values], chance.randrange(1, 4))
        return some, some
    low, high = sorted(chance.sample(values, 2), key=order) if chance.random() < 0.8 else [chance.choice(values)] * 2
    first = None if chance.random() < 0.3 else low
    last = None if chance.random() < 0.3 else high
    within = [
        value
        for value in values
        if (first is None or order(value) >= order(first)) and (last is None or order(value) <= order(last))
    ]
    if shape == "bounds":
        return (first, last), within
    nulls = chance.choice([True, False, None])
    return (first, last, nulls), within if nulls is False else [None, *within]


def compare(spark: SparkSession, rules: sparkrules.RuleSet, seed: int, exactly: bool) -> None:
    chance = random.Random(seed)
    for rule in rules:
        rules.advertise(rule.id, rule.where)
    rules.subscribe("not asked", "nothing IS NULL", priority=9)
    rules.store = spark.conf.get("spark.sparkrules.store")
    rules.publish()
    rules.unsubscribe("not asked")
    rules.publish()
    left_out = 0
    for _ in range(6):
        shapes = {name: chance.choice(SHAPES) for name in TYPES}
        regions = [[described(chance, name, shapes[name]) for name in TYPES] for _ in range(8)]
        schema = ", ".join(["region INT", *(column(name, shape) for name, shape in shapes.items())])
        table = [(number, *(one for one, _ in region)) for number, region in enumerate(regions)]
        asked = spark.createDataFrame(table, schema)
        calls = [f"overlap_{what}('{rules.name}', i, d, s) AS {what}" for what in ("subscriptions", "advertisements")]
        calls += [
            f"overlap_any_{what}('{rules.name}', i, d, s) AS any_{what}" for what in ("subscription", "advertisement")
        ]
        found = asked.selectExpr("region", *calls).collect()
        got = {row.region: row.subscriptions for row in found}
        assert got == {row.region: row.advertisements for row in found}
        assert all(row.any_subscription == bool(row.subscriptions) for row in found)
        assert all(row.any_advertisement == bool(row.advertisements) for row in found)
        rows = [
            (number, *values)
            for number, region in enumerate(regions)
            for values in itertools.product(*(values for _, values in region))
        ]
        spark.createDataFrame(rows, "region INT, i INT, d DOUBLE, s STRING").createOrReplaceTempView("rows_of_regions")
        matched = spark.sql(
            "SELECT region, collect_set(subscription_id) AS ids "
            f"FROM match_subscriptions('{rules.name}', TABLE(rows_of_regions)) GROUP BY region"
        ).collect()
        truth = {row.region: set(row.ids) for row in matched}
        for number in range(len(regions)):
            expected = truth.get(number, set())
            assert expected <= set(got[number]), (table[number], schema)
            assert got[number] == sorted(got[number])
            left_out += len(rules) - len(got[number])
            if exactly:
                assert expected == set(got[number]), (table[number], schema)
    assert left_out > 100


@pytest.mark.parametrize("seed", [1, 2])
def test_rules_with_one_test_per_attribute_are_found_exactly(spark: SparkSession, seed: int) -> None:
    chance = random.Random(seed)
    texts = {f"r{number:03}": simple_rule(chance) for number in range(120)}
    compare(spark, rule_set("regions_exact", texts), seed, exactly=True)


@pytest.mark.parametrize("seed", [3, 4])
def test_no_rule_that_matches_a_row_is_left_out(spark: SparkSession, seed: int) -> None:
    chance = random.Random(seed)
    texts = {f"r{number:03}": any_rule(chance) for number in range(150)}
    compare(spark, rule_set("regions_sound", texts), seed, exactly=False)


def found(spark: SparkSession, rules: sparkrules.RuleSet, columns: str) -> list[str]:
    rules.store = spark.conf.get("spark.sparkrules.store")
    rules.publish()
    call = f"overlap_subscriptions('{rules.name}', *)"
    is_any = f"overlap_any_subscription('{rules.name}', *)"
    (row,) = spark.sql(f"SELECT {call} AS ids, {is_any} AS is_any FROM (SELECT {columns})").collect()
    ids: list[str] = row.ids
    assert row.is_any == bool(ids)
    return ids


PRICES = {
    "between": "price > 5 AND price < 10",
    "nested": "price > 5 AND (used AND price < 10)",
    "either": "(price < 3 OR price > 20) AND price > 4",
    "none": "price IS NULL",
    "never": "price > 5 AND price < 4",
}


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("named_struct('min', 12, 'max', NULL) AS price", ["either"]),
        ("named_struct('min', 6) AS price", ["between", "either", "nested"]),
        ("named_struct('min', 12, 'max', 15) AS price", []),
        ("named_struct('max', 7, 'nulls', true) AS price", ["between", "nested", "none"]),
        ("array(1, 9) AS price", ["between", "nested"]),
        ("array(1, NULL) AS price", ["none"]),
        ("8 AS price, true AS used", ["between", "nested"]),
        ("8 AS price, array(false) AS used", ["between"]),
        ("CAST(NULL AS INT) AS price", ["between", "either", "nested", "none"]),
        ("NULL AS price", ["between", "either", "nested", "none"]),
        ("1 AS other", ["between", "either", "nested", "never", "none"]),
        ("CAST(array() AS ARRAY<INT>) AS price", []),
        ("named_struct('min', 9, 'max', 6) AS price", []),
        ("named_struct('min', 9, 'max', 6, 'nulls', true) AS price", ["none"]),
        ("named_struct('min', DATE '2024-01-01', 'max', NULL) AS day, 7 AS price", ["between", "nested"]),
    ],
)
def test_a_column_describes_what_values_it_has(spark: SparkSession, columns: str, expected: list[str]) -> None:
    assert found(spark, rule_set("regions_of_prices", PRICES), columns) == expected


def test_a_whole_number_lies_not_between_two_neighbours(spark: SparkSession) -> None:
    rules = rule_set(
        "neighbours", {"gap": "i > 1 AND i < 2", "others": "i NOT IN (1, 2)", "b": "b <> true AND b <> false"}
    )
    assert found(spark, rules, "named_struct('min', 1, 'max', 2) AS i, CAST(NULL AS BOOLEAN) AS b") == []
    assert found(spark, rules, "named_struct('min', 1D, 'max', 2D) AS i, CAST(NULL AS BOOLEAN) AS b") == [
        "gap",
        "others",
    ]


def test_bounds_are_converted_as_the_column_is(spark: SparkSession) -> None:
    rules = rule_set(
        "converted", {"wide": "i > 3000000000", "decimal": "i < 2.5", "instant": "t < TIMESTAMP '2024-01-02'"}
    )
    columns = "named_struct('min', 3, 'max', 7) AS i, named_struct('min', DATE '2024-01-03', 'max', NULL) AS t"
    assert found(spark, rules, columns) == []
    columns = "named_struct('min', 2, 'max', 7) AS i, named_struct('min', DATE '2024-01-01', 'max', NULL) AS t"
    assert found(spark, rules, columns) == ["decimal", "instant"]


def test_fields_of_a_struct_that_is_no_bounds_are_values(spark: SparkSession) -> None:
    rules = rule_set("fields", {"in": "place.indoors", "out": "NOT place.indoors", "rome": "place.city = 'Rome'"})
    assert found(spark, rules, "named_struct('indoors', true, 'city', 'Rome') AS place") == ["in", "rome"]


def test_removed_rules_and_rules_that_are_not_valid_are_left_out(spark: SparkSession) -> None:
    past, future = (datetime.now(timezone.utc) + timedelta(hours=hours) for hours in (-1, 1))
    writer = VersionWriter(spark, "regions_hidden")
    first = writer.segment(
        {"gone": "a > 1", "past": "a > 1", "future": "a > 1", "now": "a > 1"},
        priorities={"now": -1},
        validity={"past": (None, past), "future": (future, None), "now": (past, future)},
    )
    writer.publish(first, writer.segment({"later": "a > 2 OR b = 1"}), removed=["gone"])
    query = "SELECT overlap_subscriptions('regions_hidden', *) AS ids FROM VALUES (array(0, 5)) AS t(a)"
    assert spark.sql(query).collect()[0].ids == ["later", "now"]
    writer.publish(first, removed=["now"])
    assert spark.sql(query).collect()[0].ids == ["gone"]
    is_any = query.replace("overlap_subscriptions", "overlap_any_subscription")
    assert spark.sql(is_any).collect()[0].ids is True
    writer.publish(first, removed=["now", "gone"])
    assert spark.sql(query).collect()[0].ids == []
    assert spark.sql(is_any).collect()[0].ids is False


def test_a_call_may_stand_in_a_view_and_beside_a_match(spark: SparkSession) -> None:
    rules = rule_set("regions_in_views", {"low": "a < 5", "high": "a > 5"})
    rules.store = spark.conf.get("spark.sparkrules.store")
    rules.publish()
    spark.sql(
        "CREATE OR REPLACE TEMPORARY VIEW regions_of_a AS "
        "SELECT a, overlap_subscriptions('regions_in_views', a) AS ids FROM VALUES (array(1, 9)), (array(5)) AS t(a)"
    )
    assert spark.sql("SELECT ids FROM regions_of_a WHERE size(ids) > 0").collect() == [(["high", "low"],)]
    query = (
        "SELECT match_subscriptions('regions_in_views', a).ids, overlap_subscriptions('regions_in_views', a) FROM {}"
    )
    assert spark.sql(query.format("VALUES (3) AS t(a)")).collect() == [(["low"], ["low"])]
    rules.subscribe("five", "a = 5")
    rules.publish()
    assert spark.sql("SELECT ids FROM regions_of_a ORDER BY size(a)").collect() == [(["five"],), (["high", "low"],)]


def test_advertisements_are_those_of_the_version_in_the_order_in_which_they_were_made(spark: SparkSession) -> None:
    rules = rule_set("regions_of_sources", {"low": "a < 5"})
    rules.store = spark.conf.get("spark.sparkrules.store")
    rules.publish()
    query = "SELECT overlap_advertisements('regions_of_sources{}', *) AS ids FROM VALUES (array(4, 7)) AS t(a)"
    assert spark.sql(query.format("")).collect()[0].ids == []
    rules.advertise("z", "a > 3 AND b = 1")
    rules.advertise("a", "a > 6")
    rules.advertise("n", "a > 7")
    assert rules.publish() == 2
    rules.unadvertise("z")
    rules.publish()
    assert [spark.sql(query.format(f"@{n}")).collect()[0].ids for n in (1, 2, 3)] == [[], ["z", "a"], ["a"]]
    assert rules.advertisements.sources(where="a IN (4, 7)") == spark.sql(query.format("")).collect()[0].ids
    answers = "overlap_{0}('regions_of_sources', a) AS {0}"
    both = [answers.format(what) for what in ("advertisements", "subscriptions")]
    (row,) = spark.sql("VALUES (array(1, 7)) AS t(a)").selectExpr(*both).collect()
    assert row.asDict() == {"advertisements": ["a"], "subscriptions": ["low"]}


def test_whether_there_is_any_may_stand_in_a_filter(spark: SparkSession) -> None:
    rules = rule_set("regions_any", {"low": "a < 5", "never": "a > 5 AND a < 4"})
    rules.advertise("high", "a > 90")
    rules.store = spark.conf.get("spark.sparkrules.store")
    rules.publish()
    files = (
        "VALUES ('x', array(1, 9)), ('y', array(7)), ('z', CAST(array() AS ARRAY<INT>)), ('w', array(95)) AS t(file, a)"
    )
    query = "SELECT file FROM {} WHERE overlap_any_{}('regions_any', a)"
    assert [row.file for row in spark.sql(query.format(files, "subscription")).collect()] == ["x"]
    assert [row.file for row in spark.sql(query.format(files, "advertisement")).collect()] == ["w"]
    with pytest.raises(PySparkException, match="overlap_any_subscription has no argument 'top'"):
        spark.sql("SELECT overlap_any_subscription('regions_any', a, top => 1) FROM VALUES (1) AS t(a)").collect()


def test_an_advertisement_that_spark_does_not_accept_is_named(spark: SparkSession) -> None:
    rules = rule_set("regions_of_bad_sources", {"low": "a < 5"})
    rules.advertise("wrong", "a > DATE '2024-01-01'")
    rules.store = spark.conf.get("spark.sparkrules.store")
    rules.publish()
    query = "SELECT overlap_{}('regions_of_bad_sources', *) AS ids FROM VALUES (4) AS t(a)"
    with pytest.raises(PySparkException, match=r"1 advertisement of regions_of_bad_sources@1 is rejected.*\n.*'wrong'"):
        spark.sql(query.format("advertisements")).collect()
    assert spark.sql(query.format("subscriptions")).collect()[0].ids == ["low"]
    with settings(spark, spark_sparkrules_invalidRules="skip"):
        assert spark.sql(query.format("advertisements")).collect()[0].ids == []


def test_functions_of_advertisements_are_those_of_the_session(spark: SparkSession) -> None:
    policy = Policy(extra_functions={"of_region"})
    rules = sparkrules.RuleSet("regions_of_functions", policy=policy)
    rules.advertise("a", "of_region(a) > 5")
    rules.store = spark.conf.get("spark.sparkrules.store")
    rules.publish()
    query = "SELECT overlap_advertisements('regions_of_functions', *) AS ids FROM VALUES (4) AS t(a)"
    for body, expected in (("x + 1", []), ("x + 2", ["a"])):
        spark.sql(f"CREATE OR REPLACE TEMPORARY FUNCTION of_region(x INT) RETURNS INT RETURN {body}")
        assert spark.sql(query).collect()[0].ids == expected


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("named_struct('min', 1, 'max', 'b') AS price", "different types"),
        ("named_struct('min', 1, 'nulls', 3) AS price", "BOOLEAN"),
        ("named_struct('min', map(1, 2)) AS price", "no order"),
        ("array(array(1)) AS price", "is rejected on the input"),
    ],
)
def test_what_describes_no_region_is_refused(spark: SparkSession, columns: str, message: str) -> None:
    with pytest.raises(PySparkException, match=message):
        found(spark, rule_set("regions_refused", {"a": "price > 5"}), columns)


def test_statistics_of_files_tell_which_rules_may_fire_in_them(spark: SparkSession, tmp_path: Path) -> None:
    rules = sparkrules.RuleSet("regions_of_files")
    rules.subscribe_all(auction_rules(500))
    rules.subscribe_all({"no price": "price IS NULL", "late title": "title > 'T'", "cheap": "price < 2"})
    rules.store = spark.conf.get("spark.sparkrules.store")
    rules.publish()
    rows = auction_rows(4_000).sort_by([("title", "ascending"), ("price", "ascending")])
    files = []
    for number in range(8):
        path = str(tmp_path / f"{number}.parquet")
        pq.write_table(rows.slice(500 * number, 500), path)
        files.append((path, *(_bounds(path, name) for name in ("title", "price", "bids"))))
    bounds = [("title", "STRING"), ("price", "DOUBLE"), ("bids", "BIGINT")]
    schema = ", ".join(f"{name} STRUCT<min: {kind}, max: {kind}, nulls: BOOLEAN>" for name, kind in bounds)
    table = spark.createDataFrame(files, f"file STRING, {schema}")
    may_fire = dict(table.selectExpr("file", "overlap_subscriptions('regions_of_files', *)").collect())
    for path, ids in may_fire.items():
        fired = sparkrules.matches(spark.read.parquet(path), "regions_of_files").select("subscription_id").distinct()
        assert {row[0] for row in fired.collect()} <= set(ids)
    assert max(map(len, may_fire.values())) < 400
    assert ["late title" in may_fire[file] for file, *_ in files] == sorted(
        "late title" in may_fire[f[0]] for f in files
    )


def _bounds(path: str, name: str) -> tuple[Any, Any, bool]:
    metadata = pq.read_metadata(path)
    at = pq.read_schema(path).get_field_index(name)
    found = [metadata.row_group(group).column(at).statistics for group in range(metadata.num_row_groups)]
    assert pa.types.is_string(pq.read_schema(path).field(at).type) or len(found) == 1
    return min(s.min for s in found), max(s.max for s in found), any(s.null_count > 0 for s in found)
