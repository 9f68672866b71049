"""Rules over columns of every type match as WHERE does, whatever the type of the constant."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException

import sparkrules
from tests.spark.oracle import (
    accepted_by_where,
    compared,
    differences,
    pairs_by_plugin,
    pairs_by_where,
    raising,
    rule_set,
    rules_in_plan,
    settings,
)
from tests.spark.type_matrix import COLUMNS, FORMS, LITERALS, TEMPORAL_COLUMNS, TEMPORAL_LITERALS, matrix, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# Of the eight; all of them, under every setting, take many times as long.
FORMS_PER_PAIR = int(os.environ.get("SPARKRULES_TEST_FORMS", "0"))


@pytest.fixture(scope="module", autouse=True)
def _invalid_rules_are_skipped(spark: SparkSession) -> Iterator[None]:
    with settings(spark, spark_sparkrules_invalidRules="skip", spark_sql_timeType_enabled="true"):
        yield


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_literals_of_every_type_against_columns_of_every_type(spark: SparkSession, ansi: str) -> None:
    groups = matrix(COLUMNS, LITERALS, forms=FORMS_PER_PAIR or 1)
    if ansi == "true" and not FORMS_PER_PAIR:
        # Reading a text is what ANSI changes. Of the other pairs, a third is enough to see that.
        groups = {pair: group for at, (pair, group) in enumerate(groups.items()) if reads_text(*pair) or at % 3 == 0}
    with settings(spark, ansi=ansi):
        check_matrix(spark, groups)


ZONES = [("Europe/Berlin", "false"), ("Asia/Kathmandu", "true"), ("America/Los_Angeles", "false")]


@pytest.mark.parametrize(("zone", "ansi"), ZONES)
def test_times_in_the_sessions_zone(spark: SparkSession, zone: str, ansi: str) -> None:
    """Each zone tests every pair of a column and a literal in three forms; the zones together test all forms."""
    first = 3 * ZONES.index((zone, ansi))
    with settings(spark, zone=zone, ansi=ansi):
        check_matrix(spark, matrix(TEMPORAL_COLUMNS, TEMPORAL_LITERALS, FORMS_PER_PAIR or 3, first))


def test_columns_of_every_type_against_each_other(spark: SparkSession) -> None:
    pairs = combinations_with_replacement(COLUMNS, 2)
    with settings(spark, ansi="false"):
        check_matrix(spark, {(a, b): [f"{a} = {b}" if i % 2 else f"{b} >= {a}"] for i, (a, b) in enumerate(pairs)})


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

    comparable: dict[str, str] = {}
    ansi = spark.conf.get("spark.sql.ansi.enabled") == "true"
    for (column, literal), group in groups.items():
        fitting = {text: text for text in group if text in accepted}
        if fitting and not (ansi and reads_text(column, literal) and raising(local, fitting)):
            comparable |= fitting
    published = rule_set("matrix", rules)
    assert rules_in_plan(sparkrules.match(df, published).select("matches.ids")) == len(accepted)
    ours = {(row, id) for row, id in pairs_by_plugin(df, published) if id in comparable}
    assert differences(ours, pairs_by_where(df, comparable), rules) == []


def reads_text(column: str, literal: str) -> bool:
    """Only the cast of a text raises in a comparison."""
    return literal == "mixed" or COLUMNS[column][0] == "STRING" or literal.startswith("'")


COLLATED = """
    SELECT * FROM VALUES (0, 'x', 'x'), (1, 'X', 'x '), (2, 'é', 'É'), (3, 'e\u0301', 'e'), (4, 'x  ', 'X'),
    (5, '', ' '), (6, NULL, 'x'), (7, 'ß', 'SS'), (8, 'a%', 'A%b'), (9, 'İ', 'i̇'), (10, 'y', NULL) AS t(row, s, other)
