"""The limits of one rule: a value that grows, a search that never ends, a constant that the planner computes.

Each text is beside an innocent rule, which must keep working. tests/hostile has many more, in separate processes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import sparkrules
from sparkrules.index import Rule, build_segment, to_tables
from sparkrules.sql import Policy
from sparkrules.sql.tree import Predicate
from sparkrules.store import Store
from tests.spark.oracle import compared, raising, settings
from tests.specification.publish_tables import publish_tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STEPS = "takes more steps"
BYTES = "more bytes"
POLICY = Policy(
    extra_functions={
        "to_base32", "repeat", "lpad", "space", "array_repeat", "sequence", "format_number", "format_string",
        "array_insert", "xpath_boolean",
    }
)  # fmt: skip
LONG_TEXTS = Policy(max_characters=10_000_000)
ENTRIES = "map_from_entries(transform(sequence(1, 20000), y -> struct(y, y)))"
LARGE = "replace(long, 'a', long)"  # 4 MB


def nested(function: str, times: int, argument: str) -> str:
    return f"{function}(" * times + argument + ")" * times


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    return spark.sql(
        "SELECT 'aaaa' AS s, repeat('a', 2000) AS long, '1E-500000000' AS tiny, 1.5D AS d, 2000000000 AS huge"
    ).localCheckpoint()


EXCESSIVE = {
    "hex": (nested("hex", 40, "s") + " = 'x'", BYTES),
    "to_base32": (nested("to_base32", 60, "CAST(s AS BINARY)") + " = 'x'", BYTES),
    "replace": ("length(" + "replace(" * 9 + "long" + ", 'a', 'aaaaaaaaaa')" * 9 + ") = 1", BYTES),
    "aggregate": ("length(aggregate(split(long, ''), 'a', (t, x) -> concat(t, t))) = 1", BYTES),
    "array_join": ("length(array_join(split(long, ''), repeat(long, 10))) = 1", BYTES),
    "repeat": ("length(repeat(s, huge)) = 1", BYTES),
    "format_string": ("length(format_string('%2000000000d', huge)) = 1", BYTES),
    "format_number": ("length(format_number(d, huge)) = 1", BYTES),
    "array_insert": ("size(array_insert(array(1), huge, 2)) = 1", BYTES),
    "lpad": ("length(lpad(s, huge, 'x')) = 1", BYTES),
    "space": ("length(space(huge)) = 1", BYTES),
    "array_repeat": ("size(array_repeat(s, huge)) = 1", BYTES),
    "sequence": ("size(sequence(1, huge)) = 1", BYTES),
    "concat_ws": (f"length(concat_ws({LARGE}, split(long, ''))) = 1", BYTES),
    "contains": (f"contains({LARGE}, {LARGE} || 'b')", STEPS),
    "instr": (f"instr({LARGE}, {LARGE} || 'b') = 1", STEPS),
    "locate": (f"locate({LARGE} || 'b', {LARGE}) = 1", STEPS),
    "substring_index": (f"substring_index({LARGE}, {LARGE} || 'b', 1) = 'x'", STEPS),
    "trim": (f"trim(BOTH {LARGE} || 'b' FROM {LARGE}) = 'x'", STEPS),
    "collation": (f"startswith({LARGE} COLLATE UNICODE_CI, {LARGE} COLLATE UNICODE_CI)", STEPS),
    "array_distinct": ("size(array_distinct(transform(sequence(1, 60000), y -> array(y)))) = 1", STEPS),
    "map_zip_with": (
        f"size(map_zip_with({ENTRIES}, {ENTRIES}, (k, x, y) -> x)) = 1",
        STEPS,
    ),
    "paths through XML": (
        "xpath_boolean(concat(replace(s, 'a', ''), repeat('<a>', 3000), repeat('</a>', 3000)), '//a//a//a//a')", STEPS,
    ),
    "paths in predicates": (
        "xpath_boolean(concat(replace(s, 'a', ''), '<a>', repeat('<b/>', 9000), '</a>'), '/a/b[/a/b[/a/b]]')", STEPS,
    ),
    "many CSV columns": (f"from_csv(nullif(s, 'x'), '{', '.join(f'c{i} INT' for i in range(5000))}') IS NULL", STEPS),
    "split": (f"size(split(replace(long, 'a', '{'a' * 250}'), '')) = 1", BYTES),
    "levenshtein": (f"levenshtein(long || '{'b' * 300_000}', long || '{'c' * 300_000}') = 1", STEPS),
    "nested lambdas": (
        "exists(split(long, ''), a -> exists(split(long, ''), b -> exists(split(long, ''), c -> a || b || c = 'x')))",
        STEPS,
    ),
    "round": ("round(d, 2000000000) = 1", STEPS),
    "decimal": ("CAST(tiny AS DECIMAL(38, 0)) = 0", STEPS),
    "back-reference": (r"long RLIKE '(a*)*\\1(a*)*[^a]'", STEPS),
    "empty ways": ("s RLIKE '(?!z)(?:|){60}[^a]'", STEPS),
    "empty loops": ("s RLIKE '(?!z)(?:(?:){2147483647}){2147483647}[^a]'", STEPS),
}  # fmt: skip


@pytest.mark.parametrize("name", EXCESSIVE)
def test_a_rule_that_takes_too_much_fails_alone(spark: SparkSession, df: DataFrame, name: str) -> None:
    text, reason = EXCESSIVE[name]
    rules = sparkrules.RuleSet("excessive", policy=POLICY)
    rules.subscribe_all({"bad": text, "good": "s = 'aaaa'"})
    assert not rules.rejected
    steps = "20000000" if reason == STEPS else "200000000"  # a large value takes many steps, too
    with settings(spark, spark_sparkrules_steps=steps, spark_sparkrules_invalidRules="skip"):
        assert [row.ids for row in sparkrules.match(df, rules).select("matches.ids").collect()] == [["good"]]
        found = {row.subscription_id: row.message for row in sparkrules.rule_errors(df, rules).collect()}
    assert list(found) == ["bad"]
    assert reason in found["bad"]


def test_constants_in_calls_are_bounded_before_spark_computes_them(spark: SparkSession, df: DataFrame) -> None:
    rules = sparkrules.RuleSet("constant", policy=POLICY)
    rules.subscribe_all(
        {"bad": f"named_struct({nested('hex', 40, chr(39) + 'a' + chr(39))}, 1) IS NULL", "good": "d > 1"}
    )
    with settings(spark, spark_sparkrules_invalidRules="skip"):
        assert sparkrules.match(df, rules).first().matches.ids == ["good"]
    with pytest.raises(Exception, match="'bad': a value in it has more bytes"):
        sparkrules.match(df, rules).collect()


def test_spark_s_parser_is_kept_from_work(spark: SparkSession, df: DataFrame) -> None:
    texts = {
        "digits": "d = 1E900000000BD",
        "pattern": "s LIKE ANY (CAST('a' RLIKE '(?:(?:){2147483647}){2147483647}' AS STRING))",
        "good": "s = 'aaaa'",
    }
    rules = [Rule(id, text, Predicate(text, "is true")) for id, text in texts.items()]
    publish_tables(Store(spark.conf.get("spark.sparkrules.store")), "parser", to_tables(build_segment(rules)))
    with settings(spark, spark_sparkrules_invalidRules="skip"):
        assert sparkrules.match(df, "parser").first().matches.ids == ["good"]


def slow_to_understand(number: int) -> str:
    """A rule that would match, with schemas for which Spark takes seconds."""
    columns = ", ".join(f"c{i} INT" for i in range(8000))
    structs = ", ".join(f"from_json(s, '{columns}, d{number} INT, e{i} INT').c0" for i in range(50))
    return f"coalesce({structs}, 1) = 1"


def test_a_text_that_spark_takes_long_to_understand_is_rejected(spark: SparkSession, df: DataFrame) -> None:
    rules = sparkrules.RuleSet("slow", policy=LONG_TEXTS)
    rules.subscribe_all({"bad": slow_to_understand(0), "good": "d > 1"})
    with settings(spark, spark_sparkrules_bindSeconds="1", spark_sparkrules_invalidRules="skip"):
        assert sparkrules.match(df, rules).first().matches.ids == ["good"]
        ((id, reason),) = sparkrules.left_out(df, rules).collect()
    assert (id, "Spark takes more than 1 s to understand it" in reason) == ("bad", True)


def test_slow_rules_have_a_budget_together(spark: SparkSession, df: DataFrame) -> None:
    """When it is used up, slow rules are rejected at once. Ordinary ones are not, however many there are."""
    rules = sparkrules.RuleSet("slow_together", policy=LONG_TEXTS)
    slow = {f"slow {i}": slow_to_understand(i) for i in range(4)}
    ordinary = {f"ordinary {i}": f"d + {i} > {i} AND length(concat(s, '{i}')) > 1" for i in range(2000)}
    rules.subscribe_all(slow | ordinary)
    bounds = {"spark_sparkrules_bindSeconds": "1", "spark_sparkrules_bindTotalSeconds": "2"}
    with settings(spark, **bounds, spark_sparkrules_invalidRules="skip"):
        assert sorted(sparkrules.match(df, rules).first().matches.ids) == sorted(ordinary)
        reasons = {row.subscription_id: row.reason for row in sparkrules.left_out(df, rules).collect()}
    assert sorted(reasons) == sorted(slow)
    assert sum("more than 1 s" in reason for reason in reasons.values()) == 2
    assert sum("slow rules have used up the 2 s" in reason for reason in reasons.values()) == 2


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ("ARRAY<" * 3000 + "INT" + ">" * 3000, "is nested deeper than 100 levels"),
        ("MAP<STRING, " * 101 + "INT" + ">" * 101, "is nested deeper than 100 levels"),
        (", ".join(f"c{i} INT" for i in range(20_000)), "has more than 100,000 bytes"),
    ],
)
@pytest.mark.parametrize("function", ["from_json", "from_csv", "from_xml"])
def test_schemas_are_bounded(spark: SparkSession, df: DataFrame, function: str, schema: str, reason: str) -> None:
    """By Python when the rule is added; by the plugin if somebody else wrote it to the store. In the same words."""
    reason = f"the schema of {function} {reason}"
    text = f"{function}(s, '{schema}') IS NULL"
    with pytest.raises(sparkrules.RuleError, match=reason) as caught:
        sparkrules.RuleSet("schemas", policy=POLICY).subscribe("bad", text)
    assert (caught.value.line, caught.value.column) == (1, len(f"{function}(s, ") + 1)
    rules = [Rule(id, own, Predicate(own, "is true")) for id, own in {"bad": text, "good": "d > 1"}.items()]
    publish_tables(Store(spark.conf.get("spark.sparkrules.store")), "schemas", to_tables(build_segment(rules)))
    with settings(spark, spark_sparkrules_invalidRules="skip"):
        assert sparkrules.match(df, "schemas").first().matches.ids == ["good"]
    with pytest.raises(Exception, match=f"'bad': {reason}"):
        sparkrules.match(df, "schemas").collect()


def test_a_long_text_under_an_alternation(spark: SparkSession) -> None:
    """Java exhausts its stack on it; an automaton does not."""
    rules = sparkrules.RuleSet("deep")
    long = "a" * 60_000
    rules.subscribe_all(
        {"no": f"'{long}' RLIKE '(a|b)*c'", "yes": f"'{long}' RLIKE '(a|b)*a$'", "column": "s RLIKE '^(a|b)*$'"}
    )
    rows = spark.sql("SELECT repeat('a', 60000) AS s")
    assert sparkrules.match(rows, rules).first().matches.ids == ["column", "yes"]


def test_counts_of_nothing(spark: SparkSession, df: DataFrame) -> None:
    rules = {"loops": "s RLIKE '(?:(?:){2147483647}){2147483647}'", "none": "s RLIKE '(?:){2147483647}b'"}
    found = sparkrules.RuleSet("nothing")
    found.subscribe_all(rules)
    assert sparkrules.match(df, found).first().matches.ids == ["loops"]


def test_large_alternations_are_looked_up(spark: SparkSession) -> None:
    """All at once, whatever their number. Spark is asked only where one of them was seen."""
    hashes = [f"{7919 * i:040x}" for i in range(3000)]
    rules = sparkrules.RuleSet("hashes")
    rules.subscribe("known", f"hash RLIKE '(?iu).*({'|'.join(hashes)}).*'")
    rows = spark.sql(f"SELECT concat('SHA1=', upper('{hashes[2999]}')) AS hash UNION ALL SELECT 'SHA1=0'")
    assert [row.ids for row in sparkrules.match(rows, rules).select("matches.ids").collect()] == [["known"], []]
    assert sparkrules.rule_costs(rows, rules).count() == 0


def test_values_within_bounds_are_spark_s(spark: SparkSession) -> None:
    """Measured and predicted values are computed as Spark does, including NULL and failing arguments."""
    texts = [
        "replace(s, 'a', t) = 'bb'", "replace(s, t, 'x') = 'x'", "length(concat_ws(t, s, a)) = 3", "btrim(s, t) = ''",
        "levenshtein(s, t) = 1", "levenshtein(s, CAST(s AS INT)) = 1", "round(n, 1) = 1.2", "array_join(a, t) = 'xby'",
        "try_cast(s AS DECIMAL(9, 2)) = 150.00", "CAST(s AS DECIMAL(9, 2)) = 1.50", "instr(s, t) = 1", "contains(s, t)",
        "array_distinct(array(a, a)) = array(a)", "arrays_overlap(array(a), array(a))", "substring_index(s, t, 1) = ''",
        "to_json(named_struct('x', s, 'y', a)) LIKE '%b%'", "regexp_replace(s, '(.)', '$1$1') = 'aa'",
        "from_json(s, 'x INT').x = 1", "size(split(s, t)) = 2", "element_at(a, 1) = 'x'",
        "transform(a, x -> concat(x, s)) = array('xa', 'ya')",
        "array_sort(a, (x, y) -> coalesce(length(x), 0) - coalesce(length(y), 0)) = a",
        "map_filter(map(s, t), (k, v) -> k = v) = map(s, t)", "format_string('%s-%5d', s, 3) = 'a-    3'",
        "concat(s, s, s, s, s, s, s, s, s, s) = 'aaaaaaaaaa'", "coalesce(concat(s, CAST(NULL AS STRING)), t) = 'b'",
        "if(s = 'a', concat(s, t), CAST(CAST(s AS INT) AS STRING)) = 'ab'", "contains(s COLLATE UNICODE_CI, t)",
    ]  # fmt: skip
    df = spark.sql(
        "SELECT row_number() OVER (ORDER BY s, t) AS row, * FROM VALUES "
        "('a', 'b', 1.25, array('x', 'y')), ('1.5e2', 'A', 1.249, array('y')), ('1.5', '', NULL, NULL), "
        "(NULL, 'b', 2.0, array()), ('', '', 0.0, array(NULL, 'y')), ('{\"x\": 1}', 'x', -1.25, array('x', 'y')), "
        "('ab', 'b', 1.15, array('b')) AS t(s, t, n, a)"
    ).localCheckpoint()
    for ansi in ("true", "false"):
        with settings(spark, spark_sql_ansi_enabled=ansi):
            computed = {text: text for text in texts if not raising(df, {text: text})}
            assert len(computed) > len(texts) / 2
            assert compared(df, computed, "within", POLICY) == []


def test_costs_name_the_rules(spark: SparkSession, df: DataFrame) -> None:
    rules = sparkrules.RuleSet("costs")
    rules.subscribe_all({"a": "levenshtein(s, 'x') > 1", "b": "levenshtein(s, 'x') > 2", "c": "s = 'aaaa'"})
    (cost,) = sparkrules.rule_costs(df, rules).collect()
    assert (cost.test, cost.rows, sorted(cost.subscription_ids)) == ("levenshtein(s, 'x')", 1, ["a", "b"])
    assert cost.milliseconds > 0
