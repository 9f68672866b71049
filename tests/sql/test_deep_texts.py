"""Deeply nested or long texts: the work is proportional to their length, and too deep a text is rejected."""

from __future__ import annotations

from contextlib import suppress

import pytest

from sparkrules.sql import RuleError, parse_rule
from sparkrules.sql.functions import SCALAR_FUNCTIONS
from tests.counted import calls, growth

DEEP = {
    "brackets": "(" * 30_000 + "a" + ")" * 30_000,
    "open brackets": "(" * 30_000,
    "not": "NOT " * 30_000 + "a",
    "bang": "!" * 30_000 + "a",
    "minus": "- " * 30_000 + "a = 1",
    "case": "CASE WHEN " * 30_000,
    "functions": "lower(" * 30_000 + "a" + ")" * 30_000,
    "index": "a[" * 30_000,
    "lambda": "exists(xs, " + "x -> " * 30_000 + "x)",
    "arrays": "array<" * 30_000,
    "type": "CAST(a AS " + "array<" * 30_000 + "int" + ">" * 30_000 + ") IS NULL",
    "sum": " + ".join(["a"] * 30_000) + " > 1",
    "fields": ".".join(["a"] * 30_000) + " > 1",
    "casts": "a" + "::int" * 30_000 + " > 1",
    "comparisons": " = ".join(["a"] * 30_000),
    "conditions in a function": "if(" + " OR ".join(["a"] * 30_000) + ", 1, 2) = 1",
    "quotes": "a = " + "'" * 29_999,
    "backticks": "`" * 29_999,
    "digits": "9" * 500_000 + "x.",
    "decimals": "1." * 30_000,
    "xor": " XOR ".join(["a"] * 30_000),
    "too long": "a = 1 OR " * 200_000 + "a",
}


@pytest.mark.timeout(300, method="thread")
@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_deep_or_long_texts_are_rejected_with_little_work(text: str) -> None:
    def rejected() -> None:
        with pytest.raises(RuleError):
            parse_rule(text)

    assert calls(rejected) < 20 * len(text)


def test_depth_up_to_the_limit_is_fine() -> None:
    assert str(parse_rule("(" * 64 + "a" + ")" * 64)) == "a is true"
    assert str(parse_rule("NOT (" * 32 + "a" + ")" * 32)) == "a is true"
    nested = "abs(" * 64 + "a" + ")" * 64
    assert str(parse_rule(f"{nested} > 1")) == f"{nested} > 1"
    with pytest.raises(RuleError, match="64 levels"):
        parse_rule("(" * 65 + "a" + ")" * 65)


@pytest.mark.timeout(300, method="thread")
@pytest.mark.parametrize("call", ["{}(", "{}(1, "])
def test_no_function_makes_nesting_expensive(call: str) -> None:
    """sqlglot parses a name that is also a type, like `date(...)`, in two ways: 2**30 of them when nested."""

    def parsed(name: str, depth: int) -> None:
        with suppress(RuleError):
            parse_rule(call.format(name) * depth + "a" + ")" * depth + " IS NULL")

    times = {name: growth(lambda depth, name=name: parsed(name, depth), 15) for name in sorted(SCALAR_FUNCTIONS)}
    assert {name: more for name, more in times.items() if more > 3} == {}
