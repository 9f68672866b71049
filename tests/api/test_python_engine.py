"""engine="python" gives the plugin's answer, and so Spark's own, without using the plugin."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql.types import StructType

import sparkrules
from sparkrules.catalyst.python_engine.task import Task, shipped
from sparkrules.errors import RuleSetError
from sparkrules.local.bound_predicates import bind_predicates
from sparkrules.sql import Policy
from tests.spark.all_types import all_types, random_rules
from tests.spark.oracle import Pairs, differences, pairs_by_where, rule_set, settings
from tests.spark.test_errors import ROWS, RULES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType


def pairs_by_python(df: DataFrame, rules: sparkrules.RuleSet) -> Pairs:
    matched = sparkrules.match(df, rules, engine="python").selectExpr("row", "matches.ids").collect()
    assert all(len(ids) == len(set(ids)) for _, ids in matched), "an id was reported twice"
    return {(row, id) for row, ids in matched for id in ids}


def answers(df: DataFrame, rules: sparkrules.RuleSet, engine: str, **options: int) -> list[tuple[object, ...]]:
    matched = sparkrules.match(df, rules, engine=engine, **options)  # type: ignore[arg-type]
    return sorted(
        (row.row, row.matches.ids, row.matches.overlaps) for row in matched.select("row", "matches").collect()
    )


def flat(df: DataFrame, rules: sparkrules.RuleSet, engine: str, **options: int) -> list[tuple[object, ...]]:
    matched = sparkrules.matches(df, rules, engine=engine, **options)  # type: ignore[arg-type]
    return [tuple(row) for row in matched.orderBy("row").collect()]


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_random_rules_over_all_types_match_as_where_does_and_overlap_as_the_plugin_says(
    spark: SparkSession, ansi: str
) -> None:
    with settings(spark, ansi=ansi):
        df = all_types(spark)
        rules = random_rules(250)
        own = rule_set("python_differential", rules)
        ours = answers(df, own, "python")
        assert ours == answers(df, own, "plugin")
        pairs = {(row, id) for row, ids, _ in ours for id in ids}  # type: ignore[attr-defined]
        truth = pairs_by_where(df, rules)
        assert differences(pairs, truth, rules) == []
    assert len(truth) > 5_000, "rules that match nothing prove nothing"
    assert sum(len(groups) for _, _, groups in ours) > 2_000  # type: ignore[arg-type]


def test_a_test_that_fails_is_unknown_and_the_others_go_on(spark: SparkSession) -> None:
    df = spark.createDataFrame(ROWS, "row INT, a INT, s STRING").localCheckpoint()
    # What is true for NULL is not true for a value that cannot be computed; a constant may fail, and a pattern.
    more = [
        "CAST(s AS INT) IS NULL",
        "NOT (CAST(s AS INT) <=> 7)",
        "(6 / a > 2) IS NOT TRUE",
        "(6 / a > 2) IS UNKNOWN",
        "a NOT IN (1, 'many')",
        "a IN (1, 'many') OR a = 1",
        "s RLIKE '('",
        "NOT s RLIKE '(' OR a = 1",
        "s NOT LIKE 'a\\\\b'",
        "CAST(s AS INT) + CAST(s AS INT) > 5",
        "s IN (7, 8)",
        "1 / 0 > 1",
    ]
    rules = rule_set("python_failing", {text: text for text in [*RULES, *more]})
    ours = answers(df, rules, "python")
    assert ours == answers(df, rules, "plugin")
    assert {row for row, ids, _ in ours if "CAST(s AS INT) IS NULL" in ids} == {2}  # type: ignore[operator]


def test_one_row_per_match_with_priorities_and_only_the_first(spark: SparkSession) -> None:
    rules = sparkrules.RuleSet("python_flat")
    rules.subscribe_all({"ab": "a = 1 AND b = 2", "bc": "b = 2 AND row = 3", "c": "row = 3 OR a = 9"})
    rules.subscribe("first", "b = 2", priority=5)
    df = spark.sql("SELECT * FROM VALUES (1, 1, 2), (2, 0, 0), (3, 1, 2) AS t(row, a, b)").localCheckpoint()
    for top in ({}, {"top": 2}, {"top": 1}):
        assert flat(df, rules, "python", **top) == flat(df, rules, "plugin", **top)
        assert answers(df, rules, "python", **top) == answers(df, rules, "plugin", **top)
    assert [row[3] for row in flat(df, rules, "python")] == ["first", "ab", "first", "ab", "bc", "c"]


def test_rules_are_valid_at_the_querys_instant(spark: SparkSession) -> None:
    rules = sparkrules.RuleSet("python_validity")
    now = datetime.now(timezone.utc)
    rules.subscribe("always", "row > 0")
    rules.subscribe("over", "row > 0", valid_until=now - timedelta(hours=1))
    rules.subscribe("not yet", "row > 0", valid_from=now + timedelta(hours=1))
    rules.subscribe("now", "row > 0 AND current_timestamp() > at", valid_from=now - timedelta(hours=1))
    df = spark.sql("SELECT 1 AS row, now() - INTERVAL 1 DAY AS at")
    assert answers(df, rules, "python") == [(1, ["always", "now"], [["always", "now"]])]


class TestRulesThatDoNotFit:
    @pytest.fixture
    def df(self, spark: SparkSession) -> DataFrame:
        return spark.sql("SELECT * FROM VALUES (1, 5, 'true', map(1, 2)), (2, NULL, 'false', NULL) AS t(row, a, s, m)")

    def test_a_missing_column_is_an_error_that_names_the_rules(self, df: DataFrame) -> None:
        rules = rule_set(
            "unfit", {"typo": "aa > 1", "typo too": "length(aa) > 1", "user": "user = 'me'", "ok": "a > 1"}
        )
        with pytest.raises(RuleSetError) as caught:
            sparkrules.match(df, rules, engine="python")
        lines = str(caught.value).splitlines()
        assert lines[0] == "3 rules of unfit are rejected on the input (row, a, s, m):"
        assert lines[1] == "  'typo', 'typo too': there is no column aa"
        assert lines[2] == "  'user': there is no column user"
        assert lines[3].startswith("Set spark.sparkrules.missingColumns=null")

    def test_missing_columns_are_null_if_the_session_says_so(self, spark: SparkSession, df: DataFrame) -> None:
        texts = {
            "null": "aa IS NULL",
            "field": "bb.cc IS NULL AND a > 1",
            "derived": "coalesce(aa, bb.cc, a) = 5",
            "unknown": "aa > 1 OR lower(dd) = 'x'",
            "user": "user IS NULL",
            "whole": "s AND aa IS NULL",
            "named as ours": "coalesce(a0, e0, c0) IS NULL",
        }
        rules = rule_set("python_missing", texts)
        with settings(spark, spark_sparkrules_missingColumns="null"):
            ours = answers(df, rules, "python")
            assert ours == answers(df, rules, "plugin")
        assert ours[0][1] == ["derived", "field", "named as ours", "null", "user", "whole"]

    def test_what_spark_does_not_accept_is_left_out_if_the_session_says_so(
        self, spark: SparkSession, df: DataFrame
    ) -> None:
        texts = {"map": "m = m", "none": "aa = 1 AND a = 5", "text": "s", "both": "a = 5 AND s", "fine": "a = 5"}
        rules = rule_set("python_skipped", texts)
        with pytest.raises(RuleSetError, match="'text': a condition of type STRING is not BOOLEAN"):
            sparkrules.match(df, rules, engine="python")
        with settings(spark, spark_sparkrules_invalidRules="skip"):
            ours = answers(df, rules, "python")
            assert ours == answers(df, rules, "plugin")
        assert ours[0][1] == ["both", "fine"], "AND casts a text: Spark is asked for the whole"

    def test_strict_is_refused(self, spark: SparkSession, df: DataFrame) -> None:
        with (
            settings(spark, spark_sparkrules_strict="true"),
            pytest.raises(RuleSetError, match="engine='python' cannot fail where"),
        ):
            sparkrules.match(df, rule_set("python_strict", {"a": "a > 1"}), engine="python")

    def test_an_engine_that_is_none(self, df: DataFrame) -> None:
        with pytest.raises(RuleSetError, match="engine='rust' is none"):
            sparkrules.matches(df, "alerts", engine="rust")  # type: ignore[arg-type]


def test_odd_columns_come_back_as_they_were(spark: SparkSession) -> None:
    df = spark.sql(
        "SELECT 1 AS row, 'x' COLLATE UTF8_LCASE AS s, CAST(X'C328FF' AS STRING) AS broken, 2 AS row_2, 3 AS `a.b`, "
        "INTERVAL 1 DAY AS day, array(map('k', struct(1 AS x))) AS nested, NULL AS void"
    ).toDF("row", "s", "broken", "twice", "a.b", "day", "nested", "void")
    df = df.select("*", df["twice"])
    rules = rule_set(
        "python_odd",
        {
            "collated": "s = 'X' AND s > 'W'",
            "bytes": "broken <> '(' AND contains(broken, '(') AND broken LIKE '_(_'",
            "quoted": "`a.b` = 3",
            "nested": "nested[0]['k'].x = 1",
            "void": "void IS NULL",
            "day": "day >= INTERVAL 24 HOURS",
        },
    )
    found = sparkrules.match(df, rules, engine="python")
    assert found.columns == [*df.columns, "matches"]
    assert [field.dataType for field in found.schema.fields[:-1]] == [field.dataType for field in df.schema.fields]
    # Bytes that are no text cannot be collected as one, over Connect.
    assert found.selectExpr("hex(broken)").collect()[0][0] == "C328FF"
    (row,) = found.drop("broken").collect()
    assert tuple(row)[:-1] == tuple(df.drop("broken").collect()[0])
    assert row.matches.ids == ["bytes", "collated", "day", "nested", "quoted", "void"]


ODD_TYPES = {
    "collated": "'a  ' COLLATE UTF8_BINARY_RTRIM",
    "lower": "IF(row = 1, 'A', NULL) COLLATE UTF8_LCASE",
    "months": "make_ym_interval(row, 1)",
    "days": "INTERVAL '1' DAY * row",
    "both": "make_interval(row, 1, 0, 2)",
    "variant": "parse_json('{\"a\": 1}')",
    "time": "TIME'10:00:00'",
    "geometry": "st_geomfromwkb(X'0101000000000000000000F03F0000000000000040')",
    "geography": "st_geogfromwkb(X'0101000000000000000000F03F0000000000000040')",
    "void": "NULL",
    "void_map": "map()",
    "void_list": "array()",
    "list": "array('a' COLLATE UTF8_LCASE, NULL)",
    "struct": "named_struct('x', 'a' COLLATE UNICODE_CI, 'y', make_ym_interval(row, 1), 'z', map(1, parse_json('2')))",
    "map": "map('a' COLLATE UTF8_LCASE, make_ym_interval(row, 1))",
    "wide": "CAST(row AS DECIMAL(38, 10))",
    "local": "TIMESTAMP_NTZ'2024-03-31 02:30:00'",
}


class TestColumnsThatNoRuleReads:
    """They come back as they were, whatever their type."""

    rules = rule_set("python_passing", {"one": "row = 1", "odd": "row % 2 = 1", "any": "TRUE"})

    def assert_passing(self, df: DataFrame) -> None:
        found = sparkrules.match(df, self.rules, engine="python")
        assert found.schema.fields[:-1] == df.schema.fields
        # Not all of these types can be collected, or compared.
        texts = [f"coalesce({_text(field.dataType, field.name)}, 'NULL')" for field in df.schema.fields]
        expected = [tuple(row) for row in df.selectExpr(*texts).collect()]
        rows = found.selectExpr(*texts, "row AS number", "matches.ids AS found").orderBy("number").collect()
        assert [tuple(row)[:-2] for row in rows] == expected
        assert [row.found for row in rows] == [["any", "odd", "one"], ["any"]]

    @pytest.fixture
    def df(self, spark: SparkSession) -> DataFrame:
        rows = spark.range(1, 3, numPartitions=1).selectExpr("CAST(id AS INT) AS row")
        return rows.selectExpr("row", *(f"{sql} AS {name}" for name, sql in _known(rows, ODD_TYPES).items()))

    def test_of_computed_columns(self, df: DataFrame) -> None:
        assert len(df.columns) > 12, "most of these types are known to every Spark"
        self.assert_passing(df)

    def test_of_columns_read_from_files(self, spark: SparkSession, df: DataFrame, tmp_path: Path) -> None:
        """A scan gives Spark columnar batches, which it cannot copy for all types."""
        df = df.drop("both", "void_map", "map", "time")
        df.write.parquet(str(tmp_path / "rows"))
        self.assert_passing(spark.read.schema(df.schema).parquet(str(tmp_path / "rows")))

    def test_beside_a_python_function(self, spark: SparkSession, tmp_path: Path) -> None:
        spark.udf.register("python_engine_is_one", lambda number: number == 1, "boolean")
        spark.sql(
            "SELECT id AS row, 'a ' COLLATE UTF8_BINARY_RTRIM AS s, array('b' COLLATE UTF8_LCASE) AS list, "
            "CAST(NULL AS STRUCT<v: VOID>) AS v FROM range(1, 3)"
        ).write.parquet(str(tmp_path / "rows"))
        df = spark.read.schema(
            "row LONG, s STRING COLLATE UTF8_BINARY_RTRIM, list ARRAY<STRING COLLATE UTF8_LCASE>, v STRUCT<v: VOID>"
        ).parquet(str(tmp_path / "rows"))
        policy = Policy(extra_functions={"python_engine_is_one"})
        rules = rule_set("python_beside", {"called": "python_engine_is_one(row)", "read": "s = 'a'"}, policy)
        assert pairs_by_python(df, rules) == {(1, "called"), (1, "read"), (2, "read")}

    def test_of_a_stream(self, spark: SparkSession, tmp_path: Path) -> None:
        columns = "row LONG, s STRING COLLATE UTF8_LCASE, span INTERVAL YEAR TO MONTH"
        rows = spark.sql(
            "SELECT id AS row, 'A' COLLATE UTF8_LCASE AS s, make_ym_interval(1, 1) AS span FROM range(1, 3)"
        )
        rows.write.parquet(str(tmp_path / "rows"))
        stream = spark.readStream.schema(columns).parquet(str(tmp_path / "rows"))
        found = sparkrules.matches(stream, self.rules, engine="python").where("s = 'a'").drop("span")
        writer = found.writeStream.format("memory").queryName("python_passing").trigger(availableNow=True)
        writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start().awaitTermination()
        seen = {(row.row, row.subscription_id) for row in spark.table("python_passing").collect()}
        assert seen == {(1, "one"), (1, "odd"), (1, "any"), (2, "any")}

    def test_a_user_defined_type(self, spark: SparkSession) -> None:
        from pyspark.testing.objects import ExamplePoint, ExamplePointUDT

        schema = StructType().add("row", "integer").add("point", ExamplePointUDT())
        df = spark.createDataFrame([(1, ExamplePoint(1.0, 2.0)), (2, None)], schema)
        found = sparkrules.match(df, self.rules, engine="python")
        assert found.schema.fields[:-1] == df.schema.fields
        assert [tuple(row)[:2] for row in found.collect()] == [tuple(row) for row in df.collect()]

    def test_a_fixed_length(self, spark: SparkSession) -> None:
        spark.sql("CREATE TABLE python_char (row INT, c CHAR(3), v VARCHAR(3)) USING parquet")
        try:
            spark.sql("INSERT INTO python_char VALUES (1, 'a', 'b '), (2, NULL, NULL)")
            self.assert_passing(spark.table("python_char").repartition(1).sortWithinPartitions("row"))
        finally:
            spark.sql("DROP TABLE python_char")


class TestThroughTheWorkers:
    """PySpark 4.0 has no arrow_udf: all columns go through the workers."""

    @pytest.fixture(autouse=True)
    def without_arrow_udf(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr("pyspark.sql.functions.arrow_udf", raising=False)

    def test_the_answer_is_the_same(self, spark: SparkSession) -> None:
        df = all_types(spark, rows=60)
        own = rule_set("python_through", random_rules(60, seed=5))
        ours = answers(df, own, "python")
        assert ours == answers(df, own, "plugin")
        assert any(ids for _, ids, _ in ours)
        rules = rule_set("python_through_any", {"any": "TRUE"})
        assert answers(df, rules, "python") == [(row, ["any"], []) for row, *_ in ours]

    def test_a_column_that_arrow_cannot_carry_is_named(self, spark: SparkSession) -> None:
        df = spark.sql("SELECT 1 AS row, make_interval(1) AS span")
        with pytest.raises(RuleSetError, match="column 'span' is of type INTERVAL, which cannot be sent"):
            sparkrules.match(df, rule_set("python_types", {"a": "row > 0"}), engine="python")


def _known(rows: DataFrame, columns: dict[str, str]) -> dict[str, str]:
    """The columns of types that this Spark has."""

    def is_known(sql: str) -> bool:
        try:
            rows.selectExpr(sql).schema  # noqa: B018
        except PySparkException:
            return False
        return True

    return {name: sql for name, sql in columns.items() if is_known(sql)}


def _text(type: DataType, name: str) -> str:
    text = type.simpleString()
    if text.startswith("geo"):
        return f"hex(st_asbinary({name}))"
    return f"to_json(struct({name}))" if text == "variant" or "variant" in text else f"CAST({name} AS STRING)"


def test_names_are_those_of_the_session(spark: SparkSession) -> None:
    df = spark.sql("SELECT 1 AS row, 5 AS A")
    rules = rule_set("python_case", {"lower": "a = 5", "upper": "A = 5", "qualified": "t.a = 5"})
    assert pairs_by_python(df.alias("t"), rules) == {(1, "lower"), (1, "upper"), (1, "qualified")}
    with settings(spark, case="true"), pytest.raises(RuleSetError, match="'lower': there is no column a"):
        sparkrules.match(df.alias("t"), rules, engine="python")


def test_functions_of_the_session_are_called(spark: SparkSession) -> None:
    spark.udf.register("python_engine_shout", lambda text: None if text is None else text + "!", "string")
    policy = Policy(extra_functions={"python_engine_shout"})
    texts = {"udf": "python_engine_shout(s) = 'a!'", "both": "CAST(python_engine_shout(s) AS INT) = 1 OR row = 1"}
    df = spark.sql("SELECT * FROM VALUES (1, 'a'), (2, 'b'), (3, NULL) AS t(row, s)").localCheckpoint()
    rules = rule_set("python_udf", texts, policy)
    assert pairs_by_python(df, rules) == {(1, "udf"), (1, "both")}


def test_a_published_version_is_used_by_its_name(spark: SparkSession) -> None:
    rules = rule_set("python_published", {"one": "row = 1", "any": "row > 0"})
    rules.publish(spark)
    rules.unsubscribe("any")
    rules.publish(spark)
    df = spark.sql("SELECT 1 AS row")
    for name, ids in (("python_published", ["one"]), ("python_published@1", ["any", "one"])):
        assert sparkrules.match(df, name, engine="python").head().matches.ids == ids  # type: ignore[union-attr]
    spark.conf.unset("spark.sparkrules.ruleset")


def test_text_that_spark_would_change_is_refused(spark: SparkSession) -> None:
    df = spark.createDataFrame([(1, "${env:HOME}")], "row INT, s STRING")
    rules = rule_set("python_variables", {"same": "s = '${env:HOME}'", "opaque": "s || 'x' = '${env:HOME}x'"})
    with pytest.raises(RuleSetError, match=r"spark\.sql\.variable\.substitute"):
        sparkrules.match(df, rules, engine="python")
    with settings(spark, spark_sql_variable_substitute="false"):
        assert pairs_by_python(df, rules) == {(1, "same"), (1, "opaque")}


def test_workers_need_nothing_of_this_package(tmp_path: Path) -> None:
    """The code sent to the workers runs where `import sparkrules` fails."""
    rules = rule_set("python_shipped", {"cheap": "price < 5 AND title LIKE 'a_%'", "new": "title <> ''"})
    batch = pa.record_batch({"price": [3, 7], "title": ["abc", ""]})
    task = Task.of(rules._segment, bind_predicates(rules._segment, batch.schema), shape="list")
    (tmp_path / "task").write_bytes(shipped(task))
    code = (
        "import sys; sys.modules['sparkrules'] = None; import pickle, pyarrow as pa\n"
        f"task = pickle.load(open({str(tmp_path / 'task')!r}, 'rb'))\n"
        "(found,) = task(iter([pa.record_batch({'price': [3, 7], 'title': ['abc', '']})]))\n"
        "print([[m['subscription_id'] for m in row] for row in found.to_pylist()])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert said.stdout.strip() == "[['cheap', 'new'], []]", said.stderr


def test_values_that_no_worker_can_have_are_tested_by_spark(spark: SparkSession) -> None:
    rules = {
        "there": "make_ym_interval(n, 1) IS NOT NULL",
        "not there": "make_ym_interval(n, 1) IS NULL",
        "never null": "make_ym_interval(coalesce(n, 0), 1) IS NOT NULL",
        "long": "make_ym_interval(n, 1) > INTERVAL '2' YEAR",
    }
    df = spark.sql("SELECT 1 AS row, 3 AS n UNION ALL SELECT 2, CAST(NULL AS INT)")
    expected = {id: {row.row for row in df.where(text).collect()} for id, text in rules.items()}
    made = sparkrules.RuleSet("intervals")
    made.subscribe_all(rules)
    matched = sparkrules.match(df, made, engine="python").selectExpr("row", "matches.ids").collect()
    assert {id: {row for row, ids in matched if id in ids} for id in rules} == expected
