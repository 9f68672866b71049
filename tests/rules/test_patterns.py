"""Defining patterns: what is accepted, how it reads, and what the errors say."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkrules import DuplicateId, Policy, RuleError, RuleSet, RuleSetError, UnknownId
from sparkrules.patterns import span_of, span_words


@pytest.fixture
def rules() -> RuleSet:
    return RuleSet("alerts")


class TestSpans:
    @pytest.mark.parametrize(
        ("text", "size"),
        [
            ("10 minutes", 600_000_000),
            ("1 hour 30 minutes", 5_400_000_000),
            ("1h30m", 5_400_000_000),
            ("90s", 90_000_000),
            ("500 ms", 500_000),
            ("7us", 7),
            ("7 µs", 7),
            ("1 MINUTE", 60_000_000),
            ("1.5 hours", 5_400_000_000),
            ("1 d, 2 h", 93_600_000_000),
            ("2 weeks", 1_209_600_000_000),
            (" 1 w ", 604_800_000_000),
            ("0 s", 0),
        ],
    )
    def test_texts(self, text: str, size: int) -> None:
        assert span_of(text) == size

    @pytest.mark.parametrize(
        ("value", "reason"),
        [
            ("1 month", "a month has no fixed length. Write days"),
            ("2 years", "a year has no fixed length"),
            ("1 quarter", "a quarter has no fixed length"),
            ("5 M", "minutes or months"),
            ("600", "it has no unit"),
            ("1.5", "it has no unit"),
            ("", "not a span of time"),
            ("ten minutes", "not a span of time"),
            ("-5 minutes", "not a span of time"),
            ("5 minutes ago", "not a span of time"),
            ("5 fortnights", "'fortnights' is not a unit"),
            ("0.1 us", "not a whole number of microseconds"),
            ("1000001 days", "not between 0 and 1,000,000 days"),
            (timedelta(seconds=-1), "not between 0"),
            (600, "is a span of time, not 600"),
            (None, "is a span of time, not None"),
        ],
    )
    def test_what_is_none(self, value: Any, reason: str) -> None:
        with pytest.raises(RuleSetError, match=reason):
            span_of(value)

    @given(st.integers(0, 10**12))
    def test_words_are_read_again(self, size: int) -> None:
        assert span_of(span_words(size).replace(",", "")) == size
        assert span_of(timedelta(microseconds=size)) == size


class TestWords:
    def test_sequence(self, rules: RuleSet) -> None:
        rules.sequence("breach", ["failed login", "new admin"], by=["user"], within="10 minutes")
        rules.sequence(
            "slow", [["a", "b"], {"where": "c > 3"}, 7], within=timedelta(hours=1), after="1 s", overlapping=True
        )
        assert str(rules.patterns["breach"]) == "failed login, then new admin, by user, within 10 minutes"
        assert str(rules.patterns["slow"]) == (
            "a or b, then (c > 3), then 7, within 1 hour, at least 1 second apart, overlapping"
        )

    def test_together(self, rules: RuleSet) -> None:
        rules.together("odd", ["a", "b", "c"], by="host, user", within="5 minutes", suppress="1 d")
        assert str(rules.patterns["odd"]) == (
            "a, b and c together, by host and user, within 5 minutes, at most once in 1 day"
        )

    def test_count(self, rules: RuleSet) -> None:
        rules.count("many", "a", within="5 minutes", at_least=1_000)
        rules.count("one", ["a", "b"], within="5 minutes", at_least=1)
        rules.count("ips", "a", within="5 minutes", at_least=10, distinct="ip")
        assert [str(own) for own in rules.patterns.values()] == [
            "a 1,000 times, within 5 minutes",
            "a or b once, within 5 minutes",
            "a with 10 different values of ip, within 5 minutes",
        ]

    def test_absence(self, rules: RuleSet) -> None:
        rules.absence("silent", after="started", without="heartbeat", by=["host"], within="1 hour")
        assert str(rules.patterns["silent"]) == "started without heartbeat, by host, within 1 hour"

    def test_options_of_rules(self, rules: RuleSet) -> None:
        rules.subscribe("hot", "t > 30", on_change=["sensor"])
        rules.subscribe("noisy", "t > 3", suppress="1 hour", by=["user", "host"])
        rules.subscribe("both", "t > 3", on_change="sensor", suppress="1 hour")
        rules.subscribe("all", "t > 3", on_change=[])
        rules.subscribe("plain", "t > 3")
        assert [str(own) for own in rules.patterns.values()] == [
            "hot becomes true, by sensor",
            "noisy, by user and host, at most once in 1 hour",
            "both becomes true, by sensor, at most once in 1 hour",
            "all becomes true",
        ]
        assert len(rules) == 5


@pytest.mark.parametrize(
    ("define", "reason"),
    [
        (lambda r: r.sequence("x", ["a"], within="1 h"), "a sequence has 2 to 32 steps, not 1"),
        (lambda r: r.sequence("x", ["a"] * 33, within="1 h"), "a sequence has 2 to 32 steps, not 33"),
        (lambda r: r.sequence("x", "a", within="1 h"), "steps must be a list of steps, not the string 'a'"),
        (lambda r: r.sequence("x", ["a", []], within="1 h"), "step 2 is empty"),
        (lambda r: r.sequence("x", ["a", ["b", "b"]], within="1 h"), "step 2 names the same rule twice"),
        (lambda r: r.sequence("x", ["a", None], within="1 h"), "step 2 is the id of a rule"),
        (lambda r: r.sequence("x", ["a", {"when": "b"}], within="1 h"), "step 2 has the field where"),
        (lambda r: r.sequence("x", ["a", {"where": 3}], within="1 h"), "the text of a WHERE expression, not 3"),
        (lambda r: r.sequence("x", ["a", "b"], within="1 h", after="2 h"), r"after \(2 hours\) is longer than within"),
        (lambda r: r.sequence("x", ["a", "b"], within="0 s"), "within is longer than 0"),
        (lambda r: r.sequence("x", ["a", "b"], within=None), "a sequence needs within"),
        (lambda r: r.sequence("x", ["a", "b"], within="1 month"), "pattern 'x': within '1 month': a month has no"),
        (lambda r: r.sequence("x", ["a", "b"], within="1 h", by=["k", "k"]), "by names the column 'k' twice"),
        (lambda r: r.sequence("x", ["a", "b"], within="1 h", by=[f"k{n}" for n in range(17)]), "at most 16 columns"),
        (lambda r: r.sequence("x", ["a", "b"], within="1 h", by=[""]), "'' is none"),
        (lambda r: r.sequence("x", ["a", "b"], within="1 h", by="k,,l"), "'' is none"),
        (lambda r: r.sequence("x", ["a", "b"], within="1 h", by=[3]), "names of columns, and 3 is none"),
        (lambda r: r.sequence("x", ["a", "b"], within="1 h", suppress="0 s"), "suppress is longer than 0"),
        (lambda r: r.sequence("x", ["a", "b"], within="1 h", overlapping="no"), "overlapping must be True or False"),
        (lambda r: r.sequence("x", ["a", "b"], within="1 h", metadata={"a": {1}}), "metadata must be a mapping"),
        (lambda r: r.sequence("", ["a", "b"], within="1 h"), "an id is a non-empty string"),
        (lambda r: r.count("x", "a", within="1 h", at_least=0), "at_least is 1 or more"),
        (lambda r: r.count("x", "a", within="1 h", at_least=10_001), "raise Policy.max_pattern_rows"),
        (lambda r: r.count("x", "a", within="1 h", at_least="many"), "at_least must be an integer"),
        (lambda r: r.count("x", "a", within="1 h", at_least=2, distinct=""), "distinct is the name of a column"),
        (lambda r: r.subscribe("x", "a > 1", by="k"), "rule 'x': by is for a rule with suppress"),
        (lambda r: r.subscribe("x", "a > 1", by="k", on_change="k"), "on_change already names the columns"),
    ],
)
def test_what_is_refused(rules: RuleSet, define: Any, reason: str) -> None:
    with pytest.raises(RuleSetError, match=reason):
        define(rules)
    assert not rules.patterns
    assert not len(rules)


def test_conditions_are_parsed_like_rules() -> None:
    rules = RuleSet("alerts", "postgres", Policy(denied_functions={"lower"}))
    with pytest.raises(RuleError, match=r"pattern 'x': cannot be read as postgres.* at line 1, column 3") as raised:
        rules.count("x", {"where": "a >"}, within="1 h", at_least=2)
    assert raised.value.id == "x"
    with pytest.raises(RuleError, match="this function is not allowed"):
        rules.count("x", {"where": "lower(a) = 'b'"}, within="1 h", at_least=2)
    rules.count("x", {"where": "a ~ 'b'"}, within="1 h", at_least=2)
    assert not len(rules)


def test_an_invalid_rule_with_an_option_is_the_error_of_the_rule(rules: RuleSet) -> None:
    with pytest.raises(RuleError, match=r"rule 'x': expected a value at line 1, column 4: end of the text"):
        rules.subscribe("x", "a >", on_change=["k"])
    assert (len(rules), len(rules.patterns)) == (0, 0)


def test_what_the_policy_accepts_it_accepts_negated() -> None:
    rules = RuleSet("alerts", policy=Policy(max_characters=25, max_depth=3))
    rules.subscribe("x", "(((a > 1000 AND b < 30)))", on_change=["k"])
    assert rules.patterns["x"].steps[1][0].where == "NOT ((((a > 1000 AND b < 30))))"


def test_an_id_is_taken_once(rules: RuleSet) -> None:
    rules.count("x", "a", within="1 h", at_least=2)
    rules.subscribe("x", "a > 1")
    for define in (
        lambda: rules.count("x", "b", within="1 h", at_least=2),
        lambda: rules.sequence("x", ["a", "b"], within="1 h"),
    ):
        with pytest.raises(DuplicateId, match="already has a pattern 'x'"):
            define()
    with pytest.raises(DuplicateId, match="already has a pattern 'x'"):
        rules.subscribe("x", "a > 2", on_change=[])
    rules.subscribe("y", "a > 1", on_change=[])
    with pytest.raises(DuplicateId, match="already has a"):
        rules.subscribe("y", "a > 1", on_change=[])
    rules.unsubscribe("x")
    assert list(rules.patterns) == ["x", "y"]


def test_an_unknown_pattern_is_named_with_the_nearest(rules: RuleSet) -> None:
    rules.count("brute force", "a", within="1 h", at_least=2)
    for ask in (rules.remove_pattern, rules.patterns.__getitem__):
        with pytest.raises(UnknownId, match=r"has no pattern 'brute farce'.*did you mean 'brute force'"):
            ask("brute farce")
    with pytest.raises(UnknownId, match="has no pattern 3"):
        rules.remove_pattern(3)  # type: ignore[arg-type]


def test_the_view_cannot_be_written(rules: RuleSet) -> None:
    rules.count("x", "a", within="1 h", at_least=2)
    with pytest.raises(TypeError):
        rules.patterns["y"] = rules.patterns["x"]  # type: ignore[index]


def test_a_ticket_goes_with_an_option(rules: RuleSet) -> None:
    ticket = rules.subscribe("x", "a > 1", ticket=True, on_change=["k"])
    rules.unsubscribe("x", ticket=ticket)
    assert not rules.patterns


@pytest.mark.parametrize("rows", [0, True, 2.5, 2**31])
def test_the_limit_of_rows_is_a_number(rows: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="max_pattern_rows"):
        Policy(max_pattern_rows=rows)
    assert RuleSet("r", policy=Policy(max_pattern_rows=20_000)).count("x", "a", within="1 h", at_least=20_000) is None
