"""Priorities in the A-Tree: figure 4.1 of the thesis, and the promise of 4.1 for any forest and event."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.index.index_oracle import letters
from tests.specification.atree import Operation, tree_of
from tests.specification.filters import general_filter
from tests.specification.priorities import PriorityATree, priority_filter
from tests.specification.test_atree import A, B, C, D, E, and_, expressions

R1, R2, R3, R4, R5 = letters("12345")


def figure_4_1() -> PriorityATree:
    """a = AND(b, c) is the root of S1, b = OR(r1, r2), c = OR(r3, r4), and d = AND(c, r5) the root of S2."""
    forest = PriorityATree()
    forest.insert("S1", and_(Operation("or", (R1, R2)), Operation("or", (R3, R4))), priority=2)
    forest.insert("S2", and_(Operation("or", (R3, R4)), R5), priority=3)
    return forest


def priorities(forest: PriorityATree) -> dict[str, int]:
    return {str(node).replace(" is true", ""): priority for node, priority in forest.priorities.items()}


def test_figure_4_1_a_node_has_the_highest_priority_of_its_users():
    assert priorities(figure_4_1()) == {
        "1": 2, "2": 2, "3": 3, "4": 3, "5": 3,
        "(1 or 2)": 2, "(3 or 4)": 3, "((1 or 2) and (3 or 4))": 2, "(5 and (3 or 4))": 3,
    }  # fmt: skip


def test_figure_4_1_deleting_s2_lowers_what_it_raised():
    forest = figure_4_1()
    forest.delete("S2")
    assert set(priorities(forest).values()) == {2}
    assert "5" not in priorities(forest)


def test_figure_4_1_s2_is_notified_first():
    assert priority_filter(figure_4_1(), {R1, R4, R5}) == ["S2", "S1"]


def test_a_subscription_that_ends_at_a_node_counts_after_a_deletion():
    # By the printed rule, the highest of the parents, the node would be left with priority 1.
    forest = PriorityATree()
    forest.insert("ends here", and_(A, B), priority=5)
    forest.insert("above", and_(A, B, C), priority=1)
    forest.insert("gone", and_(A, B, D), priority=9)
    forest.delete("gone")
    assert forest.priorities[forest.roots["ends here"]] == 5
    assert forest.priorities[forest.roots["above"]] == 1


def test_the_exception_a_lower_one_that_is_a_subexpression_of_a_higher_one():
    forest = PriorityATree()
    forest.insert("S2", and_(B, C), priority=1)
    forest.insert("S1", and_(A, B, C, D), priority=2)
    assert priority_filter(forest, {A, B, C, D}) == ["S2", "S1"]


@settings(deadline=None)
@given(st.data())
def test_no_later_notification_for_a_higher_priority(data):
    forest = PriorityATree()
    for step in range(data.draw(st.integers(1, 8), label="steps")):
        if forest.roots and data.draw(st.booleans(), label="delete"):
            forest.delete(data.draw(st.sampled_from(sorted(forest.roots))))
        else:
            forest.insert(
                f"S{step}", data.draw(expressions(["and", "or", "xor"])), priority=data.draw(st.integers(0, 3))
            )
        users = {node: [own for own, root in forest.roots.items() if node in tree_of(root)] for node in forest.nodes()}
        assert forest.priorities == {node: max(map(forest.priority_of.get, own)) for node, own in users.items()}
        true = data.draw(st.sets(st.sampled_from([A, B, C, D, E])), label="event")
        notified = priority_filter(forest, true)
        assert len(notified) == len(set(notified))
        assert set(notified) == general_filter(forest, true)
        for place, later in enumerate(notified):
            for earlier in notified[:place]:
                if forest.priority_of[later] > forest.priority_of[earlier]:
                    # It is part of one that is at least as urgent; that need not be the later one itself.
                    known_for = max(
                        forest.priority_of[own]
                        for own, root in forest.roots.items()
                        if forest.roots[earlier] in tree_of(root)
                    )
                    assert known_for >= forest.priority_of[later]
