"""Huge rules and endless regular expressions: a clear rejection or the right answer, with bounded work.

The bounds are those of `docs/limits.md`. Work is counted; anything that still takes forever hits the time-out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import sparkrules
from sparkrules.sql import Policy, RuleError, parse_rule
from tests.counted import growth
from tests.spark.oracle import pairs_by_plugin, pairs_by_where, rule_set

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def matched(spark: SparkSession, rules: sparkrules.RuleSet, rows: str) -> list[list[str]]:
    return [list(row.ids) for row in sparkrules.match(spark.sql(rows), rules).selectExpr("matches.ids").collect()]


NUMBERS = "SELECT * FROM VALUES (0), (1), (149997), (149998), (-3), (NULL) AS t(a)"


SHAPES = {
    "alternatives": lambda count: {"r": " OR ".join(f"a = {3 * i}" for i in range(count))},
    "alternatives of two": lambda count: {"r": " OR ".join(f"(a = {3 * i} AND a <> {6 * i})" for i in range(count))},
    "constants": lambda count: {"r": f"a NOT IN ({', '.join(f'{i}.5' for i in range(count))})"},
    "equal rules": lambda count: {f"r{i}": "a > 5 AND s <> 'x'" for i in range(count)},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_size_is_twice_the_work(shape: str) -> None:
    assert growth(lambda count: rule_set("shape", SHAPES[shape](count))._segment, 500) < 2.1


def test_fifty_thousand_alternatives(spark: SparkSession) -> None:
    rules = rule_set("ors", {"r": " OR ".join(f"a = {3 * i}" for i in range(50_000))})
    assert matched(spark, rules, NUMBERS) == [["r"], [], ["r"], [], [], []]


def test_twenty_thousand_alternatives_of_two(spark: SparkSession) -> None:
    rules = rule_set("pairs", {"r": " OR ".join(f"(a = {3 * i} AND a <> {6 * i})" for i in range(20_000))})
    assert matched(spark, rules, NUMBERS) == [[], [], [], [], [], []]
    assert matched(spark, rules, "SELECT * FROM VALUES (3), (4), (59997) AS t(a)") == [["r"], [], ["r"]]


@pytest.fixture(scope="module")
def long_lists() -> dict[str, sparkrules.RuleSet]:
    """Rules with a hundred thousand constants each: numbers and strings."""
    lists = {
        "numbers": ", ".join(str(3 * i) for i in range(100_000)),
        "strings": ", ".join(f"'{3 * i}'" for i in range(100_000)),
    }
    return {
        kind: rule_set(
            kind, {"in": f"a IN ({listed}, NULL)", "never": f"a NOT IN ({listed}, NULL)", "not": f"a NOT IN ({listed})"}
        )
        for kind, listed in lists.items()
    }


@pytest.mark.parametrize("column", ["INT", "BIGINT", "DOUBLE", "DECIMAL(10,2)", "STRING"])
def test_a_hundred_thousand_constants(
    spark: SparkSession, long_lists: dict[str, sparkrules.RuleSet], column: str
) -> None:
    rules = long_lists["strings" if column == "STRING" else "numbers"]
    assert matched(spark, rules, f"SELECT CAST(a AS {column}) AS a FROM ({NUMBERS})") == [
        ["in"], ["not"], ["in"], ["not"], ["not"], [],
    ]  # fmt: skip


def test_constants_of_another_type_than_the_column(spark: SparkSession) -> None:
    decimals = ", ".join(f"{i}.5" for i in range(5_000))
    texts = ", ".join(f"'{3 * i}'" for i in range(50_000))
    rules = rule_set("mixed", {"decimals": f"a IN ({decimals}, 1)", "texts": f"a IN ({texts})"})
    assert matched(spark, rules, NUMBERS) == [["texts"], ["decimals"], ["texts"], [], [], []]


def test_a_chain_of_exclusive_ors(spark: SparkSession) -> None:
    with pytest.raises(RuleError, match="more than 16"):
        parse_rule(" XOR ".join(["p"] * 18))
    text = " XOR ".join(f"(a > {i})" for i in range(200))
    rules = sparkrules.RuleSet("xor", policy=Policy(max_xors=1000))
    rules.subscribe("odd", text)
    assert matched(spark, rules, "SELECT * FROM VALUES (0), (1), (2), (777), (NULL) AS t(a)") == [
        [], ["odd"], [], [], [],
    ]  # fmt: skip


def test_a_rule_as_deep_as_is_allowed(spark: SparkSession) -> None:
    with pytest.raises(RuleError, match="64 levels"):
        parse_rule("(" * 10_000 + "a" + ")" * 10_000)
    deep = "a = 0"
    for i in range(1, 20):
        deep = f"(a = {i} {'AND' if i % 2 else 'OR'} NOT ({deep}))"
    functions = "abs(" * 63 + "a" + ")" * 63 + " > 1"
    conditions = f"if({' OR '.join(f'a = {i}' for i in range(400))}, true, false)"
    sums = "a" + " + a" * 200 + " > 1000"  # with 900 it is Spark's own WHERE that exhausts its stack
    rules = {"deep": deep, "functions": functions, "conditions": conditions, "sums": sums}
    df = spark.sql("SELECT id AS row, CAST(id AS INT) AS a FROM range(40)")
    assert pairs_by_plugin(df, rule_set("depth", rules)) == pairs_by_where(df, rules)


def test_a_megabyte_of_text(spark: SparkSession) -> None:
    with pytest.raises(RuleError, match="1,000,001 characters"):
        parse_rule(" " * 1_000_001)
    long = "x" * 999_000
    rules = rule_set("long", {"long": f"s = '{long}'", "like": f"s LIKE '{long}%'"})
    rules.subscribe("rlike", f"s RLIKE '{long}$'")
    rules.subscribe("replace", f"regexp_replace(s, '{long}', 'y') = 'y'")
    rows = "SELECT repeat('x', 999000) AS s UNION ALL SELECT 'y'"
    assert matched(spark, rules, rows) == [["like", "long", "rlike"], []], "replace: too long for a function"


def test_a_hundred_thousand_equal_rules(spark: SparkSession) -> None:
    rules = rule_set("equal", {f"r{i}": "a > 5 AND s <> 'x'" for i in range(100_000)})
    assert len(rules._segment.forest.nodes.operator) == 3
    sizes = sparkrules.match(spark.sql("SELECT 7 AS a, 'y' AS s UNION ALL SELECT 5, 'y'"), rules)
    assert sorted(row[0] for row in sizes.selectExpr("size(matches.ids)").collect()) == [0, 100_000]


def test_long_ids(spark: SparkSession) -> None:
    ids = [letter * 10_000 + f"\n{i}" for i, letter in enumerate("aé😀'\"`\\\0")]
    assert matched(spark, rule_set("ids", dict.fromkeys(ids, "a = 1")), "SELECT 1 AS a") == [sorted(ids)]


# --- regular expressions

EVIL = {
    "backreference": r"s RLIKE '(a+)+\\1!'",
    "counted": "s RLIKE '(.*a){15}b'",
    "polynomial": "s RLIKE 'a*a*a*a*a*a*a*a*b'",
    "like": "s LIKE '%a%a%a%a%a%a%a%a%b'",
    "ilike": "s ILIKE '%A%A%A%A%A%A%A%A%b'",
    "like any": "s LIKE ANY ('%a%a%a%a%a%a%a%a%b', 'c')",
    "function": "regexp_like(s, '(.*a){15}b')",
    "not": "s NOT RLIKE '(.*a){15}b'",
    "pattern of the row": "s RLIKE pattern",
    "extract": "regexp_extract(s, '(.*a){15}b', 1) = 'x'",
    "extract all": "size(regexp_extract_all(s, '(.*a){15}b', 1)) = 1",
    "replace": "regexp_replace(s, '(.*a){15}b', 'y') = 'x'",
    "replace from": "regexp_replace(s, 'a{500}|(.*a){15}b', 'y', 2) = 'x'",
    "count": "regexp_count(s, '(.*a){15}b') = 1",
    "instr": "regexp_instr(s, '(.*a){15}b') = 1",
    "substr": "regexp_substr(s, '(.*a){15}b') = 'x'",
    "split": "size(split(s, '(.*a){15}b')) = 7",
    "map": "size(str_to_map(s, '(.*a){15}b', ':')) = 7",
    "inside": "exists(array(s), t -> t RLIKE '(.*a){15}b')",
}


def test_regular_expressions_that_never_end(spark: SparkSession) -> None:
    rules = rule_set("evil", EVIL | {"other": "s RLIKE '^a+$'", "short": "s LIKE 'b%'"})
    rows = "SELECT * FROM VALUES (repeat('a', 500), '(.*a){15}b'), ('b', 'b') AS t(s, pattern)"
    spark.conf.set("spark.sparkrules.steps", "3000000")
    try:
        first, second = matched(spark, rules, rows)
    finally:
        spark.conf.unset("spark.sparkrules.steps")
    assert first == ["not", "other"], "a test that is given up is unknown; what an automaton decides is not given up"
    assert second == ["not", "pattern of the row", "polynomial", "short"], "on other rows the same rules go on"


def test_ordinary_regular_expressions_have_steps_to_spare(spark: SparkSession) -> None:
    rules = rule_set("plain", {"found": "s RLIKE '(?i).*(abc|abd|error).*end$'", "like": "s LIKE '%a%b%d%'"})
    rows = "SELECT concat(repeat('all is well, ', 500), 'ABD ', repeat('x', 1000), 'end') AS s"
    assert matched(spark, rules, rows) == [["found"]]


def test_an_invalid_pattern_is_an_error_of_the_row_as_in_spark(spark: SparkSession) -> None:
    rules = rule_set("invalid", {"bad": "s RLIKE '('", "from row": "s RLIKE p", "good": "s RLIKE 'x'"})
    assert matched(spark, rules, "SELECT * FROM VALUES ('x', '['), ('x', 'x') AS t(s, p)") == [
        ["good"], ["from row", "good"],
    ]  # fmt: skip
