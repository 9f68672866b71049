"""Compiling many texts together gives the same as parsing and building each of them."""

from __future__ import annotations

import random
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkrules.index.builder import trees_forest
from sparkrules.index.csr import Csr
from sparkrules.index.forest import Forest
from sparkrules.index.merge_forests import merge_forests
from sparkrules.rules.compile import FEWEST_ALIKE, compile_texts
from sparkrules.sql import DEFAULT_POLICY, Policy, RuleError, parse_rule
from sparkrules.sql.template import SEPARATOR, joined, lift
from tests.sql.test_hostile import HOSTILE
from tests.sql.test_parse_rule import GOLDEN


def one_by_one(texts: list[str], policy: Policy = DEFAULT_POLICY) -> tuple[Forest, list[int], dict[int, str]]:
    trees, errors = {}, {}
    for number, text in enumerate(texts):
        try:
            trees[str(number)] = parse_rule(text, policy=policy)
        except RuleError as error:
            errors[number] = str(error)
    return merge_forests([trees_forest(trees)]), [int(number) for number in trees], errors


def assert_same_as_one_by_one(texts: list[str]) -> None:
    expected, accepted, errors = one_by_one(texts)
    done = compile_texts(texts)
    assert {number: str(error) for number, error in done.errors.items()} == errors
    order = np.argsort(done.accepted, kind="stable")
    assert done.accepted[order].tolist() == accepted
    assert done.forest.attributes.tolist() == expected.attributes.tolist()
    assert list(done.forest.constants) == list(expected.constants)
    assert done.forest.roots[order].tolist() == expected.roots.tolist()
    for found, wanted in ((done.forest.predicates, expected.predicates), (done.forest.nodes, expected.nodes)):
        for column in fields(wanted):
            one, other = getattr(found, column.name), getattr(wanted, column.name)
            if isinstance(other, Csr):
                assert one.to_lists() == other.to_lists(), column.name
            else:
                assert one.tolist() == other.tolist(), column.name


# Every place where a literal can stand: where it is a constant of the tree, and where it means more than itself.
SHAPES = [
    "a = {}",
    "a > {} AND b <= {} OR NOT c <> {}",
    "a = -{} OR a = - {} OR a = +{}",
    "a IN ({}, {}, NULL, {}) AND b NOT IN ({})",
    "a BETWEEN {} AND {} AND c NOT BETWEEN {} AND {}",
    "{} < a AND {} >= b",
    "substr(a, {}, {}) = {}",
    "a + {} > b AND a * {} = {}",
    "(a = {} AND b = {}) <> (c > {})",
    "a = {} XOR b = {} XOR c = {}",
    "CASE WHEN a > {} THEN b ELSE {} END = {}",
    "d > DATE '2020-01-01' AND a = {}",
    "d > INTERVAL {} DAY OR a = {}",
    "CAST(a AS DECIMAL(10, 2)) > {}",
    "a LIKE {} OR b RLIKE {} OR c LIKE {} ESCAPE '!'",
    "a[{}] = {} AND m['k'] > {}",
    "`a 5 'x'` = {} AND \"it 's\" = b",
    "a = {} {}",
    "{} = {}",
    "a <=> {} AND b IS DISTINCT FROM {}",
    "a = {} OR a = {} OR a = {}",
    "a = {}e0 AND b = {}L AND c = .{}",
    "a = {} AND",
    "a > {} -- {}",
    "rand({}) > {}",
    "a = r{} AND b = {}",
    "exists(xs, x -> x > {})",
]  # fmt: skip
LITERALS = [
    *["0", "1", "5", "007", "42", "9223372036854775808", "1.5", "0.50", "12345678901234567890.12"],
    *["''", "'x'", "'it''s'", "'a b'", "'5'", "'é'", "'%a_'", "'\u2028'", "'--'", "'`'", "'\"'", "'x' ", "''''"],
    *["'a\\'b'", "'\\\\'", "1e5", "5L", "NULL", "TRUE", "-3", "'\ud800'"],
]  # fmt: skip


def filled(shape: str, pick: random.Random) -> str:
    text = shape
    while "{}" in text:
        text = text.replace("{}", pick.choice(LITERALS), 1)
    return text


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_with_every_literal(shape: str) -> None:
    pick = random.Random(shape)
    assert_same_as_one_by_one([filled(shape, pick) for _ in range(60 * FEWEST_ALIKE)])


def test_good_and_bad_texts_with_other_literals() -> None:
    """The texts of the parser tests, each often enough for a template."""
    pick = random.Random(5)
    texts = []
    for text in [*(text for text, _ in GOLDEN), *(text for group in HOSTILE.values() for text in group)]:
        if SEPARATOR in text or len(text) > 2_000:
            continue
        skeleton, literals = lift(text)
        for _ in range(FEWEST_ALIKE):
            others = [pick.choice(LITERALS) if pick.random() < 0.5 else literal for literal in literals]
            texts.append(joined(skeleton, others))
    pick.shuffle(texts)
    assert_same_as_one_by_one(texts)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_the_texts_does_not_show(shapes: list[str], pick: random.Random) -> None:
    texts = [filled(shape, pick) for shape in shapes for _ in range(FEWEST_ALIKE + 5)]
    shuffled = list(texts)
    pick.shuffle(shuffled)
    one, other = compile_texts(texts), compile_texts(shuffled)
    place = dict(zip(np.array(texts)[one.accepted], one.forest.roots, strict=True))
    assert one.forest.nodes.children.values.tolist() == other.forest.nodes.children.values.tolist()
    assert one.forest.nodes.use_count.tolist() == other.forest.nodes.use_count.tolist()
    assert all(
        place[text] == root for text, root in zip(np.array(shuffled)[other.accepted], other.forest.roots, strict=True)
    )
