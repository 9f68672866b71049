"""Precedence and literals are Spark's: a text keeps the rows that its tree keeps.

Spark evaluates each predicate alone, from its own SQL; only the ANDs and ORs between them are ours. If we parsed a text
differently from Spark, it would keep different rows.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

from sparkrules.sql import Constant, Junction, Node, Predicate, RuleError, parse_rule, predicates
from sparkrules.sql.functions import SCALAR_FUNCTIONS
from tests.spark.java_errors import plain_java_errors
from tests.sql.parsed_by_spark import SparkParser
from tests.sql.spark_texts import SparkTexts

TEXTS = [
    "a = b IS NULL",
    "NOT a = b IS NULL",
    "p = (a > 1) IS NOT TRUE",
    "p = (a > 1)",
    "a > 1 = p",
    "a > 1 = true",
    "a < b = p IS FALSE",
    "NOT p AND q",
    "NOT p OR q AND p",
    "NOT (p OR q) AND NOT p = q",
    "! p OR ! q = p",
    "p OR q AND NOT p OR q",
    "a BETWEEN 1 AND 2 AND p",
    "a NOT BETWEEN 1 AND 2 OR q AND p",
    "NOT a BETWEEN b AND 2 AND p",
    "a BETWEEN 1 AND 2 + 1 OR p",
    "a IN (1, 2) AND p OR a NOT IN (1, NULL)",
    "NOT a IN (1, NULL) OR p",
    "(a NOT IN (2)) IS NULL OR p",
    "s LIKE 'a%' AND s NOT LIKE '%b'",
    "NOT s LIKE 'a%' OR p",
    "s LIKE 'a!%' ESCAPE '!' OR s RLIKE '^b'",
    "s LIKE ANY ('a%', 'b%') AND NOT s ILIKE 'A%B'",
    "a IS NULL AND b IS NOT NULL OR p IS UNKNOWN",
    "a IS DISTINCT FROM 2 AND NOT b IS NOT DISTINCT FROM 1",
    "NOT p IS TRUE AND NOT q IS NOT FALSE",
    "a <=> NULL OR 2 <=> b",
    "a + 1 * 2 > 3 OR - a < - 2",
    "a !> 2 AND b !< 1",
    "1 < a OR 2 >= b",
    "a % 2 = 1 OR a DIV 2 = 1",
    "a << 1 > 3 OR a & 1 = 1 OR (a ^ b) = 3 OR a | 1 = 3",
    "~a = -2 OR a >>> 1 = 1",
    "CASE WHEN a > 1 THEN p ELSE q END OR s = 'b'",
    "CASE a WHEN 1 THEN 'x' ELSE 'y' END = 'x' AND p",
    "(a > 1) <> (b > 1)",
    "(a > 1) = (b > 1) OR (p AND q) <> (a IS NULL)",
    "(a > 1) = TRUE AND (b > 1) <> FALSE",
    "p = q",
    "NOT (a > 1 AND (b < 2 OR NOT (p AND q)))",
    "NULL OR p",
    "NOT NULL OR q",
    "p AND TRUE OR FALSE",
    "exists(xs, x -> x > 1) AND NOT exists(xs, x -> x IS NULL)",
    "size(filter(xs, x -> x > 1)) = 1 OR aggregate(xs, 0, (t, x) -> t + x) > 3",
    "xs[0] = 1 OR m['k'] = 2 OR st.f = 3",
    "a::string = '1' OR CAST(b AS DOUBLE) > 1.5",
    "s = 'it''s' OR s = 'a\\tb' OR s = \"b\" OR s = r'a\\tb' OR s = 'a' 'b'",
    "contains(s, 'b') AND NOT startswith(s, 'b') OR endswith(s, 's')",
    "isnull(a) OR isnotnull(b) AND equal_null(a, 1)",
    "d < DATE '2020-06-01' OR d + INTERVAL 1 DAY = DATE '2020-01-02'",
    "d > dateadd(DAY, -1, DATE '2020-02-01') AND extract(YEAR FROM d) = 2020",
    "substring(s FROM 1 FOR 1) = 'a' OR trim(BOTH 'a' FROM s) = 'b' OR position('b' IN s) = 2",
    "(a, b) IN ((1, 1), (2, 2)) OR (a, b) = (1, 2)",
    "a = 007 OR b = 1.0 OR a = 2e0 OR b = .5 OR a = 3L",
    "a IN (1, 2.5, '3') OR a IN ((1), -1)",
    "s COLLATE UTF8_LCASE = 'AB'",
    "a = 1\u2028OR\u3000b\u00a0= 1",
    "s = '; DROP TABLE t' OR s = '-- ' OR s = '/*' OR '*/' = s OR s = 'b'",
    "s = '?' OR s = ':p' OR s = '{{x}}' OR s = '@x' OR s = \"it's\"",
    "a=-1 OR a=- 1 OR a=+1 OR b=- -1",
    "s = 'it\\'s' OR s = 'a'",
    "s = '\\u0061\\142' OR s = R'a\\tb' OR s = 'a' \"b\"",
    "p=q=p OR a<b<>p",
]

ROWS = """
    VALUES
      (1, 1, true, false, 'ab', array(1, 2), map('k', 2), named_struct('f', 3), DATE '2020-01-01'),
      (2, 1, false, true, 'b', array(3), map('k', 1), named_struct('f', 1), DATE '2020-06-01'),
      (3, 2, true, true, 'it''s', array(2, null), map('x', 2), named_struct('f', 3), DATE '2021-01-01'),
      (1, 3, false, false, 'a\\tb', array(0, 1), map('k', 2), named_struct('f', 0), DATE '2020-02-01'),
      (null, 1, null, true, 'aXb', null, null, null, null),
      (2, null, true, null, null, array(null), map('k', 3), named_struct('f', null), DATE '2019-01-01'),
      (2, 2, null, null, 'a!%', array(1), map('k', 2), named_struct('f', 3), DATE '2020-01-01'),
      (3, 1, null, false, 'a\\\\tb', array(5, 6), map('k', 2), named_struct('f', 3), DATE '2020-03-01')
    AS t(a, b, p, q, s, xs, m, st, d)
