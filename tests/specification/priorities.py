"""Priorities of subscriptions in the A-Tree (thesis 4.1): a specification; users get `priority` of a rule instead.

Contract: of the subscriptions that an event matches, one with a higher priority is reported before one with a lower
priority, except where the lower one's expression is a subexpression of one that has at least the higher priority: it
is known first.

The priority of a node is the highest of the subscriptions that use it. There is a queue for each level and priority;
all queues of the highest priority come first, level by level. A node's children have at least its priority, so they
are decided before it.

Three corrections. On deletion the thesis takes the highest priority of a node's *parents*: those that end at
the node count, too. And it says that S_i, of higher priority, comes before S_j unless S_i occurs in S_j; its example
shows that it means S_j in S_i. And it compares the two alone, which its queues do not keep: a node is decided for the
most urgent of all who use it, so "routine" below comes before "other" and is no part of it.

>>> a, b = (Predicate(name, "is true") for name in "AB")
>>> forest = PriorityATree()
>>> forest.insert("routine", a, priority=0)
>>> forest.insert("urgent", a, priority=2)
>>> forest.insert("other", b, priority=1)
>>> priority_filter(forest, {a, b})
['urgent', 'routine', 'other']

>>> a, b, c = (Predicate(name, "is true") for name in "ABC")
>>> forest = PriorityATree()
>>> forest.insert("low", Junction("and", (a, b)), priority=1)
>>> forest.insert("high", Junction("or", (b, c)), priority=2)
>>> priority_filter(forest, {a, b})
['high', 'low']
"""

from __future__ import annotations

from collections.abc import Set

from sparkrules.sql.tree import Junction, Predicate  # noqa: F401
from tests.specification.atree import ATree, ATreeNode, Expression, tree_of


class PriorityATree(ATree):
    """A forest whose nodes have priorities."""

    def __init__(self) -> None:
        super().__init__()
        self.priority_of: dict[str, int] = {}
        self.priorities: dict[ATreeNode, int] = {}

    def insert(self, subscription: str, expression: Expression, priority: int = 0) -> None:
        """Add a subscription, and raise the nodes of its tree to its priority."""
        self.priority_of[subscription] = priority
        super().insert(subscription, expression)
        for node in tree_of(self.roots[subscription]):
            self.priorities[node] = max(priority, self.priorities.get(node, priority))

    def delete(self, subscription: str) -> None:
        """Remove a subscription, and lower the nodes that it raised, parents before children."""
        nodes = tree_of(self.roots[subscription])
        super().delete(subscription)
        del self.priority_of[subscription]
        for node in nodes:
            del self.priorities[node]
            if node.use_count:
                ending = [self.priority_of[own] for own in node.subscriptions]
                self.priorities[node] = max(ending + [self.priorities[parent] for parent in node.parents])


def priority_filter(forest: PriorityATree, true_leaves: Set[Predicate]) -> list[str]:
    """The general filter with a queue for each priority and level: the matches in the order of notification."""
    results: dict[ATreeNode, bool] = {}
    queues: dict[tuple[int, int], list[ATreeNode]] = {}
    waiting: set[ATreeNode] = set()

    def enqueue(node: ATreeNode) -> None:
        if node not in waiting:
            waiting.add(node)
            queues.setdefault((-forest.priorities[node], node.level), []).append(node)

    for predicate in true_leaves:
        if predicate in forest.leaves:
            enqueue(forest.leaves[predicate])
    for node in forest.nodes():
        if node.is_true_from_nothing:
            enqueue(node)
    notified: list[str] = []
    while queues:
        for node in queues.pop(min(queues)):
            operands = (results.get(child, False) for child in node.children)
            results[node] = node.predicate is not None or node.result(*operands)
            if results[node]:
                notified += sorted(node.subscriptions, key=lambda own: (-forest.priority_of[own], own))
            for parent in node.parents:
                enqueue(parent)
    return notified
