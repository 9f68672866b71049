"""Other dialects: what has the same meaning in Spark is translated and parsed like Spark SQL; the rest is rejected.

The texts are in `tests/sql/dialects`, one module per dialect.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest
from sqlglot import exp

from sparkrules.sql import Policy, RuleError, parse_rule, spark_sql
from tests.counted import calls
from tests.sql.dialects import REFUSED, TRANSLATED

HOSTILE = [
    ("klingon", "a = 1"),
    ("postgres", "a = 1; DROP TABLE t"),
    ("postgres", "a IN (SELECT 1)"),
    ("postgres", "a = (SELECT 1)"),
    ("postgres", "a = "),
    ("postgres", "SELECT 1"),
    ("postgres", "DROP TABLE t"),
    ("postgres", "(" * 10_000 + "a" + ")" * 10_000),
    ("postgres", "NOT " * 10_000 + "a"),
    ("postgres", "- " * 10_000 + "a"),
    ("mysql", "a = '\ud800'"),
    ("tsql", "EXEC xp_cmdshell 'x'"),
    ("tsql", "a = 1 WAITFOR DELAY '0:0:5'"),
    ("bigquery", "a IN (SELECT b FROM t)"),
    ("snowflake", "a = (SELECT SYSTEM$WAIT(10))"),
    ("snowflake", "SYSTEM$WAIT(10)"),
    ("mysql", "reflect('java.lang.System', 'exit')"),
    ("mysql", "`a``; DROP TABLE t` = (SELECT 1)"),
    ("postgres", "count(*) > 1"),
    ("postgres", "max(a) OVER () > 1"),
    ("postgres", ""),
]


@pytest.mark.parametrize(("dialect", "text", "translation"), TRANSLATED)
def test_translated(dialect: str, text: str, translation: str) -> None:
    assert spark_sql(text, dialect=dialect) == translation
    assert str(parse_rule(text, dialect=dialect)) == str(parse_rule(translation))


@pytest.mark.parametrize(("dialect", "text", "reason"), REFUSED)
def test_refused_with_the_reason(dialect: str, text: str, reason: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse_rule(text, dialect=dialect)
    assert reason in caught.value.reason
    assert caught.value.remedy


@pytest.mark.parametrize(("dialect", "text"), HOSTILE)
def test_hostile(dialect: str, text: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse_rule(text, dialect=dialect)
    str(caught.value).encode()


def test_an_error_has_its_place_in_the_text_as_written() -> None:
    with pytest.raises(RuleError) as caught:
        parse_rule("a = 1\nAND b = = 2", dialect="postgres")
    assert (caught.value.line, caught.value.fragment) == (2, "=")
    with pytest.raises(RuleError) as caught:
        parse_rule("a = 1\nAND b / c = 2", dialect="postgres")
    assert (caught.value.line, caught.value.column, caught.value.fragment) == (2, 5, "b / c")


def test_a_function_of_the_deployment_keeps_its_name() -> None:
    policy = Policy(extra_functions={"my_udf"})
    assert str(parse_rule("MY_UDF(a) > 1", dialect="postgres", policy=policy)) == "MY_UDF(a) > 1"
    with pytest.raises(RuleError, match="my_udf is not a function"):
        parse_rule("my_udf(a) > 1", dialect="postgres")
    with pytest.raises(RuleError, match="not allowed"):
        parse_rule("lower(a) = 'x'", dialect="postgres", policy=Policy(denied_functions={"lower"}))


# Functions that sqlglot, or we, write out with a copy of what is in them.
@pytest.mark.timeout(300, method="thread")
@pytest.mark.parametrize(
    ("dialect", "before", "after"),
    [
        ("snowflake", "ZEROIFNULL(", ")"),
        ("snowflake", "GREATEST(1, ", ")"),
        ("snowflake", "CONCAT_WS(',', 'x', ", ")"),
        ("snowflake", "DIV0(1, ", ")"),
        ("postgres", "CEIL(", ")"),
        ("postgres", "(1 BETWEEN SYMMETRIC 2 AND ", ")"),
        ("postgres", "CONCAT('x', ", ")"),
        ("postgres", "COALESCE('x', ", ")"),
        ("postgres", "((1, 2) = (a, ", "))"),
    ],
)
def test_nesting_does_not_double_and_double(dialect: str, before: str, after: str) -> None:
    def translated(depth: int) -> None:
        text = before * depth + "a" + after * depth + " = 1"
        with suppress(RuleError):
            assert len(spark_sql(text, dialect=dialect)) < 100 * len(text)

    assert calls(lambda: translated(40)) < 3 * calls(lambda: translated(20))


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("tsql", "EXEC('x')"),
        ("tsql", "ALTER TABLE t FOO"),
        ("mysql", "SHOW FOO BAR"),
        ("postgres", "COMMENT ON x"),
        ("snowflake", "CALL f()"),
        ("postgres", "GRANT x ON y"),
        ("bigquery", "a = 1 FOR SYSTEM_TIME"),
    ],
)
def test_sqlglot_says_nothing_on_the_console(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, dialect: str, text: str
) -> None:
    with pytest.raises(RuleError):
        parse_rule(text, dialect=dialect)
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []


def test_errors_name_no_class_of_the_parser_and_no_other_dialect() -> None:
    names = {"postgres": "Postgre", "snowflake": "Snowflake", "mysql": "MySQL", "tsql": "T-SQL", "bigquery": "BigQuery"}
    classes = {name.upper() for name in dir(exp) if isinstance(getattr(exp, name), type)}
    words = """
        ALL AND ANY BETWEEN CEIL COALESCE CONCAT DAY DECIMAL ESCAPE EXECUTE FLOOR GREATEST HOUR IN INT INTERVAL LEAST
        LEFT LENGTH LIKE MINUTE MONTH NULL OR QUARTER REPLACE RIGHT ROUND SECOND SOUNDEX SUBSTRING TRIM
        UNKNOWN WEEK YEAR
    """
    allowed = set(words.split())
    for dialect, text, _ in REFUSED:
        with pytest.raises(RuleError) as caught:
            parse_rule(text, dialect=dialect)
        reason = caught.value.reason
        assert not [name for other, name in names.items() if other != dialect and name in reason], (text, reason)
        own = set(re.findall(r"[A-Za-z_]+", text.upper()))
        shown = set(re.findall(r"\b[A-Z]{4,}\b", reason)) - own - allowed
        assert not shown & classes, (text, reason)
        assert "class" not in reason
        assert "sqlglot" not in str(caught.value)


def test_the_documentation_lists_what_was_looked_at() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "dialects.md").read_text(encoding="utf-8")
    sections = {}
    for section in page.split("\n## ")[1:]:
        sections[section.split('dialect="')[1].split('"')[0]] = section.replace("\\|", "|")
    missing = [
        (dialect, text)
        for dialect, text, _ in [*TRANSLATED, *REFUSED]
        if text.replace("\n", "\\n") not in sections[dialect]
    ]
    assert missing == []


def test_the_dialect_is_named_in_any_case() -> None:
    assert str(parse_rule("a = 'x'", dialect="Databricks")) == "a = 'x'"
    assert str(parse_rule('"a" = 1', dialect="Postgres")) == "`a` = 1"
