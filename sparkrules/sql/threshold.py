"""At least k of n nodes, as a network of AND and OR nodes that share their parts.

At least j of some nodes are true if, for some a, at least a of their first half and at least j-a of their second half
are. There is one node for each half, quarter, ... and each j, so O(n·k) nodes, not one conjunction for each of the
C(n, k) choices. The halves also keep the network flat: its depth is the logarithm of n.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sparkrules.sql.tree import JunctionOperator, Node

Join = Callable[[JunctionOperator, Iterable[Node]], Node]


def threshold(needed: int, nodes: Sequence[Node], join: Join) -> Node:
    """The node that is true if at least `needed` of the nodes are, from 1 to all. `join` makes the junctions.

    >>> from sparkrules.sql.normal_form import TreeBuilder
    >>> from sparkrules.sql.tree import Predicate
    >>> nodes = [Predicate(name, "is true") for name in "pqr"]
    >>> print(threshold(2, nodes, TreeBuilder(lambda _: (nodes[0], nodes[0])).junction))
    ((p is true or q is true) and r is true) or (p is true and q is true)
    """
    return _thresholds(range(needed, needed + 1), nodes, join)[needed]


def most_nodes(needed: int, count: int) -> int:
    """An upper bound of the junctions in a network."""
    return 1 if needed in (1, count) else 2 * count * min(needed, count - needed + 1)


def _thresholds(wanted: range, nodes: Sequence[Node], join: Join) -> dict[int, Node]:
    """For each j: at least j of the nodes."""
    count = len(nodes)
    made: dict[int, Node] = {j: join("or" if j == 1 else "and", nodes) for j in wanted if j in (1, count)}
    between = [j for j in wanted if 1 < j < count]
    if not between:
        return made
    middle = (count + 1) // 2
    halves = nodes[:middle], nodes[middle:]
    # What the other half lacks, this half must have.
    parts = [
        _thresholds(range(max(1, between[0] - len(other)), min(between[-1], len(own)) + 1), own, join)
        for own, other in (halves, halves[::-1])
    ]
    for j in between:
        choices = [(a, j - a) for a in range(max(0, j - len(halves[1])), min(j, middle) + 1)]
        both = [[half[own] for half, own in zip(parts, choice, strict=True) if own] for choice in choices]
        made[j] = join("or", [join("and", pair) for pair in both])
    return made
