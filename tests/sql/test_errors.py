"""Errors name the position, the offending text and what to do."""

import pickle

import pytest

from sparkrules.sql import Policy, RuleError, parse_rule

# text, line, column, offending text, a piece of the reason
POSITIONS = [
    ("", 1, 1, "end of the text", "empty"),
    ("  \n ", 1, 1, "end of the text", "empty"),
    ("a =", 1, 4, "end of the text", "expected a value"),
    ("a = = 5", 1, 5, "=", "expected a value"),
    ("a > 5 b", 1, 7, "b", "unexpected"),
    ("a > 5\nAND b >", 2, 8, "end of the text", "expected a value"),
    ("a > 5\n  AND foo(b) = 1", 2, 7, "foo", "not allowed"),
    ("(a > 5", 1, 7, "end of the text", "unexpected"),
    ("a > 5)", 1, 6, ")", "unexpected"),
    ("a = 'x", 1, 5, "'", "not closed"),
    ("`a = 5", 1, 1, "`", "not closed"),
    ("a = 5; DROP TABLE t", 1, 6, ";", "not a statement"),
    ("a = 5 -- yes", 1, 7, "--", "comments"),
    ("a = /* x */ 5", 1, 5, "/*", "comments"),
    ("a IN ()", 1, 7, ")", "expected a value"),
    ("a IN 5", 1, 6, "5", "unexpected"),
    ("a BETWEEN 1 OR 2", 1, 13, "OR", "unexpected"),
    ("a NOT NULL", 1, 7, "NULL", "unexpected"),
    ("a IS 5", 1, 6, "5", "after IS"),
    ("a IS NULL IS NULL", 1, 11, "IS", "unexpected"),
    ("a = NOT b", 1, 5, "NOT", "expected a value"),
    ("CASE a END", 1, 8, "END", "WHEN"),
    ("CASE WHEN a THEN b", 1, 19, "end of the text", "unexpected"),
    ("naïve = 1", 1, 3, "ï", "letter"),
    ("a = ?", 1, 5, "?", "parameter"),
    ("a = :x", 1, 5, ":", "parameter"),
    ("lower(a, b) = 'x'", 1, 11, ")", "too many arguments"),
    ("a = 1 AND x.* = 2", 1, 13, "*", "star"),
    ("x -> x", 1, 1, "x", "lambda"),
    ("a = FOO 'x'", 1, 5, "FOO", "before a string"),
    ("a !IN (1)", 1, 3, "!", "unexpected"),
    ("if(a XOR b, c, d)", 1, 6, "XOR", "XOR"),
]


# text, column, a piece of what to do
REMEDIES = [
    ("WHERE x > 1", 1, "Drop the word"),
    ("where (x > 1)", 1, "Drop the word WHERE"),
    ("WHERE NOT x", 1, "Drop the word"),
    ("SELECT * FROM t WHERE x > 1", 1, "only what stands behind WHERE"),
    ("sum(x) > 1", 1, "sum is an aggregate, and a rule sees one row"),
    ("a = 1 AND COUNT(*) > 1", 11, "count is an aggregate"),
    ("row_number() = 1", 1, "looks at other rows"),
    ("lowr(x) = 'a'", 1, "Did you mean lower?"),
    ("a = 1 OR startwith(x, 'a')", 10, "Did you mean startswith?"),
    ("a > 1 && b > 2", 8, "Write AND"),
    ("a = 1 || NOT b", 10, "write OR"),
    ("GETDATE() > d", 1, "give dialect='tsql', or write current_timestamp()"),
    ("IIF(a > 1, b, c) = 1", 1, "or write if(condition, a, b)"),
    ("name CONTAINS 'x'", 6, "contains(name, 'x')"),
    ("a === 1", 5, "Write = or <>"),
    ("a = \u201cx\u201d", 5, "straight quotes"),
    ("a$b = 1", 2, "backticks"),
    ("dateadd('day', 1, d) > d", 9, "dateadd(DAY, 1, d)"),
    ("and = 1", 1, "backticks"),
]


