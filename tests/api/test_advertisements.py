"""Advertisements and overlap over DataFrames."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import sparkrules
from sparkrules import RuleSet
from sparkrules.demo.auctions import auction_rows, auction_rules
from sparkrules.errors import RuleSetError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def rules(subscriptions: dict[str, str], **advertisements: str) -> RuleSet:
    made = RuleSet("advertised")
    made.subscribe_all(subscriptions)
    for id, where in advertisements.items():
        made.advertise(id, where)
    return made


def test_a_restricted_rule_set_gives_the_same_answers(spark: SparkSession) -> None:
    made = RuleSet("routed")
    made.subscribe_all(auction_rules(2_000))
    made.advertise("dear", "price > 12 AND (condition = 'used' OR bids > 3)")
    df = spark.createDataFrame(auction_rows(2_000).to_pandas())
    broken = made.advertisements.breaking(df, "dear")
    own = df.where("price > 12 AND (condition = 'used' OR bids > 3)").persist()
    assert 0 < own.count() == 2_000 - broken.count()
    small = made.restrict("dear", schema=df)
    assert 0 < len(small) < len(made)

    def pairs(of: RuleSet) -> set[tuple[int, str]]:
        return {(row.auction, row.subscription_id) for row in sparkrules.matches(own, of).collect()}

    assert pairs(small) == pairs(made)
    own.unpersist()


def test_rows_break_an_advertisement_unless_it_is_true(spark: SparkSession) -> None:
    made = rules({}, attic="t > 20 AND room <> ''")
    df = spark.createDataFrame(
        [(1, 30.0, "a"), (2, 10.0, "a"), (3, None, "a"), (4, math.nan, "a"), (5, 30.0, ""), (6, 30.0, None)],
        "id INT, t DOUBLE, room STRING",
    )
    assert sorted(row.id for row in made.advertisements.breaking(df, "attic").collect()) == [2, 3, 5, 6]
    assert made.advertisements.breaking(df, "attic").columns == df.columns
    assert made.advertisements.breaking(df, where="true").isEmpty()
    assert made.advertisements.breaking(df, where="t > 20 OR NULL").count() == 2


def test_spark_does_not_substitute_variables_in_it(spark: SparkSession) -> None:
    made = rules({}, odd="room = '${env:HOME}'")
    with pytest.raises(RuleSetError, match=r"set spark\.sql\.variable\.substitute=false"):
        made.advertisements.breaking(spark.sql("SELECT 'a' AS room"), "odd")
    with pytest.raises(RuleSetError, match="df must be a DataFrame of Spark, not a Table of pyarrow"):
        made.advertisements.breaking(pa.table({"room": ["a"]}), "odd")  # type: ignore[arg-type]


def test_texts_of_a_dataframe(spark: SparkSession) -> None:
    made = rules({"hot": "t > 30", "cold": "t < 0"})
    df = spark.createDataFrame([("t > 10",), ("t <",), (None,), ("t > 10",)], "`the where` STRING")
    found = made.advertisements.overlapping_all(df, "the where")
    assert found.columns == ["the where", "subscriptions", "error"]
    assert {row[0]: row.subscriptions for row in found.collect()} == {"t > 10": ["hot"], "t <": None, None: None}


def test_versions_made_by_sql_keep_them(spark: SparkSession) -> None:
    made = RuleSet("advertised_in_sql")
    made.subscribe_all({"hot": "t > 30", "cold": "t < 0"})
    made.advertise("attic", "t > 20")
    store = spark.conf.get("spark.sparkrules.store")
    made.store = store
    made.publish()
    spark.sql(f"CALL sparkrules.unsubscribe('{made.name}', array('cold'))")
    newer = RuleSet.load(made.name, store)
    assert (list(newer.subscriptions), list(newer.advertisements)) == (["hot"], ["attic"])
    newer.unadvertise("attic")
    newer.publish()
    spark.sql(f"CALL sparkrules.rollback('{made.name}', 1)")
    assert list(RuleSet.load(made.name, store).advertisements) == ["attic"]


def test_a_schema_of_spark(spark: SparkSession) -> None:
    made = rules({"above": "t > 5", "other": "s.x = 1 AND v > 3"})
    df = spark.sql("SELECT 1 AS t, named_struct('x', 2L) AS s, INTERVAL 1 MONTH AS v")
    for schema in (df, df.schema):
        assert made.advertisements.overlapping(where="t < 6", schema=schema) == ["other"]
        assert made.lint(schema).of("unknown column") == []
    (finding,) = made.lint(spark.range(1)).of("unknown column")[:1]
    assert finding.severity == "error"
    with pytest.raises(RuleSetError, match="a schema is a pyarrow Schema"):
        made.lint("t INT")  # type: ignore[arg-type]
