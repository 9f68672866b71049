"""Texts and their trees. Where a tree is surprising, a comment explains why."""

import pytest

from sparkrules.sql import ALWAYS, NEVER, Constant, Junction, Policy, Predicate, RuleError, called_functions, parse_rule

GOLDEN = [
    # comparisons: the constant goes to the right, synonyms become one operator
    ("a = 5", "a = 5"),
    ("a == 5", "a = 5"),
    ("a != 5", "a <> 5"),
    ("a <> 5", "a <> 5"),
    ("a !> 5", "a <= 5"),
    ("a !< 5", "a >= 5"),
    ("5 < a", "a > 5"),
    ("5 >= a", "a <= 5"),
    ("5 <=> a", "a <=> 5"),
    ("(a) > (5)", "a > 5"),
    ("((a + 1)) > ((-5))", "a + 1 > -5"),
    ("a+b*2>=1.50", "a + b * 2 >= 1.50"),
    ("a < b", "a < b is true"),
    ("1 = 1", "1 = 1 is true"),
    # all comparisons are one level, left to right, and predicates apply to the whole of it
    ("a = b IS NULL", "a = b is null"),
    ("a > 1 = true", "a > 1 = true is true"),
    ("true = 1 < a", "true = 1 < a is true"),
    ("a = 1 LIKE 'x'", "a = 1 like 'x'"),
    ("a LIKE 'x' = true", "a LIKE 'x' = true is true"),
    ("a BETWEEN 1 AND 2 = true", "a BETWEEN 1 AND 2 = true is true"),
    ("NOT a = b IS NULL", "a = b is not null"),
    # predicates
    ("a BETWEEN 1 AND 5", "a >= 1 and a <= 5"),
    ("a NOT BETWEEN 1 AND 5", "a < 1 or a > 5"),
    ("NOT a BETWEEN 1 AND 5 AND b", "(a < 1 or a > 5) and b is true"),
    ("a BETWEEN b AND 5", "a BETWEEN b AND 5 is true"),
    ("a IN (1, 'x', NULL, -3, 1.5, 1e3, true)", "a in (1, 'x', NULL, -3, 1.5, 1e3, true)"),
    ("a NOT IN ((1), lower('A'))", "a not in (1, lower('A'))"),
    ("a IN (1, b)", "a IN (1, b) is true"),
    ("NOT a IN (1, b)", "a IN (1, b) is false"),
    ("(a, b) IN ((1, 2))", "(a, b) IN ((1, 2)) is true"),
    ("a IN ((1, 2))", "a IN ((1, 2)) is true"),
    ("a LIKE 'x%'", "a like 'x%'"),
    ("a NOT ILIKE 'x%'", "a not ilike 'x%'"),
    ("a RLIKE 'x' OR b REGEXP 'y'", "a rlike 'x' or b rlike 'y'"),
    ("a LIKE 'x' ESCAPE '!'", "a LIKE 'x' ESCAPE '!' is true"),
    ("a LIKE ANY ('x', 'y')", "a LIKE ANY ('x', 'y') is true"),
    ("a NOT LIKE ALL ('x', 'y')", "a NOT LIKE ALL ('x', 'y') is true"),
    ("a IS NULL OR b IS NOT NULL", "a is null or b is not null"),
    ("a IS UNKNOWN OR b IS NOT UNKNOWN", "a is null or b is not null"),
    ("a IS DISTINCT FROM 5", "a not <=> 5"),
    ("a IS NOT DISTINCT FROM 5", "a <=> 5"),
    ("a IS DISTINCT FROM b", "a IS DISTINCT FROM b is true"),
    ("contains(a, 'x') AND startswith(a, 'y')", "a contains 'x' and a startswith 'y'"),
    ("NOT endswith(lower(a), 'x')", "lower(a) not endswith 'x'"),
    ("like(a, 'x%') OR ilike(a, 'x%')", "a like 'x%' or a ilike 'x%'"),
    ("regexp(a, 'x') AND rlike(a, 'x') AND regexp_like(a, 'x')", "a rlike 'x'"),
    ("contains('abc', a)", "contains('abc', a) is true"),
    ("isnull(a) OR isnotnull(b) OR equal_null(c, 5)", "a is null or b is not null or c <=> 5"),
    ("between(a, 1, 2)", "between(a, 1, 2) is true"),
    # Boolean values
    ("a", "a is true"),
    ("NOT a", "a is false"),
    ("! a", "a is false"),
    ("NOT NOT a", "a is true"),
    ("a IS TRUE", "a is true"),
    # IS TRUE is never unknown: its negation holds for NULL, that of a alone does not
    ("NOT a IS TRUE", "a is not true"),
    ("a IS NOT TRUE", "a is not true"),
    ("NOT a IS NOT TRUE", "a is true"),
    ("NOT (a IS FALSE)", "a is not false"),
    ("(a > 5) IS NOT TRUE", "a > 5 is not true"),
    ("(a > 5 OR b) IS NULL", "a > 5 OR b is null"),
    ("TRUE", "true"),
    ("FALSE OR NULL", "false"),
    ("NOT NULL", "false"),
    ("NOT FALSE AND a", "a is true"),
    ("a OR TRUE", "a is true or (true)"),
    # AND, OR, brackets
    ("a OR b AND c", "a is true or (b is true and c is true)"),
    ("(a OR b) AND c", "(a is true or b is true) and c is true"),
    ("NOT (a > 1 OR (b < 2 AND NOT c))", "a <= 1 and (b >= 2 or c is true)"),
    ("NOT a AND b", "a is false and b is true"),
    ("a AND (b AND (c AND a))", "a is true and b is true and c is true"),
    ("a AND a", "a is true"),
    ("a > 1 OR a>1 OR 1 < a", "a > 1"),
    # XOR: ours as a word, Spark's as a comparison of two conditions
    ("a XOR b", "(a is true and b is false) or (a is false and b is true)"),
    ("NOT (a XOR b)", "(a is true and b is true) or (a is false and b is false)"),
    (
        "a OR b XOR c AND d",
        "a is true or (b is true and (c is false or d is false)) or (b is false and c is true and d is true)",
    ),
    ("(a > 1) <> (b > 2)", "(a > 1 and b <= 2) or (a <= 1 and b > 2)"),
    ("(a > 1) = (b > 2)", "(a > 1 and b > 2) or (a <= 1 and b <= 2)"),
    ("(a > 1) = TRUE", "a > 1"),
    ("FALSE != (a IS NULL)", "a is null"),
    ("(a) <> (b)", "(a) <> (b) is true"),
    ("xor = 1", "xor = 1"),
    # attributes
    ("lower ( name )='x'", "lower(name) = 'x'"),
    ("addr . city = 'Rome'", "addr.city = 'Rome'"),
    ("`odd ``name` = 1", "`odd ``name` = 1"),
    ("xs[0] = 1 AND m['k'] = 2", "xs[0] = 1 and m['k'] = 2"),
    ("a::int > 5", "a :: int > 5"),
    ("a::array<array<int>> IS NULL", "a :: array < array < int >> is null"),
    ("CAST(a AS DECIMAL(10, 2)) > 5", "CAST(a AS DECIMAL (10, 2)) > 5"),
    ("CASE WHEN a > 1 THEN 'x' ELSE 'y' END = 'x'", "CASE WHEN a > 1 THEN 'x' ELSE 'y' END = 'x'"),
    ("v:a.b[0]::int = 1", "v : a.b[0] :: int = 1"),
    ("a COLLATE UTF8_LCASE = 'x'", "a COLLATE UTF8_LCASE = 'x'"),
    ("exists(xs, x -> x > 1 AND x < 5)", "exists(xs, x -> x > 1 AND x < 5) is true"),
    ("aggregate(xs, 0, (s, x) -> s + x) > 5", "aggregate(xs, 0, (s, x) -> s + x) > 5"),
    ("start < 5 AND end > 6 AND from = 'x'", "start < 5 and end > 6 and from = 'x'"),
    ("interval = 5 AND interval - 5 > 3", "interval = 5 and interval - 5 > 3"),
    ("5a > 1 AND t.5b = 2", "5a > 1 and t.5b = 2"),
    ("date_add(day, 1) > '2020'", "date_add(day, 1) > '2020'"),
    # constants
    ("a = DATE '2020-01-01'", "a = DATE '2020-01-01'"),
    ("a = DATE'2020-01-01'", "a = DATE '2020-01-01'"),
    ("a = 5L OR a = -5L", "a = 5L or a = - 5L"),
    ("a > 1 + 2", "a > 1 + 2"),
    ("a > CAST('x' AS DATE)", "a > CAST('x' AS DATE)"),
    ("a > INTERVAL 1 DAY 2 HOURS", "a > INTERVAL 1 DAY 2 HOURS"),
    ("a = X'1F'", "a = X '1F'"),
    ("a > dateadd(DAY, 1, DATE '2020-01-01')", "a > dateadd(DAY, 1, DATE '2020-01-01')"),
    ("a = 007", "a = 7"),
    ("a = NULL", "a = NULL"),
    # time passes: no constants
    ("a < current_date()", "a < current_date() is true"),
    ("a < current_date", "a < current_date is true"),
    ("a IN (now())", "a IN (now()) is true"),
    ("a < unix_timestamp()", "a < unix_timestamp() is true"),
    ("a < unix_timestamp('2020-01-01')", "a < unix_timestamp('2020-01-01')"),
]


