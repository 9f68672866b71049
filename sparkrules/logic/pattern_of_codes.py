"""What the search sees of a tree: which regions of its attributes overlap, not which constants made them.

Contract: if two trees have equal patterns, `satisfiable.impossible` and all that is built on it (contradictions,
tautologies, redundant parts) give the same answer for both, part by part. So a million rules of a few shapes need only
as many searches as there are patterns.

The search intersects, subtracts and compares sets of codes. Their ends cut the codes of an attribute into pieces, and
only which set has which piece matters. A predicate that codes do not decide has no pattern: its strings matter.

>>> from sparkrules.logic.regions import Regions
>>> from sparkrules.sql import parse_rule
>>> trees = [parse_rule(f"a > {low} AND a < {high}") for low, high in ((1, 5), (2, 9), (7, 3), (8, 8))]
>>> regions = Regions.of_trees(*trees)
>>> one, other, *never = [pattern_of_codes(tree, regions) for tree in trees]
>>> one == other, one in never, never[0] == never[1]
(True, False, True)
"""

from __future__ import annotations

from bisect import bisect_left

from sparkrules.logic.codes import LOWEST, NULL, Codes
from sparkrules.logic.regions import Regions
from sparkrules.sql.tree import Node, Predicate

Pattern = tuple[object, ...]
_MOST_PARTS = 300
_MOST_INTERVALS = 16  # beyond, a search costs hardly more


def pattern_of_codes(tree: Node, regions: Regions) -> Pattern | None:
    """The pattern of a tree; None if codes do not decide it, or if it is too large."""
    attributes: dict[str, int] = {}
    leaves: dict[Predicate, int] = {}
    shape: list[object] = []
    stack: list[Node | None] = [tree]
    while stack:
        node = stack.pop()
        if len(shape) > _MOST_PARTS:
            return None
        if node is None:
            shape.append(")")
        elif isinstance(node, Predicate):
            shape.append(leaves.setdefault(node, len(leaves)))
        else:
            shape.append(node.operator)
            stack.append(None)
            stack.extend(reversed(node.children))
    sets: list[list[Codes]] = []
    placed: list[int] = []
    for predicate in leaves:
        extent = regions.extent(predicate)
        if extent.atom is not None or (extent.sure is not extent.possible and extent.sure != extent.possible):
            return None
        place = attributes.setdefault(predicate.attribute, len(attributes))
        if place == len(sets):
            sets.append([extent.universe])
        sets[place].append(extent.possible)
        placed.append(place)
    found = [_pieces(own) for own in sets]
    return None if None in found else (tuple(shape), tuple(placed), tuple(found))


def _pieces(sets: list[Codes]) -> Pattern | None:
    """The intervals of each set, in numbers of pieces. NULL is a piece of its own."""
    if sum(len(codes.intervals) for codes in sets) > _MOST_INTERVALS:
        return None
    cuts = {NULL, LOWEST}
    for codes in sets:
        for start, end in codes.intervals:
            cuts.add(start)
            cuts.add(end + 1)
    ordered = sorted(cuts)
    return (
        bisect_left(ordered, NULL),
        *(
            tuple([(bisect_left(ordered, start), bisect_left(ordered, end + 1)) for start, end in codes.intervals])
            for codes in sets
        ),
    )
