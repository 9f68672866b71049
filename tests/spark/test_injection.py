"""Names and ids are data: nothing in them becomes part of the SQL that we generate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import sparkrules
from sparkrules.errors import RuleSetError, StoreError
from tests.spark.oracle import rule_set

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMES = [
    "a`b",
    "``",
    "`; DROP TABLE victim; --",
    "a` OR 1=1 --",
    "a.b",
    ".a.",
    "it's",
    'say "x"',
    "a'); DROP TABLE victim; --",
    "a b",
    "a\nb",
    "a\tb",
    "é😀",
    "1",
    "select",
    "*",
    "${env:HOME}",
    "{{x}}",
    ":p",
    "?",
    "/* x */",
    "--",
    "\\",
    "a\\'b",
    "ids",
    "x" * 1000,
]
IDS = [*NAMES, "' || reflect('java.lang.System', 'exit') || '", "\u0000", "\u202e", "x" * 10_000, "<script>"]


@pytest.fixture(autouse=True)
def _victim(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE IF NOT EXISTS victim USING parquet AS SELECT 1 AS x")


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def test_ids_come_back_as_they_were(spark: SparkSession) -> None:
    rules = sparkrules.RuleSet("ids")
    for id in IDS:
        rules.subscribe(id, "a = 1", metadata={id: id})
    df = spark.sql("SELECT 1 AS a")
    assert sparkrules.match(df, rules).head().matches.ids == sorted(IDS)
    assert [row.subscription_id for row in sparkrules.matches(df, rules).collect()] == sorted(IDS)
    assert {e.id for e in rules.explain({"a": 1}, spark) if e.matched} == set(IDS)
    assert [rule.id for rule in sparkrules.RuleSet.load("ids", spark.conf.get("spark.sparkrules.store"))] == sorted(IDS)
    assert spark.table("victim").count() == 1


def test_an_id_that_is_none_is_refused() -> None:
    for id in ("", None, "\ud800", 1.5, b"x"):
        with pytest.raises(RuleSetError):
            sparkrules.RuleSet("ids").subscribe(id, "a = 1")  # type: ignore[arg-type]


def test_columns_of_any_name(spark: SparkSession) -> None:
    df = spark.createDataFrame([tuple(range(len(NAMES)))], NAMES)
    rules = rule_set("columns", {str(i): f"{quoted(name)} = {i}" for i, name in enumerate(NAMES)})
    expected = sorted(map(str, range(len(NAMES))))
    assert sparkrules.match(df, rules).head().matches.ids == expected
    assert [row.subscription_id for row in sparkrules.matches(df, rules).collect()] == expected
    row = dict(zip(NAMES, range(len(NAMES)), strict=True))
    assert all(e.matched for e in rules.explain(row, spark))
    nothing = dict.fromkeys(NAMES)
    assert not any(e.matched for e in rules.explain(nothing, spark))
    assert spark.table("victim").count() == 1


@pytest.mark.parametrize("output", ["a`b", "`; DROP TABLE victim; --", "x AS y", "x, 1 AS z", "a.b", "'"])
def test_an_output_column_of_any_name(spark: SparkSession, output: str) -> None:
    rules = rule_set("output", {"r": "a = 1"})
    assert sparkrules.match(spark.sql("SELECT 1 AS a"), rules, output=output).columns == ["a", output]


@pytest.mark.parametrize("name", ["x', 1) AS y, (SELECT 1", "x'", "x@1'", "x@1 OR", "x\\", "", "x@", "@1"])
def test_a_rule_set_name_that_would_end_its_quotes(spark: SparkSession, name: str) -> None:
    with pytest.raises((RuleSetError, StoreError)):
        sparkrules.match(spark.sql("SELECT 1 AS a"), name)


def test_constants_of_any_text(spark: SparkSession) -> None:
    df = spark.createDataFrame([(i, name) for i, name in enumerate(IDS)], ["row", "s"])
    literals = ["'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'" for name in IDS]
    rules = rule_set("constants", {str(i): f"s = {literal}" for i, literal in enumerate(literals)})
    found = sparkrules.match(df, rules).select("row", "matches.ids").collect()
    assert {row.row: list(row.ids) for row in found} == {i: [str(i)] for i in range(len(IDS))}
    for i, name in list(enumerate(IDS))[::9]:
        assert [e.id for e in rules.explain({"s": name}, spark) if e.matched] == [str(i)]