"""


def constant_sql(constant: Constant) -> str:
    if constant.kind == "string":
        return "'" + "".join(f"\\u{ord(c):04x}" for c in constant.text) + "'"
    return "NULL" if constant.kind == "null" else constant.text


def predicate_sql(predicate: Predicate) -> str:
    attribute, operator = f"({predicate.attribute})", predicate.operator
    constants = [constant_sql(constant) for constant in predicate.constants]
    if operator in ("in", "not in"):
        return f"{attribute} {operator} ({', '.join(constants)})"
    for function in ("contains", "startswith", "endswith"):
        if operator.endswith(function):
            return f"{operator.removesuffix(function)}{function}({attribute}, {constants[0]})"
    if operator == "not <=>":
        return f"NOT {attribute} <=> {constants[0]}"
    return " ".join([attribute, operator, *constants])


def holds(node: Node, truths: dict[Predicate, bool | None]) -> bool:
    if isinstance(node, Predicate):
        return truths[node] is True
    assert isinstance(node, Junction)
    return (all if node.operator == "and" else any)(holds(child, truths) for child in node.children)


@pytest.mark.slow
def test_a_text_keeps_the_rows_that_its_tree_keeps(spark: Any) -> None:
    trees = [parse_rule(text) for text in TEXTS]
    tests = list(dict.fromkeys(predicate for tree in trees for predicate in predicates(tree)))
    columns = [f"({text}) AS t{i}" for i, text in enumerate(TEXTS)]
    columns += [f"({predicate_sql(test)}) AS p{i}" for i, test in enumerate(tests)]
    rows = spark.sql(f"SELECT {', '.join(columns)} FROM {ROWS}").collect()
    assert len(rows) == 8
    for row in rows:
        truths = {test: row[f"p{i}"] for i, test in enumerate(tests)}
        for i, (text, tree) in enumerate(zip(TEXTS, trees, strict=True)):
            assert holds(tree, truths) == (row[f"t{i}"] is True), (text, str(tree), row)


# The reasons of docs/rule-language.md, "What is rejected", for texts that Spark reads and a rule may not say.
DOCUMENTED = {
    "expected a value",
    "expected WHEN",
    "unexpected here",
    "aggregates are not allowed",
    "aggregates and windows are not allowed",
    "this function is not allowed in a rule",
    "parameter markers are not allowed",
    "subqueries and statements are not allowed",
    "a star is not a value",
    "a lambda outside of a function",
    "a data type that is not closed",
    "reveals the environment of the query",
    "an argument is missing",
    "too many arguments",
}
READ_BY_SPARK = [
    "CAST(s AS STRING COLLATE UTF8_LCASE) = 'x'",
    "CAST(s AS CHAR(3)) = 'x' OR s::varchar(4) = 'y' OR s::char(3) COLLATE UTF8_LCASE = 'z'",
    "CAST(s AS STRUCT<a: INT COMMENT 'x'>).a = 1",
    "s::struct<`a b`: int NOT NULL COMMENT 'x' 'y', c array<struct<d: int>>>.`a b` = 1",
    "a::void IS NULL OR a::map<string, struct<>> IS NULL OR a::struct<> IS NULL",
    "-interval -1 day 1 hour < i",
    "(0 AS sum, 0 AS n).sum = a",
    "aggregate(xs, (0 AS sum, 0 AS n), (acc, x) -> (acc.sum + x, acc.n + 1), acc -> acc.sum / acc.n) > 1",
    "filter(xs, all -> all > 1)[0] = 1",
    "exists(xs, distinct -> distinct IS DISTINCT FROM 1)",
    "aggregate(xs, 0, (all, x) -> all + x) > 1 AND lower(all) = 'x' AND all.x = 1",
    "map('a' COLLATE UTF8_LCASE, 1)['A'] = 1 OR map(c) IS NULL OR map('a' COLLATE UTF8_LCASE, 1, 'b') IS NULL",
    "substring(s FROM 2, 3) = 'x'",
    "a BETWEEN b = 1 AND c",
    "concat() = '' OR hour(a, b) = 1",
]


def test_what_spark_reads_is_read_in_the_same_way(spark: Any) -> None:
    found = SparkParser(spark).compare(READ_BY_SPARK)
    assert (found.refused, found.accepted, found.different) == ({}, [], [])


@pytest.mark.slow
def test_random_texts_are_read_as_spark_reads_them(spark: Any) -> None:
    """SPARKRULES_PARSER_TEXTS sets the number of texts."""
    count = int(os.environ.get("SPARKRULES_PARSER_TEXTS", "500"))
    texts = SparkTexts(seed=5)
    found = SparkParser(spark).compare(texts.text() for _ in range(count))
    assert found.different == []
    assert {reason: texts[:3] for reason, texts in found.refused.items() if reason not in DOCUMENTED} == {}
    assert found.tally["accepted by both"] > count / 2
    assert len(found.accepted) < count / 20


@pytest.mark.slow
def test_a_number_of_arguments_that_is_refused_is_one_that_spark_refuses(spark: Any) -> None:
    wrong = []
    for function in sorted(SCALAR_FUNCTIONS - {"timestampadd", "timestampdiff"}):
        for count in (0, 1, 2, 3, 6):
            try:
                parse_rule(f"{function}({', '.join(['c'] * count)}) IS NULL")
            except RuleError as error:
                if "argument" not in error.reason:
                    continue
                call = f"{function}({', '.join(['NULL'] * count)})"
                try:
                    with plain_java_errors():
                        spark._jsparkSession.sql(f"SELECT ({call}) IS NULL")
                    wrong.append(call)
                except Py4JJavaError as refused:
                    said = refused.java_exception.getMessage()
                    if not any(word in said for word in ("WRONG_NUM_ARGS", "PARSE_SYNTAX_ERROR", "MULTI_ALIAS")):
                        wrong.append(f"{call}: {said[:80]}")
    assert wrong == []
