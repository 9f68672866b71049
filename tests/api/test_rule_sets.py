"""A rule set and a session: publishing, versions, the catalog, statistics, errors, streams."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException, PySparkException

import sparkrules
from sparkrules import RuleSet
from tests.spark.oracle import pairs_by_plugin, pairs_by_where, rule_set, settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RULES = {
    "cheap": "price < 10",
    "cheap-and-new": "price < 10 AND state = 'new'",
    "text": "state LIKE 'n%' AND contains(lower(title), 'pot')",
    "derived": "price * 2 > quantity",
    "opaque": "price > quantity",
    "no-price": "price IS NULL",
}
ROWS = [(0, 5.0, "new", "Teapot", 3), (1, 12.5, "used", "kettle", 30), (2, None, None, None, None), (3, 6.0, "", "", 6)]
COLUMNS = "row INT, price DOUBLE, state STRING, title STRING, quantity INT"
FIRST = ["cheap", "cheap-and-new", "derived", "opaque", "text"]
OF_ROW_0 = "SELECT match_subscriptions('books', *).ids AS ids FROM books WHERE row = 0"


@pytest.fixture(autouse=True)
def _own_store(spark: SparkSession, tmp_path: Path) -> Iterator[None]:
    with settings(spark, spark_sparkrules_store=str(tmp_path)):
        yield
    spark.conf.unset("spark.sparkrules.ruleset")


@pytest.fixture
def books(spark: SparkSession) -> DataFrame:
    df = spark.createDataFrame(ROWS, COLUMNS)
    df.createOrReplaceTempView("books")
    return df


@pytest.fixture
def rules() -> RuleSet:
    return rule_set("books", RULES)


def test_matches_are_those_of_where(books: DataFrame, rules: RuleSet) -> None:
    assert pairs_by_plugin(books, rules) == pairs_by_where(books, RULES)
    flat = sparkrules.matches(books, rules).where("row = 0").orderBy("subscription_id")
    assert [(row.subscription_id, row.overlap) for row in flat.collect()] == [
        ("cheap", ["cheap-and-new"]),
        ("cheap-and-new", ["cheap"]),
        ("derived", []),
        ("opaque", []),
        ("text", []),
    ]


def test_sql_sees_what_python_publishes(spark: SparkSession, books: DataFrame, rules: RuleSet) -> None:
    assert rules.publish(spark) == 1
    assert spark.sql(OF_ROW_0).collect()[0].ids == FIRST
    table = "SELECT subscription_id FROM match_subscriptions('books', TABLE(books)) WHERE row = 0 ORDER BY 1"
    assert [row.subscription_id for row in spark.sql(table).collect()] == FIRST

    rules.unsubscribe("cheap")
    rules.subscribe("second", "price < 10", priority=1)
    assert rules.publish(spark) == 2
    newer = ["second", *FIRST[1:]]
    assert spark.sql(OF_ROW_0).collect()[0].ids == newer
    assert spark.sql("SELECT match_subscriptions(*).ids FROM books WHERE row = 0").collect()[0][0] == newer
    assert spark.sql(OF_ROW_0.replace("'books'", "'books@1'")).collect()[0].ids == FIRST


def test_python_and_sql_make_versions_of_one_another(spark: SparkSession, books: DataFrame, rules: RuleSet) -> None:
    rules.publish(spark)
    catalog = spark.sql("SELECT id, `where` FROM sparkrules.books.subscriptions VERSION AS OF 1 ORDER BY id")
    assert [tuple(row) for row in catalog.collect()] == sorted(RULES.items())
    assert "sparkrules" in [row.catalog for row in spark.sql("SHOW CATALOGS").collect()]
    rules.unsubscribe("opaque")
    rules.publish()
    called = spark.sql("CALL sparkrules.rollback('books', 1)")
    # A procedure is called when it is sent, not again whenever somebody looks at its result.
    assert [tuple(called.collect()[0]), tuple(called.collect()[0]), called.count()] == [("books", 3, 6)] * 2 + [1]
    done = spark.sql("CALL sparkrules.unsubscribe('books', array('cheap', 'text'))").collect()[0]
    assert tuple(done) == ("books", 4, 4, 2)
    versions = spark.sql("SELECT version, action, subscriptions FROM sparkrules.books.versions ORDER BY version")
    expected = [(1, "publish", 6), (2, "publish", 5), (3, "rollback to 1", 6), (4, "unsubscribe", 4)]
    assert [tuple(row) for row in versions.collect()] == expected
    assert [version.version for version in rules.versions()] == [1, 2, 3, 4]
    loaded = RuleSet.load("books", spark.conf.get("spark.sparkrules.store"))
    assert loaded.rollback(2) == 5
    assert sorted(loaded.diff(4, 5).added) == ["cheap", "text"]
    assert spark.sql(OF_ROW_0).collect()[0].ids == ["cheap", "cheap-and-new", "derived", "text"]


def test_values_are_counted(books: DataFrame, rules: RuleSet, spark: SparkSession) -> None:
    rules.publish(spark)
    found = rules.analyze(books)
    assert (found.rows, found.selectivity["price < 10"], found.attributes["price"].null_share) == (4, 0.5, 0.25)
    assert spark.sql("SELECT count(*) FROM sparkrules.books.statistics").collect()[0][0] > 0


def test_a_report_says_what_the_rules_do(books: DataFrame, rules: RuleSet, tmp_path: Path) -> None:
    dated = books.selectExpr("*", "DATE '2024-05-01' + row AS day")
    page = rules.report(tmp_path / "report.html", dated, time="day")
    assert "Of 6 rules, 6 hit at least one of 4 rows. " in page.read_text(encoding="utf-8")


def test_errors_are_readable(spark: SparkSession, books: DataFrame) -> None:
    with pytest.raises(AnalysisException) as caught:
        sparkrules.match(books, rule_set("unfit", {"typo": "prise > 1"})).collect()
    assert str(caught.value).startswith("[SPARKRULES] 1 rule of unfit@1 is rejected on the input")
    assert "'typo': there is no column prise" in str(caught.value)
    with pytest.raises(PySparkException, match="There is no rule set 'none'"):
        spark.sql("SELECT match_subscriptions('none', *) FROM books").collect()
    rule_set("books", RULES).publish(spark)
    with pytest.raises(AnalysisException, match="There is no version 99 of rule set 'books'"):
        spark.sql("CALL sparkrules.rollback('books', 99)").collect()
    assert spark.sql("SELECT count(*) FROM books").collect()[0][0] == 4


def test_rules_that_cannot_be_computed_are_named(spark: SparkSession) -> None:
    df = spark.sql("SELECT * FROM VALUES (1, '5'), (2, 'five') AS t(row, code)")
    found = sparkrules.rule_errors(df, rule_set("casts", {"five": "CAST(code AS INT) = 5"})).collect()
    assert [(row.row, row.subscription_id) for row in found] == [(2, "five")]
    assert "CAST_INVALID_INPUT" in found[0].message


def test_a_region_has_the_rules_that_could_match(spark: SparkSession, rules: RuleSet) -> None:
    rule_set("regions", {"low": "price < 10", "high": "price > 50"}).publish(spark)
    found = spark.sql(
        "SELECT overlap_subscriptions('regions', price) AS ids FROM "
        "VALUES (named_struct('min', 5.0D, 'max', 20.0D)) AS t(price)"
    )
    assert found.collect()[0].ids == ["low"]


@pytest.mark.parametrize("engine", ["plugin", "python"])
def test_a_stream_is_matched(spark: SparkSession, tmp_path: Path, engine: str) -> None:
    incoming = tmp_path / "incoming"
    incoming.mkdir()
    (incoming / "1.json").write_text('{"n": 1}\n{"n": 5}\n', encoding="utf-8")
    stream = spark.readStream.schema("n INT").json(str(incoming))
    matched = sparkrules.match(stream, rule_set("streamed", {"few": "n < 3"}), engine=engine)  # type: ignore[arg-type]
    query = (
        matched.writeStream.format("memory")
        .queryName(f"streamed_{engine}")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    found = spark.sql(f"SELECT n, matches.ids AS ids FROM streamed_{engine} ORDER BY n").collect()
    assert [tuple(row) for row in found] == [(1, ["few"]), (5, [])]
