"""Pruning as the two papers describe it: one tree at a time, one priority queue, estimates by their binary formulas."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import NamedTuple

from sparkrules.sql.tree import Junction, Node, Predicate

Triple = tuple[float, float, float]
Path = tuple[int, ...]  # the number of the child at each step down


class Formulas(NamedTuple):
    """The estimate of AND and OR of two operands, and how much worse a tree has become."""

    both: Callable[[Triple, Triple], Triple]
    either: Callable[[Triple, Triple], Triple]
    degradation: Callable[[Triple, Triple], float]


SELECTIVITY = Formulas(
    lambda a, b: (max(0.0, a[0] + b[0] - 1), a[1] * b[1], min(a[2], b[2])),
    lambda a, b: (max(a[0], b[0]), a[1] + b[1] - a[1] * b[1], min(1.0, a[2] + b[2])),
    lambda before, after: max(now - then for then, now in zip(before, after, strict=True)),
)
RANK = Formulas(
    lambda a, b: (max(a[0], b[0]), a[1] + b[1] - a[1] * b[1], min(1.0, a[2] + b[2])),
    lambda a, b: (min(a[0], b[0]), a[1] + b[1] - a[1] * b[1], min(1.0, a[2] + b[2])),
    lambda before, after: max(
        (then - now) / then if then > 0 else 0.0 for then, now in zip(before, after, strict=True)
    ),
)


def estimate(tree: Node, leaf: Callable[[Predicate], Triple], formulas: Formulas) -> Triple:
    if isinstance(tree, Predicate):
        return leaf(tree)
    if not tree.children:
        return (1.0, 1.0, 1.0) if tree.operator == "and" else (0.0, 0.0, 0.0)
    join = formulas.both if tree.operator == "and" else formulas.either
    return reduce(join, [estimate(child, leaf, formulas) for child in tree.children])


def prunings(tree: Node, path: Path = ()) -> Iterator[Path]:
    """The children of ANDs that have others."""
    if isinstance(tree, Junction):
        for at, child in enumerate(tree.children):
            if tree.operator == "and" and len(tree.children) > 1:
                yield (*path, at)
            yield from prunings(child, (*path, at))


def without(tree: Node, path: Path) -> Node:
    """The tree without the node at a path. An AND with one child stays."""
    assert isinstance(tree, Junction)
    at, *rest = path
    children = list(tree.children)
    if rest:
        children[at] = without(children[at], tuple(rest))
    else:
        del children[at]
    return Junction(tree.operator, tuple(children))


def size(tree: Node) -> int:
    return 1 if isinstance(tree, Predicate) else sum(map(size, tree.children))


def best(tree: Node, leaf: Callable[[Predicate], Triple], formulas: Formulas) -> tuple[float, Node] | None:
    """The least harmful pruning, and the tree after it; of equals, the one that frees most."""
    before = estimate(tree, leaf, formulas)
    found = []
    for path in prunings(tree):
        after = without(tree, path)
        harm = round(formulas.degradation(before, estimate(after, leaf, formulas)), 9)
        found.append((harm, size(after), path, after))
    return None if not found else min(found, key=lambda one: one[:3])[::3]  # type: ignore[return-value]


def queue(
    trees: Sequence[Node], leaf: Callable[[Predicate], Triple], formulas: Formulas
) -> Iterator[tuple[int, float, Node]]:
    """The prunings in the order of the queue: the tree, how harmful it is, what is left."""
    waiting = []
    for number, tree in enumerate(trees):
        if (found := best(tree, leaf, formulas)) is not None:
            waiting.append((found[0], number, found[1]))
    order: list[tuple[float, int]] = [(harm, number) for harm, number, _ in waiting]
    after = {number: tree for _, number, tree in waiting}
    heapq.heapify(order)
    while order:
        harm, number = heapq.heappop(order)
        yield number, harm, after[number]
        if (found := best(after[number], leaf, formulas)) is not None:
            after[number] = found[1]
            heapq.heappush(order, (found[0], number))
