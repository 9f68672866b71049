"""The race on arrays: every algorithm gives the matches of the specification, and a sweep of the thesis runs."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import cast

import numpy as np
import pytest

from benchmarks.papers import thesis_claims
from benchmarks.papers.experiments import EXPERIMENTS
from benchmarks.race.run import Figures, race
from benchmarks.workloads.boolean_trees import Inner, Leaf, Tree, is_inner, random_tree, truth
from benchmarks.workloads.thesis import CONJUNCTIVE, WITH_OR, WITH_XOR, at_size, many_subscriptions
from sparkrules.sql.tree import Constant, Predicate
from tests.specification.atree import ATree, Expression, Operation
from tests.specification.filters import general_filter

pytestmark = pytest.mark.slow  # the first run compiles it
FILTERS = {"general", "zero suppression", "true value path"}


def subscriptions(operators: tuple[float, float, float], comparisons: str, count: int) -> list[Tree]:
    """Small domains, so that predicates and subexpressions are shared, and equal subscriptions occur."""
    random = Random(7)

    def leaf() -> Leaf:
        return random.randrange(1, 6), random.choice(comparisons), random.randrange(1, 4)

    return [random_tree([leaf() for _ in range(random.randrange(1, 7))], operators, random) for _ in range(count)]


def distinct(trees: list[Tree]) -> list[Tree]:
    """Without a predicate twice: counting takes conjunctions of different predicates."""
    return [tree for tree in trees if len(leaves := list(_leaves(tree))) == len(set(leaves))]


def _leaves(tree: Tree) -> list[Leaf]:
    if not is_inner(tree):
        return [cast(Leaf, tree)]
    _, left, right = cast(Inner, tree)
    return [*_leaves(left), *_leaves(right)]


def run(trees: list[Tree], file: Path) -> tuple[dict[str, Figures], dict[str, list[set[int]]], np.ndarray]:
    events = np.random.default_rng(8).integers(1, 5, (40, 5))
    found = race(trees, events, seconds=0.01, rounds=1, memory="256m", matches=file)
    matches: dict[str, list[set[int]]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        name, _, numbers = line.split("\t")
        matches.setdefault(name, []).append(set(map(int, numbers.split())))
    return found, matches, events


@pytest.mark.parametrize(
    ("operators", "comparisons", "algorithms"),
    [
        (CONJUNCTIVE, "=", FILTERS | {"brute force", "counting", "matching tree"}),
        (CONJUNCTIVE, "=>", FILTERS | {"brute force", "counting"}),
        (WITH_OR, "=>", FILTERS | {"brute force"}),
        (WITH_XOR, "=>", FILTERS - {"true value path"} | {"brute force"}),
    ],
)
def test_every_algorithm_has_the_matches_of_brute_force(operators, comparisons, algorithms, tmp_path) -> None:
    trees = distinct(subscriptions(operators, comparisons, 150))
    found, matches, events = run(trees, tmp_path / "matches")
    assert found.keys() == matches.keys() == algorithms
    true = np.array([truth(tree, events) for tree in trees])
    expected = [set(np.flatnonzero(true[:, event]).tolist()) for event in range(len(events))]
    assert all(own == expected for own in matches.values())
    assert 0 < sum(map(len, expected)) < true.size


def test_the_forest_is_that_of_the_specification(tmp_path) -> None:
    # Without repeated predicates the order of a chain's operands is the only freedom, and that is no matter for pairs.
    trees = [tree for tree in subscriptions(WITH_XOR, "=>", 120) if len(_leaves(tree)) <= 2]
    found, matches, events = run(trees, tmp_path / "matches")
    forest = ATree()
    for number, tree in enumerate(trees):
        forest.insert(str(number), _expression(tree))
    assert found["general"].nodes == len(list(forest.nodes()))
    for event, own in zip(events, matches["general"], strict=True):
        true = {leaf for leaf in forest.leaves if _holds(leaf, event)}
        assert {str(number) for number in own} == general_filter(forest, true)


def _expression(tree: Tree) -> Expression:
    if not is_inner(tree):
        attribute, comparison, constant = cast(Leaf, tree)
        return Predicate(str(attribute), comparison, (Constant("integer", str(constant)),))
    operator, left, right = cast(Inner, tree)
    return Operation(operator, (_expression(left), _expression(right)))


def _holds(leaf: Predicate, event: np.ndarray) -> bool:
    value, constant = event[int(leaf.attribute) - 1], int(leaf.constants[0].text)
    return bool(value == constant if leaf.operator == "=" else value > constant)


def test_a_sweep_runs_and_all_its_claims_are_judged(tmp_path) -> None:
    experiment = EXPERIMENTS["thesis-5.4"]
    result = experiment.run("smoke", tmp_path, lambda _: None)
    claims = thesis_claims.section_5_4(result.options, result.points)
    assert len({claim.text for claim in claims}) == len(claims) > 20
    point = result.points["14 200"]["figures"]
    # Averages over as many events as there was time for, which may differ a little.
    path, zero, general = (point[name] for name in ("true value path", "zero suppression", "general"))
    assert path["computed"] <= 1.2 * zero["computed"]
    assert zero["computed"] <= 1.2 * general["computed"]
    assert path["passed"] == pytest.approx(zero["passed"], rel=0.2)
    assert len({own["nodes"] for name, own in point.items() if name in FILTERS}) == 1


def test_many_equalities_keep_the_share_of_nodes_that_was_asked_for() -> None:
    from benchmarks.papers.thesis import EQUALITY
    from benchmarks.workloads.boolean_trees import shared_nodes_per_subscription

    mix = at_size(EQUALITY[6], 60_000)
    assert mix.private > 0
    assert shared_nodes_per_subscription(many_subscriptions(mix, 60_000)) == pytest.approx(mix.snps, abs=0.03)
