"""Random Boolean expressions as in the A-Tree thesis (5.2.3): binary trees, operators drawn by frequency.

>>> tree = ("and", (1, ">", 5), ("xor", (2, "=", 7), (3, ">", 1)))
>>> sql(tree)
'(a1 > 5 AND ((a2 = 7) <> (a3 > 1)))'
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import Any, cast

import numpy as np
import numpy.typing as npt

Leaf = tuple[int, str, int]  # attribute, comparison, constant
Inner = tuple[str, "Tree", "Tree"]
Tree = Leaf | Inner

_KEYWORDS = {"and": "AND", "or": "OR"}


def random_tree(leaves: Sequence[Leaf], frequencies: Sequence[float], random: Random) -> Tree:
    """A tree of any shape over the leaves. The operator of each inner node is drawn by its frequency."""
    if len(leaves) == 1:
        return leaves[0]
    cut = random.randrange(1, len(leaves))
    return (
        random_operator(frequencies, random),
        random_tree(leaves[:cut], frequencies, random),
        random_tree(leaves[cut:], frequencies, random),
    )


def random_operator(frequencies: Sequence[float], random: Random) -> str:
    """AND, OR or XOR."""
    drawn = random.random()
    if drawn < frequencies[0]:
        return "and"
    return "or" if drawn < frequencies[0] + frequencies[1] else "xor"


def sql(tree: Tree) -> str:
    """The expression in Spark SQL, which has no XOR but can compare conditions."""
    if not is_inner(tree):
        attribute, comparison, constant = tree
        return f"a{attribute} {comparison} {constant}"
    operator, left, right = cast(Inner, tree)
    if operator == "xor":
        return f"(({sql(left)}) <> ({sql(right)}))"
    return f"({sql(left)} {_KEYWORDS[operator]} {sql(right)})"


def truth(tree: Tree, values: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """The events for which it is true; `values` has a column per attribute, starting with a1."""
    if not is_inner(tree):
        attribute, comparison, constant = cast(Leaf, tree)
        column = values[:, attribute - 1]
        return column == constant if comparison == "=" else column > constant
    operator, left, right = cast(Inner, tree)
    combine: dict[str, Callable[[Any, Any], Any]] = {"and": np.logical_and, "or": np.logical_or, "xor": np.not_equal}
    found: npt.NDArray[np.bool_] = combine[operator](truth(left, values), truth(right, values))
    return found


def shared_nodes_per_subscription(trees: Iterable[Tree]) -> float:
    """SNPS: the average share of a subscription's inner nodes that another subscription has as well."""
    inner = [set(_inner_keys(tree)) for tree in trees]
    users = Counter(key for keys in inner for key in keys)
    return sum(sum(users[key] > 1 for key in keys) / len(keys) for keys in inner) / len(inner)


def is_inner(tree: Tree) -> bool:
    return isinstance(tree[0], str)


def _inner_keys(tree: Tree) -> Iterator[int]:
    """A key for each inner node, equal for equal subexpressions whatever the order of their operands."""
    keys: list[int] = []

    def key(node: Tree) -> int:
        if not is_inner(node):
            return hash(node)
        operator, left, right = cast(Inner, node)
        low, high = sorted((key(left), key(right)))
        number = hash((operator, low, high))
        keys.append(number)
        return number

    key(tree)
    return iter(keys)
