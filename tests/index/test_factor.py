"""Factoring and merging forests preserves their meaning and finds what is shared."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkrules.errors import DuplicateId
from sparkrules.index import Rule, build_segment
from sparkrules.index.builder import trees_forest
from sparkrules.index.factor import factored
from sparkrules.index.forest import PREDICATE, Forest
from sparkrules.index.merge import merge_segments
from sparkrules.index.merge_forests import merge_forests
from sparkrules.index.segment import Segment
from sparkrules.index.sharing import shared_nodes_per_subscription, sharing
from sparkrules.index.tables import to_tables
from sparkrules.sql.tree import ALWAYS, NEVER, Constant, Junction, Node, Predicate

LEAVES = [Predicate(name, "=", (Constant("integer", str(value)),)) for name in "abc" for value in range(3)]
trees = st.recursive(
    st.sampled_from([*LEAVES, ALWAYS, NEVER]),
    lambda inner: st.builds(
        Junction, st.sampled_from(["and", "or"]), st.lists(inner, min_size=1, max_size=6).map(tuple)
    ),
    max_leaves=25,
)


def meaning(forest: Forest, node: int) -> object:
    """What a node stands for, chains within chains written out: a flat forest has none."""
    operator = forest.nodes.operator[node]
    if operator == PREDICATE:
        return int(forest.nodes.predicate[node])
    operands: set[object] = set()
    stack = forest.nodes.children.row(node).tolist()
    while stack:
        child = stack.pop()
        if forest.nodes.operator[child] == operator:
            stack.extend(forest.nodes.children.row(child).tolist())
        else:
            operands.add(meaning(forest, child))
    return int(operator), frozenset(operands)


@settings(deadline=None, max_examples=80)
@given(st.lists(trees, max_size=12))
def test_factoring_keeps_what_every_node_means(found: list[Node]) -> None:
    flat = merge_forests([trees_forest({str(i): tree for i, tree in enumerate(found)})])
    better = factored(flat)
    known = len(flat.nodes.level)
    assert better.roots.tolist() == flat.roots.tolist()
    assert [meaning(better, node) for node in range(known)] == [meaning(flat, node) for node in range(known)]
    assert (better.nodes.use_count[:known] >= flat.nodes.use_count).all()
    assert (np.bincount(better.nodes.children.values, minlength=len(better.nodes.level))[known:] > 1).all(), (
        "shared by two chains"
    )
    children = [
        better.nodes.level[better.nodes.children.row(node)].max(initial=0) for node in range(len(better.nodes.level))
    ]
    assert better.nodes.level.tolist() == [1 + level for level in children]
    assert len(better.nodes.children.values) <= len(flat.nodes.children.values)


def test_the_most_frequent_part_comes_first() -> None:
    rules = {f"{i}": Junction("and", (*LEAVES[:3], LEAVES[3 + i % 5])) for i in range(5)}
    rules["other"] = Junction("and", (LEAVES[0], LEAVES[8], LEAVES[4]))
    better = factored(merge_forests([trees_forest(rules)]))
    parts = [better.nodes.children.row(node).tolist() for node in range(15, len(better.nodes.level))]
    assert parts == [[0, 1, 2]], "found pair by pair, and closed up where nobody else uses a pair"
    assert shared_nodes_per_subscription(better) > shared_nodes_per_subscription(merge_forests([trees_forest(rules)]))


def test_sharing_names_what_rules_have_in_common() -> None:
    rules = [Rule(f"{i}", "", Junction("or", (*LEAVES[:2], LEAVES[2 + i]))) for i in range(4)]
    found = sharing(build_segment(rules))
    assert found.most_shared[0] == (4, "a = 0 or a = 1")
    assert found.snps_factored > found.snps
    assert sharing(build_segment([])).most_shared == ()


def assert_same(one: Segment, other: Segment) -> None:
    for name, table in to_tables(one).items():
        assert table.equals(to_tables(other)[name]), name


def segment(numbers: list[int], found: list[Node]) -> Segment:
    return build_segment([Rule(f"r{number}", f"text {number}", found[number], number) for number in numbers])


@settings(deadline=None, max_examples=100)
@given(st.lists(trees, max_size=12), st.randoms(use_true_random=False))
def test_a_merged_segment_is_the_one_of_all_rules_at_once(found: list[Node], pick: random.Random) -> None:
    """However the rules are divided, in any order, and whatever else was there and has been removed."""
    numbers = list(range(len(found)))
    pick.shuffle(numbers)
    cuts = sorted(pick.randrange(len(numbers) + 1) for _ in range(2))
    divided = [numbers[: cuts[0]], numbers[cuts[0] : cuts[1]], numbers[cuts[1] :]]
    gone = {number for number in numbers if pick.random() < 0.3}
    parts = []
    for own in divided:
        part = segment(own, found)
        removed = [row for row, id in enumerate(part.rules.id.tolist()) if int(id[1:]) in gone]
        parts.append((part, np.array(removed, np.int32)))
    assert_same(merge_segments(parts), segment([number for number in numbers if number not in gone], found))


def test_an_id_in_two_segments_is_refused() -> None:
    one = build_segment([Rule("x", "a", LEAVES[0])])
    none = np.empty(0, np.int32)
    with pytest.raises(DuplicateId, match="'x'"):
        merge_segments([(one, none), (one, none)])
    assert merge_segments([(one, np.array([0], np.int32)), (one, none)]).rules.id.tolist() == ["x"]
