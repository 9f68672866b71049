"""Selectivity estimates: the paper's example, and the bounds against brute force over random rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkrules.index import Rule, build_segment
from sparkrules.index.forest import Forest
from sparkrules.logic.forest_selectivity import Estimates, PredicateEstimates, node_estimates
from sparkrules.logic.range_sets import RangeSets
from sparkrules.logic.selectivity import Selectivity, guess, selectivity_of
from sparkrules.sql.tree import ALWAYS, NEVER, OPERATORS, Constant, Junction, Node, Predicate

PREDICATES = [Predicate(letter, "is true") for letter in "abcdef"]


def trees(predicates: list[Predicate]) -> st.SearchStrategy[Node]:
    leaves: st.SearchStrategy[Node] = st.sampled_from([*predicates, ALWAYS, NEVER])
    return st.recursive(
        leaves,
        lambda inner: st.builds(
            Junction, st.sampled_from(["and", "or"]), st.lists(inner, min_size=1, max_size=4).map(tuple)
        ),
        max_leaves=12,
    )


def truth(tree: Node, of: dict[Predicate, np.ndarray], rows: int) -> np.ndarray:
    """For which rows a tree is true."""
    if isinstance(tree, Predicate):
        return of[tree]
    found = np.full(rows, tree.operator == "and")
    for child in tree.children:
        own = truth(child, of, rows)
        found = found & own if tree.operator == "and" else found | own
    return found


def forest_of(*trees: Node) -> Forest:
    return build_segment(Rule(str(number), "", tree) for number, tree in enumerate(trees)).forest


def test_the_example_of_the_paper() -> None:
    """Node H of figure 5: new books below 15.0, or used ones below 10.0. Shares of predicates that fit it."""
    new, below_15, used, below_10 = (Selectivity.exactly(share) for share in (0.2, 0.95, 0.8, 0.9))
    h = Selectivity.any_of([Selectivity.all_of([new, below_15]), Selectivity.all_of([used, below_10])])
    assert h == pytest.approx((0.7, 0.77, 1.0), abs=0.005)


def test_both_formulas() -> None:
    a, b = Selectivity(0.5, 0.6, 0.7), Selectivity(0.6, 0.7, 0.8)
    assert Selectivity.all_of([a, b]) == pytest.approx((0.1, 0.42, 0.7))
    assert Selectivity.any_of([a, b]) == pytest.approx((0.6, 0.88, 1.0))
    assert Selectivity.all_of([]) == (1, 1, 1)
    assert Selectivity.any_of([]) == (0, 0, 0)
    assert a.degradation(b) == pytest.approx(0.1)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=5), st.booleans())
def test_many_parts_are_like_two_at_a_time(shares: list[tuple[float, float]], is_and: bool) -> None:
    of = Selectivity.all_of if is_and else Selectivity.any_of
    parts = [Selectivity(min(pair), sum(pair) / 2, max(pair)) for pair in shares]
    nested = parts[0]
    for part in parts[1:]:
        nested = of([nested, part])
    assert of(parts) == pytest.approx(nested)
    assert nested.min <= nested.avg <= nested.max


def test_every_operator_has_a_guess() -> None:
    for operator in OPERATORS:
        guessed = guess(operator, 2)
        assert (guessed.min, guessed.max) == (0, 1)
        assert 0 < guessed.avg < 1


@given(st.lists(trees(PREDICATES), min_size=1, max_size=3), st.data())
def test_the_true_share_lies_within_the_bounds(expressions: list[Node], data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, 9), label="rows")
    column = st.lists(st.booleans(), min_size=rows, max_size=rows).map(lambda values: np.array(values, bool))
    of = {predicate: data.draw(column, label=predicate.attribute) for predicate in PREDICATES}
    forest = forest_of(*expressions)
    counts = np.array([of[predicate].sum() for predicate in forest.all_predicates()], np.float64)
    known = PredicateEstimates.without_ranges(Estimates(counts, counts / rows, counts, float(rows)))
    found = node_estimates(forest, known)
    for tree, root in zip(expressions, forest.roots.tolist(), strict=True):
        share = truth(tree, of, rows).sum() / rows
        assert found[root].min <= share <= found[root].max
        assert found[root].min <= found[root].avg <= found[root].max
        own = selectivity_of(forest.tree(root), lambda p: Selectivity.exactly(of[p].sum() / rows))
        assert found[root] == pytest.approx(own)


CODES = 6
CODED = [
    Predicate(f"s{slot}", operator, (Constant("integer", str(code)),))
    for slot in range(2)
    for operator in ("<", "=", "<>")
    for code in range(CODES)
]


def true_codes(predicate: Predicate) -> list[tuple[int, int]]:
    code = int(predicate.constants[0].text)
    return {
        "<": [(0, code - 1)],
        "=": [(code, code)],
        "<>": [pair for pair in [(0, code - 1), (code + 1, CODES - 1)] if pair[0] <= pair[1]],
    }[predicate.operator][: None if predicate.operator != "<" or code else 0]


@given(st.lists(trees(CODED + PREDICATES[:2]), min_size=1, max_size=3), st.data())
def test_predicates_of_one_slot_are_counted(expressions: list[Node], data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, 9), label="rows")
    values = st.lists(st.integers(0, CODES - 1), min_size=rows, max_size=rows).map(np.array)
    slots = [data.draw(values, label=f"s{slot}") for slot in range(2)]
    unsure = set(data.draw(st.lists(st.sampled_from(CODED)), label="unsure"))
    of = {
        p: np.isin(slots[int(p.attribute[1])], [c for first, last in true_codes(p) for c in range(first, last + 1)])
        for p in CODED
    }
    of |= {p: data.draw(values, label=p.attribute) % 2 == 0 for p in PREDICATES[:2]}
    forest = forest_of(*expressions)
    listed = list(forest.all_predicates())
    shifted = [
        [(first + CODES * int(p.attribute[1]), last + CODES * int(p.attribute[1])) for first, last in true_codes(p)]
        if p in CODED
        else []
        for p in listed
    ]
    # Of an unsure predicate it is known only that it is true nowhere else than in the ranges around.
    inside = RangeSets.of([[] if p in unsure else own for p, own in zip(listed, shifted, strict=True)])
    touched = RangeSets.of(
        [
            [(CODES * int(p.attribute[1]), CODES * int(p.attribute[1]) + CODES - 1)] if p in unsure else own
            for p, own in zip(listed, shifted, strict=True)
        ]
    )
    slot = np.array([int(p.attribute[1]) if p in CODED else -1 for p in listed], np.int32)
    counts = np.concatenate([np.bincount(values, minlength=CODES) for values in slots])
    below = np.concatenate([[0.0], np.cumsum(counts)])
    guessed = Estimates(*(np.full(len(listed), share) for share in (0.0, 0.5, float(rows))), float(rows))
    known = PredicateEstimates.in_ranges(guessed, slot, inside, touched, below)
    found, by_formula = node_estimates(forest, known), node_estimates(forest, known.by_formula())
    for tree, root in zip(expressions, forest.roots.tolist(), strict=True):
        share = truth(tree, of, rows).sum() / rows
        assert found[root].min <= share <= found[root].max
        assert found[root].min <= found[root].avg <= found[root].max
        assert by_formula[root].min <= share <= by_formula[root].max
        predicates = set(forest.all_predicates())
        if len({p.attribute for p in predicates}) == 1 and predicates <= set(CODED) - unsure and len(expressions) == 1:
            assert found[root] == Selectivity.exactly(share)


def test_a_contradiction_has_no_rows() -> None:
    low, high = CODED[2], Predicate("s0", "=", (Constant("integer", "5"),))
    forest = forest_of(Junction("and", (low, high)), Junction("or", (low, high)))
    ranges = RangeSets.of([true_codes(p) for p in forest.all_predicates()])
    below = np.arange(CODES + 1.0)
    slot = np.zeros(2, np.int32)
    known = PredicateEstimates.in_ranges(Estimates(*np.zeros((3, 2)), CODES), slot, ranges, ranges, below)
    found = node_estimates(forest, known)
    assert [found[root] for root in forest.roots] == [(0, 0, 0), (0.5, 0.5, 0.5)]
    by_formula = node_estimates(forest, known.by_formula())
    assert [by_formula[root] for root in forest.roots] == [
        pytest.approx((0, 1 / 18, 1 / 6)),
        pytest.approx((1 / 3, 4 / 9, 1 / 2)),
    ]
