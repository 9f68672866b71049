"""Rules with reference lists match as Spark's `IN (SELECT value FROM list)` does, and follow a changed list."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException

import sparkrules
from sparkrules.errors import RuleSetError
from tests.rules.test_lists import GLOBS, brute_force
from tests.spark.oracle import pairs_by_plugin, pairs_by_python, settings
from tests.sql.address_texts import ODD, is_within, random_network, random_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_values_networks_and_globs(spark: SparkSession) -> None:
    chance = random.Random(6)
    networks = [own for own in (random_network(chance) for _ in range(30)) if own.prefixlen > 6]
    pieces = [".evil.com", "a", "b", "c", "exact", "mid", "dle", "l*t?r\\l", "é", "x", "\n", "😀", "[ab]"]
    texts = ["".join(chance.choice(pieces) for _ in range(chance.randrange(6))) for _ in range(500)]
    texts += [*(random_text(chance.choice(networks), chance) for _ in range(300)), *ODD]
    values = [*texts[:40], "exact", "5", "-7"]
    rules = sparkrules.RuleSet("lists")
    rules.put_list("values", values)
    rules.put_list("nets", map(str, networks), "cidr")
    rules.put_list("globs", GLOBS, "glob")
    rules.subscribe_all(
        {
            "value": "in_list('values', s)",
            "not value": "NOT in_list('values', s)",
            "net": "in_list('nets', s)",
            "glob": "in_list('globs', s) AND row >= 0",
            "not glob": "NOT in_list('globs', r.s)",
            "number": "in_list('values', n)",
            "lower": "in_list('values', lower(s)) OR in_list('globs', lower(s))",
        }
    )
    rows = [(row, text, row % 10 - 7, (text,)) for row, text in enumerate(texts)] + [(len(texts), None, None, None)]
    df = spark.createDataFrame(rows, "row INT, s STRING, n INT, r STRUCT<s: STRING>")
    spark.createDataFrame([(own,) for own in values], "value STRING").createOrReplaceTempView("listed_values")
    df.createOrReplaceTempView("listed_rows")
    kept = {
        "value": "s IN (SELECT value FROM listed_values)",
        "not value": "s NOT IN (SELECT value FROM listed_values)",
        "number": "CAST(n AS STRING) IN (SELECT value FROM listed_values)",
    }
    truth = {
        (row, id)
        for id, text in kept.items()
        for (row,) in spark.sql(f"SELECT row FROM listed_rows WHERE {text}").collect()
    }
    globbed = {text for text in texts if any(brute_force(glob, text) for glob in GLOBS)}
    lower = {text for text in texts if text.lower() in values or any(brute_force(g, text.lower()) for g in GLOBS)}
    for row, text in enumerate(texts):
        truth |= {(row, "net")} if any(is_within(text, own) for own in networks) else set()
        truth |= {(row, "glob") if text in globbed else (row, "not glob")}
        truth |= {(row, "lower")} if text in lower else set()
    assert len({id for _, id in truth}) == 7
    assert pairs_by_plugin(df, rules) == truth
    assert pairs_by_python(df, rules) == truth


def test_a_query_has_the_newest_list_and_compiles_nothing_for_it(spark: SparkSession) -> None:
    rules = sparkrules.RuleSet("followed")
    rules.put_list("bad", ["a"])
    rules.subscribe("bad", "in_list('bad', s)")
    df = spark.createDataFrame([("a",), ("b",), (None,)], "s STRING")
    matched = sparkrules.match(df, rules)
    assert [row.matches.ids for row in matched.collect()] == [["bad"], [], []]
    parts = spark._jvm.sparkrules.version.VersionCache.cachedParts()  # type: ignore[union-attr]
    matched.cache()
    matched.count()
    rules.put_list("bad", ["b"])
    assert [row.matches.ids for row in sparkrules.match(df, rules).collect()] == [[], ["bad"], []]
    assert [
        row.matches.ids
        for row in spark.sql("SELECT * FROM VALUES ('b') AS t(s)")
        .selectExpr("match_subscriptions('followed@1', *) AS matches")
        .collect()
    ] == [["bad"]]
    assert spark._jvm.sparkrules.version.VersionCache.cachedParts() <= parts + 1  # type: ignore[union-attr]
    matched.unpersist()
    assert str(*rules.explain({"s": "b"}, spark)).startswith("bad matches")


def test_only_rules_that_ask_for_a_missing_list_are_rejected(spark: SparkSession) -> None:
    rules = sparkrules.RuleSet("missing_lists")
    rules.put_list("bad", ["a"])
    rules.put_list("good", ["b"])
    asked = {"bad": "in_list('bad', s)", "not bad": "NOT in_list('bad', s)", "bad or b": "in_list('bad', s) OR s = 'b'"}
    rules.subscribe_all({**asked, "good": "in_list('good', s)", "b": "s = 'b'"})
    df = spark.createDataFrame([("a",), ("b",)], "s STRING")
    whole = [["bad", "bad or b"], ["b", "bad or b", "good", "not bad"]]

    def matched(engine: str = "plugin") -> list[list[str]]:
        rows = sparkrules.match(df, "missing_lists", engine=engine).collect()  # type: ignore[arg-type]
        return [sorted(row.matches.ids) for row in rows]

    rules.publish(spark)
    assert matched() == whole
    rules.drop_list("bad")
    named = (
        r"3 rules of missing_lists@1 are rejected .*\s+('(bad|not bad|bad or b)'(, )?){3}: there is no list 'bad': put"
    )
    with pytest.raises(PySparkException, match=named):
        matched()
    with pytest.raises(RuleSetError, match=r"(?s)'bad or b'.*has no list 'bad'"):
        matched("python")
    with settings(spark, **{"spark.sparkrules.invalidRules": "skip"}):
        assert matched() == matched("python") == [[], ["b", "good"]]
        left_out = sparkrules.left_out(df, "missing_lists")
        assert {own.subscription_id for own in left_out.collect()} == set(asked)
        rules.put_list("bad", ["b"])
        assert matched() == matched("python") == [["not bad"], ["b", "bad", "bad or b", "good"]]
    rules.drop_list("bad")
    with pytest.raises(PySparkException, match="no list 'bad'"):
        matched()


def test_other_types_are_rejected(spark: SparkSession) -> None:
    rules = sparkrules.RuleSet("typed_lists")
    rules.put_list("bad", ["a", "5"])
    rules.subscribe("bad", "in_list('bad', s)")
    for kind in ("DOUBLE", "STRING COLLATE UTF8_LCASE", "DATE"):
        df = spark.sql(f"SELECT CAST(NULL AS {kind}) AS s")
        with pytest.raises(PySparkException, match="in_list takes a STRING of binary collation or an integer, not"):
            sparkrules.match(df, rules).collect()
    big = spark.sql("SELECT 5L AS s")
    assert sparkrules.match(big, rules).head().matches.ids == ["bad"]  # type: ignore[union-attr]


def test_every_micro_batch_has_the_newest_list(spark: SparkSession, tmp_path: Path) -> None:
    rules = sparkrules.RuleSet("streamed_lists")
    rules.put_list("bad", ["a"])
    rules.subscribe("bad", "in_list('bad', s)")
    rules.publish(spark)
    source = tmp_path / "in"
    source.mkdir()
    lines = spark.readStream.schema("s STRING").csv(str(source))
    found: list[list[str]] = []
    query = (
        sparkrules.match(lines, rules)
        .writeStream.foreachBatch(
            lambda df, _: found.append([row.s for row in df.where("size(matches.ids) > 0").collect()])
        )
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    try:
        (source / "1.csv").write_text("a\nb\n")
        query.processAllAvailable()
        rules.put_list("bad", ["b"])
        (source / "2.csv").write_text("a\nb\n")
        query.processAllAvailable()
    finally:
        query.stop()
    assert found == [["a"], ["b"]]
