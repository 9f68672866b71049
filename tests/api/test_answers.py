"""Fields, tags and shadow rules, in a classic session and over Spark Connect."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import sparkrules
from sparkrules import RuleSet


@pytest.fixture
def df(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([(35,), (20,), (-1,)], "temperature int")


@pytest.fixture
def rules(request: pytest.FixtureRequest) -> RuleSet:
    made = RuleSet("labelled")
    made.subscribe("hot", "temperature > 30", metadata={"severity": 3, "title": "it's hot"}, tags=["heat"])
    made.subscribe("warm", "temperature > 15", metadata={"severity": 1}, tags=["it's"])
    made.subscribe("cold", "temperature < 0", status="shadow", tags=["heat"], metadata={"severity": 2})
    made.subscribe("odd", "no_such_column > 0", status="draft")
    return made


@pytest.mark.parametrize("engine", ["plugin", "python"])
def test_match(df: DataFrame, rules: RuleSet, engine: Any) -> None:
    found = sparkrules.match(df, rules, "m", fields=["severity", "title"], shadow=True, engine=engine)
    lines = found.selectExpr("temperature", "m.ids", "m.matches", "m.shadow").collect()
    got = {line[0]: (line[1], [tuple(own) for own in line[2]], line[3]) for line in lines}
    assert got == {
        35: (["hot", "warm"], [("hot", 3, "it's hot"), ("warm", 1, None)], []),
        20: (["warm"], [("warm", 1, None)], []),
        -1: ([], [], ["cold"]),
    }
    few = sparkrules.match(df, rules, "m", tags=["it's"], engine=engine)
    assert {row.temperature: row.m.ids for row in few.collect()} == {35: ["warm"], 20: ["warm"], -1: []}


@pytest.mark.parametrize("engine", ["plugin", "python"])
def test_matches(df: DataFrame, rules: RuleSet, engine: Any) -> None:
    found = sparkrules.matches(df, rules, fields=["severity"], shadow=True, tags=["heat"], engine=engine)
    lines = found.select("temperature", "subscription_id", "severity", "status").collect()
    assert sorted(map(tuple, lines)) == [(-1, "cold", 2, "shadow"), (35, "hot", 3, "live")]


def test_an_unknown_field_is_an_error(df: DataFrame, rules: RuleSet) -> None:
    with pytest.raises(PySparkException, match="There are: severity, title"):
        _ = sparkrules.match(df, rules, fields=["titel"]).schema
