"""Malicious or mistyped texts are rejected with `RuleError` and nothing else."""

from __future__ import annotations

import pytest

from sparkrules.sql import Policy, RuleError, parse_rule
from tests.sql.hostile_texts import HOSTILE


@pytest.mark.parametrize(("reason", "text"), [(reason, text) for reason, texts in HOSTILE.items() for text in texts])
def test_rejected_with_the_reason(reason: str, text: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse_rule(text)
    assert caught.value.reason == reason
    str(caught.value).encode()  # can be printed and logged


def test_there_are_many() -> None:
    texts = [text for texts in HOSTILE.values() for text in texts]
    assert len(texts) == len(set(texts)) > 300


def test_the_key_of_parse_url_is_a_name_and_not_a_pattern() -> None:
    assert str(parse_rule("parse_url(u, 'QUERY', 'utm_source') = 'x'")).startswith("parse_url")
    for key in ("'(a+)+'", "k", "concat('a', 'b')", "r'a'", "'a' 'b'"):
        with pytest.raises(RuleError, match="not a plain name"):
            parse_rule(f"parse_url(u, 'QUERY', {key}) = 'x'")


def test_texts_that_only_look_hostile() -> None:
    """Anything in a string or in backticks is data."""
    for text in ("s = '; DROP TABLE t'", "s = '-- x'", "s = '/* x */'", "s = '(SELECT 1)'", "s = '${env:HOME}'"):
        assert str(parse_rule(text)) == text
    assert str(parse_rule("`a; DROP TABLE t` = 1")) == "`a; DROP TABLE t` = 1"
    assert str(parse_rule("`reflect` = 1")) == "`reflect` = 1"
    assert str(parse_rule("get_json_object(s, '$.a') = 'x'")) == "get_json_object(s, '$.a') = 'x'"


def test_a_deployment_can_narrow_the_functions() -> None:
    with pytest.raises(RuleError, match="not allowed"):
        parse_rule("rlike(a, 'x')", policy=Policy(denied_functions={"RLIKE"}))
    with pytest.raises(RuleError, match="not allowed"):
        parse_rule("upper(a) = 'x'", policy=Policy(functions={"lower"}))


def test_a_deployment_can_add_functions() -> None:
    assert str(parse_rule("My_Udf(a) > 0.5", policy=Policy(extra_functions={"my_udf"}))) == "My_Udf(a) > 0.5"
    assert str(parse_rule("db.f(a) > 1", policy=Policy(extra_functions={"db.f"}))) == "db.f(a) > 1"
