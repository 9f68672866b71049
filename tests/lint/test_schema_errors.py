"""Lint reports rules that a table with a schema can never match: missing columns, constants that do not fit."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sparkrules.index.rule import Rule
from sparkrules.lint import Finding, Report, lint, lint_errors
from sparkrules.sql import parse_rule

SCHEMA = pa.schema(
    [
        ("kind", pa.string()),
        ("price", pa.int32()),
        ("cost", pa.decimal128(10, 2)),
        ("ratio", pa.float64()),
        ("used", pa.bool_()),
        ("day", pa.date32()),
        ("at", pa.timestamp("us", "UTC")),
        ("addr", pa.struct([("city", pa.string()), ("floor", pa.int32())])),
        ("tags", pa.list_(pa.string())),
        ("extra", pa.map_(pa.string(), pa.string())),
    ]
)


def linted(text: str, schema: pa.Schema | None = SCHEMA) -> Report:
    return lint([Rule("r", text, parse_rule(text))], schema)


def error(text: str, schema: pa.Schema | None = SCHEMA) -> Finding:
    rules = [Rule("r", text, parse_rule(text))]
    (found,) = [finding for finding in lint(rules, schema) if finding.severity == "error"]
    assert lint_errors(rules, schema).findings == [found]
    return found


@pytest.mark.parametrize(
    "text",
    [
        "kind = login",
        "login = kind",
        "NOT kind = login",
        "lower(kind) = login",
        "kind = lower(login)",
        "kind LIKE login",
        "kind IN (login, 'logout')",
        "price > 5 AND (used OR kind = login)",
        "contains(kind, login)",
        "array_contains(tags, login)",
        "exists(tags, t -> t = login)",
        "CASE WHEN price > 5 THEN login ELSE 'x' END = kind",
        "extra['x'] = login",
        "(kind, price) = (login, 5)",
        "kind BETWEEN login AND 'z'",
        "kind IS DISTINCT FROM login",
    ],
)
def test_a_text_whose_quotes_were_forgotten(text: str) -> None:
    found = error(text)
    assert (found.kind, found.message) == ("unknown column", "there is no column `login`")
    assert found.suggestion == "Did you mean 'login'? A string needs quotes."
    assert "login" in found.places[0].fragment


@pytest.mark.parametrize(
    ("text", "name", "suggestion"),
    [
        ("prise > 5", "prise", "Did you mean `price`?"),
        ("city = 'Rome'", "city", "Did you mean `addr.city`?"),
        ("length(knd) > 5", "knd", "Did you mean `kind`, or the string 'knd'?"),
        ("ratio * prise > cost", "prise", "Did you mean `price`, or the string 'prise'?"),
        ("addr.citty = 'Rome'", "addr.citty", "Did you mean `addr.city`?"),
        ("lower(addr.postcode) = 'x'", "addr.postcode", "Add the column to the table, or correct the name."),
        ("t.price > 5", "t.price", "Did you mean `price`?"),
        ("readings.price + 1 > 5", "readings.price", None),
        ("`odd name` > 5", "odd name", "Add the column to the table, or correct the name."),
        ("upper(`odd name`) = 'X'", "odd name", None),
    ],
)
def test_columns_that_the_table_lacks(text: str, name: str, suggestion: str | None) -> None:
    found = error(text)
    assert found.kind == "unknown column"
    assert found.message == f"there is no column `{name}`"
    assert suggestion is None or found.suggestion == suggestion


def test_one_finding_names_all_rules_that_lack_a_column() -> None:
    texts = {"a": "kind = login", "b": "login > 5", "c": "kind = 'x'"}
    report = lint([Rule(id, text, parse_rule(text)) for id, text in texts.items()], SCHEMA)
    (found,) = report.of("unknown column")
    assert found.ids == ("a", "b")
    assert [(place.id, place.fragment) for place in found.places] == [("a", "kind = login"), ("b", "login > 5")]


@pytest.mark.parametrize(
    "text",
    [
        "current_date = day",
        "current_timestamp() > at",
        "PRICE > 5 AND Kind = 'x' AND ADDR.City = 'Rome'",
        "exists(tags, t -> t = kind)",
        "aggregate(tags, 0, (n, t) -> n + length(t)) > price",
        "timestampdiff(MONTH, at, current_timestamp()) > price",
        "extract(YEAR FROM day) = price",
        "trim(BOTH 'x' FROM kind) = 'y'",
        "extra['x'] = kind",
        'kind = "login"',
        "kind COLLATE UTF8_LCASE = 'a'",
        "interval 1 day + at > current_timestamp()",
    ],
)
def test_what_is_no_column_is_not_missing(text: str) -> None:
    assert [found for found in linted(text) if found.severity == "error"] == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("price > 'cheap'", "'cheap' is not a number, and the column is int32"),
        ("price IN (1, 'cheap')", "'cheap' is not a number, and the column is int32"),
        ("price NOT IN ('cheap', 'dear')", "'cheap' is not a number, and the column is int32"),
        ("NOT price = ''", "'' is not a number, and the column is int32"),
        ("cost <= '12,50'", "'12,50' is not a number, and the column is decimal128(10, 2)"),
        ("ratio = '50%'", "'50%' is not a number, and the column is double"),
        ("addr.floor = 'first'", "'first' is not a number, and the column is int32"),
        ("used = 'maybe'", "'maybe' is not a Boolean, and the column is bool"),
        ("at > '2025-13-45'", "'2025-13-45' is not a timestamp, and the column is timestamp[us, tz=UTC]"),
        ("at > '31.12.2025'", "'31.12.2025' is not a timestamp, and the column is timestamp[us, tz=UTC]"),
        ("at < '2025-06-01 25:00:00'", "'2025-06-01 25:00:00' is not a timestamp, and the column is"),
        ("day = '2025-02-30'", "'2025-02-30' is not a date, and the column is date32[day]"),
        ("day = '06/01/2025'", "'06/01/2025' is not a date, and the column is date32[day]"),
        ("day IN ('2025-01-01', 'soon')", "'soon' is not a date, and the column is date32[day]"),
    ],
)
def test_constants_that_are_no_value_of_the_column(text: str, problem: str) -> None:
    found = error(text)
    assert found.kind == "impossible predicate"
    assert "is never true" in found.message
    assert problem in found.message
    assert found.suggestion.startswith("Correct the constant")
    assert found.places[0].fragment in text
    assert linted(text).of("type surprise") == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("at > DATE '2025-13-45'", "'2025-13-45' is not a date"),
        ("unknown > TIMESTAMP '2025-01-01 24:01:00'", "'2025-01-01 24:01:00' is not a timestamp"),
    ],
)
def test_literals_that_spark_refuses_need_no_schema(text: str, problem: str) -> None:
    found = error(text, None)
    assert (found.kind, found.message.split(": ", 1)[1]) == ("impossible predicate", problem)


@pytest.mark.parametrize("text", ["day > 5", "at = 5.5", "tags = 'a'", "addr = 5", "day = true"])
def test_types_that_spark_does_not_compare(text: str) -> None:
    found = error(text)
    assert found.kind == "impossible predicate"
    assert "is rejected by Spark" in found.message


@pytest.mark.parametrize(
    "text",
    ["lower(kind) = 'Login'", "UPPER(kind) IN ('a', 'b')", "lower(addr.city) LIKE 'R%'", "contains(upper(kind), 'x')"],
)
def test_letters_of_the_wrong_case(text: str) -> None:
    found = error(text)
    assert found.kind == "impossible predicate"
    assert "letters" in found.message


@pytest.mark.parametrize(
    "text",
    [
        "price > '10'",
        "price > ' 10 '",
        "price > '1.5'",
        "ratio > '-1e3'",
        "ratio = 'NaN'",
        "ratio < 'Infinity'",
        "used = 'YES'",
        "at > '2025-06-01'",
        "at > '2025-6-1 5:03'",
        "at > '2025-06-01T12:00:00.5+02:00'",
        "at > '2025-06-01 12:00:00 Europe/Rome'",
        "at > '12:30:00'",
        "day > 'yesterday'",
        "at < 'now'",
        "day > '2025'",
        "day = '2024-02-29T00:00'",
        "kind = 'cheap'",
        "upper(kind) IN ('LOGIN', 'login')",
        "lower(kind) <> 'Login'",
        "upper(kind) = '5'",
        "price IS NULL",
        "day = NULL OR used",
    ],
)
def test_what_spark_can_convert_is_no_error_of_types(text: str) -> None:
    found = [finding for finding in linted(text) if finding.severity == "error"]
    assert [finding.message for finding in found if "NULL" not in finding.message] == []


@pytest.mark.parametrize(
    ("part", "remedy"),
    [
        ("price = NULL", "Use IS NULL to test for NULL."),
        ("price <> NULL", "Use IS NOT NULL to test for values."),
        ("price > NULL", "Use IS NULL to test for NULL."),
        ("price IN (NULL)", "Use IS NULL to test for NULL."),
        ("price NOT IN (1, NULL)", "Take NULL out of the list"),
        ("kind LIKE NULL", "Use IS NULL to test for NULL."),
        ("price BETWEEN 10 AND 1", "BETWEEN takes the lower bound first: exchange the two."),
        ("(price > 10 AND price < 1)", "Correct one of them, or join them with OR."),
        ("price = 2.5", "Correct it."),
    ],
)
def test_a_part_that_is_never_true_is_an_error_wherever_it_stands(part: str, remedy: str) -> None:
    alone, among, below = (error(text) for text in (part, f"{part} OR used", f"ratio > 1 AND (used OR {part})"))
    assert [found.kind for found in (alone, among, below)] == [
        "contradiction",
        "impossible predicate",
        "impossible predicate",
    ]
    for found in (alone, among, below):
        assert found.suggestion.startswith(remedy)
        assert found.places
    assert linted(f"{part} OR used").of("redundant") == []


@pytest.mark.parametrize("text", ['"price" > 5', "'kind' = 'x'", 'NOT "used"', '"price" IN (1, 2)'])
def test_a_column_in_quotes_is_a_text(text: str) -> None:
    (found,) = linted(text).of("constant predicate")
    assert found.severity == "warning"
    assert "in backticks" in found.suggestion
