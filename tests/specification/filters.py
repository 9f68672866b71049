"""The three filters of the A-Tree thesis (3.4, 3.5): from the true predicates to the matched subscriptions.

Contract: all three give the same answer, the ids of the subscriptions whose expression is true when exactly the given
predicates are true. They differ in what they visit:

| filter | visits | propagates | operators |
|---|---|---|---|
| general | nodes above a true leaf, level by level | every value | any, also users' functions |
| zero suppression | nodes above a true node, level by level | true; missing is false | any that are false for false |
| true value path | the same, depth first, without queues | true; OR fires on first touch, AND on second | AND, OR |

Where the thesis' algorithms cannot be meant as they are printed:

- Algorithm 1 enqueues only true leaves, so a node that is true because its operands are false (NOT, NAND, NOR, users'
  functions) is visited only if something below it is true. Here such nodes are in their queues from the beginning.
- Its loop never advances `current_level`, and it ends before the highest level.
- Algorithm 3 starts from "non-leaf nodes matched by the current event". It starts from the true leaves, as in 3.5.3.

>>> from sparkrules.sql.tree import Junction
>>> a, b, c = (Predicate(name, "is true") for name in "ABC")
>>> forest = ATree()
>>> forest.insert("both", Junction("and", (a, b)))
>>> forest.insert("any", Junction("or", (a, c)))
>>> sorted(true_value_path_filter(forest, {a})), sorted(general_filter(forest, {a, b}))
(['any'], ['any', 'both'])
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Set
from typing import Literal

from sparkrules.sql.tree import Predicate
from tests.specification.atree import ATree, ATreeNode


def general_filter(forest: ATree, true_leaves: Set[Predicate]) -> set[str]:
    """Algorithm 1: every computed value goes up, true or false."""
    return _level_order(forest, true_leaves, propagated="every value")


def zero_suppression_filter(forest: ATree, true_leaves: Set[Predicate]) -> set[str]:
    """3.5.1: only true goes up; an operand that never arrived is false."""
    for node in forest.nodes():
        if node.is_true_from_nothing:
            raise ValueError(f"{node} is true although nothing below it is (thesis 3.5.1); use the general filter")
    return _level_order(forest, true_leaves, propagated="true")


def true_value_path_filter(forest: ATree, true_leaves: Set[Predicate]) -> set[str]:
    """Algorithms 2 and 3: from each true leaf, walk up as long as nodes become true. No XOR, and no functions."""
    if any(node.operator not in ("and", "or", None) for node in forest.nodes()):
        raise ValueError(
            "the true value path filter takes AND and OR only (thesis 3.5.2); "
            "rewrite XOR as (a AND NOT b) OR (NOT a AND b), or use the zero suppression filter"
        )
    matched: set[str] = set()
    touched: set[ATreeNode] = set()
    for leaf in _true_leaves(forest, true_leaves):
        matched |= leaf.subscriptions
        for node in true_value_path(leaf, touched):
            matched |= node.subscriptions
    return matched


def true_value_path(start: ATreeNode, touched: set[ATreeNode]) -> Iterator[ATreeNode]:
    """True_Value_DFS (algorithm 2): the nodes that become true because `start` is, depth first.

    `touched` holds the nodes this event has touched before; it stands for `current_event_id`.
    """
    stack = [iter(start.parents)]
    while stack:
        parent = next(stack[-1], None)
        if parent is None:
            stack.pop()
            continue
        first = parent not in touched
        touched.add(parent)
        if first == (parent.operator == "or"):
            yield parent
            stack.append(iter(parent.parents))


def _true_leaves(forest: ATree, true_leaves: Iterable[Predicate]) -> Iterator[ATreeNode]:
    return (forest.leaves[predicate] for predicate in true_leaves if predicate in forest.leaves)


def _level_order(forest: ATree, true_leaves: Set[Predicate], propagated: Literal["every value", "true"]) -> set[str]:
    """Bottom up with one queue per level; a node's operands are complete when its level is reached (theorem 4)."""
    highest = max((node.level for node in forest.nodes()), default=0)
    queues: list[deque[ATreeNode]] = [deque() for _ in range(highest + 1)]
    results: dict[ATreeNode, bool] = {}
    waiting: set[ATreeNode] = set()
    for leaf in _true_leaves(forest, true_leaves):
        results[leaf] = True
        queues[1].append(leaf)
    for node in forest.nodes():
        if node.is_true_from_nothing:
            waiting.add(node)
            queues[node.level].append(node)
    matched: set[str] = set()
    for queue in queues:
        while queue:
            node = queue.popleft()
            if node.predicate is None:
                results[node] = node.result(*(results.get(child, False) for child in node.children))
            if results[node]:
                matched |= node.subscriptions
            if results[node] or propagated == "every value":
                for parent in node.parents:
                    if parent not in waiting:
                        waiting.add(parent)
                        queues[parent.level].append(parent)
    return matched
