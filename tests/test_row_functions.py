"""Rules with row functions from the user's side: explained, drawn, linted and stored as they are written."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkrules import Policy, RuleSet
from sparkrules.index import to_tables
from sparkrules.rules.advertised import Advertisement
from sparkrules.sql import parse_rule, spark_sql

COUNT = "at_least(2, a > 1, b = 2, c < 3)"
ROWS = pa.table({"a": [5, 5, None, 0], "b": [2, 0, 2, 0], "c": [9, 9, 1, None]})


def rules(**texts: str) -> RuleSet:
    made = RuleSet("alerts")
    for id, text in texts.items():
        made.subscribe(id, text)
    return made


def test_an_explanation_shows_the_count_and_what_it_counts() -> None:
    made = rules(two=COUNT, few=f"NOT {COUNT} OR at_most(1, a > 1, c < 3)", other="a > 1 AND b = 2")
    assert str(made.explain({"a": 5, "b": 0, "c": 1}, ids=["two"])[0]) == (
        "two matches\n  ✓ at_least(2, ...)\n    ✓ a > 1\n    ✗ b = 2\n    ✓ c < 3"
    )
    assert str(made.explain({"a": 5, "b": 0, "c": None}, ids=["few"])[0]).splitlines() == [
        "few does not match",
        "  ✗ or",
        "    ✗ NOT at_least(2, ...): at least 2 of",
        "      ✗ a <= 1",
        "      ✓ b <> 2",
        "      ✗ c >= 3",
        "    ✗ at_most(1, ...): at least 1 of",
        "      ✗ a <= 1",
        "      ✗ c >= 3",
    ]
    assert "✓ and" in str(made.explain({"a": 5, "b": 2, "c": 1}, ids=["other"])[0])


@given(st.lists(st.fixed_dictionaries({name: st.sampled_from([None, 0, 1, 2, 3]) for name in "abc"}), min_size=1))
def test_an_explanation_agrees_with_the_matcher(rows: list[dict[str, int | None]]) -> None:
    made = rules(
        two=COUNT,
        one=f"exactly(1, {COUNT}, NOT b = 2, a BETWEEN 1 AND 2) AND (c > 0 OR at_most(2, a = 1, b = 2, c = 3))",
        sums="at_least(1, a = 3, min(matched(a > 0), matched(b > 0)) = 1)",
    )
    schema = pa.schema([(name, pa.int64()) for name in "abc"])
    found = made.match(pa.Table.from_pylist(rows, schema), unsupported="skip")
    for row, ids in zip(rows, found.ids.to_pylist(), strict=True):
        explained = {own.id for own in made.explain(row, ids=["one", "two"]) if own.matched}
        assert explained == set(ids) - {"sums"}, row


def test_a_drawing_has_a_box_for_the_count() -> None:
    made = rules(two=f"{COUNT} AND d")
    for svg in (made.draw("two").svg, made.draw("two", {"a": 5, "b": 2, "c": 1, "d": True}).svg):
        assert svg.count("at_least(2, ...)</text>") == 1
        assert svg.count("<rect") == 1 + 6, "the picture, the AND, the count and four predicates"


def test_a_stored_rule_is_explained_as_it_was_written(tmp_path: Path) -> None:
    made = rules(two=COUNT)
    made.store = tmp_path
    made.publish()
    loaded = RuleSet.load("alerts", tmp_path)
    assert loaded.subscriptions["two"].where == COUNT
    assert loaded.subscriptions["two"].sql == spark_sql(COUNT)
    assert "✓ at_least(2, ...)" in str(loaded.explain({"a": 5, "b": 2, "c": 1})[0])
    assert loaded.match(ROWS).ids.to_pylist() == [["two"], [], ["two"], []]


def test_all_at_once_is_the_same_as_one_by_one() -> None:
    texts = {
        f"r{n}": f"at_least({1 + n % 3}, a > {n % 5}, b = {n % 4}, a > {n % 6}, matched(c > {n % 7}) * 2 < {n}) OR d"
        for n in range(200)
    }
    together, single = RuleSet("alerts"), RuleSet("alerts")
    assert together.subscribe_all(texts) == 200
    for id, text in texts.items():
        single.subscribe(id, text)
    assert to_tables(together._segment) == to_tables(single._segment)
    assert [rule.sql for rule in together] == [spark_sql(texts[rule.id]) for rule in together]


class TestLint:
    def test_a_part_that_nobody_wrote_is_no_finding(self) -> None:
        assert list(rules(two="at_least(2, a > 5, a > 3, a < 0, b = 1, matched(c > 1) < 5)").lint()) == []

    def test_what_is_never_true_is_found(self) -> None:
        (never,) = rules(two="at_least(2, a > 5 AND a < 3, b = 1, c)").lint()
        assert (never.kind, never.message) == (
            "impossible predicate",
            "never true: `a > 5` and `a < 3` exclude each other",
        )
        assert [(place.column, place.fragment) for place in never.places] == [(13, "a > 5"), (23, "a < 3")]
        (never,) = rules(two="at_least(2, a > 5, a < 3, a = 4)").lint()
        assert (never.kind, never.message) == ("contradiction", "never true")
        assert [finding.kind for finding in rules(two="matched(a > 5) < 3").lint()] == ["contradiction"]

    def test_what_is_always_true_is_found(self) -> None:
        (always,) = rules(one="at_least(1, a IS NULL, a IS NOT NULL, b)").lint()
        assert always.kind == "tautology"

    def test_rules_that_count_the_same_are_equivalent(self) -> None:
        found = rules(a=COUNT, b="NOT at_most(1, c < 3, b = 2, a > 1)", c="exactly(3, a > 1, b = 2, c < 3)").lint()
        assert sorted((finding.kind, finding.ids) for finding in found) == [
            ("covered", ("c", "a")),
            ("equivalent", ("b", "a")),
        ]

    def test_places_are_those_of_the_text(self) -> None:
        found = rules(a="x AND\n  at_most(1, a RLIKE 'x', b) AND matched(s RLIKE 'y') < 'z'").lint()
        places = [(place.line, place.column, place.fragment) for finding in found for place in finding.places]
        assert places == [(2, 14, "a RLIKE 'x'"), (2, 42, "s RLIKE 'y'")]


def test_an_advertisement_may_count() -> None:
    made = rules(both="a > 1 AND b = 2", none="a = 0 AND b = 0")
    made.advertise("source", COUNT.replace("c < 3", "b > 1"))
    assert Advertisement.parsed("source", COUNT).sql == spark_sql(COUNT)
    assert set(made.advertisements.overlapping("source")) == {"both"}


def test_other_dialects_count_as_well() -> None:
    text = "AT_LEAST(2, a ~ 'x', b = 1, matched(c > 1) < 5)"
    spark_count = "at_least(2, a RLIKE '(?s)x', b = 1, matched(c > 1) < 5)"
    assert parse_rule(text, dialect="postgres") == parse_rule(spark_count)
    assert spark_sql(text, dialect="postgres") == spark_sql(spark_count)
    made = RuleSet("alerts", dialect="postgres")
    made.subscribe("two", text)
    assert made.subscriptions["two"].sql == spark_sql(spark_count)
    assert made.lint() is not None


def test_a_function_of_the_same_name_stays_one() -> None:
    made = RuleSet("alerts", policy=Policy(extra_functions={"at_least"}))
    made.subscribe("own", "at_least(2, a > 1, b)")
    assert made.subscriptions["own"].sql is None
    assert str(made.subscriptions["own"].tree) == "at_least(2, a > 1, b) is true"
    assert [finding.kind for finding in made.lint()] == ["costly"]


@pytest.mark.parametrize("size", [24, 60])
def test_a_large_count_takes_no_time(size: int) -> None:
    conditions = ", ".join(f"c{i} > {i}" for i in range(size))
    made = rules(many=f"at_least({size // 2}, {conditions})", few=f"at_most({size // 2}, {conditions}) OR z = 1")
    table = pa.table({f"c{i}": pa.array([0, 100, None], pa.int32()) for i in range(size)} | {"z": [0, 0, 0]})
    assert made.match(table).ids.to_pylist() == [["few"], ["many"], []]
    assert [own.matched for own in made.explain(table.to_pylist()[1])] == [False, True]
    assert len(str(made.sharing())) < 30_000
    assert len(str(made.subscriptions["many"].tree)) < 1_100_000
    assert list(made.lint()) == []