@pytest.mark.parametrize(("text", "tree"), GOLDEN, ids=[text for text, _ in GOLDEN])
def test_text_stands_for_tree(text: str, tree: str) -> None:
    assert str(parse_rule(text)) == tree


def test_always_and_never_are_the_empty_junctions() -> None:
    assert parse_rule("TRUE") == parse_rule("TRUE AND NOT FALSE") == ALWAYS
    assert parse_rule("NULL") == parse_rule("NULL OR FALSE") == NEVER


def test_what_a_constant_decides_is_kept_for_spark_to_judge() -> None:
    assert str(parse_rule("TRUE OR a")) == "(true) or a is true"
    assert str(parse_rule("NULL AND a")) == "(false) and a is true"
    assert str(parse_rule("TRUE AND a")) == "a is true"


def test_spacing_and_case_of_keywords_do_not_matter() -> None:
    assert parse_rule("a+b>5 and\n\tlower(x)in('y')") == parse_rule("a + b > 5  AND lower( x ) IN ( 'y' )")


def test_what_is_inside_of_quotes_stays() -> None:
    assert parse_rule("`a  b` = 'x  y'") == Predicate("`a  b`", "=", (Constant("string", "x  y"),))


def test_equal_parts_are_one_object() -> None:
    tree = parse_rule("(a > 1 AND b) OR (c AND a > 1)")
    assert isinstance(tree, Junction)
    first, second = tree.children
    assert isinstance(first, Junction)
    assert isinstance(second, Junction)
    assert first.children[0] is second.children[1]


def test_called_functions_are_names_before_brackets_and_nothing_else() -> None:
    policy = Policy(extra_functions={"my_udf", "main.tools.f"})
    text = "My_UDF(a) = `lower`('X') AND a IN (1) AND main.tools.f(b) = CAST(upper('f(x)') AS STRING) AND NOT (c)"
    assert called_functions(parse_rule(text, policy=policy)) == {"my_udf", "lower", "main.tools.f", "upper"}


@pytest.mark.parametrize("text", ["a RLIKE 'x'", "a NOT RLIKE 'x'", "a REGEXP 'x'", "rlike(a, 'x')"])
def test_a_denied_function_is_denied_as_an_operator_too(text):
    with pytest.raises(RuleError, match="not allowed in a rule"):
        parse_rule(text, policy=Policy(denied_functions={"rlike"}))
    parse_rule("a LIKE 'x'", policy=Policy(denied_functions={"rlike"}))
