"""Negation normal form: NOT is pushed down to the predicates, XOR is expanded, junctions are flat and free of repeats.

Each expression becomes two trees, one for true and one for false, built from the two trees of its parts:

| expression | true when | false when |
|---|---|---|
| NOT a | a false | a true |
| a AND b | a true and b true | a false or b false |
| a OR b | a true or b true | a false and b false |
| a XOR b | one true, the other false | both true or both false |
| at least k of n | k true | n-k+1 false |
| at most k of n | n-k false | k+1 true |
| a under a condition c | c true and a true | c true and a false |

In three-valued logic an expression may be neither. Equal parts are one object, so the result is a graph that repeats
nothing in memory. Printed as a tree, a chain of XORs doubles with each XOR.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sparkrules.sql.predicate_sides import Sides
from sparkrules.sql.syntax import Count, Gate, Not, PredicateSyntax, Syntax
from sparkrules.sql.threshold import threshold
from sparkrules.sql.tree import ALWAYS, NEVER, Junction, JunctionOperator, Node, Predicate


@dataclass(frozen=True)
class Guarded:
    """The sides of a predicate that is true or false only where some conditions are true."""

    conditions: Sequence[Syntax | Predicate]
    sides: Sides


Classify = Callable[[PredicateSyntax], Syntax | Sides | Guarded]


def normal_form(structure: Syntax, classify: Classify) -> Node:
    """The tree that is true exactly when the structure is. `classify` returns the two sides of a predicate, or the
    structure it contains, such as the expression inside its brackets."""
    return TreeBuilder(classify).sides(structure)[0]


class TreeBuilder:
    """Builds the two trees of an expression; see the module."""

    def __init__(self, classify: Classify) -> None:
        self.classify = classify
        self.predicates: dict[Predicate, Predicate] = {}
        # Keyed by the identity of the children: comparing whole subtrees takes exponential time below XORs.
        self.junctions: dict[tuple[str, tuple[int, ...]], Junction] = {}

    def sides(self, structure: Syntax) -> Sides:
        if isinstance(structure, PredicateSyntax):
            found = self.classify(structure)
            if isinstance(found, Guarded):
                return self.guarded(found)
            return (self.shared(found[0]), self.shared(found[1])) if isinstance(found, tuple) else self.sides(found)
        if isinstance(structure, Not):
            true, false = self.sides(structure.child)
            return false, true
        return self.count(structure) if isinstance(structure, Count) else self.gate(structure)

    def guarded(self, found: Guarded) -> Sides:
        conditions = [
            self.shared(own) if isinstance(own, Predicate) else self.sides(own)[0] for own in found.conditions
        ]
        true, false = (self.junction("and", [*conditions, self.shared(side)]) for side in found.sides)
        return true, false

    def count(self, count: Count) -> Sides:
        parts = [self.sides(child) for child in count.children]
        trues, falses = [true for true, _ in parts], [false for _, false in parts]
        fewest, most = count.least, len(parts) - count.most
        holds = [(fewest, trues)] * (fewest > 0) + [(most, falses)] * (most > 0)
        fails = [(len(parts) - fewest + 1, falses)] * (fewest > 0) + [(count.most + 1, trues)] * (most > 0)
        said = f"{count.name}({count.number}, ...)"
        return (
            self.junction("and", [self.at_least(needed, nodes, said) for needed, nodes in holds]),
            self.junction("or", [self.at_least(needed, nodes, f"NOT {said}") for needed, nodes in fails]),
        )

    def at_least(self, needed: int, nodes: Sequence[Node], _said: str) -> Node:
        """At least some of the nodes, and how the rule says it."""
        return threshold(needed, nodes, self.junction)

    def gate(self, gate: Gate) -> Sides:
        parts = [self.sides(child) for child in gate.children]
        if gate.operator == "xor":
            sides = parts[0]
            for part in parts[1:]:
                sides = self.exclusive(sides, part)
            return sides
        trues, falses = [true for true, _ in parts], [false for _, false in parts]
        if gate.operator == "and":
            return self.junction("and", trues), self.junction("or", falses)
        return self.junction("or", trues), self.junction("and", falses)

    def exclusive(self, left: Sides, right: Sides) -> Sides:
        def either(a: Node, b: Node, c: Node, d: Node) -> Node:
            # Both operands appear on both sides, so a branch that a constant makes false can be dropped.
            both = [self.junction("and", pair) for pair in ((a, b), (c, d)) if all(node is not NEVER for node in pair)]
            return self.junction("or", both)

        return either(left[0], right[1], left[1], right[0]), either(left[0], right[0], left[1], right[1])

    def junction(self, operator: JunctionOperator, nodes: Iterable[Node]) -> Node:
        # `a AND FALSE` keeps `a`, so that Spark rejects the rule if it rejects `a`.
        children: dict[int, Node] = {}
        for node in nodes:
            same = isinstance(node, Junction) and node.operator == operator
            for child in node.children if same else (node,):  # type: ignore[union-attr]
                children[id(child)] = child
        if not children:
            return ALWAYS if operator == "and" else NEVER
        if len(children) == 1:
            return next(iter(children.values()))
        key = (operator, tuple(children))
        found = self.junctions.get(key)
        if found is None:
            found = self.junctions[key] = Junction(operator, tuple(children.values()))
        return found

    def shared(self, node: Node) -> Node:
        """The single object for equal predicate nodes."""
        if isinstance(node, Predicate):
            return self.predicates.setdefault(node, node)
        if not node.children:
            return ALWAYS if node.operator == "and" else NEVER
        return self.junction(node.operator, map(self.shared, node.children))
