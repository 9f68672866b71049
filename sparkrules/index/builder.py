"""From rules to a segment: find every shared subexpression.

Contract: two subexpressions become one node exactly when they are equal after these rewrites, whatever the order in
which they, or the rules, were written:

    A AND (B AND C)  ->  A AND B AND C        the same for OR
    A AND A          ->  A
    AND(A)           ->  A

Equality is of the exact tuples, never of a hash alone. Constants (the empty AND and OR) are left where they stand:
`A AND FALSE` still names A. Trees may share objects (a rewritten XOR does); each object is visited once per rule.

The loop only interns: it appends numbers to flat lists. Use counts and the final numbers, which do not depend on the
order of the rules, are computed on whole arrays afterwards (`forest`). Rules that share a template do not come here at
all: see `instances`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timezone
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from sparkrules.errors import DuplicateId, RuleSetError
from sparkrules.index.arrow_arrays import numpy_of, texts_to_arrow
from sparkrules.index.csr import Csr, Ints
from sparkrules.index.forest import Forest, merge_forests, without_unused
from sparkrules.index.rule import Rule
from sparkrules.index.segment import AND, KINDS, OR, PREDICATE, Instants, Segment, Strings, subscriptions_using
from sparkrules.sql.tree import OPERATORS, Constant, Junction, Node, Predicate

_OPERATOR_CODE = {operator: code for code, operator in enumerate(OPERATORS)}
_KIND_CODE = {kind: code for code, kind in enumerate(KINDS)}


def build_segment(rules: Iterable[Rule], functions: Iterable[str] = ()) -> Segment:
    """The segment of some rules. `functions`: the names of the functions their attributes and constants call.

    >>> from sparkrules.sql.tree import Constant, Junction, Predicate
    >>> cheap, sold = Predicate("price", "<", (Constant("integer", "5"),)), Predicate("sold", "is true")
    >>> segment = build_segment([
    ...     Rule("bargain", "price < 5 AND sold", Junction("and", (cheap, sold))),
    ...     Rule("same", "sold AND price < 5", Junction("and", (sold, cheap))),
    ... ])
    >>> segment, segment.subscription_node.tolist()
    (Segment(2 subscriptions, 2 predicates, 3 nodes), [2, 2])
    """
    ordered = sorted(rules, key=lambda rule: rule.id)
    for before, rule in pairwise(ordered):
        if before.id == rule.id:
            raise DuplicateId(f"two rules have the id {rule.id!r}: ids are unique within a rule set")
    for rule in ordered:
        if not -(2**31) <= rule.priority < 2**31:
            raise RuleSetError(f"rule {rule.id!r}: priority {rule.priority} does not fit in 32 bits")
    forest = merge_forests([trees_forest({rule.id: rule.tree for rule in ordered})])
    return segment_of(forest, _columns(ordered), functions)


def trees_forest(trees: Mapping[str, Node]) -> Forest:
    """The forest of some trees; their names are for errors."""
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
    # A junction that merged into another one is used by nobody.
    return without_unused(
        Forest(
            list(forest.attributes),
            list(forest.constants),
            np.array(forest.predicate_attribute, np.int32),
            np.array(forest.predicate_operator, np.uint8),
            Csr.from_lengths(forest.constant_count, forest.predicate_constants),
            np.array(forest.operator, np.uint8),
            np.array(forest.node_predicate, np.int32),
            children,
            level,
            subscriptions_using(children, level, roots).lengths.astype(np.int32),
            roots,
        )
    )


@dataclass(frozen=True, eq=False)
class SubscriptionColumns:
    """What a segment keeps of its subscriptions beside their trees, one entry per subscription."""

    id: Strings
    priority: Ints
    where: Strings
    metadata: Strings
    sql: Strings
    valid_from: Instants
    valid_until: Instants
    ticket: Strings

    @staticmethod
    def of(segment: Segment) -> SubscriptionColumns:
        return SubscriptionColumns(
            segment.subscription_id,
            segment.priority,
            segment.where,
            segment.metadata,
            segment.sql,
            segment.valid_from,
            segment.valid_until,
            segment.ticket,
        )

    def take(self, rows: NDArray[np.integer]) -> SubscriptionColumns:
        return SubscriptionColumns(*(getattr(self, column.name)[rows] for column in fields(self)))

    @staticmethod
    def concatenate(parts: Sequence[SubscriptionColumns]) -> SubscriptionColumns:
        if not parts:
            return _columns([])
        return SubscriptionColumns(
            *(np.concatenate([getattr(part, column.name) for part in parts]) for column in fields(SubscriptionColumns))
        )


def segment_of(forest: Forest, subscriptions: SubscriptionColumns, functions: Iterable[str] = ()) -> Segment:
    """The segment of a canonical forest, whose roots belong to these subscriptions."""
    # The order of UTF-8 bytes, which is that of Python and of Spark.
    order = numpy_of(pc.sort_indices(texts_to_arrow(subscriptions.id)))
    own = subscriptions.take(order)
    return Segment(
        attributes=strings(forest.attributes),
        constant_kind=np.array([_KIND_CODE[constant.kind] for constant in forest.constants], np.uint8),
        constant_text=strings(constant.text for constant in forest.constants),
        predicate_attribute=forest.predicate_attribute,
        predicate_operator=forest.predicate_operator,
        predicate_constants=forest.predicate_constants,
        node_operator=forest.node_operator,
        node_predicate=forest.node_predicate,
        children=forest.children,
        level=forest.level,
        use_count=forest.use_count,
        subscription_id=own.id,
        subscription_node=forest.roots[order],
        priority=own.priority,
        where=own.where,
        metadata=own.metadata,
        sql=own.sql,
        valid_from=own.valid_from,
        valid_until=own.valid_until,
        ticket=own.ticket,
        functions=tuple(sorted({name.lower() for name in functions})),
    )


class _Interned:
    """Numbers for attributes, constants, predicates and nodes, in order of first appearance."""

    def __init__(self) -> None:
        self.attributes: dict[str, int] = {}
        self.constants: dict[Constant, int] = {}
        self.leaves: dict[Predicate, int] = {}  # predicate to its node
        self.predicate_attribute: list[int] = []
        self.predicate_operator: list[int] = []
        self.constant_count: list[int] = []
        self.predicate_constants: list[int] = []  # of all predicates, one after the other
        self.junctions: dict[int, dict[tuple[int, ...], int]] = {AND: {}, OR: {}}  # children to node
        self.operator: list[int] = []
        self.node_predicate: list[int] = []
        self.children: list[tuple[int, ...]] = []
        self.level: list[int] = []

    def add(self, tree: Node) -> int:
        """The number of the tree's root."""
        if isinstance(tree, Predicate):
            return self._leaf(tree)
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
                        numbers[id(operand)] = self._leaf(operand)
        return numbers[id(tree)]

    def _leaf(self, predicate: Predicate) -> int:
        known = self.leaves.setdefault(predicate, len(self.operator))
        if known < len(self.operator):
            return known
        if predicate.operator not in _OPERATOR_CODE:
            raise RuleSetError(f"{predicate.operator!r} in {predicate} is no operator of a predicate")
        self.predicate_attribute.append(self.attributes.setdefault(predicate.attribute, len(self.attributes)))
        self.predicate_operator.append(_OPERATOR_CODE[predicate.operator])
        self.constant_count.append(len(predicate.constants))
        for constant in predicate.constants:
            self.predicate_constants.append(self.constants.setdefault(constant, len(self.constants)))
        return self._node(PREDICATE, len(self.leaves) - 1, (), 1)

    def _junction(self, operator: int, numbers: set[int]) -> int:
        # `_operands` has flattened what it could see; equal operands may still have merged into one of our operator.
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


def _columns(rules: Sequence[Rule]) -> SubscriptionColumns:
    return SubscriptionColumns(
        strings(rule.id for rule in rules),
        np.array([rule.priority for rule in rules], np.int32),
        strings(rule.where for rule in rules),
        strings(metadata_json(rule.metadata) for rule in rules),
        strings(rule.sql for rule in rules),
        instants(rule.valid_from for rule in rules),
        instants(rule.valid_until for rule in rules),
        strings(rule.ticket for rule in rules),
    )


def strings(values: Iterable[str | None]) -> Strings:
    """Texts as a column of a segment."""
    listed: list[Any] = list(values)
    array = np.empty(len(listed), object)
    array[:] = listed
    return array


def instants(values: Iterable[datetime | None]) -> Instants:
    """Instants with a time zone as a column of a segment."""
    naive = [None if value is None else value.astimezone(timezone.utc).replace(tzinfo=None) for value in values]
    return np.array(naive, "datetime64[us]")


def metadata_json(metadata: Mapping[str, object] | None) -> str | None:
    """Metadata as a segment keeps it."""
    return None if metadata is None else json.dumps(dict(metadata), ensure_ascii=False, sort_keys=True)
