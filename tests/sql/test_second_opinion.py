"""A non-scalar expression is recognized by its words alone, and a sqlglot parse failure alone rejects nothing."""

from __future__ import annotations

import pytest
import sqlglot

from sparkrules.sql import parse_rule
from sparkrules.sql.policy import DEFAULT_POLICY
from sparkrules.sql.tokens import tokenize
from sparkrules.sql.validate import _fault, _query_word

QUERIES = [
    "(SELECT 1) = 1",
    "SELECT 1",
    "a IN (SELECT b FROM t)",
    "map(c) = (SELECT 1)",
    "(FROM t SELECT a) = 1",
    "(WITH t AS (SELECT 1) SELECT 1) = 1",
    "(VALUES (1)) = 1",
    "(TABLE t) = 1",
    "(MAP a USING 'x') = 1",
    "sum(a) OVER (PARTITION BY b) > 1",
    "count(a) FILTER (WHERE b) > 1",
    "first(a) IGNORE NULLS = 1",
    "count(*) > 1",
    "count(DISTINCT a) > 1",
    "lower(ALL a) = 'x'",
    "struct(a, *) = 1",
    "struct(a.*) = 1",
]
SCALARS = [
    "(values) = 1",
    "(table.x) = 1",
    "a * b = 1",
    "map(a, b) = c",
    "(map(a, b)) = c",
    "(from + 1) = 2",
    "exists(xs, all -> all > 1)",
    "lower(all) = 'x'",
    "(a, b) = (1, 2)",
    "f(distinct, 1) = 2",
]


@pytest.mark.parametrize("text", QUERIES)
def test_the_words_of_a_query(text: str) -> None:
    tokens = tokenize(text, DEFAULT_POLICY)
    assert _query_word(tokens, 0, len(tokens.kinds) - 1) is not None


@pytest.mark.parametrize("text", SCALARS)
def test_the_words_of_a_scalar(text: str) -> None:
    tokens = tokenize(text, DEFAULT_POLICY)
    assert _query_word(tokens, 0, len(tokens.kinds) - 1) is None


@pytest.mark.parametrize("text", ["map(c) = d", "c BETWEEN c = 1 AND c", "substring(c FROM 2, 3) = 'x'"])
def test_what_sqlglot_stumbles_over_is_accepted(text: str) -> None:
    with pytest.raises((sqlglot.ParseError, IndexError)):
        sqlglot.parse(text, read="spark")
    assert _fault(text) == ("", 0)
    parse_rule(text)


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        ("c IN ( SELECT c )", "subqueries and statements are not allowed"),
        ("sum ( c ) > 1", "aggregates are not allowed"),
        ("lower ( c ) OVER ( ) = 'x'", "windows are not allowed"),
        ("lower ( c , c ) = 'x'", "too many arguments"),
        ("contains ( c )", "an argument is missing"),
    ],
)
def test_what_sqlglot_finds_is_a_veto(shape: str, reason: str) -> None:
    fault = _fault(shape)
    assert fault is not None
    assert fault[0] == reason
