"""Other dialects are translated to Spark SQL, and then go the same way."""

import pytest

from sparkrules.sql import RuleError, parse_rule


@pytest.mark.parametrize(
    ("dialect", "text", "tree"),
    [
        ("databricks", "a = 'x'", "a = 'x'"),
        ("postgres", "\"Order\" ~ 'x' AND a ILIKE 'y'", "`Order` rlike 'x' and a ilike 'y'"),
        ("mysql", '`a` = "x" OR b IS NOT NULL', "`a` = 'x' or b is not null"),
        ("bigquery", "STARTS_WITH(a, 'x')", "a startswith 'x'"),
        ("tsql", "[a] = N'x'", "`a` = 'x'"),
        ("snowflake", "IFF(a > 1, TRUE, FALSE)", "IF(a > 1, TRUE, FALSE) is true"),
        ("postgres", "a /* why */ = 1", "a = 1"),
    ],
)
def test_translated(dialect: str, text: str, tree: str) -> None:
    assert str(parse_rule(text, dialect=dialect)) == tree


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("klingon", "a = 1"),
        ("postgres", "a = 1; DROP TABLE t"),
        ("postgres", "a IN (SELECT 1)"),
        ("postgres", "a = "),
        ("postgres", "SELECT 1"),
        ("postgres", "DROP TABLE t"),
        ("postgres", "pg_read_file('x') = 'y'"),
        ("postgres", "(" * 10_000 + "a" + ")" * 10_000),
        ("postgres", "NOT " * 10_000 + "a"),
        ("postgres", "- " * 10_000 + "a"),
        ("mysql", "a = '\ud800'"),
        ("postgres", ""),
    ],
)
def test_rejected(dialect: str, text: str) -> None:
    with pytest.raises(RuleError):
        parse_rule(text, dialect=dialect)


def test_an_error_has_its_place_in_the_text_as_written() -> None:
    with pytest.raises(RuleError) as caught:
        parse_rule("a = 1\nAND b = = 2", dialect="postgres")
    assert (caught.value.line, caught.value.fragment) == (2, "=")
