"""String and number literals have the value that Spark gives them."""

import pytest

from sparkrules.sql import Constant, Predicate, parse_rule

STRINGS = [
    ("'plain'", "plain"),
    ("''", ""),
    ("'it''s'", "it's"),
    (r"'it\'s'", "it's"),
    ('"double"', "double"),
    ('"a""b"', 'a"b'),
    ('"it\'s"', "it's"),
    ("'a\"\"b'", 'a""b'),
    (r"'\n\t\r\b\0\Z'", "\n\t\r\b\0\x1a"),
    (r"'a\%b\_c'", r"a\%b\_c"),
    (r"'\\'", "\\"),
    (r"'\q'", "q"),
    (r"'\101\0012'", "A\x012"),
    (r"'\201'", "201"),  # only \000 to \177 are octal
    (r"'\u0041\u00e9'", "Aé"),
    (r"'\u41'", "u41"),
    (r"'\U0001F600'", "\U0001f600"),
    (r"'\uD83D\uDE00'", "\U0001f600"),
    (r"r'\n\d'", r"\n\d"),
    (r'R"a\"', "a\\"),
    ("'a' 'b' \"c\"", "abc"),
    ("'a\nb'", "a\nb"),
    ("'\U0001f600'", "\U0001f600"),
    ("'--no /* comment */ ; ? $$'", "--no /* comment */ ; ? $$"),
]


@pytest.mark.parametrize(("literal", "value"), STRINGS)
def test_string(literal: str, value: str) -> None:
    assert parse_rule(f"a = {literal}") == Predicate("a", "=", (Constant("string", value),))


@pytest.mark.parametrize("literal", [r"'\uD83D'", r"'\U00110000'", r"'\UFFFFFFFF\uDC00'", r"'\uD800\UFFFFFFFF'"])
def test_a_string_that_is_not_unicode_stays_sql(literal: str) -> None:
    assert parse_rule(f"a = {literal}") == Predicate("a", "=", (Constant("sql", literal),))


NUMBERS = [
    ("5", "integer", "5"),
    ("-5", "integer", "-5"),
    ("- 5", "integer", "-5"),
    ("-0", "integer", "0"),
    ("0005", "integer", "5"),
    ("9" * 38, "integer", "9" * 38),
    ("0" * 500 + "1", "integer", "1"),
    ("0." + "0" * 37 + "1", "decimal", "0." + "0" * 37 + "1"),
    ("1" * 900 + "e-300", "double", "1" * 900 + "e-300"),
    ("-2147483648", "integer", "-2147483648"),
    ("1.50", "decimal", "1.50"),
    ("-.5", "decimal", "-.5"),
    ("5.", "decimal", "5."),
    ("1e3", "double", "1e3"),
    ("-1.5E-3", "double", "-1.5E-3"),
    ("1e+3", "double", "1e+3"),
    ("5L", "sql", "5L"),
    ("5S", "sql", "5S"),
    ("5y", "sql", "5y"),
    ("1.5BD", "sql", "1.5BD"),
    ("1e3f", "sql", "1e3f"),
    ("5D", "sql", "5D"),
    ("+5", "sql", "+ 5"),
    ("- -5", "sql", "- - 5"),
    ("NULL", "null", ""),
    ("True", "boolean", "true"),
]


@pytest.mark.parametrize(("literal", "kind", "text"), NUMBERS)
def test_number_and_word(literal: str, kind: str, text: str) -> None:
    assert parse_rule(f"a < {literal}") == Predicate("a", "<", (Constant(kind, text),))  # type: ignore[arg-type]


def test_a_raw_string_ends_at_its_first_quote() -> None:
    # A tokenizer that lets \' go on here would hide the rest of the text from the checks.
    assert str(parse_rule(r"a = r'\' OR b = 'x'")) == r"a = '\\' or b = 'x'"
