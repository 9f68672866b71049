"""Building segments: sharing is exact, whatever the order of operands; and their tables."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkrules.errors import DuplicateId, RuleSetError
from sparkrules.index import SCHEMAS, CorruptSegment, Rule, Segment, build_segment, from_tables, to_tables
from sparkrules.index.forest import NODE_OPERATORS
from sparkrules.sql.tree import ALWAYS, NEVER, Constant, Junction, Predicate
from tests.index.index_oracle import letters

A, B, C, D, E = letters("ABCDE")


def and_(*children):
    return Junction("and", children)


def or_(*children):
    return Junction("or", children)


def segment_of(*trees, **rules) -> Segment:
    named = {str(number): tree for number, tree in enumerate(trees)} | rules
    return build_segment(Rule(name, "", tree) for name, tree in named.items())


def roots(segment):
    return [str(segment.forest.tree(node)).replace(" is true", "") for node in segment.forest.roots]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (and_(A, B), and_(B, A)),
        (and_(A, and_(B, C)), and_(and_(C, A), B)),
        (and_(A, A, B), and_(A, B)),
        (or_(and_(A)), A),
        (or_(A, A), A),
        (and_(or_(and_(A, B)), C), and_(A, B, C)),
        (and_(or_(and_(A, B), and_(B, A)), C), and_(A, B, C)),
        (and_(A, ALWAYS), A),
        (or_(A, NEVER), A),
        (and_(or_(A, B), or_(B, A)), or_(A, B)),
    ],
)
def test_equal_expressions_are_one_node(one, other):
    segment = segment_of(one, other)
    assert segment.forest.roots[0] == segment.forest.roots[1]
    assert segment.forest.nodes.use_count.tolist() == [2] * len(segment.forest.nodes)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (and_(A, B), or_(A, B)),
        (and_(A, B), and_(A, B, C)),
        (ALWAYS, NEVER),
        (Predicate("x", "=", (Constant("integer", "5"),)), Predicate("x", "=", (Constant("decimal", "5"),))),
        (Predicate("x", "=", (Constant("string", "5"),)), Predicate("x", "=", (Constant("integer", "5"),))),
        (Predicate("x", "=", ()), Predicate("X", "=", ())),
    ],
)
def test_different_expressions_are_different_nodes(one, other):
    segment = segment_of(one, other)
    assert segment.forest.roots[0] != segment.forest.roots[1]


def test_a_constant_inside_another_operator_stays():
    assert roots(segment_of(and_(A, NEVER), or_(A, ALWAYS))) == ["A and (false)", "A or (true)"]


def test_a_shared_subexpression_counts_its_subscriptions_once_each():
    segment = segment_of(and_(or_(A, B), or_(and_(A, C), D)), or_(A, B), A)
    use_count = {
        str(segment.forest.tree(n)).replace(" is true", ""): int(c)
        for n, c in enumerate(segment.forest.nodes.use_count)
    }
    assert use_count["A"] == 3
    assert use_count["A or B"] == 2
    assert use_count["D"] == 1


def test_the_order_of_arrival_does_not_show():
    rules = [Rule(name, "", tree) for name, tree in {"a": and_(A, B), "b": or_(B, C), "c": and_(A, or_(B, C))}.items()]
    assert_same(build_segment(rules), build_segment(reversed(rules)))


def test_parents_and_subscriptions_are_found_from_below():
    segment = segment_of(and_(A, B), and_(B, A), B)
    a_and_b = int(segment.forest.roots[0])
    assert segment.forest.parents.to_lists() == [[a_and_b], [a_and_b], []]
    assert segment.forest.rules_at.row(a_and_b).tolist() == [0, 1]
    assert segment.forest.users.row(int(segment.forest.roots[2])).tolist() == [0, 1, 2]


def test_output_order_is_priority_descending_then_id_by_code_point():
    rules = [Rule("b", "", A), Rule("a", "", A), Rule("é", "", A), Rule("low", "", A, -5), Rule("z", "", A, 9)]
    segment = build_segment(rules)
    assert segment.rules.id[segment.rules.output_order].tolist() == ["z", "a", "b", "é", "low"]


def test_priorities_may_be_as_extreme_as_32_bits():
    rules = [Rule("min", "", A, -(2**31)), Rule("max", "", A, 2**31 - 1), Rule("zero", "", A)]
    segment = build_segment(rules)
    assert segment.rules.id[segment.rules.output_order].tolist() == ["max", "zero", "min"]


def test_arrays_cannot_be_written():
    segment = segment_of(and_(A, B))
    with pytest.raises(ValueError, match="read-only"):
        segment.forest.nodes.level[0] = 7
    with pytest.raises(ValueError, match="read-only"):
        segment.forest.nodes.children.values[0] = 7


def test_a_nested_xor_that_shares_its_objects_is_linear():
    tree, negative = A, B
    for _ in range(200):
        tree, negative = or_(and_(tree, B), and_(negative, C)), and_(or_(tree, D), or_(negative, E))
    segment = segment_of(tree)
    assert len(segment.forest.nodes) < 2000
    assert len(to_tables(segment)["nodes"]) == len(segment.forest.nodes)


def test_a_chain_of_ten_thousand_is_one_node():
    tree = A
    for number in range(10_000):
        tree = and_(tree, Predicate(f"p{number}", "is true"))
    assert len(segment_of(tree).forest.nodes.children.row(10_001)) == 10_001


def test_no_rules_make_an_empty_segment():
    segment = from_tables(to_tables(build_segment([])))
    assert repr(segment) == "Segment(0 rules, 0 predicates, 0 nodes)"
    assert len(segment.forest.parents) == len(segment.forest.users) == len(segment.rules.output_order) == 0


def test_two_rules_with_one_id_are_refused():
    with pytest.raises(DuplicateId, match="'twice'"):
        build_segment([Rule("twice", "", A), Rule("twice", "", B)])


def test_an_operator_that_nobody_knows_is_refused_with_the_rule():
    with pytest.raises(RuleSetError, match="rule '0': '~'"):
        segment_of(Predicate("x", "~", ()))


def test_a_priority_beyond_32_bits_is_refused_with_the_rule():
    with pytest.raises(RuleSetError, match="rule 'x': priority"):
        build_segment([Rule("x", "", A, priority=2**31)])


trees = st.recursive(
    st.sampled_from([A, B, C, D, E]),
    lambda inner: st.builds(Junction, st.sampled_from(["and", "or"]), st.lists(inner, max_size=4).map(tuple)),
    max_leaves=15,
)


def normal(tree):
    """The expression without order, repetition, nesting of one operator or single operands: what sharing is about."""
    if isinstance(tree, Predicate):
        return tree
    operands = set()
    for child in map(normal, tree.children):
        operands |= child[1] if isinstance(child, tuple) and child[0] == tree.operator else {child}
    return next(iter(operands)) if len(operands) == 1 else (tree.operator, frozenset(operands))


def parts(form):
    return {form}.union(*map(parts, form[1])) if isinstance(form, tuple) else {form}


@settings(deadline=None)
@given(st.lists(trees, max_size=8))
def test_nodes_are_exactly_the_distinct_subexpressions_and_count_their_users(trees):
    segment = segment_of(*trees)
    users = [parts(normal(tree)) for tree in trees]
    forms = [normal(segment.forest.tree(node)) for node in range(len(segment.forest.nodes))]
    assert len(forms) == len(set(forms))
    assert set(forms) == set().union(*users)
    assert segment.forest.nodes.use_count.tolist() == [sum(form in used for used in users) for form in forms]
    assert segment.forest.nodes.use_count.tolist() == segment.forest.users.lengths.tolist()
    for number in range(len(forms)):
        children = segment.forest.nodes.children.row(number).tolist()
        assert children == sorted(set(children))
        assert all(child < number for child in children)
        assert segment.forest.nodes.level[number] == 1 + max(
            (segment.forest.nodes.level[child] for child in children), default=0
        )
    ids = segment.rules.id.tolist()
    assert [forms[node] for node in segment.forest.roots] == [normal(trees[int(name)]) for name in ids]


# Tables


def assert_same(one: Segment, other: Segment):
    for name, table in to_tables(one).items():
        assert table.equals(to_tables(other)[name]), name


def example() -> Segment:
    price = Predicate("price", "in", (Constant("integer", "5"), Constant("null"), Constant("string", "it's")))
    return build_segment(
        [
            Rule("one", "price IN (5, NULL, 'it''s') AND a", and_(price, A), 3, {"team": "é", "n": [1]}),
            Rule("two", "a OR b", or_(A, B)),
            Rule("all", "TRUE", ALWAYS),
        ],
        functions={"Lower", "upper"},
    )


def test_tables_are_as_the_store_format_says():
    tables = to_tables(example())
    assert {name: table.schema for name, table in tables.items()} == SCHEMAS
    assert tables["subscriptions"].to_pylist()[1] == {
        "id": "one",
        "node": 4,
        "priority": 3,
        "where": "price IN (5, NULL, 'it''s') AND a",
        "metadata": '{"n": [1], "team": "é"}',
        "sql": None,
        "valid_from": None,
        "valid_until": None,
        "ticket": None,
        "status": None,
        "tags": None,
        "exemptions": None,
    }
    assert tables["predicates"].to_pylist()[2] == {"attribute": 2, "operator": "in", "constants": [1, 0, 2]}
    assert tables["functions"].to_pydict() == {"name": ["lower", "upper"]}
    assert set(tables["nodes"]["operator"].to_pylist()) == set(NODE_OPERATORS)


@settings(deadline=None)
@given(st.lists(trees, max_size=6))
def test_a_segment_survives_its_tables(trees):
    segment = segment_of(*trees)
    assert_same(segment, from_tables(to_tables(segment)))


def test_tables_may_come_in_chunks_and_slices():
    tables = {
        name: pa.concat_tables([table.slice(0, 1), table.slice(1, 1), table.slice(2)])
        for name, table in to_tables(example()).items()
    }
    assert_same(example(), from_tables(tables))


@pytest.mark.parametrize(
    ("table", "row", "column", "value", "message"),
    [
        ("predicates", 1, "attribute", 99, "predicates, row 1: attribute 99 does not exist"),
        ("predicates", 0, "constants", [0, -1], r"predicates, row 0: constant in \[0, -1\] does not exist"),
        ("predicates", 0, "operator", "~", "predicates, row 0: unknown operator '~'"),
        ("constants", 0, "kind", "complex", "constants, row 0: unknown kind 'complex'"),
        ("constants", 0, "text", None, "constants, row 0: text is NULL"),
        ("nodes", 4, "operator", "nand", "nodes, row 4: unknown operator 'nand'"),
        ("nodes", 4, "children", [0, 99], r"nodes, row 4: child in \[0, 99\] does not exist"),
        ("nodes", 4, "children", [0, 4], r"nodes, row 4: children \[0, 4\] do not all come before"),
        ("nodes", 4, "level", 7, "nodes, row 4: level 7 should be 2"),
        ("nodes", 4, "predicate", 0, "nodes, row 4: a junction has the predicate 0"),
        ("nodes", 2, "predicate", -1, "nodes, row 2: predicate -1 does not exist"),
        ("nodes", 2, "children", [1], r"nodes, row 2: a predicate has the children \[1\]"),
        ("subscriptions", 2, "node", 77, "subscriptions, row 2: node 77 does not exist"),
        ("subscriptions", 2, "id", "one", "subscriptions, row 2: the id 'one' occurs twice"),
    ],
)
def test_a_corrupt_table_is_refused_with_its_row(table, row, column, value, message):
    tables = to_tables(example())
    rows = tables[table].to_pylist()
    rows[row][column] = value
    tables[table] = pa.Table.from_pylist(rows, SCHEMAS[table])
    with pytest.raises(CorruptSegment, match=message) as caught:
        from_tables(tables)
    assert (caught.value.table, caught.value.row) == (table, row)


def test_a_missing_table_or_column_is_named():
    tables = to_tables(example())
    with pytest.raises(CorruptSegment, match="nodes: the column level is missing"):
        from_tables(tables | {"nodes": tables["nodes"].drop_columns(["level"])})
    with pytest.raises(CorruptSegment, match="nodes: the column level is int64, not int32"):
        from_tables(tables | {"nodes": tables["nodes"].set_column(3, "level", pa.array(np.ones(6, np.int64)))})
    del tables["constants"]
    with pytest.raises(CorruptSegment, match="constants: the table is missing"):
        from_tables(tables)
