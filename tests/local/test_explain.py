"""Explanations: the tree of a rule with the truth of every part."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkrules.errors import UnknownId
from sparkrules.index import Rule, build_segment
from sparkrules.local import explain
from sparkrules.sql.tree import ALWAYS, Junction
from tests.index.index_oracle import is_true, letters

A, B, C, D = letters("ABCD")


def test_an_explanation_is_drawn_as_an_indented_tree():
    tree = Junction("and", (A, Junction("or", (B, C))))
    (explained,) = explain(build_segment([Rule("r", "", tree)]), [True, False, True])
    assert explained.matched
    assert str(explained).splitlines() == [
        "r matches",
        "  ✓ and",
        "    ✓ A is true",
        "    ✓ or",
        "      ✗ B is true",
        "      ✓ C is true",
    ]


def test_explanations_come_in_output_order_or_for_chosen_ids():
    segment = build_segment([Rule("low", "", A), Rule("high", "", ALWAYS, 5)])
    assert [(e.id, e.matched, e.root.text) for e in explain(segment, [False])] == [
        ("high", True, "true"),
        ("low", False, "A is true"),
    ]
    assert [e.id for e in explain(segment, [False], ids=["low"])] == ["low"]


def test_an_unknown_id_is_refused():
    with pytest.raises(UnknownId, match="'nobody'"):
        explain(build_segment([Rule("r", "", A)]), [True], ids=["nobody"])


def test_a_part_that_occurs_again_is_drawn_once():
    tree, negative = A, B
    for _ in range(40):
        tree, negative = (
            Junction("or", (Junction("and", (tree, B)), Junction("and", (negative, C)))),
            Junction("and", (Junction("or", (tree, D)), Junction("or", (negative, C)))),
        )
    (explained,) = explain(build_segment([Rule("r", "", tree)]), [True, False, True, False])
    drawn = str(explained)
    assert "(as above)" in drawn
    assert len(drawn.splitlines()) < 1000


trees = st.recursive(
    st.sampled_from([A, B, C, D]),
    lambda inner: st.builds(Junction, st.sampled_from(["and", "or"]), st.lists(inner, max_size=3).map(tuple)),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.lists(trees, max_size=5), st.fixed_dictionaries({name: st.booleans() for name in "ABCD"}))
def test_an_explanation_says_what_brute_force_says(trees, row):
    segment = build_segment(Rule(str(number), "", tree) for number, tree in enumerate(trees))
    truth = [row[segment.forest.predicate(number).attribute] for number in range(len(segment.forest.predicates))]
    for explained in explain(segment, truth):
        assert explained.matched == is_true(trees[int(explained.id)], row)
