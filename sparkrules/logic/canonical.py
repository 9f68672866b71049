"""A canonical form that makes many equivalent conditions equal, cheap enough for every rule of a large set.

Contract: equal forms mean equivalent conditions. Equivalent conditions may have different forms (`relations` decides
those). The steps, bottom up:

- Predicates on one attribute without atoms are joined: AND intersects their codes, OR unites them.
- A part that is always or never true decides its junction or is dropped. Nested junctions of one kind are merged.
- Repeated and absorbed parts are dropped: `A OR (A AND B)` is `A`.

>>> from sparkrules.sql import parse_rule
>>> texts = "a > 5 AND a > 3 AND b", "b AND a > 5", "NOT (a <= 5 OR b IS NOT TRUE)", "b AND a > 5 OR b AND a > 5 AND c"
>>> trees = [parse_rule(text) for text in texts]
>>> regions = Regions.of_trees(*trees)
>>> len({canonical(formula(tree, regions)) for tree in trees})
1
"""

from __future__ import annotations

from typing import Literal

from sparkrules.logic.regions import Extent, Regions
from sparkrules.logic.satisfiable import Formula, formula

__all__ = ["Canonical", "Regions", "canonical", "formula"]

# An extent, or a junction of distinct parts, none of which is a junction of the same kind.
Canonical = Extent | tuple[Literal["and", "or"], frozenset["Canonical"]]

TRUE: Canonical = ("and", frozenset())
FALSE: Canonical = ("or", frozenset())


def canonical(condition: Formula) -> Canonical:
    """The canonical form of a formula. Shared parts are visited once."""
    made: dict[int, Canonical] = {}
    stack = [condition]
    while stack:
        node = stack[-1]
        if id(node) in made:
            stack.pop()
        elif isinstance(node, Extent):
            made[id(node)] = _extent(node)
        elif missing := [child for child in node.children if id(child) not in made]:
            stack.extend(missing)
        else:
            made[id(node)] = _junction(node.operator, [made[id(child)] for child in node.children])
    return made[id(condition)]


def _extent(extent: Extent) -> Canonical:
    if not extent.possible:
        return FALSE
    return TRUE if extent.sure == extent.universe else extent


def _junction(operator: Literal["and", "or"], children: list[Canonical]) -> Canonical:
    neutral, deciding = (TRUE, FALSE) if operator == "and" else (FALSE, TRUE)
    parts: set[Canonical] = set()
    joined: dict[str, Extent] = {}
    for child in children:
        for part in child[1] if isinstance(child, tuple) and child[0] == operator else (child,):
            if part == deciding:
                return deciding
            if isinstance(part, Extent) and part.atom is None:
                before = joined.get(part.attribute)
                joined[part.attribute] = part if before is None else _joined(operator, before, part)
            elif part != neutral:
                parts.add(part)
    for extent in map(_extent, joined.values()):
        if extent == deciding:
            return deciding
        if extent != neutral:
            parts.add(extent)
    kept = frozenset(part for part in parts if not _is_absorbed(part, parts))
    return next(iter(kept)) if len(kept) == 1 else (operator, kept)


def _joined(operator: str, a: Extent, b: Extent) -> Extent:
    codes = a.sure & b.sure if operator == "and" else a.sure | b.sure
    return Extent(a.attribute, codes, codes, a.universe)


def _is_absorbed(part: Canonical, parts: set[Canonical]) -> bool:
    """`A AND B` next to `A` in an OR, or the reverse."""
    if isinstance(part, Extent):
        return False
    own = part[1]
    for other in parts:
        if other is part:
            continue
        if isinstance(other, tuple):
            if other[1] < own:
                return True
        elif other in own:
            return True
    return False
