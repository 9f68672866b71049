"""The index, when built, merged and matched, does what the A-Tree of the thesis does.

A segment keeps chains flat, with `A AND B AND C` as one node, where the A-Tree has a binary node for each step. So we
compare a node's flat form: the operands of its whole chain. The A-Tree's other nodes are prefixes of chains, which are
not the end of any rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkrules.index import Rule, Segment, build_segment, merge_segments
from sparkrules.index.forest import AND, PREDICATE
from sparkrules.local import match
from sparkrules.sql.tree import Junction, Node, Predicate
from tests.specification.atree import ATree, ATreeNode
from tests.specification.filters import general_filter, true_value_path_filter, zero_suppression_filter

NAMES = "ABCDE"
PREDICATES = [Predicate(name, operator) for name in NAMES for operator in ("is true", "is false")]

Flat = Predicate | tuple[str, frozenset["Flat"]]
"""A predicate, or an operator and the operands of its whole chain."""

trees: st.SearchStrategy[Node] = st.recursive(
    st.sampled_from(PREDICATES),
    lambda inner: st.builds(
        Junction, st.sampled_from(["and", "or"]), st.lists(inner, min_size=2, max_size=4).map(tuple)
    ),
    max_leaves=10,
)
rule_sets = st.lists(trees, min_size=1, max_size=8).map(lambda made: {f"S{n}": tree for n, tree in enumerate(made)})
events = st.lists(
    st.fixed_dictionaries({name: st.sampled_from([True, False, None]) for name in NAMES}), min_size=1, max_size=8
)


def atree_of(rules: dict[str, Node]) -> ATree:
    forest = ATree()
    for id, tree in rules.items():
        forest.insert(id, tree)
    return forest


def segment_of(rules: dict[str, Node]) -> Segment:
    return build_segment(Rule(id, id, tree) for id, tree in rules.items())


def chain(operator: str, operands: list[Flat]) -> Flat:
    merged: set[Flat] = set()
    for operand in operands:
        merged |= operand[1] if isinstance(operand, tuple) and operand[0] == operator else {operand}
    return operator, frozenset(merged)


def flat_in_atree(node: ATreeNode) -> Flat:
    if node.predicate is not None:
        return node.predicate
    assert node.operator is not None
    return chain(node.operator, [flat_in_atree(child) for child in node.children])


def flat_in_segment(segment: Segment, node: int) -> Flat:
    if segment.forest.nodes.operator[node] == PREDICATE:
        return segment.forest.predicate(int(segment.forest.nodes.predicate[node]))
    operator = "and" if segment.forest.nodes.operator[node] == AND else "or"
    return operator, frozenset(
        flat_in_segment(segment, child) for child in segment.forest.nodes.children.row(node).tolist()
    )


def ends_a_chain(node: ATreeNode) -> bool:
    return bool(node.subscriptions) or any(parent.operator != node.operator for parent in node.parents)


def users_in(segment: Segment) -> dict[Flat, set[str]]:
    found = {
        flat_in_segment(segment, node): set(segment.rules.id[segment.forest.users.row(node)].tolist())
        for node in range(len(segment.forest.nodes))
    }
    assert len(found) == len(segment.forest.nodes), "two nodes of the segment stand for one expression"
    return found


def assert_same_forest(segment: Segment, forest: ATree) -> None:
    nodes = {flat_in_atree(node): node for node in forest.nodes()}
    assert len(nodes) == len(list(forest.nodes())), "two nodes of the A-Tree stand for one expression"
    users = users_in(segment)
    assert users.keys() == {flat for flat, node in nodes.items() if ends_a_chain(node)}
    for flat, own in users.items():
        is_leaf = isinstance(flat, Predicate)
        # In the A-Tree, a rule with a longer chain may use this one as its beginning.
        assert len(own) == nodes[flat].use_count if is_leaf else len(own) <= nodes[flat].use_count, flat
    roots = zip(segment.rules.id.tolist(), segment.forest.roots.tolist(), strict=True)
    assert {id: flat_in_segment(segment, node) for id, node in roots} == {
        id: flat_in_atree(node) for id, node in forest.roots.items()
    }


def assert_same_matches(segment: Segment, forest: ATree, rows: list[dict[str, Any]]) -> None:
    schema = pa.schema([(name, pa.bool_()) for name in NAMES])
    found = match(segment, pa.Table.from_pylist(rows, schema)).ids.to_pylist()
    filters: list[Callable[..., set[str]]] = [general_filter, zero_suppression_filter, true_value_path_filter]
    for row, ids in zip(rows, found, strict=True):
        true = {own for own in PREDICATES if row[own.attribute] is (own.operator == "is true")}
        assert [set(ids)] * len(filters) == [filtered(forest, true) for filtered in filters], row


@settings(deadline=None)
@given(rule_sets, events)
def test_a_segment_shares_and_matches_as_the_a_tree(rules: dict[str, Node], rows: list[dict[str, Any]]) -> None:
    segment, forest = segment_of(rules), atree_of(rules)
    assert_same_forest(segment, forest)
    assert_same_matches(segment, forest, rows)


@settings(deadline=None)
@given(rule_sets, rule_sets, st.data())
def test_merging_and_removing_is_insertion_and_deletion(
    old: dict[str, Node], new: dict[str, Node], data: st.DataObject
) -> None:
    new = {f"new {id}": tree for id, tree in new.items()}
    removed = data.draw(st.sets(st.sampled_from(sorted(old))), label="removed")
    forest = atree_of({**old, **new})
    for id in removed:
        forest.delete(id)
    before, after = segment_of(old), segment_of(new)
    gone = np.flatnonzero(np.isin(before.rules.id.astype(str), sorted(removed))).astype(np.int32)
    merged = merge_segments([(before, gone), (after, np.empty(0, np.int32))])
    assert_same_forest(merged, forest)
    assert_same_matches(merged, forest, data.draw(events, label="events"))


def test_where_no_chain_is_longer_than_two_the_forests_are_the_same() -> None:
    a, b, c, d, *_ = PREDICATES
    both = Junction("and", (a, b))
    rules: dict[str, Node] = {
        "1": both,
        "2": Junction("or", (both, c)),
        "3": Junction("and", (Junction("or", (c, both)), d)),
        "4": Junction("and", (b, a)),
    }
    segment, forest = segment_of(rules), atree_of(rules)
    built = {
        flat_in_segment(segment, node): (
            int(segment.forest.nodes.level[node]),
            int(segment.forest.nodes.use_count[node]),
        )
        for node in range(len(segment.forest.nodes))
    }
    assert built == {flat_in_atree(node): (node.level, node.use_count) for node in forest.nodes()}
    assert built[flat_in_segment(segment, int(segment.forest.roots[0]))] == (2, 4)
