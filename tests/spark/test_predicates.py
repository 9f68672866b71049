"""Every form of predicate matches as WHERE does, with NULL at every place where it can stand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pytest

from tests.spark.oracle import compared, settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TEXTS = [
    None,
    "",
    "x",
    "X",
    "xyz",
    "a%b",
    "a_b",
    "a\\b",
    "line\nbreak",
    "ß",
    "SS",
    "ÄPFEL",
    "äpfel",
    "100%",
    "x ",
    "5",
]


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    numbers = [None, 0, 1, 5, -7, 6, 40]
    rows = [
        (
            row,
            text,
            numbers[row % 7],
            numbers[(row // 2) % 7],
            [None, True, False][row % 3],
            [None, 0.0, float("nan"), 1.5, -0.5][row % 5],
            [None, [], ["x"], ["a", None, "xyz"], ["5", "x"]][row % 5],
            [None, {}, {"k": 1}, {"k": None, "q": 5}][row % 4],
        )
        for row, text in enumerate(_TEXTS * 3)
    ]
    schema = "row INT, s STRING, a INT, b INT, c BOOLEAN, d DOUBLE, tags ARRAY<STRING>, props MAP<STRING, INT>"
    return spark.createDataFrame(rows, schema).coalesce(1).localCheckpoint()


def same(df: DataFrame, texts: Iterable[str]) -> None:
    """Each text, its negation, and both next to other conditions."""
    forms = ("{}", "NOT ({})", "({}) AND a > 0", "a = 5 OR NOT ({})")
    rules = {rule: rule for text in texts for rule in (form.replace("{}", text) for form in forms)}
    assert compared(df, rules, "predicates") == []


def test_like_with_every_kind_of_pattern(df: DataFrame) -> None:
    patterns = [
        "'x%'",
        "'%y%'",
        "'%'",
        "''",
        "'_'",
        "'a\\%b'",
        "'a\\_b'",
        "'a\\\\\\\\b'",
        "'%\n%'",
        "'ä%'",
        "NULL",
        "'__%'",
    ]
    texts = [
        f"s {negated}{operator} {p}" for p in patterns for operator in ("LIKE", "ILIKE") for negated in ("", "NOT ")
    ]
    same(
        df,
        [*texts, "s LIKE concat('x', '%')", "lower(s) LIKE 'ä%'"],
    )


def test_like_with_escape(df: DataFrame) -> None:
    same(
        df,
        [
            "s LIKE 'a!%b' ESCAPE '!'",
            "s LIKE 'a#_b' ESCAPE '#'",
            "s NOT LIKE 'a!%b' ESCAPE '!'",
            "s ILIKE 'A!%B' ESCAPE '!'",
            "s LIKE '100!%' ESCAPE '!' OR s LIKE '100%'",
            "s LIKE 'a\\b' ESCAPE '!'",
        ],
    )


def test_like_any_and_all(df: DataFrame) -> None:
    lists = ["('x%', '%z')", "('x%', NULL)", "('%')", "('a\\%b', 'q')", "(NULL)", "('x%', '%y%', concat(a, '%'))"]
    same(
        df,
        [
            f"s {negated}{operator} {quantifier} {patterns}"
            for patterns in lists
            for quantifier in ("ANY", "SOME", "ALL")
            for operator in ("LIKE", "ILIKE")
            for negated in ("", "NOT ")
        ],
    )


def test_regular_expressions(df: DataFrame) -> None:
    patterns = [
        "'^x'",
        "'z$'",
        "'(?i)^XYZ$'",
        "'(?iu)ÄPFEL'",
        "'(?s)e.b'",
        "'e.b'",
        "'(?m)^break'",
        "'[^x]'",
        "''",
        "NULL",
    ]
    patterns += [
        "'.*x.*'",
        "'(?iu).*(y|pf).*'",
        "'.*'",
        "'.*?x'",
        "'^.*z'",
        "'\\\\.*'",
        "'a\\\\\\\\b'",
        "r'a\\\\b'",
        "'.*|q'",
    ]
    operators = ["RLIKE", "REGEXP", "NOT RLIKE"]
    calls = [
        "rlike(s, '^x')",
        "regexp_like(s, 'y')",
        "regexp(s, 'Z')",
        "s RLIKE s",
        "'xyz' RLIKE s",
        "lower(s) RLIKE 'ss'",
    ]
    same(df, [*(f"s {operator} {pattern}" for operator in operators for pattern in patterns), *calls[:3], calls[5]])
    same(df.where("s NOT LIKE '%\\\\%'"), calls[3:5])


def test_in_lists(df: DataFrame) -> None:
    same(
        df,
        [
            f"{test} {negated}IN {members}"
            for test, members in [
                ("a", "(1, 5)"),
                ("a", "(1, NULL)"),
                ("a", "(NULL)"),
                ("a", "(NULL, NULL, 5, 5)"),
                ("a", "(b)"),
                ("a", "(b, 5, NULL)"),
                ("a", "(1, 5.5, -7.0)"),
                ("NULL", "(a, 5)"),
                ("5", "(a, b)"),
                ("a + b", "(1, 6)"),
                ("s", "('x', '', NULL)"),
                ("c", "(true, NULL)"),
                ("d", "(0.0, DOUBLE('NaN'))"),
                ("(a, b)", "((1, 5), (5, 6))"),
                ("tags", "(array('x'), array())"),
                ("a > 3", "(true)"),
                ("NULL", "(NULL)"),
                ("1", "(1, NULL)"),
            ]
            for negated in ("", "NOT ")
        ],
    )


def test_in_with_twenty_thousand_constants(df: DataFrame) -> None:
    numbers = ", ".join(str(3 * i + 1) for i in range(20_000))
    texts = ", ".join(f"'{chr(97 + i % 26)}{i}'" for i in range(20_000))
    rules = {
        "numbers": f"a IN ({numbers}, 5)",
        "none of the texts": f"NOT s IN ({texts}, 'xyz')",
    }
    assert compared(df, rules, "in_20k") == []


def test_comparisons_of_columns_and_constants_on_either_side(df: DataFrame) -> None:
    operators = ["=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>"]
    sides = [
        ("a", "b"),
        ("5", "a"),
        ("a", "5"),
        ("a + 1", "b * 2"),
        ("NULL", "a"),
        ("b", "NULL"),
        ("1", "2"),
        ("NULL", "NULL"),
    ]
    sides += [("d", "a"), ("'x'", "s"), ("length(s)", "a"), ("-a", "7"), ("a", "- 7"), ("a", "-(7)"), ("~a", "6")]
    same(df, [f"{left} {operator} {right}" for operator in operators for left, right in sides])


def test_distinct_from_with_null_on_every_side(df: DataFrame) -> None:
    sides = ["a", "b", "5", "NULL", "s", "'x'", "c", "tags"]
    pairs = [(left, right) for left in sides for right in sides if "tags" not in (left, right) or left == right]
    numbers = [(left, right) for left, right in pairs if not {left, right} & {"s", "'x'", "c"}]
    texts = [(left, right) for left, right in pairs if not {left, right} & {"a", "b", "5", "c", "tags"}]
    same(
        df,
        [
            f"{left} IS {negated}DISTINCT FROM {right}"
            for left, right in [*numbers, *texts, ("c", "NULL"), ("c", "true"), ("NULL", "c")]
            for negated in ("", "NOT ")
        ],
    )


def test_between(df: DataFrame) -> None:
    same(
        df,
        [
            f"{value} {negated}BETWEEN {low} AND {high}"
            for value, low, high in [
                ("a", "0", "5"),
                ("a", "5", "0"),
                ("a", "NULL", "5"),
                ("a", "0", "NULL"),
                ("a", "b", "5"),
                ("a", "b - 1", "b + 1 * 2"),
                ("3", "a", "b"),
                ("NULL", "a", "b"),
                ("s", "'a'", "'y'"),
                ("d", "-1", "1.5"),
                ("length(s)", "1", "a"),
                ("a", "1.5", "'6'"),
            ]
            for negated in ("", "NOT ")
        ],
    )


def test_conditional_expressions(df: DataFrame) -> None:
    same(
        df,
        [
            "CASE WHEN a > 3 THEN 'big' WHEN a > 0 THEN 'small' END = 'small'",
            "CASE a WHEN 5 THEN 'five' WHEN 1 THEN NULL ELSE s END = 'x'",
            "CASE WHEN c THEN a > 3 ELSE b > 3 END",
            "CASE WHEN c THEN NULL ELSE true END",
            "CASE WHEN c THEN a ELSE d END > 1",
            "COALESCE(c, a > 0, true)",
            "COALESCE(a, b, 5) = 5",
            "IF(c, a, b) > 1",
            "IF(a > 3, c, NULL)",
            "NULLIF(a, 5) IS NULL",
            "NULLIF(s, '') = 'x'",
            "NVL(a, 0) = 0",
            "NVL2(a, b, 5) = 5",
            "IFNULL(s, 'none') = 'none'",
            "greatest(a, b) = 6",
            "least(a, 5, NULL) = 1",
        ],
    )


def test_arithmetic_and_nested_calls(df: DataFrame) -> None:
    with settings(df.sparkSession, ansi="false"):
        same(
            df,
            [
                "a + b * 2 > 10",
                "(a + b) * 2 > 10",
                "a / b > 1",
                "a % 2 = 1",
                "a DIV 2 = 3",
                "a - -7 = 0",
                "a + 2147483647 < 0",
                "a & 5 = 5",
                "a | 1 = 1",
                "a ^ 1 = 4",
                "a << 1 = 10",
                "- a > 0",
                "a * 1.5 = 7.5",
                "a / 0 IS NULL",
                "abs(a) = 7",
                "length(trim(upper(concat(s, ' ', s)))) > 3",
                "substring(lower(s), 1, 1) = 'x'",
                "substring(s FROM 2 FOR 1) = 'y'",
                "s || 'y' = 'xy'",
                "concat_ws('-', s, NULL, 'x') = '-x'",
                "regexp_replace(s, '[a-z]', '') = ''",
                "CAST(s AS INT) = 5",
                "s::int = 5",
                "TRY_CAST(s AS INT) IS NULL",
                "round(d) = 2",
                "isnan(d)",
                "d = d",
                "hash(s) % 2 = 0",
                "to_json(named_struct('a', a)) = '{\"a\":5}'",
                "EXTRACT(YEAR FROM DATE'2020-02-29') = 2020 AND a = 5",
                "position('y' IN s) = 2",
                "size(split(s, '')) > 2",
            ],
        )


def test_arrays_maps_and_lambdas(df: DataFrame) -> None:
    with settings(df.sparkSession, ansi="false"):
        same(
            df,
            [
                "array_contains(tags, 'x')",
                "array_contains(array(1, 5), a)",
                "tags[0] = 'x'",
                "tags[5] IS NULL",
                "tags[a] = 'x'",
                "element_at(tags, -1) = 'xyz'",
                "props['k'] = 1",
                "props['k'] IS NULL",
                "props[s] > 0",
                "map_contains_key(props, 'q')",
                "exists(tags, x -> x = 'x')",
                "exists(tags, x -> x = s)",
                "forall(tags, x -> length(x) = 1)",
                "size(filter(tags, x -> x IS NOT NULL AND x > 'a')) = 1",
                "aggregate(transform(tags, x -> length(x)), 0, (n, x) -> n + coalesce(x, 0)) = a",
                "tags = array('x')",
                "tags IS NULL",
                "array_join(tags, ',') LIKE '%x%'",
                "cardinality(props) = 1",
            ],
        )


def test_null_at_every_position(df: DataFrame) -> None:
    same(
        df,
        [
            "NULL",
            "NULL AND a > 0",
            "NULL OR a > 0",
            "NOT NULL",
            "(a > 0) = NULL",
            "(a > 0) <=> NULL",
            "a IS NULL",
            "a IS NOT NULL",
            "(a > 3) IS NULL",
            "(a > 3) IS UNKNOWN",
            "(a > 3) IS NOT UNKNOWN",
            "(a > b) IS TRUE",
            "(a > b) IS NOT TRUE",
            "c IS FALSE",
            "c IS NOT FALSE",
            "c IS TRUE OR c IS FALSE",
            "(c AND a > 3) IS NULL",
            "(c OR a > 3) IS NOT FALSE",
            "NULL IS NULL",
            "NULL IS NOT NULL",
            "CAST(NULL AS BOOLEAN)",
            "a + NULL > 3",
            "isnull(a)",
            "isnotnull(s)",
            "equal_null(a, NULL)",
            "equal_null(a, b)",
            "c",
            "c = true",
            "c <> true",
            "c <=> false",
        ],
    )


def test_contradictions_tautologies_and_repetition(df: DataFrame) -> None:
    same(
        df,
        [
            "a > 5 AND a < 5",
            "a > 3 OR a <= 3",
            "a = a",
            "a <> a",
            "a <=> a",
            "true",
            "false",
            "1 = 1",
            "1 = 2",
            "a = 1 AND a = 5",
            "a IN (1) AND a NOT IN (1)",
            "a > 3 AND a > 3 AND a > 3",
            "(a > 3 OR b > 3) AND (a > 3 OR b > 3)",
            "(a > 3 AND b > 3) OR (b > 3 AND a > 3) OR a > 3",
            "NOT NOT NOT a > 3",
            "!(a > 3)",
            "! c",
            "((((a > 3))))",
            "lower(s) = 'x' OR lower(s) = 'xyz' OR length(lower(s)) = 2",
            "(a + b > 3 AND c) OR (a + b > 3 AND NOT c)",
        ],
    )


def test_exclusive_or(df: DataFrame) -> None:
    same(
        df,
        [
            "(a > 3) <> (b > 3)",
            "(a > 3) != (c)",
            "(a > 3) = (b > 3)",
            "NOT ((a > 3) <> (b > 3))",
            "(a > 3) <> (b > 3) <> (c)",
            "((a > 3) <> (b > 3)) <> (s = 'x')",
            "(a > 3) <> true",
            "(a > 3) = false",
            "(a > 3 OR c) <> (b > 3 AND c)",
            "(a > 3) <=> (b > 3)",
            "(a > 3) <=> c",
        ],
    )


def test_xor_between_conditions_is_one_or_the_other(df: DataFrame) -> None:
    """Spark has no XOR: what it means is written out for the oracle."""
    rules = {
        "xor": "a > 3 XOR b > 3",
        "of three": "a > 3 XOR b > 3 XOR c",
        "in brackets": "NOT (a > 3 XOR (c OR b > 3))",
    }
    written = {
        "xor": "(a > 3) <> (b > 3)",
        "of three": "((a > 3) <> (b > 3)) <> c",
        "in brackets": "NOT ((a > 3) <> (c OR b > 3))",
    }
    from tests.spark.oracle import pairs_by_plugin, pairs_by_where, rule_set

    assert pairs_by_plugin(df, rule_set("xor", rules)) == pairs_by_where(df, written)


def test_names_in_any_case_and_in_backticks(df: DataFrame) -> None:
    same(
        df,
        [
            "A > 3",
            "`A` > 3",
            "`a` > 3 AND B < 6",
            "LOWER(S) = 'x'",
            "get(Tags, 1) = 'x' AND size(TAGS) > 0",
            "PROPS['k'] = 1",
        ],
    )


def test_names_that_need_backticks(spark: SparkSession) -> None:
    names = [
        "a.b",
        "a b",
        "größe",
        "select",
        "from",
        "a`b",
        "order",
        "1st",
        "user",
        "timestamp",
        "x-y",
        "名前",
        "null",
        " ",
    ]
    quoted = ["`" + name.replace("`", "``") + "`" for name in names]
    values = ", ".join(
        f"({row}, {', '.join(str((row * i) % 7) for i in range(1, len(names) + 1))})" for row in range(12)
    )
    table = spark.sql(f"SELECT * FROM VALUES {values} AS t(row, {', '.join(quoted)})").localCheckpoint()
    rules = {
        text: text
        for name in quoted
        for text in (f"{name} > 3", f"t.{name} = 2", f"NOT {name} IN (1, 2)", f"-{name} < 0")
    }
    rules |= {text: text for text in ("user > 3", "timestamp = 2", "`a.b` + `a b` > `select`")}
    assert compared(table.alias("t"), rules, "names") == []


def test_nested_fields_and_columns_with_dots(spark: SparkSession) -> None:
    table = spark.sql(
        "SELECT * FROM VALUES (0, named_struct('b', 1, 'c d', named_struct('e', 'x'), 'L', array(1, 2)), 5), "
        "(1, named_struct('b', NULL, 'c d', NULL, 'L', NULL), 1), (2, NULL, NULL) AS t(row, a, `a.b`)"
    ).localCheckpoint()
    texts = [
        "a.b = 1",
        "`a.b` = 1",
        "a.b < `a.b`",
        "a.`c d`.e = 'x'",
        "t.a.b = 1",
        "A.B = 1",
        "a.b IS NULL",
        "a.l[1] = 2",
    ]
    texts += ["a IS NULL", "a.`c d` IS NULL", "a.b <=> NULL", "a.l IS NOT NULL AND `a.b` = 5"]
    rules = {text: text for text in texts}
    assert compared(table.alias("t"), rules, "nested") == []


def test_a_case_sensitive_session(spark: SparkSession) -> None:
    with settings(spark, case="true"):
        table = spark.sql("SELECT * FROM VALUES (0, 1, 2), (1, 2, 1), (2, NULL, 1) AS t(row, a, A)").localCheckpoint()
        rules = {
            text: text for text in ["a = 1", "A = 1", "a < A", "`A` = 2", "a = 1 OR A = 1", "t.A IS NULL", "A IN (2)"]
        }
        assert compared(table.alias("t"), rules, "case_sensitive") == []
