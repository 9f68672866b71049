"""Build a segment from rules: find every shared subexpression.

Contract: two subexpressions become one node exactly when they are equal after these rewrites, regardless of the order
in which they, or the rules, were written:

    A AND (B AND C)  ->  A AND B AND C        the same for OR
    A AND A          ->  A
    AND(A)           ->  A

Equality compares exact tuples, never a hash alone. Constants (the empty AND and OR) stay in place: `A AND FALSE` still
names A. Trees may share objects (an expanded XOR does); each object is visited once per rule.

The loop only interns: it appends numbers to flat lists. Use counts and the final numbers, which do not depend on the
order of the rules, are computed afterwards on whole arrays (`merge_forests`). Rules that share a template take another
path: see `instances`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

import numpy as np

from sparkrules.errors import DuplicateId, RuleSetError
from sparkrules.index.csr import Csr
from sparkrules.index.forest import AND, OR, PREDICATE, Constants, Forest, Nodes, Predicates, strings, use_counts
from sparkrules.index.merge_forests import merge_forests, without_unused
from sparkrules.index.rule import Rule
from sparkrules.index.rule_columns import RuleColumns
from sparkrules.index.segment import Segment
from sparkrules.sql.tree import OPERATORS, Constant, Junction, Node, Predicate

_OPERATOR_CODE = {operator: code for code, operator in enumerate(OPERATORS)}


def build_segment(rules: Iterable[Rule], functions: Iterable[str] = ()) -> Segment:
    """Build the segment of some rules. `functions` names the functions that their attributes and constants call.

    >>> from sparkrules.sql.tree import Constant, Junction, Predicate
    >>> cheap, sold = Predicate("price", "<", (Constant("integer", "5"),)), Predicate("sold", "is true")
    >>> segment = build_segment([
    ...     Rule("bargain", "price < 5 AND sold", Junction("and", (cheap, sold))),
    ...     Rule("same", "sold AND price < 5", Junction("and", (sold, cheap))),
    ... ])
    >>> segment, segment.forest.roots.tolist()
    (Segment(2 rules, 2 predicates, 3 nodes), [2, 2])
    """
    ordered = sorted(rules, key=lambda rule: rule.id)
    for before, rule in pairwise(ordered):
        if before.id == rule.id:
            raise DuplicateId(f"two rules have the id {rule.id!r}: ids are unique within a rule set")
    for rule in ordered:
        if not -(2**31) <= rule.priority < 2**31:
            raise RuleSetError(f"rule {rule.id!r}: priority {rule.priority} does not fit in 32 bits")
    forest = merge_forests([trees_forest({rule.id: rule.tree for rule in ordered})])
    return Segment.of(forest, RuleColumns.of(ordered), functions)


def trees_forest(trees: Mapping[str, Node]) -> Forest:
    """The forest of some trees. Their names are used in errors."""
    forest = _Interned()
    added: list[int] = []
    for name, tree in trees.items():
        try:
            added.append(forest.add(tree))
        except RuleSetError as error:
            raise RuleSetError(f"rule {name!r}: {error}") from None
    roots = np.array(added, np.int32)
    level = np.array(forest.level, np.int32)
    children = Csr.from_rows(forest.children)
    # A junction that was merged into another is unused.
    return without_unused(
        Forest(
            strings(forest.attributes),
            Constants.of(forest.constants),
            Predicates(
                np.array(forest.predicate_attribute, np.int32),
                np.array(forest.predicate_operator, np.uint8),
                Csr.from_lengths(forest.constant_count, forest.predicate_constants),
            ),
            Nodes(
                np.array(forest.operator, np.uint8),
                np.array(forest.node_predicate, np.int32),
                children,
                level,
                use_counts(children, level, roots),
            ),
            roots,
        )
    )


class _Interned:
    """Numbers for attributes, constants, predicates and nodes, in order of first appearance."""

    def __init__(self) -> None:
        self.attributes: dict[str, int] = {}
        self.constants: dict[Constant, int] = {}
        self.predicates: dict[Predicate, int] = {}  # predicate to its node
        self.predicate_attribute: list[int] = []
        self.predicate_operator: list[int] = []
        self.constant_count: list[int] = []
        self.predicate_constants: list[int] = []  # of all predicates, concatenated
        self.junctions: dict[int, dict[tuple[int, ...], int]] = {AND: {}, OR: {}}  # children to node
        self.operator: list[int] = []
        self.node_predicate: list[int] = []
        self.children: list[tuple[int, ...]] = []
        self.level: list[int] = []

    def add(self, tree: Node) -> int:
        """Add a tree and return the number of its root."""
        if isinstance(tree, Predicate):
            return self._predicate(tree)
        numbers: dict[int, int] = {}  # by object identity: the tree keeps its objects alive
        operands: dict[int, list[Node]] = {}
        stack = [tree]
        while stack:
            junction = stack[-1]
            key = id(junction)
            if key in numbers:
                stack.pop()
            elif key in operands:
                operator = AND if junction.operator == "and" else OR
                numbers[key] = self._junction(operator, {numbers[id(operand)] for operand in operands[key]})
                stack.pop()
            else:
                operands[key] = _operands(junction)
                for operand in operands[key]:
                    if isinstance(operand, Junction):
                        stack.append(operand)
                    elif id(operand) not in numbers:
                        numbers[id(operand)] = self._predicate(operand)
        return numbers[id(tree)]

    def _predicate(self, predicate: Predicate) -> int:
        known = self.predicates.setdefault(predicate, len(self.operator))
        if known < len(self.operator):
            return known
        if predicate.operator not in _OPERATOR_CODE:
            raise RuleSetError(f"{predicate.operator!r} in {predicate} is not an operator of a predicate")
        self.predicate_attribute.append(self.attributes.setdefault(predicate.attribute, len(self.attributes)))
        self.predicate_operator.append(_OPERATOR_CODE[predicate.operator])
        self.constant_count.append(len(predicate.constants))
        for constant in predicate.constants:
            self.predicate_constants.append(self.constants.setdefault(constant, len(self.constants)))
        return self._node(PREDICATE, len(self.predicates) - 1, (), 1)

    def _junction(self, operator: int, numbers: set[int]) -> int:
        # `_operands` flattens what it can see. Operands may still have merged into a node with our operator.
        if any(self.operator[number] == operator for number in numbers):
            numbers = {
                part
                for number in numbers
                for part in (self.children[number] if self.operator[number] == operator else (number,))
            }
        if len(numbers) == 1:
            return next(iter(numbers))
        children = tuple(sorted(numbers))
        known = self.junctions[operator].setdefault(children, len(self.operator))
        if known == len(self.operator):
            self._node(operator, -1, children, 1 + max((self.level[child] for child in children), default=0))
        return known

    def _node(self, operator: int, predicate: int, children: tuple[int, ...], level: int) -> int:
        self.operator.append(operator)
        self.node_predicate.append(predicate)
        self.children.append(children)
        self.level.append(level)
        return len(self.operator) - 1


def _operands(junction: Junction) -> list[Node]:
    """`A AND (B AND AND(C)) -> A, B, C`: the operands of a maximal chain, each object once."""
    found: list[Node] = []
    seen: set[int] = set()
    stack: list[Node] = list(reversed(junction.children))
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Junction) and (node.operator == junction.operator or len(node.children) == 1):
            stack.extend(reversed(node.children))
        else:
            found.append(node)
    return found
