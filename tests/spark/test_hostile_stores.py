"""A store written without the Python front end: the plugin reports what it rejects, and nothing else is affected."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException

import sparkrules
from sparkrules.index import Rule, build_segment, to_tables
from sparkrules.index.tables import SCHEMAS
from sparkrules.sql import Constant, Predicate
from sparkrules.store import Store
from tests.spark.oracle import rule_set
from tests.specification.publish_tables import publish_tables
from tests.store.resealed import reseal, reseal_manifest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECRET = "value of the variable"


def publish(spark: SparkSession, name: str, predicate: Predicate) -> Store:
    """A rule set of one rule that no parser has seen."""
    store = Store(spark.conf.get("spark.sparkrules.store"))
    publish_tables(store, name, to_tables(build_segment([Rule("evil", "evil", predicate)])))
    return store


def match(spark: SparkSession, name: str) -> list[list[str]]:
    query = f"SELECT match_subscriptions('{name}', *).ids AS ids FROM VALUES (1, 'x', array(1)) AS t(a, s, xs)"
    return [row.ids for row in spark.sql(query).collect()]


REFUSED_ATTRIBUTES = {
    "(SELECT 1)": "subquery",
    "(SELECT max(id) FROM range(10))": "subquery",
    "a + (SELECT 1)": "subquery",
    "EXISTS (SELECT 1)": "subquery",
    "a IN (SELECT id FROM range(10))": "subquery",
    "exists(xs, x -> x IN (SELECT 1))": "subquery|SUBQUERY|Subquery",
    "reflect('java.lang.System', 'getProperty', 'user.home')": "a method of Java",
    "java_method('java.lang.Runtime', 'getRuntime')": "a method of Java|method",
    "java_method('java.lang.System', 'getenv', 'HOME')": "a method of Java",
    "try_reflect('java.lang.System', 'getenv', 'HOME')": "a method of Java",
    "concat(s, reflect('java.lang.System', 'getenv', 'HOME'))": "a method of Java",
    "IDENTIFIER('reflect')('java.lang.System', 'getenv', 'HOME')": "a method of Java",
    "transform(xs, x -> java_method('java.lang.Math', 'abs', x))": "a method of Java",
    "input_file_name()": "the file that is read",
    "input_file_block_start()": "the file that is read",
    "input_file_block_length()": "the file that is read",
    "raise_error('x')": "fail the query",
    "assert_true(a > 5)": "fail the query",
    "if(a > 0, raise_error('x'), 1)": "fail the query",
    "rand()": "not deterministic",
    "randn() + a": "not deterministic",
    "uuid()": "not deterministic",
    "shuffle(xs)": "not deterministic",
    "spark_partition_id()": "not deterministic",
    "monotonically_increasing_id()": "not deterministic",
    "current_user()": "environment",
    "session_user()": "environment",
    "user": "no column user",
    "current_user": "no column current_user",
    "current_database()": "environment",
    "current_schema()": "environment",
    "current_catalog()": "environment",
    "version()": "environment",
    "a_variable": "no column a_variable",
    "session.a_variable": "no column session.a_variable",
    "system.session.a_variable": "no column system.session.a_variable",
    "count(*)": "not a scalar expression",
    "max(a)": "not a scalar expression",
    "max(a) OVER ()": "not a scalar expression",
    "row_number() OVER (ORDER BY a)": "not a scalar expression",
    "explode(xs)": "not a scalar expression",
    "inline(array(struct(a)))": "not a scalar expression|UNSUPPORTED|generator",
    "size(match_subscriptions('refused', a).ids)": "matches rules itself",
    "e0": "no column e0",
    "e1": "no column e1",
    "*": ".",
    "a; DROP TABLE t": "PARSE_SYNTAX_ERROR",
    "a FROM range(1)": "PARSE_SYNTAX_ERROR",
    ":p": ".",
    "?": ".",
    "": "PARSE_EMPTY|EMPTY|SYNTAX",
    "t.b": "no column t.b",
    "a" + " + a" * 4000: "too complex|TOO_COMPLEX|too deeply",
}


@pytest.fixture(scope="module", autouse=True)
def _variable(spark: SparkSession) -> None:
    spark.sql(f"DECLARE OR REPLACE VARIABLE a_variable STRING DEFAULT '{SECRET}'")


@pytest.mark.parametrize("attribute", REFUSED_ATTRIBUTES, ids=lambda text: text[:60])
def test_an_attribute_that_no_rule_may_have(spark: SparkSession, attribute: str) -> None:
    publish(spark, "refused", Predicate(attribute, "is not null"))
    with pytest.raises(AnalysisException, match=r"1 rule of refused@\d+ is rejected") as caught:
        match(spark, "refused")
    assert re.search(REFUSED_ATTRIBUTES[attribute], str(caught.value)), str(caught.value)[:500]
    assert SECRET not in str(caught.value)


def test_a_rule_cannot_name_the_expression_of_another_one(spark: SparkSession) -> None:
    store = Store(spark.conf.get("spark.sparkrules.store"))
    texts = ["upper(s)", "a + 1", "length(s)", "e0", "e1", "e2"]
    publish_tables(store, "lateral", to_tables(build_segment([Rule(t, t, Predicate(t, "is not null")) for t in texts])))
    with pytest.raises(AnalysisException, match="3 rules of lateral@1 are rejected") as caught:
        match(spark, "lateral")
    for name in ("e0", "e1", "e2"):
        assert f"'{name}': there is no column {name}" in str(caught.value)


def test_regular_expressions_without_a_column_do_not_hang_the_planning(spark: SparkSession) -> None:
    evil = "'(.*a){15}b'"
    text = "'" + "a" * 500 + "'"
    rules = {
        "test": f"{text} RLIKE {evil} OR a = 2",
        "constant": f"s = regexp_replace({text}, {evil}, 'x') OR a = 2",
        "other": "a = 1",
    }
    spark.conf.set("spark.sparkrules.steps", "1000000")
    try:
        rule_set("folded", rules).publish(spark)
        assert match(spark, "folded") == [["other"]]
    finally:
        spark.conf.unset("spark.sparkrules.steps")


def test_constants_and_operators_are_checked_as_well(spark: SparkSession) -> None:
    for constant in ("(SELECT 1)", "reflect('java.lang.System', 'getenv', 'HOME')", "rand()", "a_variable", "now(); x"):
        publish(spark, "refused", Predicate("s", "=", (Constant("sql", constant),)))
        with pytest.raises(AnalysisException, match="is rejected") as caught:
            match(spark, "refused")
        assert SECRET not in str(caught.value)


def test_the_environment_is_not_put_into_a_text(spark: SparkSession) -> None:
    rules = {
        "constant": "s = '${env:HOME}'",
        "opaque": "concat(s, '${env:HOME}') = 'x${env:HOME}'",
        "conf": "lower('${spark.app.name}') = concat('${spark.app', '.name}')",
        "column": "`${env:HOME}` = 1",
    }
    assert os.environ["HOME"]
    made = rule_set("substitution", rules)
    made.publish(spark)
    query = "SELECT * FROM VALUES ('x', 1), (concat('$', '{env:HOME}'), 1) AS t(s, c)"
    df = spark.sql(query).withColumnRenamed("c", "${env:HOME}")
    assert [row.ids for row in sparkrules.match(df, made).selectExpr("matches.ids").collect()] == [
        ["column", "conf", "opaque"],
        ["column", "conf", "constant"],
    ]
    explained = made.explain({"s": "x", "${env:HOME}": 1}, spark)
    assert {e.id for e in explained if e.matched} == {"column", "conf", "opaque"}
    assert spark.conf.get("spark.sql.variable.substitute") == "true"


# --- damage


@pytest.fixture
def damaged(spark: SparkSession, request: pytest.FixtureRequest) -> tuple[str, Path, Path]:
    """A rule set, its segment and its manifest."""
    name = f"damaged-{abs(hash(request.node.name))}"
    rules = rule_set(name, {"one": "a = 1 OR (s = 'x' AND a > 0)", "two": "a IN (1, 2) AND lower(s) LIKE 'x%'"})
    rules.publish(spark)
    home = Store(spark.conf.get("spark.sparkrules.store")).path / name
    (segment,) = (home / "segments").iterdir()
    return name, segment, home / "versions" / "1.json"


def refused(spark: SparkSession, name: str, file: str) -> None:
    """A clear error that names the file, in Python and in the JVM, and the next query on another rule set works."""
    store = Store(spark.conf.get("spark.sparkrules.store"))
    with pytest.raises(AnalysisException, match=file) as caught:
        match(spark, name)
    message = str(caught.value)
    assert "[SPARKRULES]" in message
    assert "publish the rule set again" in message or "Upgrade the older side" in message, message[:300]
    with pytest.raises(sparkrules.errors.StoreError, match=file):
        store.load(name)


TABLES = sorted(SCHEMAS)


@pytest.mark.parametrize("table", TABLES)
def test_a_damaged_file_is_named(spark: SparkSession, damaged: tuple[str, Path, Path], table: str) -> None:
    name, segment, _ = damaged
    file = segment / f"{table}.arrow"
    whole = file.read_bytes()
    other = segment / f"{TABLES[TABLES.index(table) - 1]}.arrow"
    damages = [whole[: len(whole) * part // 8] for part in range(8)]
    damages += [whole[:-1], b"x" * len(whole), whole[8:], b"ARROW1\0\0" + b"\xff" * 200, other.read_bytes()]
    for damage in damages:
        file.write_bytes(damage)
        refused(spark, name, rf"{table}\.arrow")
    file.unlink()
    refused(spark, name, rf"{table}\.arrow is missing")
    assert match(spark, healthy(spark)) == [["a"]]
    file.write_bytes(whole)
    assert match(spark, name) == [["one", "two"]]


def healthy(spark: SparkSession) -> str:
    rule_set("healthy", {"a": "a = 1"}).publish(spark)
    return "healthy"


def test_flipped_bytes_are_an_error_or_another_text_and_never_a_crash(
    spark: SparkSession, damaged: tuple[str, Path, Path]
) -> None:
    name, segment, _ = damaged
    for table in ("nodes", "predicates"):
        file = segment / f"{table}.arrow"
        whole = file.read_bytes()
        for at in range(8, len(whole), max(1, len(whole) // 25)):
            file.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
            with contextlib.suppress(AnalysisException):  # and nothing else
                match(spark, name)
        file.write_bytes(whole)
    assert match(spark, healthy(spark)) == [["a"]]


def entry(segment: str) -> dict[str, object]:
    return {"name": segment, "subscriptions": 1, "removed": None, "live": 1}


def nowhere(fields: dict[str, Any]) -> dict[str, Any]:
    """A manifest of a segment that is not there, with checksums."""
    sums = {f"segments/nowhere/{table}.arrow": {"length": 0, "crc32": ""} for table in TABLES}
    return fields | {"segments": [entry("nowhere")], "files": sums}


def test_manifests(spark: SparkSession, damaged: tuple[str, Path, Path]) -> None:
    name, _, manifest = damaged
    whole = manifest.read_text()
    for text in ("", whole[:20], whole[:-5], "[]", "7", "{}", '{"format": 2}', '{"format": "x"}', "\0\0", "null"):
        manifest.write_text(text)
        refused(spark, name, r"1\.json")
    manifest.write_text(json.dumps(json.loads(whole) | {"format": 6}))
    refused(spark, name, r"1\.json has format 6")
    manifest.write_text(whole)
    reseal_manifest(manifest, lambda fields: fields | {"segments": [entry("nowhere")]})
    refused(spark, name, r"1\.json .*has no checksum of segments/nowhere/")
    manifest.write_text(whole)
    reseal_manifest(manifest, nowhere)
    refused(spark, name, r"nowhere/[a-z]+\.arrow is missing")
    manifest.write_text(whole)
    reseal_manifest(manifest, lambda fields: fields | {"segments": [entry("../../../elsewhere")]})
    with pytest.raises(AnalysisException, match="is not the name"):
        match(spark, name)
    manifest.write_text(whole)
    assert match(spark, name) == [["one", "two"]]


def replaced(column: str, values: list[object]) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        at = table.schema.get_field_index(column)
        rest = table.column(column).to_pylist()[len(values) :]
        return table.set_column(at, column, pa.array(values + rest, table.schema.field(column).type))

    return change


CONTRADICTIONS = {
    "an attribute that does not exist": ("predicates", "predicates", replaced("attribute", [99])),
    "a negative attribute": ("predicates", "predicates", replaced("attribute", [-1])),
    "a constant that does not exist": ("predicates", "predicates", replaced("constants", [[99]])),
    "too few constants": ("predicates", "predicates", replaced("constants", [[]])),
    "an unknown operator": ("predicates", "predicates", replaced("operator", ["reflect"])),
    "an unknown kind": ("constants", "constants", replaced("kind", ["code"])),
    "a number that is none": ("constants", "constants", replaced("text", ["1x", "x1", "-", "1.", "x"])),
    "an unknown node": ("nodes", "nodes", replaced("operator", ["xor"])),
    "a predicate that does not exist": ("nodes", "nodes", replaced("predicate", [99])),
    "a child of itself": ("nodes", "nodes", replaced("children", [[], [], [], [], [], [5]])),
    "a child after its parent": ("nodes", "nodes", replaced("children", [[], [], [], [], [], [6, 0]])),
    "a child that does not exist": ("nodes", "nodes", replaced("children", [[], [], [], [], [], [99]])),
    "a root that does not exist": ("subscriptions", "subscriptions", replaced("node", [99])),
    "no id": ("subscriptions", "subscriptions", replaced("id", [None])),
    "no text": ("attributes", "attributes", replaced("sql", [None])),
    "no number": ("predicates", "predicates", replaced("attribute", [None])),
    "a column less": ("nodes", "nodes", lambda table: table.drop_columns(["children"])),
    "a column of another type": (
        "subscriptions",
        "subscriptions",
        lambda table: table.set_column(1, "node", table.column("id")),
    ),
    "no rows": ("predicates", "nodes", lambda table: table.slice(0, 0)),
}


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_files_that_contradict_themselves(spark: SparkSession, damaged: tuple[str, Path, Path], case: str) -> None:
    name, segment, _ = damaged
    table, blamed, change = CONTRADICTIONS[case]
    file = segment / f"{table}.arrow"
    with pa.memory_map(str(file)) as mapped:
        changed = change(pa.ipc.open_file(mapped).read_all())
    file.unlink()
    with file.open("wb") as out, pa.ipc.new_file(out, changed.schema) as writer:
        writer.write_table(changed)
    with pytest.raises(AnalysisException, match=rf"{table}\.arrow is damaged"):
        match(spark, name)
    reseal(segment.parent.parent)
    with pytest.raises(AnalysisException, match=rf"{blamed}\.arrow is damaged"):
        match(spark, name)
    with pytest.raises(sparkrules.errors.StoreError):
        Store(spark.conf.get("spark.sparkrules.store")).load(name)


def test_a_version_that_vanishes_under_a_query(spark: SparkSession, damaged: tuple[str, Path, Path]) -> None:
    name, segment, manifest = damaged
    query = f"SELECT match_subscriptions('{name}', *).ids AS ids FROM VALUES (1, 'x') AS t(a, s)"
    planned = spark.sql(query)
    planned._jdf.queryExecution().executedPlan()
    shutil.rmtree(segment)
    assert planned.collect()[0].ids == ["one", "two"], "a query that has been planned has its rules in memory"
    with pytest.raises(AnalysisException, match=rf"segments/{segment.name}/[a-z]+\.arrow is missing"):
        spark.sql(query.replace("AS t(a, s)", "AS t(s, a)")).collect()  # another table: to be bound anew
    manifest.unlink()
    with pytest.raises(AnalysisException, match=f"There is no rule set '{name}'"):
        spark.sql(query).collect()
    assert match(spark, healthy(spark)) == [["a"]]
