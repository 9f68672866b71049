"""The A-Tree and its three filters: the thesis' own examples, its invariants, and brute force."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkrules.sql.tree import Constant, Junction, Predicate
from tests.index.index_oracle import letters
from tests.specification.atree import ATree, Expression, Function, Operation
from tests.specification.filters import general_filter, true_value_path, true_value_path_filter, zero_suppression_filter

FILTERS = [general_filter, zero_suppression_filter, true_value_path_filter]
A, B, C, D, E = letters("ABCDE")


def and_(*children):
    return Operation("and", children)


def or_(*children):
    return Operation("or", children)


def xor(*children):
    return Operation("xor", children)


def forest_of(**expressions) -> ATree:
    forest = ATree()
    for subscription, expression in expressions.items():
        forest.insert(subscription, expression)
        forest.check()
    return forest


def shape(forest: ATree) -> set[str]:
    return {str(node).replace(" is true", "") for node in forest.nodes() if node.children}


# Figure 3.2


def equals(attribute, value):
    return Predicate(attribute, "=", (Constant("string", value),))


APT, TOR, YORK = equals("type", "APT"), equals("city", "TOR"), equals("city", "YORK")
TWO, THREE = equals("bedroom", "2"), equals("bedroom", "3")
RENT = Predicate("rent", "<=", (Constant("integer", "1500"),))
RENTAL = {
    "S1": and_(APT, TOR, TWO),
    "S2": or_(and_(TOR, TWO), and_(YORK, THREE)),
    "S3": and_(TOR, TWO, RENT),
    "S4": or_(and_(TOR, RENT), YORK),
}


@pytest.mark.parametrize("filtered", FILTERS)
def test_figure_3_2_a_two_bedroom_apartment_in_toronto_for_1600_matches_s1_and_s2(filtered):
    assert filtered(forest_of(**RENTAL), {APT, TOR, TWO}) == {"S1", "S2"}


def test_figure_3_2_the_common_subexpression_of_s1_s2_and_s3_is_one_node():
    forest = forest_of(**RENTAL)
    shared = forest.node("and", forest.leaf(TWO), forest.leaf(TOR))
    assert shared.use_count == 3


# Figure 3.5: nodes 1-5 are the leaves, 6 = AB, 7 = CD, 8 = ABCE, 9 = ABC, 10 = S1, 11 = S2 (table 3.1)

FIGURE_3_5 = {
    "S1": xor(and_(A, B), and_(C, D)),
    "S2": or_(B, and_(C, D)),
    "S3": and_(A, B, C, E),
    "S4": and_(A, B, C),
    "S5": and_(C, D),
    "S6": and_(A, B, C),
    "S7": and_(C, D),
}


def test_figure_3_5_has_the_nodes_of_table_3_1_on_four_levels():
    forest = forest_of(**FIGURE_3_5)
    at = {str(node).replace(" is true", ""): (node.level, node.subscriptions) for node in forest.nodes()}
    assert {text: value for text, value in at.items() if value[1]} == {
        "((A and B) xor (C and D))": (3, {"S1"}),
        "(B or (C and D))": (3, {"S2"}),
        "(((A and B) and C) and E)": (4, {"S3"}),
        "((A and B) and C)": (3, {"S4", "S6"}),
        "(C and D)": (2, {"S5", "S7"}),
    }
    assert len(at) == 11


@pytest.mark.parametrize("filtered", [general_filter, zero_suppression_filter])
def test_figure_3_5_the_event_a_b_c_matches_s1_s2_s4_s6(filtered):
    assert filtered(forest_of(**FIGURE_3_5), {A, B, C}) == {"S1", "S2", "S4", "S6"}


def test_the_true_value_path_filter_refuses_xor():
    with pytest.raises(ValueError, match="AND and OR only"):
        true_value_path_filter(forest_of(**FIGURE_3_5), {A})


# Figure 3.6. From the text: leaves 1, 2, 3, 5 are true; 7 = AND(2, 3) with parents 11, 9, 13 in this order; 11 =
# AND(1, 7) with the parent 12, an AND; 9 an AND; 13 an OR with the parent 14; from 5 the walk touches 8, 9, 12, 13, 10
# in this order; 10 and 14 get one operand only. Ours, to agree with that: 8 = OR(5, 4), 9 = AND(7, 8), 12 = AND(11, 9),
# 13 = OR(7, 9), 10 = AND(8, 6), 14 = AND(13, 10), with 4 and 6 the leaves that are false.


def figure_3_6():
    forest = ATree()
    at = {number: forest.leaf(leaf) for number, leaf in enumerate(letters("123456"), start=1)}
    for number, operator, left, right in [
        (7, "and", 2, 3),
        (8, "or", 5, 4),
        (11, "and", 1, 7),
        (9, "and", 7, 8),
        (12, "and", 11, 9),
        (13, "or", 7, 9),
        (10, "and", 8, 6),
        (14, "and", 13, 10),
    ]:
        at[number] = forest.node(operator, at[left], at[right])
    for number, node in at.items():
        forest.subscribe(str(number), node)
    forest.check()
    return forest, at


def test_figures_3_7_and_3_8_the_nodes_that_each_leaf_makes_true():
    _, at = figure_3_6()
    number = {node: name for name, node in at.items()}
    touched = set()
    became_true = {leaf: [number[node] for node in true_value_path(at[leaf], touched)] for leaf in (1, 2, 3, 5)}
    assert became_true == {1: [], 2: [], 3: [7, 11, 13], 5: [8, 9, 12]}
    assert {number[node] for node in touched} == {7, 8, 9, 10, 11, 12, 13, 14}


@pytest.mark.parametrize("filtered", FILTERS)
def test_figure_3_6_nodes_10_and_14_never_match(filtered):
    forest, at = figure_3_6()
    true = {at[leaf].predicate for leaf in (1, 2, 3, 5)}
    assert filtered(forest, true) == {"1", "2", "3", "5", "7", "8", "9", "11", "12", "13"}


# Users' functions in inner nodes (3.3.1)

NOT = Function("not", lambda a: not a)
NAND = Function("nand", lambda a, b: not (a and b))
WITHOUT = Function("without", lambda a, b: a and not b)
MOST = Function("most", lambda a, b, c: a + b + c >= 2)
ARITY = {NOT: 1, NAND: 2, WITHOUT: 2, MOST: 3}


def function(own: Function, *children):
    return Operation(own, children)


def test_a_function_is_shared_but_its_children_keep_their_order():
    forest = forest_of(one=function(WITHOUT, A, B), two=function(WITHOUT, B, A), three=and_(C, function(WITHOUT, A, B)))
    assert forest.roots["one"].use_count == 2
    assert general_filter(forest, {A, C}) == {"one", "three"}
    assert general_filter(forest, {B, C}) == {"two"}


def test_a_function_that_is_true_from_nothing_is_found_without_a_true_leaf():
    forest = forest_of(none=function(NOT, A), deep=and_(function(NAND, A, B), function(NOT, C)))
    assert general_filter(forest, set()) == {"none", "deep"}
    assert general_filter(forest, {A, B}) == set()
    assert general_filter(forest, {B}) == {"none", "deep"}


def test_the_other_filters_refuse_what_they_would_get_wrong():
    with pytest.raises(ValueError, match=r"not\(A is true\) is true although nothing below it is"):
        zero_suppression_filter(forest_of(none=function(NOT, A)), set())
    with pytest.raises(ValueError, match="AND and OR only"):
        true_value_path_filter(forest_of(most=function(MOST, A, B, C)), {A})
    assert zero_suppression_filter(forest_of(most=function(MOST, A, B, C)), {A, C}) == {"most"}


# Maintenance


def test_insertion_reuses_nodes_whatever_the_order_of_writing():
    forest = forest_of(one=and_(B, C), two=and_(D, C, B, A))
    assert "(B and C)" in shape(forest)
    assert forest.node("and", forest.leaf(B), forest.leaf(C)).use_count == 2


def test_insertion_finds_the_arrangement_that_adds_fewest_nodes():
    forest = forest_of(ab=and_(A, B), cd=and_(C, D), bcd=and_(B, C, D))
    before = shape(forest)
    forest.insert("all", and_(A, B, C, D))
    assert len(shape(forest) - before) == 1


def test_equal_expressions_are_one_node_with_two_subscriptions():
    forest = forest_of(one=and_(A, or_(B, C)), two=Junction("and", (Junction("or", (C, B)), A)))
    assert forest.roots["one"] is forest.roots["two"]
    assert forest.roots["one"].use_count == 2


def test_a_node_used_twice_by_one_subscription_counts_once():
    forest = forest_of(one=or_(and_(A, B), and_(A, C)))
    assert forest.leaf(A).use_count == 1
    forest.delete("one")
    assert not list(forest.nodes())


def test_a_leaf_may_meet_itself_in_an_xor():
    forest = forest_of(never=xor(A, A), a=xor(A, A, A))
    assert general_filter(forest, {A}) == zero_suppression_filter(forest, {A}) == {"a"}


def test_an_id_can_be_inserted_once():
    with pytest.raises(ValueError, match="already has a subscription 'one'"):
        forest_of(one=A).insert("one", B)


def test_a_constant_has_no_node():
    with pytest.raises(ValueError, match="constant"):
        ATree().insert("always", and_())


def expressions(operators):
    def operation(inner):
        def of(operator):
            least, most = (ARITY[operator],) * 2 if operator in ARITY else (1, 4)
            return st.builds(Operation, st.just(operator), st.lists(inner, min_size=least, max_size=most).map(tuple))

        return st.sampled_from(operators).flatmap(of)

    return st.recursive(st.sampled_from([A, B, C, D, E]), operation, max_leaves=12)


def holds(expression: Expression, true: set[Predicate]) -> bool:
    if isinstance(expression, Predicate):
        return expression in true
    values = [holds(child, true) for child in expression.children]
    if isinstance(expression.operator, Function):
        return expression.operator.of(*values)
    return {"and": all(values), "or": any(values), "xor": sum(values) % 2 == 1}[expression.operator]


def check_history(data, operators, filters):
    """Insert and delete at random; after every step the invariants hold and every filter is brute force."""
    forest, kept = ATree(), {}
    for step in range(data.draw(st.integers(1, 8), label="steps")):
        if kept and data.draw(st.booleans(), label="delete"):
            gone = data.draw(st.sampled_from(sorted(kept)))
            del kept[gone]
            forest.delete(gone)
        else:
            kept[f"S{step}"] = data.draw(expressions(operators))
            forest.insert(f"S{step}", kept[f"S{step}"])
        forest.check()
        true = data.draw(st.sets(st.sampled_from([A, B, C, D, E])), label="event")
        expected = {subscription for subscription, expression in kept.items() if holds(expression, true)}
        for filtered in filters:
            assert filtered(forest, true) == expected
    for subscription in list(kept):
        forest.delete(subscription)
        forest.check()
    assert not list(forest.nodes())


@settings(deadline=None)
@given(st.data())
def test_any_history_of_and_or_keeps_the_invariants_and_three_filters_agree(data):
    check_history(data, ["and", "or"], FILTERS)


@settings(deadline=None)
@given(st.data())
def test_any_history_with_xor_keeps_the_invariants_and_two_filters_agree(data):
    check_history(data, ["and", "or", "xor"], [general_filter, zero_suppression_filter])


@settings(deadline=None)
@given(st.data())
def test_any_history_with_functions_keeps_the_invariants_and_the_general_filter_is_right(data):
    check_history(data, ["and", "or", "xor", *ARITY], [general_filter])


@settings(deadline=None)
@given(st.data())
def test_any_history_with_functions_that_are_false_from_nothing_takes_two_filters(data):
    check_history(data, ["and", "or", WITHOUT, MOST], [general_filter, zero_suppression_filter])


@settings(deadline=None)
@given(expressions(["and", "or", "xor"]), expressions(["and", "or", "xor"]))
def test_delete_is_the_inverse_of_insert(stays, goes):
    forest = forest_of(stays=stays)
    before = {str(node): (node.use_count, node.level, len(node.parents)) for node in forest.nodes()}
    forest.insert("goes", goes)
    forest.delete("goes")
    assert {str(node): (node.use_count, node.level, len(node.parents)) for node in forest.nodes()} == before