"""
COLLATIONS = ["UTF8_LCASE", "UNICODE", "UNICODE_CI", "UNICODE_CI_AI", "UTF8_BINARY_RTRIM", "UNICODE_CI_RTRIM", "de_CI"]


@pytest.mark.parametrize("collation", COLLATIONS)
def test_collations(spark: SparkSession, collation: str) -> None:
    """Collations of columns and of literals, in comparisons and in string predicates."""
    columns = [f"CAST(s AS STRING COLLATE {collation}) AS c", f"CAST(other AS STRING COLLATE {collation}) AS d", "s"]
    df = spark.sql(COLLATED).selectExpr("row", *columns, "array(s) AS plain").coalesce(1).localCheckpoint()
    literals = ["'x'", "'X'", "'x '", "''", "'é'", "'ss'", "NULL", f"'X' COLLATE {collation}", "'E' COLLATE UTF8_LCASE"]
    texts = [text for literal in literals for text in [form.format(column="c", literal=literal) for form in FORMS]]
    texts += [
        f"s = 'X' COLLATE {collation}",
        f"s COLLATE {collation} IN ('X', 'É')",
        "c = d",
        "c < d",
        "c = s",
        "lower(c) = 'x'",
    ]
    texts += [
        "c IN ('x', 'É', NULL)",
        "c NOT IN ('x ', 'ss')",
        "c BETWEEN 'a' AND 'Z'",
        "c IN (d, 'y')",
        "c IS DISTINCT FROM d",
    ]
    for pattern in ("'X'", "'x%'", "'%S%'", "'é'"):
        texts += [f"c LIKE {pattern}", f"c NOT LIKE {pattern}", f"c ILIKE {pattern}", f"c RLIKE {pattern}"]
        texts += [f"{function}(c, {pattern})" for function in ("contains", "startswith", "endswith")]
    rules = {text: text for text in texts}
    accepted = accepted_by_where(df, rules)
    published = rule_set("collations", rules)
    assert rules_in_plan(sparkrules.match(df, published).select("matches.ids")) == len(accepted) > 80
    assert differences(pairs_by_plugin(df, published), pairs_by_where(df, accepted), rules) == []


def test_fields_elements_and_variants(spark: SparkSession) -> None:
    documents = [
        '{"a": 5, "b": [1, "x"], "c": {"d": true}}',
        '{"a": "7", "b": []}',
        '{"a": null}',
        "[1, 2]",
        "5",
        '"x"',
    ]
    values = [f"({row}, parse_json('{document}'))" for row, document in enumerate(documents)] + ["(6, NULL)"]
    struct = "named_struct('x', row, 'y', named_struct('z', CAST(row AS STRING), 'big', CAST(row AS DECIMAL(30, 10))))"
    df = spark.sql(f"SELECT * FROM VALUES {', '.join(values)} AS t(row, v)").selectExpr(
        "*",
        f"IF(row = 3, NULL, {struct}) AS st",
        "IF(row = 4, NULL, array(row, NULL, 2)) AS numbers",
        "IF(row = 5, NULL, array(named_struct('k', row), NULL)) AS structs",
        "map('k', row, 'q', NULL) AS props",
        "map(1, array('x', CAST(row AS STRING))) AS lists",
    )
    df = df.coalesce(1).localCheckpoint()
    texts = [
        "st.x > 2",
        "st.y.z = '2'",
        "st.y.z < 3",
        "st.y.big BETWEEN 1 AND 4.5",
        "st.y IS NULL",
        "ST.Y.Z IN ('1', '5')",
        "numbers[0] = 2",
        "numbers[row] IS NULL AND row < 3",
        "array_contains(numbers, 2)",
        "array_contains(numbers, 5)",
        "structs[0].k = 1",
        "structs.k = array(1, NULL)",
        "exists(structs, s -> s.k = row)",
        "props['k'] = 2",
        "props['q'] IS NULL",
        "element_at(props, 'k') > 3",
        "lists[1][1] = '2'",
        "size(lists[1]) = 2",
        "named_struct('x', row) = named_struct('x', 2)",
        "(row, row) = (1, 1)",
        "variant_get(v, '$.a', 'int') > 4",
        "try_variant_get(v, '$.a', 'string') = '7'",
        "try_variant_get(v, '$.b[1]', 'string') = 'x'",
        "try_variant_get(v, '$.c.d', 'boolean')",
        "v:a::int > 4",
        "v:b[1]::string = 'x'",
        "v:c.d::boolean",
        "is_variant_null(v:a)",
        "v IS NULL",
        "v:a IS NULL",
        "schema_of_variant(v) LIKE 'OBJECT%'",
    ]
    with settings(spark, ansi="false"):
        rules = {text: text for rule in texts for text in (rule, f"NOT ({rule})", f"({rule}) IS NULL OR row = 0")}
        assert compared(df, rules, "nested_types") == []
