from __future__ import annotations

import pytest
from hypothesis import given, settings

from sparkrules.logic.attribute_type import Enumeration
from sparkrules.logic.relations import (
    Answer,
    contradiction,
    covers,
    disjoint,
    equivalent,
    redundancies,
    tautology,
)
from sparkrules.sql import parse_rule
from sparkrules.sql.tree import Junction, Node
from tests.logic import small_worlds as world


def answer(is_so: bool) -> Answer:
    return "yes" if is_so else "no"


@settings(max_examples=120, deadline=None)
@given(world.trees(world.decided), world.trees(world.decided))
def test_all_relations_are_those_of_brute_force_in_a_finite_world(a: Node, b: Node) -> None:
    rows_a, rows_b = world.true_rows(a), world.true_rows(b)
    assert covers(a, b, world.TYPES) == answer(rows_a >= rows_b)
    assert equivalent(a, b, world.TYPES) == answer(rows_a == rows_b)
    assert disjoint(a, b, world.TYPES) == answer(not rows_a & rows_b)
    assert contradiction(a, world.TYPES) == answer(not rows_a)
    assert tautology(a, world.TYPES) == answer(len(rows_a) == len(world.ROWS))


@settings(max_examples=120, deadline=None)
@given(world.trees(world.texts), world.trees(world.texts))
def test_no_answer_about_texts_is_wrong(a: Node, b: Node) -> None:
    rows_a, rows_b = world.true_rows(a, world.TEXT_ROWS), world.true_rows(b, world.TEXT_ROWS)
    # Where brute force finds a counterexample, the answer is not yes.
    assert rows_a >= rows_b or covers(a, b) != "yes"
    assert not rows_a & rows_b or disjoint(a, b) != "yes"
    assert not rows_a or contradiction(a) != "yes"
    assert len(rows_a) == len(world.TEXT_ROWS) or tautology(a) != "yes"


@settings(max_examples=100, deadline=None)
@given(world.trees(world.decided))
def test_without_its_redundant_parts_a_rule_matches_the_same(tree: Node) -> None:
    parts = {id(found.part) for found in redundancies(tree, world.TYPES)}
    assert world.true_rows(_without(tree, parts)) == world.true_rows(tree)


@settings(max_examples=80, deadline=None)
@given(world.trees(world.texts))
def test_nor_do_texts_match_otherwise(tree: Node) -> None:
    parts = {id(found.part) for found in redundancies(tree)}
    assert world.true_rows(_without(tree, parts), world.TEXT_ROWS) == world.true_rows(tree, world.TEXT_ROWS)


def _without(tree: Node, parts: set[int]) -> Node:
    if not isinstance(tree, Junction):
        return tree
    return Junction(tree.operator, tuple(_without(child, parts) for child in tree.children if id(child) not in parts))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("a > 3", "a > 5", "yes"),
        ("a >= 3", "a > 3", "yes"),
        ("a > 3", "a >= 3", "no"),
        ("a IS NOT NULL", "a > 3", "yes"),
        ("a > 3 OR a <= 3", "a IS NOT NULL", "yes"),
        ("a > 3 OR a <= 3", "true", "no"),
        ("a > 3", "a = 3.5 OR a = 7", "yes"),
        ("a LIKE 'ab%'", "a = 'abc'", "yes"),
        ("contains(a, 'b')", "a LIKE 'abc%'", "yes"),
        ("contains(a, 'b')", "a LIKE '%abc'", "yes"),
        ("a LIKE '%b%'", "contains(a, 'abc')", "yes"),
        ("contains(a, 'abc')", "contains(a, 'b')", "unknown"),
        ("endswith(a, 'exe')", "endswith(a, '.exe')", "yes"),
        ("a RLIKE 'x'", "a RLIKE 'x' AND b = 1", "yes"),
        # A regular expression that Java refuses is neither true nor false.
        ("a RLIKE 'x' OR a NOT RLIKE 'x'", "a IS NOT NULL", "unknown"),
        ("contains(a, 'x') OR NOT contains(a, 'x')", "a IS NOT NULL", "yes"),
        # A cast that fails leaves a comparison unknown.
        ("a = '5' OR a <> '5' OR a = 5", "a IS NOT NULL", "unknown"),
        # A derived attribute that cannot be computed is not even NULL.
        ("1 / a > 0 OR 1 / a <= 0 OR 1 / a IS NULL", "true", "unknown"),
        ("lower(a) = 'x'", "lower(a) = lower('X') AND b", "yes"),
        ("(a > 1) XOR (b > 1)", "a > 1 AND b <= 1", "yes"),
    ],
)
def test_covering(a: str, b: str, expected: Answer) -> None:
    assert covers(parse_rule(a), parse_rule(b)) == expected


def test_an_enumeration_makes_tautologies() -> None:
    types = {"state": Enumeration("new", "used", nullable=False)}
    assert tautology(parse_rule("state = 'new' OR state = 'used'"), types) == "yes"
    assert tautology(parse_rule("state = 'new' OR state = 'used'")) == "no"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a > 5 AND a > 3", ["a > 3 AND: follows from the rest"]),
        ("a > 5 OR a > 3", ["a > 5 OR: covered by the rest"]),
        ("a > 5 AND a IS NOT NULL", ["a is not null AND: follows from the rest"]),
        ("a = 1 AND (b = 2 OR a = 3)", ["a = 3 OR: never true here"]),
        ("a = 1 AND (b = 2 OR a < 3)", ["b = 2 or a < 3 AND: follows from the rest"]),
        ("a IN (1, 2) OR a = 2 OR b = 1", ["a = 2 OR: covered by the rest"]),
        ("contains(a, 'xyz') OR contains(a, 'y')", ["a contains 'xyz' OR: covered by the rest"]),
        ("a > 5 AND b > 3", []),
        ("a > 5 AND a < 9", []),
        ("a > 5 OR a < 9", []),
    ],
)
def test_redundant_parts(text: str, expected: list[str]) -> None:
    assert [str(part) for part in redundancies(parse_rule(text))] == expected
