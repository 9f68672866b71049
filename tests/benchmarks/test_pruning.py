"""The experiments on pruning, small: the classes are those of the papers, and no pruning loses a row."""

from __future__ import annotations

import pytest

from benchmarks.advertisement_pruning import CLASSES as ADVERTISED
from benchmarks.advertisement_pruning import advertisements_of, cut_off, segment_of, subscriptions_of
from benchmarks.advertisement_pruning import curve as advertisement_curve
from benchmarks.pruning import CLASSES, PAPER, Truth, bend, curve, pruned, rows, subscriptions
from sparkrules.logic.advertisements import OverlapIndex
from sparkrules.sql.tree import predicates


@pytest.mark.parametrize(("name", "size", "prunings"), [("class 1", 6, 4), ("class 2", 12, 8), ("class 3", 7, 3)])
def test_subscriptions_have_the_papers_size_and_prunings(name: str, size: int, prunings: int) -> None:
    trees = subscriptions(name, 30)
    assert {len(list(predicates(tree))) for tree in trees} == {size}
    # Every title is among so many rows.
    forest, found = pruned(trees, Truth(rows(100_000, 3)))
    assert (len(found), found.total) == (30 * prunings, 30 * size)
    assert len(found) / 30 == pytest.approx(PAPER[name][0] / 10_000)
    assert len(forest.roots) == 30


def test_the_union_only_grows() -> None:
    shares = Truth(rows(5_000, 0))
    for name in CLASSES:
        _, points = curve(subscriptions(name, 60), shares, [Truth(rows(5_000, 1)), Truth(rows(5_000, 2))], points=8)
        unions, gone = [own.union for own in points], [own.gone for own in points]
        assert unions == sorted(unions)
        assert gone == sorted(gone)
        assert gone[0] == 0
        assert gone[-1] > 0.4


def test_truth_is_that_of_the_rows() -> None:
    counted = rows(1_000, 5)
    truth = Truth(counted)
    (tree,) = subscriptions("class 3", 1)
    for predicate in predicates(tree):
        values, constant = counted[predicate.attribute], float(predicate.constants[0].text)
        expected = (values == constant if predicate.operator == "=" else values < constant).mean()
        assert truth.share(predicate) == pytest.approx(expected)


def test_the_bend_is_below_the_line() -> None:
    assert bend([(0, 0.1), (0.5, 0.11), (0.75, 0.12), (1, 0.9)]) == 2


@pytest.mark.parametrize("name", ["A2", "A5", "all"])
def test_advertisements_overlap_no_less(name: str) -> None:
    assert name in ADVERTISED
    index = OverlapIndex(segment_of(subscriptions_of(90)))
    points = advertisement_curve(index, advertisements_of(name, 40), asked=20, steps=5)
    overlaps = [own.overlaps for own in points]
    assert overlaps == sorted(overlaps)
    assert points[-1].memory > 0.4
    assert cut_off(points) in points
