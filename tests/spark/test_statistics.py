"""`RuleSet.analyze` counts what WHERE counts, and no answer depends on it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import sparkrules
from sparkrules.errors import RuleSetError
from sparkrules.store import Store
from sparkrules.store.statistics_file import STATISTICS
from tests.spark.all_types import all_types, random_rules
from tests.spark.oracle import accepted_by_where, differences, pairs_by_plugin, pairs_by_where, rule_set, settings

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

ROWS = 200
SETTINGS = {"spark_sparkrules_invalidRules": "skip"}

# Rules over one attribute each, and the ranges that their constants make of it: conditions in the order of positions.
RANGES = {
    "i": (
        ["i = 1", "i < 5", "i IN (6, 5)"],
        ["i IS NULL", "i < 1", "i = 1", "i > 1 AND i < 5", "i = 5", "false", "i = 6", "i > 6"],
    ),
    "d": (
        ["d > 0.1D", "d = 0.0D", "d >= DOUBLE('NaN')"],
        [
            *("d IS NULL", "d < 0.0D", "d = 0.0D", "d > 0.0D AND d < 0.1D", "d = 0.1D"),
            *("d > 0.1D AND d < DOUBLE('NaN')", "d = DOUBLE('NaN')", "false"),
        ],
    ),
    "f": (
        ["f = CAST('NaN' AS FLOAT)", "f < CAST(0.1 AS FLOAT)"],
        [
            *("f IS NULL", "f < CAST(0.1 AS FLOAT)", "f = CAST(0.1 AS FLOAT)"),
            *("f > CAST(0.1 AS FLOAT) AND NOT isnan(f)", "isnan(f)", "false"),
        ],
    ),
    "dec": (
        ["dec <= 1.50BD", "dec <> 5.00BD"],
        ["dec IS NULL", "dec < 1.5BD", "dec = 1.5BD", "dec > 1.5BD AND dec < 5BD", "dec = 5BD", "dec > 5BD"],
    ),
    "wide": (
        ["wide = -1.00000BD", "wide > 1.50000BD"],
        ["wide IS NULL", "wide < -1BD", "wide = -1BD", "wide > -1BD AND wide < 1.5BD", "wide = 1.5BD", "wide > 1.5BD"],
    ),
    "s": (
        ["s = 'x'", "s < 'xyz'"],
        ["s IS NULL", "s < 'x'", "s = 'x'", "s > 'x' AND s < 'xyz'", "s = 'xyz'", "s > 'xyz'"],
    ),
    "dt": (
        ["dt >= DATE'2020-02-29'", "dt = DATE'2024-01-01'"],
        [
            *("dt IS NULL", "dt < DATE'2020-02-29'", "dt = DATE'2020-02-29'"),
            *("dt > DATE'2020-02-29' AND dt < DATE'2024-01-01'", "dt = DATE'2024-01-01'", "dt > DATE'2024-01-01'"),
        ],
    ),
    "ts": (
        ["ts < TIMESTAMP'2024-01-01'"],
        ["ts IS NULL", "ts < TIMESTAMP'2024-01-01'", "ts = TIMESTAMP'2024-01-01'", "ts > TIMESTAMP'2024-01-01'"],
    ),
    "b": (["b"], ["b IS NULL", "false", "NOT b", "false", "b", "false"]),
    "bin": (
        ["bin = X'00'", "bin > X'FF01'"],
        [
            *("bin IS NULL", "bin < X'00'", "bin = X'00'", "bin > X'00' AND bin < X'FF01'"),
            *("bin = X'FF01'", "bin > X'FF01'"),
        ],
    ),
    "lower(s)": (
        ["lower(s) = 'x'"],
        ["s IS NULL", "lower(s) < 'x'", "lower(s) = 'x'", "lower(s) > 'x'"],
    ),
}


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    return all_types(spark, ROWS)


@pytest.fixture
def store(spark: SparkSession, tmp_path: Path) -> Iterator[Store]:
    with settings(spark, spark_sparkrules_store=str(tmp_path), spark_sparkrules_ruleset=""):
        yield Store(tmp_path)


def published(name: str, rules: dict[str, str], spark: SparkSession) -> sparkrules.RuleSet:
    made = rule_set(name, rules)
    made.publish(spark)
    return made


def count(df: DataFrame, condition: str) -> int:
    return counts(df, [condition])[0]


def counts(df: DataFrame, conditions: list[str]) -> list[int]:
    """How many rows WHERE would keep, for each condition."""
    return list(df.selectExpr(*(f"count_if({condition})" for condition in conditions)).collect()[0])


def test_ranges_hold_the_rows_that_where_says(df: DataFrame, spark: SparkSession, store: Store) -> None:
    texts = [text for rules, _ in RANGES.values() for text in rules]
    found = published("ranges", {text: text for text in texts}, spark).analyze(df)
    assert found.rows == ROWS
    assert set(found.attributes) == set(RANGES)
    for name, (_, conditions) in RANGES.items():
        attribute = found.attributes[name]
        counted = {r.position: round(r.share * ROWS) for r in attribute.ranges}
        assert attribute.constants == len(conditions) // 2 - 1, name
        assert [counted.get(position, 0) for position in range(len(conditions))] == counts(df, conditions), name


def test_a_predicate_is_as_selective_as_where_says(df: DataFrame, spark: SparkSession, store: Store) -> None:
    texts = [text for rules, _ in RANGES.values() for text in rules] + ["s LIKE 'x%'", "s LIKE '%z'", "i IS NULL"]
    rules = published("selectivity", {text: text for text in texts}, spark)
    found = rules.analyze(df)
    for text, rows in zip(texts, counts(df, texts), strict=True):
        assert found.selectivity[_only_predicate(rules, text)] == pytest.approx(rows / ROWS), text


def _only_predicate(rules: sparkrules.RuleSet, id: str) -> str:
    segment = rules._segment
    node = segment.forest.roots[segment.rules.id.tolist().index(id)]
    return str(segment.forest.predicate(int(segment.forest.nodes.predicate[node])))


def test_bounds_are_the_constants(df: DataFrame, spark: SparkSession, store: Store) -> None:
    found = published("bounds", {"a": "dec <= 1.5BD", "b": "dec > 5BD"}, spark).analyze(df)
    assert [str(r) for r in found.attributes["dec"].ranges] == ["NULL", "(, 1.50)", "1.50", "5.00", "(5.00, )"]


def test_the_share_that_no_rule_names(df: DataFrame, spark: SparkSession, store: Store) -> None:
    found = published("zero", {"a": "i = 1", "b": "i > 6", "c": "s = 'x' OR s = 'xyz'"}, spark).analyze(df)
    number, text = found.attributes["i"], found.attributes["s"]
    assert number.zero_share == pytest.approx(1 - count(df, "i = 1 OR i > 6") / ROWS)
    assert number.null_share == pytest.approx(count(df, "i IS NULL") / ROWS)
    assert [r.named for r in number.ranges if r.position in (0, 1, 2)] == [False, False, True]
    assert number.a1 == pytest.approx(3 / 5)  # below 1, between 1 and 6, at 6
    assert number.a2 == pytest.approx(number.a1 * number.zero_share)
    assert text.zero_share == pytest.approx(1 - count(df, "s IN ('x', 'xyz')") / ROWS)
    assert found.order[0] == max((number, text), key=lambda a: a.a2).attribute


def test_values_that_cannot_be_computed(spark: SparkSession, store: Store) -> None:
    df = spark.createDataFrame([("1",), ("x",), ("7",), (None,)], "s STRING")
    found = published("errors", {"a": "CAST(s AS INT) > 5"}, spark).analyze(df).attributes["CAST(s AS INT)"]
    assert (found.error_share, found.null_share, found.zero_share) == (0.25, 0.25, 0.75)
    assert [str(r) for r in found.ranges] == ["error", "NULL", "(, 5)", "(5, )"]


def test_it_can_be_read(spark: SparkSession, store: Store) -> None:
    df = spark.range(100).selectExpr("CAST(id AS INT) AS a", "IF(id < 10, 'x', NULL) AS t")
    rules = published("table", {"a": "a < 5", "b": "a = 50", "c": "t LIKE 'x%'"}, spark)
    assert str(rules.analyze(df)).splitlines() == [
        "table@1, 100 rows",
        "attribute           constants  NULL    no rule  search  rarest test",
        "startswith(t, 'x')  2          90.0 %  90.0 %   binary  t like 'x%' 10.0 %",
        "a                   2          0.0 %   94.0 %   binary  a = 50 1.0 %",
    ]


def test_a_sample_is_as_large_as_asked_for(spark: SparkSession, store: Store) -> None:
    df = spark.range(10_000).selectExpr("CAST(id AS INT) AS a")
    rules = published("sample", {"a": "a < 5000"}, spark)
    found = rules.analyze(df, rows=1000, seed=3)
    assert 800 < found.rows < 1200
    assert found.selectivity["a < 5000"] == pytest.approx(0.5, abs=0.1)
    assert rules.analyze(df, rows=1000, seed=3).rows == found.rows


def test_statistics_are_kept_in_the_store_and_the_newest_count(spark: SparkSession, store: Store) -> None:
    rules = published("kept", {"a": "a < 5"}, spark)
    assert store.statistics("kept") is None
    rules.analyze(spark.range(10).selectExpr("id AS a"))
    rules.analyze(spark.range(20).selectExpr("id AS a"))
    table = store.statistics("kept")
    assert table is not None
    rest = {"total": 20, "nanoseconds": 0}
    assert table.to_pylist() == [
        {"attribute": "a", "position": 1, "lower": None, "upper": "5", "rows": 5} | rest,
        {"attribute": "a", "position": 2, "lower": "5", "upper": "5", "rows": 1} | rest,
        {"attribute": "a", "position": 3, "lower": "5", "upper": None, "rows": 14} | rest,
    ]
    assert [file.name for file in sorted((store.path / "kept" / "statistics").iterdir())] == [
        "1.arrow", "1.json", "1.predicates.arrow", "2.arrow", "2.json", "2.predicates.arrow"
    ]  # fmt: skip


def test_rules_that_are_not_published_cannot_be_analysed(df: DataFrame, spark: SparkSession, store: Store) -> None:
    rules = rule_set("unpublished", {"a": "i > 1"})
    with pytest.raises(RuleSetError, match="publish it first"):
        rules.analyze(df)
    rules.publish(spark)
    rules.subscribe("b", "i > 2")
    with pytest.raises(RuleSetError, match="publish it first"):
        rules.analyze(df)
    with pytest.raises(RuleSetError, match="at least one row"):
        rules.analyze(df, rows=0)


def test_a_table_without_rows_says_nothing(df: DataFrame, spark: SparkSession, store: Store) -> None:
    rules = published("empty", {"a": "i > 1"}, spark)
    found = rules.analyze(df.limit(0))
    assert (found.rows, found.attributes, found.selectivity) == (0, {}, {})
    assert store.statistics("empty") is None
    assert "empty@1, 0 rows" in str(found)


def test_rules_without_an_attribute(df: DataFrame, spark: SparkSession, store: Store) -> None:
    assert published("constant", {"a": "true"}, spark).analyze(df).attributes.keys() <= {"true"}


def test_no_answer_depends_on_statistics(df: DataFrame, spark: SparkSession, store: Store) -> None:
    with settings(spark, **SETTINGS):
        first = accepted_by_where(df, random_rules(150, seed=5))
        rules = published("same", first, spark)
        rules.analyze(df)
        assert differences(pairs_by_plugin(df, rules), pairs_by_where(df, first), first) == []
        # Other constants, most attributes the same: what was counted then is divided anew.
        second = accepted_by_where(df, random_rules(150, seed=6))
        changed = published("same", second, spark)
        truth = pairs_by_where(df, second)
        assert differences(pairs_by_plugin(df, changed), truth, second) == []
        changed.analyze(df)
        assert differences(pairs_by_plugin(df, changed), truth, second) == []


CONSTANTS = {
    "even": [3 * n for n in range(100)],
    "clustered": [10**k + n for k in range(1, 18) for n in range(5)],
    "far away": [*range(0, 150, 2), 2**62],
    "whole span": [-(2**63) + 1, -5, 0, 5, 2**63 - 1],
    "two": [0, 7],
}
SEEN = {"hits": lambda keys: keys, "misses": lambda keys: [key + 1 for key in keys[:-1]], "one": lambda keys: keys[1:2]}


@pytest.mark.parametrize("keys", list(CONSTANTS))
def test_every_search_finds_every_value(keys: str, spark: SparkSession, store: Store) -> None:
    constants = CONSTANTS[keys]
    near = {constant + step for constant in constants for step in (-1, 0, 1)}
    probes = sorted({value for value in near if -(2**63) <= value < 2**63} | {-(2**63), 2**63 - 1})
    df = spark.createDataFrame(list(enumerate(probes)), "row INT, v BIGINT").localCheckpoint()
    for operator, meaning in (("=", int.__eq__), ("<", int.__lt__), ("<>", int.__ne__)):
        rules = published("search", {str(c): f"v {operator} {c}" for c in constants}, spark)
        expected = {(n, str(c)) for n, value in enumerate(probes) for c in constants if meaning(value, c)}
        assert pairs_by_plugin(df, rules) == expected
        for seen in SEEN.values():
            store.analyzed("search", counted("v", seen(constants)))
            assert pairs_by_plugin(df, rules) == expected


def counted(attribute: str, values: list[int]) -> pa.Table:
    """Statistics of rows with these values, each once, as an analysis with them as constants would have found."""
    entries = [{"attribute": attribute, "position": 2, "lower": str(v), "upper": str(v), "rows": 1} for v in values]
    return pa.Table.from_pylist([entry | {"total": len(values), "nanoseconds": 0} for entry in entries], STATISTICS)


def search(rules: dict[str, str], analysed: DataFrame, attribute: str, spark: SparkSession) -> str:
    return published("chosen", rules, spark).analyze(analysed).attributes[attribute].search


def test_the_search_follows_the_values(spark: SparkSession, store: Store) -> None:
    even = spark.range(0, 300).selectExpr("id AS v", "CAST(id AS STRING) AS s")
    same = spark.range(0, 300).selectExpr("IF(id % 10 > 0, 30, id) AS v")
    ranges = {str(c): f"v < {c}" for c in CONSTANTS["even"]}
    points = {str(c): f"v = {c}" for c in CONSTANTS["clustered"]}
    bounds = {str(c): f"v < {c}" for c in CONSTANTS["clustered"]}
    assert search(ranges, even, "v", spark) == "interpolation"
    assert search(ranges, same, "v", spark) == "most probable first, then interpolation"
    assert search(points, even, "v", spark).endswith("hash")
    assert search(bounds, even, "v", spark).endswith("binary")
    assert search({"s": "s = 'x'"}, even, "s", spark) == "hash"


def test_new_statistics_are_a_new_program(spark: SparkSession, store: Store) -> None:
    df = spark.range(5).selectExpr("id AS v").localCheckpoint()
    rules = published("program", {"a": "v < 3"}, spark)
    before = sparkrules.match(df, rules).cache()
    assert before.where("size(matches.ids) > 0").count() == 3
    rules.analyze(df)
    assert sparkrules.match(df, rules).where("size(matches.ids) > 0").count() == 3
    before.unpersist()


def test_damaged_statistics_are_named(spark: SparkSession, store: Store) -> None:
    from pyspark.errors import PySparkException

    df = spark.range(5).selectExpr("id AS v")
    rules = published("damaged", {"a": "v < 3"}, spark)
    rules.analyze(df)
    file = store.path / "damaged" / "statistics" / "1.arrow"
    whole, checksum = file.read_bytes(), file.with_suffix(".json").read_bytes()
    file.write_bytes(whole[:100])
    with pytest.raises(PySparkException, match=r"statistics/1\.arrow is damaged.*: analyse the rule set again"):
        sparkrules.match(df, rules).collect()
    file.write_bytes(whole)
    file.with_suffix(".json").write_bytes(checksum.replace(b'"number": 1', b'"number": 2'))
    with pytest.raises(PySparkException, match=r"statistics/1\.json is damaged.*: analyse the rule set again"):
        sparkrules.match(df, rules).collect()


def test_two_columns_of_the_same_name(spark: SparkSession, store: Store) -> None:
    left = spark.range(4).selectExpr("id", "id AS v").alias("l")
    right = spark.range(4).selectExpr("id", "id * 2 AS v").alias("r")
    joined = left.join(right, "id")
    found = published("join", {"l": "l.v < 2", "r": "r.v < 2"}, spark).analyze(joined)
    assert {name: a.zero_share for name, a in found.attributes.items()} == {"l.v": 0.5, "r.v": 0.75}


def shares(df: DataFrame, rule_set: str) -> dict[tuple[str, int], float | None]:
    """What the plugin expects after an analysis, by attribute and number of the predicate."""
    tests = df.limit(1).selectExpr(f"inline(subscription_tests('{rule_set}', *))").collect()
    return {(test.attribute, test.predicate): test.share for test in tests}


def test_other_constants_divide_what_was_counted(spark: SparkSession, store: Store) -> None:
    df = spark.range(100).selectExpr("IF(id < 20, NULL, id) AS v", "id AS w")
    rules = published("divided", {"a": "v < 40", "b": "v = 60"}, spark)
    assert set(shares(df, "divided").values()) == {None}
    rules.analyze(df)
    texts = [str(predicate) for predicate in rules._segment.forest.all_predicates()]
    found = {texts[number]: share for (_, number), share in shares(df, "divided").items()}
    assert found == pytest.approx({"v < 40": 0.2, "v = 60": 0.01})
    other = published("divided", {"c": "v < 30", "d": "v = 60", "e": "v = 50", "f": "v > 60", "g": "w > 5"}, spark)
    texts = [str(predicate) for predicate in other._segment.forest.all_predicates()]
    found = {texts[number]: share for (_, number), share in shares(df, "divided").items()}
    # 20 rows below 40, now cut at 30: three parts. 20 rows from 40 (one of them at it) to 60, now cut at 50.
    assert found["v < 30"] == pytest.approx(0.2 / 3)
    assert found["v = 50"] == pytest.approx(0.19 / 3)
    assert found["v = 60"] == pytest.approx(0.01)
    assert found["v > 60"] == pytest.approx(0.39)
    assert found["w > 5"] is None


def test_an_attribute_of_another_type(spark: SparkSession, store: Store) -> None:
    published("retyped", {"a": "v > 5"}, spark).analyze(spark.createDataFrame([(5,), (7,)], "v INT"))
    longs = spark.createDataFrame([(7,)], "v BIGINT")
    assert shares(longs, "retyped") == {("v", 0): 0.5}
    published("retyped", {"a": "v > DATE'2020-01-01'"}, spark)
    assert shares(longs.selectExpr("DATE'2020-01-01' AS v"), "retyped") == {("v", 0): None}
