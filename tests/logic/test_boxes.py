"""Boxes say `yes`, `no` and `certain` only where brute force and the search do, for all nodes at once."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from sparkrules.index.builder import trees_forest
from sparkrules.index.forest import Forest
from sparkrules.logic.boxes import Boxes, Overlap
from sparkrules.logic.regions import Regions
from sparkrules.logic.satisfiable import formula, satisfiable
from sparkrules.sql import parse_rule
from sparkrules.sql.tree import Node, distinct_predicates
from tests.index.index_oracle import is_true
from tests.logic import small_worlds as world


def overlap(trees: list[Node], given: Node, types: object = None) -> tuple[Forest, Regions, Overlap]:
    forest = trees_forest({str(number): tree for number, tree in enumerate(trees)})
    regions = Regions([*forest.all_predicates(), *distinct_predicates(given)], types)  # type: ignore[arg-type]
    return forest, regions, Boxes(forest, regions).overlap(given)


@given(st.lists(world.trees(world.decided), min_size=1, max_size=6), world.trees(world.decided))
@settings(max_examples=300, deadline=None)
def test_codes_decide_as_brute_force_does(trees: list[Node], given: Node) -> None:
    forest, _, found = overlap(trees, given, world.TYPES)
    rows = [row for row in world.ROWS if is_true(given, row)]
    for tree, node in zip(trees, forest.roots.tolist(), strict=True):
        overlaps = any(is_true(tree, row) for row in rows)
        assert not (found.yes[node] and not overlaps), (str(tree), str(given))
        assert not (found.no[node] and overlaps), (str(tree), str(given))
        assert found.yes[node] or not found.certain[node]


@given(st.lists(world.trees(world.texts), min_size=1, max_size=6), world.trees(world.texts))
@settings(max_examples=300, deadline=None)
def test_patterns_are_left_to_the_search(trees: list[Node], given: Node) -> None:
    forest, regions, found = overlap(trees, given)
    for node in forest.roots.tolist():
        searched = satisfiable([formula(forest.tree(node), regions), formula(given, regions)], regions)
        assert not (found.yes[node] and not searched.holds)
        assert not (found.no[node] and searched.holds)


def test_what_is_answered_at_once() -> None:
    """Most rules are, and exactly: one attribute twice, NULL, lists, an OR, fields, derived attributes."""
    attributes = {
        "yes": ["a > 5 AND a < 9 AND b = 1", "b IS NULL OR a = 7", "a IN (1, 7, 9)", "c = 2", "a >= 7 AND a <= 7"],
        "no": ["a > 8 AND a < 8", "a < 6 AND c = 1", "a IS NULL", "a = 7 AND a = 8", "(a = 1 OR a = 2) AND b = 1"],
        "uncertain": ["length(d) = 1 AND a = 7", "s.x = 1 AND s.y = 2"],
        "searched": ["a <> 7 AND a <> 8", "(a = 7 OR b = 1) AND (a = 8 OR c = 1)", "contains(d, 'x')"],
    }
    texts = [text for group in attributes.values() for text in group]
    forest, _, found = overlap([parse_rule(text) for text in texts], parse_rule("a > 6 AND a < 8"))
    answer = {
        text: "no"
        if found.no[node]
        else "searched"
        if not found.yes[node]
        else "yes"
        if found.certain[node]
        else "uncertain"
        for text, node in zip(texts, forest.roots.tolist(), strict=True)
    }
    assert answer == {text: kind for kind, group in attributes.items() for text in group}


def test_more_attributes_than_bits() -> None:
    """Attributes that share a bit make a rule one to be searched, never a wrong answer."""
    count = 300
    texts = [f"a{i} = 1 AND a{j} = 2" for i, j in product(range(0, count, 7), (0, 44, 256, 299)) if i != j]
    texts += [f"a{i} = 1" for i in range(count)]
    forest, regions, found = overlap([parse_rule(text) for text in texts], parse_rule("a0 = 1 AND a256 = 2"))
    given = formula(parse_rule("a0 = 1 AND a256 = 2"), regions)
    for node in forest.roots.tolist():
        searched = satisfiable([formula(forest.tree(node), regions), given], regions)
        assert found.yes[node] <= searched.holds <= (not found.no[node])
        assert found.certain[node] <= searched.certain
    assert found.yes[forest.roots].sum() > 300


def test_a_condition_with_many_ways_to_be_true_is_searched() -> None:
    given = parse_rule(" AND ".join(f"(a{i} = 1 OR b{i} = 1)" for i in range(10)))
    forest, _, found = overlap([parse_rule("a1 = 5 AND b1 = 5")], given)
    assert not found.yes[forest.roots[0]]
    assert not found.no[forest.roots[0]]


def test_a_condition_that_is_never_true_overlaps_nothing() -> None:
    forest, _, found = overlap([parse_rule("a = 1 OR b = 2")], parse_rule("a > 5 AND a < 5"))
    assert found.no[forest.roots].all()
