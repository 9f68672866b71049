"""Texts from people who mean harm, or whose keyboard does: rejected, quickly, with `RuleError` and nothing else."""

import time

import pytest

from sparkrules.sql import Policy, RuleError, parse_rule

HOSTILE = [
    # queries
    "a IN (SELECT b FROM t)",
    "a = (SELECT max(b) FROM t)",
    "EXISTS (SELECT 1)",
    "EXISTS(SELECT(1))",
    "EXISTS (FROM t)",
    "EXISTS (VALUES (1))",
    "a IN (VALUES (1), (2))",
    "a IN (TABLE t)",
    "a IN (WITH x AS (SELECT 1) SELECT * FROM x)",
    "(FROM t SELECT a) = 1",
    "(MAP a USING 'cat' FROM t) = 1",
    "(SELECT TRANSFORM(a) USING 'sh' FROM t) IS NULL",
    "SELECT 1",
    "a = 1 UNION SELECT 1",
    "a = 1 ORDER BY a",
    "a = 1 LIMIT 1",
    "a = 1) OR (1 = 1",
    "TABLE(t)",
    "a = 1 |> WHERE b",
    # statements
    "a = 1; DROP TABLE t",
    "DROP TABLE t",
    "SET spark.x = 1",
    "INSERT INTO t VALUES (1)",
    "CALL x()",
    # aggregates, windows, generators
    "count(*) > 1",
    "count(DISTINCT a) > 1",
    "sum(a) OVER (PARTITION BY b) > 1",
    "lower(a) OVER (ORDER BY b) = 'x'",
    "lower(a) FILTER (WHERE b) = 'x'",
    "row_number() > 1",
    "explode(xs) = 1",
    "inline(xs)",
    "any(a)",
    "every(a)",
    # functions that reach out, or are not functions of the row
    "reflect('java.lang.Runtime', 'getRuntime') IS NULL",
    "`reflect`('java.lang.System', 'exit') IS NULL",
    "REFLECT ('java.lang.System', 'exit') IS NULL",
    "java_method('java.lang.System', 'exit') IS NULL",
    "try_reflect('java.lang.System', 'exit') IS NULL",
    "system.builtin.reflect('x', 'y') IS NULL",
    "builtin.lower(a) = 'x'",
    "`main.f`(a) = 1",
    "identifier('reflect')('java.lang.System', 'exit') IS NULL",
    "identifier('a') = 1",
    "lower(reflect('x', 'y')) = 'x'",
    "a IN (reflect('x', 'y'))",
    "a[reflect('x', 'y')] = 1",
    "exists(xs, x -> reflect(x, 'y') IS NULL)",
    "CASE WHEN rand() > 0.5 THEN true END",
    "CAST(uuid() AS STRING) = 'x'",
    "a BETWEEN 0 AND rand()",
    "a LIKE uuid()",
    "input_file_name() = 'x'",
    "raise_error('x')",
    "assert_true(false)",
    "current_user() = 'x'",
    "current_user = 'x'",
    "session_user = 'x'",
    "spark_partition_id() = 1",
    "version() = 'x'",
    "monotonically_increasing_id() = 1",
    # memory
    "length(repeat(a, 1000000000)) > 1",
    "size(sequence(1, 1000000000)) > 1",
    "length(format_string('%2000000000d', 1)) > 1",
    "length(lpad(a, 2000000000)) > 1",
    # stars, parameters, variables
    "*",
    "t.*",
    "struct(*) IS NULL",
    "a = ?",
    "a = :p",
    "a = @x",
    "a = $1",
    "a = ${x}",
    "a = {{ x }}",
    "a = {% x %}",
    # comments and tricks with quotes
    "a = 1 -- b",
    "a = 1 /* b */",
    "a = 1 /*+ hint */",
    "a = 1 # b",
    "a = 'x' -- '",
    r"a = r'\' OR reflect('x', 'y') = 'z'",
    "a = $$x$$",
    "a = 'x",
    'a = "x',
    "a = `x",
    "a = b'1'",
    "a = N'x'",
    "a = https://evil.example/x",
    "ａ = 1",
    "ſelect = 1",
    "a\u200b = 1",
    "a\x00 = 1",
    "a\x85= 1",
    "a = '\ud800'",
    "\ufeffa = 1",
    # nonsense
    ")",
    "((",
    "a AND",
    "AND a",
    "a OR OR b",
    "a b",
    "a,b",
    "a AS b",
    "a = 1,",
    "a..b = 1",
    "a.b.",
    "a[",
    "a[] = 1",
    "CASE",
    "CASE WHEN",
    "CAST(a)",
    "CAST(a AS)",
    "CAST(a AS array<int) = 1",
    "a::",
    "a NOT",
    "NOT",
    "!",
    "-",
    "a LIKE",
    "a IN",
    "a IN (1,)",
    "a IS",
    "a IS DISTINCT 5",
    "lower(",
    "lower(a,)",
    "->",
    "a = INTERVAL 5",
    "xor xor xor xor",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_rejected(text: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse_rule(text)
    str(caught.value).encode()  # can be printed and logged


DEEP = {
    "brackets": "(" * 100_000 + "a" + ")" * 100_000,
    "open brackets": "(" * 100_000,
    "not": "NOT " * 100_000 + "a",
    "bang": "!" * 100_000 + "a",
    "minus": "- " * 100_000 + "a = 1",
    "case": "CASE WHEN " * 50_000,
    "functions": "lower(" * 100_000 + "a" + ")" * 100_000,
    "index": "a[" * 100_000,
    "lambda": "exists(xs, " + "x -> " * 100_000 + "x)",
    "arrays": "array<" * 100_000,
    "type": "CAST(a AS " + "array<" * 100_000 + "int" + ">" * 100_000 + ") IS NULL",
    "sum": " + ".join(["a"] * 100_000) + " > 1",
    "fields": ".".join(["a"] * 100_000) + " > 1",
    "casts": "a" + "::int" * 100_000 + " > 1",
    "comparisons": " = ".join(["a"] * 100_000),
    "conditions in a function": "if(" + " OR ".join(["a"] * 100_000) + ", 1, 2) = 1",
    "quotes": "a = " + "'" * 99_999,
    "backticks": "`" * 99_999,
    "digits": "9" * 500_000 + "x.",
    "decimals": "1." * 100_000,
    "xor": " XOR ".join(["a"] * 100_000),
    "too long": "a = 1 OR " * 200_000 + "a",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_deep_or_long_texts_are_rejected_quickly(text: str) -> None:
    start = time.perf_counter()
    with pytest.raises(RuleError):
        parse_rule(text)
    assert time.perf_counter() - start < 5


def test_depth_up_to_the_limit_is_fine() -> None:
    assert str(parse_rule("(" * 64 + "a" + ")" * 64)) == "a is true"
    assert str(parse_rule("NOT (" * 32 + "a" + ")" * 32)) == "a is true"
    nested = "abs(" * 64 + "a" + ")" * 64
    assert str(parse_rule(f"{nested} > 1")) == f"{nested} > 1"
    with pytest.raises(RuleError, match="64 levels"):
        parse_rule("(" * 65 + "a" + ")" * 65)


def test_a_deployment_can_narrow_the_functions() -> None:
    with pytest.raises(RuleError, match="not allowed"):
        parse_rule("rlike(a, 'x')", policy=Policy(denied_functions={"RLIKE"}))
    with pytest.raises(RuleError, match="not allowed"):
        parse_rule("upper(a) = 'x'", policy=Policy(functions={"lower"}))


def test_a_deployment_can_add_functions() -> None:
    assert str(parse_rule("My_Udf(a) > 0.5", policy=Policy(extra_functions={"my_udf"}))) == "My_Udf(a) > 0.5"
    assert str(parse_rule("db.f(a) > 1", policy=Policy(extra_functions={"db.f"}))) == "db.f(a) > 1"