@pytest.mark.parametrize(("text", "column", "remedy"), REMEDIES)
def test_what_to_do(text: str, column: int, remedy: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse_rule(text)
    assert caught.value.column == column
    assert remedy in str(caught.value)


def test_a_denied_function_is_not_what_was_meant() -> None:
    with pytest.raises(RuleError) as caught:
        parse_rule("rlik(a, 'x')", policy=Policy(denied_functions={"rlike"}, extra_functions={"my_udf"}))
    assert "Did you mean rlike" not in str(caught.value)
    with pytest.raises(RuleError, match="Did you mean my_udf"):
        parse_rule("my_uff(a)", policy=Policy(extra_functions={"my_udf"}))


def test_a_default_policy_is_short() -> None:
    assert repr(Policy()) == "Policy()"
    assert repr(Policy(extra_functions={"B", "a"}, max_xors=3)) == "Policy(max_xors=3, extra_functions={'a', 'b'})"


@pytest.mark.parametrize(("text", "line", "column", "fragment", "reason"), POSITIONS)
def test_position(text: str, line: int, column: int, fragment: str, reason: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse_rule(text)
    error = caught.value
    assert (error.line, error.column, error.fragment) == (line, column, fragment)
    assert reason in error.reason


LONG = "has more than 100,000 bytes"
DEEP = "is nested deeper than 100 levels"
# a schema, the column of the error within it, the reason
SCHEMAS = [
    (f"'{'x' * 100_001}'", 1, LONG),
    (f"'{'é' * 50_001}'", 1, LONG),
    (f"('{'x' * 50_001}' \"{'x' * 50_001}\")", 2, LONG),
    (f"'{'ARRAY<' * 101}'", 1, DEEP),
    (f"r'{'ARRAY<' * 50 + '({[[' * 13}'", 1, DEEP),
]


@pytest.mark.parametrize("function", ["from_json", "from_csv", "from_xml", "from_avro"])
def test_schemas_are_bounded(function: str) -> None:
    policy = Policy(extra_functions={"from_avro"})
    call = f"a = 1\nAND {function}(s, "
    for schema, column, reason in SCHEMAS:
        with pytest.raises(RuleError) as caught:
            parse_rule(f"{call}{schema}) IS NULL", policy=policy)
        assert caught.value.reason == f"the schema of {function} {reason}"
        assert (caught.value.line, caught.value.column) == (2, len(call) - len("a = 1\n") + column)
    for schema in (f"'{'x' * 100_000}'", f"'{'ARRAY<' * 100}{'>' * 100}{'<' * 100}'", f"concat('{'x' * 100_001}')"):
        parse_rule(f"{call}{schema}) IS NULL", policy=policy)


def test_the_message_shows_the_line_with_a_caret() -> None:
    with pytest.raises(RuleError) as caught:
        parse_rule("price < 5\nAND reflect('java.lang.System', 'exit') = 1")
    caught.value.id = "r1"
    lines = str(caught.value).splitlines()
    assert lines[0] == "rule 'r1': this function is not allowed in a rule at line 2, column 5: reflect"
    assert lines[1] == "    AND reflect('java.lang.System', 'exit') = 1"
    assert lines[2] == "        ^"
    assert "extra_functions" in lines[3]


def test_a_long_line_is_cut_around_the_caret() -> None:
    with pytest.raises(RuleError) as caught:
        parse_rule(" OR ".join(["a = 1"] * 1000) + " b " + " OR a = 1" * 1000)
    shown, caret = str(caught.value).splitlines()[1:3]
    assert len(shown) < 200
    assert shown[caret.index("^")] == "b"


def test_an_error_survives_pickling() -> None:
    with pytest.raises(RuleError) as caught:
        parse_rule("a = ")
    caught.value.id = "r1"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_one_name_instead_of_a_collection_is_a_mistake() -> None:
    with pytest.raises(TypeError, match="collection"):
        Policy(extra_functions="my_udf")
