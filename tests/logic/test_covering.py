from __future__ import annotations

import random
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkrules.logic.canonical import canonical
from sparkrules.logic.covering import Coverings
from sparkrules.logic.regions import Regions
from sparkrules.logic.relations import contradiction, covers
from sparkrules.logic.satisfiable import formula
from sparkrules.sql import parse_rule
from sparkrules.sql.tree import Node
from tests.logic import small_worlds as world


@settings(max_examples=100, deadline=None)
@given(st.lists(world.trees(world.decided), min_size=2, max_size=6))
def test_the_pairs_are_those_of_brute_force(trees: list[Node]) -> None:
    rows = [world.true_rows(tree) for tree in trees]
    expected = {
        (a, b) for a, of_a in enumerate(rows) for b, of_b in enumerate(rows) if a != b and of_b and of_a >= of_b
    }
    found = Coverings(trees, world.TYPES)
    assert set(found.pairs(each=len(trees))) == expected
    assert not found.is_bounded


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(world.trees(world.decided), world.trees(world.texts)), min_size=2, max_size=6))
def test_many_attributes_are_kept_in_another_way_with_the_same_answer(trees: list[Node]) -> None:
    usual = Coverings(trees)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sparkrules.logic.covering._MOST_CODES", -1)
        sparse = Coverings(trees)
    assert list(usual.pairs(each=9)) == list(sparse.pairs(each=9))
    for a, b in permutations(range(len(trees)), 2):
        assert usual.may_cover(a, b) == sparse.may_cover(a, b)
        assert usual.may_cover(a, b) or covers(trees[a], trees[b]) != "yes" or contradiction(trees[b]) == "yes"


@settings(max_examples=100, deadline=None)
@given(st.lists(world.trees(world.texts), min_size=2, max_size=5))
def test_every_pair_that_can_be_proved_is_found(trees: list[Node]) -> None:
    regions = Regions.of_trees(*trees)
    expected = {
        (a, b)
        for a, tree_a in enumerate(trees)
        for b, tree_b in enumerate(trees)
        if a != b and covers(tree_a, tree_b) == "yes" and contradiction(tree_b) != "yes"
    }
    assert set(Coverings(trees, regions=regions).pairs(each=len(trees))) >= expected


@settings(max_examples=80, deadline=None)
@given(st.lists(world.trees(world.decided), min_size=2, max_size=6))
def test_every_covered_rule_has_a_cover(trees: list[Node]) -> None:
    everyone = set(Coverings(trees, world.TYPES).pairs(each=len(trees)))
    single = list(Coverings(trees, world.TYPES).pairs())
    assert set(single) <= everyone
    assert sorted(b for _, b in single) == sorted({b for _, b in everyone})


@settings(max_examples=100, deadline=None)
@given(world.trees(world.decided), world.trees(world.decided))
def test_equal_canonical_forms_are_equivalent(a: Node, b: Node) -> None:
    regions = Regions.of_trees(a, b, types=world.TYPES)
    if canonical(formula(a, regions)) == canonical(formula(b, regions)):
        assert world.true_rows(a) == world.true_rows(b)


@settings(max_examples=100, deadline=None)
@given(world.trees(world.texts), world.trees(world.texts))
def test_equal_forms_of_texts_are_equivalent(a: Node, b: Node) -> None:
    regions = Regions.of_trees(a, b)
    if canonical(formula(a, regions)) == canonical(formula(b, regions)):
        assert world.true_rows(a, world.TEXT_ROWS) == world.true_rows(b, world.TEXT_ROWS)


def test_thousands_of_rules_need_thousands_of_tests_and_not_millions() -> None:
    draw = random.Random(1)
    texts = [
        f"title = 'T{draw.randrange(200)}' AND (price < {draw.randrange(99)} AND used OR "
        f"price < {draw.randrange(99)} AND NOT used) AND ending < {draw.randrange(1, 4)}"
        for _ in range(2_000)
    ]
    trees = [parse_rule(text) for text in texts]
    found = Coverings(trees)
    pairs = list(found.pairs())
    assert found.checked < 3 * len(trees)
    assert len(pairs) > 500
    for a, b in draw.sample(pairs, 50):
        assert covers(trees[a], trees[b]) == "yes"
    covered = {b for _, b in pairs}
    for b in draw.sample(sorted(set(range(len(trees))) - covered), 10):
        title = texts[b].split("'")[1]
        same = [a for a, text in enumerate(texts) if f"'{title}'" in text and a != b]
        assert all(covers(trees[a], trees[b]) != "yes" for a in same)


def test_a_pattern_of_single_characters_covers_a_constant() -> None:
    trees = [parse_rule(text) for text in ("t LIKE '_'", "t IN ('x', 'y')", "t LIKE '_x%'", "t = 'ax'", "t = 'x'")]
    assert set(Coverings(trees).pairs(each=9)) == {(0, 1), (0, 4), (2, 3), (1, 4)}
