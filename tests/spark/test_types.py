"""Rules over columns of every type match as WHERE does, whatever type the constant has."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException

import sparkrules
from tests.spark.oracle import (
    accepted_by_where,
    differences,
    pairs_by_plugin,
    pairs_by_where,
    raising,
    rule_set,
    settings,
    subscriptions_in_plan,
)
from tests.spark.type_matrix import COLUMNS, LITERALS, TEMPORAL_COLUMNS, TEMPORAL_LITERALS, matrix, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# All eight take four times as long; they have been compared too.
FORMS_PER_PAIR = int(os.environ.get("SPARKRULES_TEST_FORMS", "2"))


@pytest.fixture(scope="module", autouse=True)
def _invalid_rules_are_skipped(spark: SparkSession) -> Iterator[None]:
    with settings(spark, spark_sparkrules_invalidRules="skip", spark_sql_timeType_enabled="true"):
        yield


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_literals_of_every_type_against_columns_of_every_type(spark: SparkSession, ansi: str) -> None:
    with settings(spark, ansi=ansi):
        check_matrix(spark, matrix(COLUMNS, LITERALS, forms=FORMS_PER_PAIR))


@pytest.mark.parametrize(
    ("zone", "ansi"), [("Europe/Berlin", "false"), ("Asia/Kathmandu", "true"), ("America/Los_Angeles", "false")]
)
def test_times_in_the_sessions_zone(spark: SparkSession, zone: str, ansi: str) -> None:
    with settings(spark, zone=zone, ansi=ansi):
        check_matrix(spark, matrix(TEMPORAL_COLUMNS, TEMPORAL_LITERALS))


def check_matrix(spark: SparkSession, groups: dict[tuple[str, str], list[str]]) -> None:
    """As WHERE does; rules that Spark does not accept are left out, rules that raise are not compared."""
    local = table(spark)
    df = local.coalesce(1).localCheckpoint()
    rules = {text: text for group in groups.values() for text in group}
    accepted = accepted_by_where(df, rules)
    left_out = [text for text in rules if text not in accepted]
    for text in left_out[:: len(left_out) // 20 + 1]:
        with pytest.raises(AnalysisException):
            df.where(text)

    comparable = {}
    ansi = spark.conf.get("spark.sql.ansi.enabled") == "true"
    for (column, literal), group in groups.items():
        fitting = {text: text for text in group if text in accepted}
        if fitting and not (ansi and reads_text(column, literal) and raising(local, fitting)):
            comparable |= fitting
    published = rule_set("matrix", rules)
    assert subscriptions_in_plan(sparkrules.match(df, published).select("matches.ids")) == len(accepted)
    ours = {(row, id) for row, id in pairs_by_plugin(df, published) if id in comparable}
    assert differences(ours, pairs_by_where(df, comparable), rules) == []


def reads_text(column: str, literal: str) -> bool:
    """Only the cast of a text raises in a comparison."""
    return literal == "mixed" or COLUMNS[column][0] == "STRING" or literal.startswith("'")
