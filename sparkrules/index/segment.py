"""A segment: the A-Tree of a rule set as immutable arrays, the form in which it is stored, loaded and matched.

Contract:

- Rows are numbered from 0 and refer to each other by number; the arrays are the columns of `docs/store-format.md`.
- Nodes are n-ary and hash-consed: two nodes are never equal. A node is a predicate (no children), an `and` or an `or`.
  Children come before parents, are sorted by number and distinct; no child of an `and` is an `and`, nor of an `or` an
  `or`; no junction has exactly one child. An `and` without children is true, an `or` without children false.
- `level` is 1 for a predicate and an empty junction, else 1 + the highest level of a child.
- `use_count(n)` is the number of subscriptions whose tree contains n, so `use_count(parent) <= use_count(child)`.

What can be derived is derived on first use: `parents`, `subscriptions_at`, `users`, `output_order`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import datetime, timezone
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparkrules.index.csr import Csr, Ints
from sparkrules.sql.tree import OPERATORS, Constant, ConstantKind, Junction, Node, Predicate

KINDS: tuple[ConstantKind, ...] = ("null", "boolean", "integer", "decimal", "double", "string", "sql")
NODE_OPERATORS = ("predicate", "and", "or")
PREDICATE, AND, OR = range(3)

Codes = NDArray[np.uint8]
Strings = NDArray[Any]  # dtype object: str, or None where a column may be NULL
Instants = NDArray[np.datetime64]  # microseconds, UTC; NaT where a column is NULL


@dataclass(frozen=True, eq=False, repr=False)
class Segment:
    """See the module. Operators and kinds are codes into `OPERATORS`, `NODE_OPERATORS` and `KINDS`."""

    attributes: Strings
    constant_kind: Codes
    constant_text: Strings
    predicate_attribute: Ints
    predicate_operator: Codes
    predicate_constants: Csr
    node_operator: Codes
    node_predicate: Ints
    children: Csr
    level: Ints
    use_count: Ints
    subscription_id: Strings
    subscription_node: Ints
    priority: Ints
    where: Strings
    metadata: Strings
    sql: Strings
    valid_from: Instants
    valid_until: Instants
    ticket: Strings
    functions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for column in fields(self):
            value = getattr(self, column.name)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def __repr__(self) -> str:
        return (
            f"Segment({len(self.subscription_id)} subscriptions, {len(self.predicate_operator)} predicates, "
            f"{len(self.node_operator)} nodes)"
        )

    @cached_property
    def parents(self) -> Csr:
        """For each node, the nodes it is a child of."""
        return self.children.transposed(len(self.node_operator))

    @cached_property
    def subscriptions_at(self) -> Csr:
        """For each node, the subscriptions whose whole expression it is."""
        roots = Csr.from_lengths(np.ones(len(self.subscription_node), np.int64), self.subscription_node)
        return roots.transposed(len(self.node_operator))

    @cached_property
    def users(self) -> Csr:
        """For each node, the subscriptions whose tree contains it; `use_count` is its lengths."""
        return subscriptions_using(self.children, self.level, self.subscription_node)

    @cached_property
    def node_of_predicate(self) -> Ints:
        """For each predicate, its node."""
        leaves = np.full(len(self.predicate_operator), -1, np.int32)
        is_leaf = np.flatnonzero(self.node_operator == PREDICATE)
        leaves[self.node_predicate[is_leaf]] = is_leaf
        return leaves

    @cached_property
    def output_order(self) -> Ints:
        """The subscriptions by priority descending, then id ascending: the order of every answer."""
        # Python compares str by code point, which is also the order of UTF-8 bytes and so of Spark.
        by_id = np.array(sorted(range(len(self.priority)), key=self.subscription_id.__getitem__), np.int32)
        order: Ints = by_id[np.argsort(-self.priority[by_id].astype(np.int64), kind="stable")]
        return order

    @cached_property
    def output_rank(self) -> Ints:
        """For each subscription, its place in `output_order`."""
        rank = np.empty_like(self.output_order)
        rank[self.output_order] = np.arange(len(rank), dtype=np.int32)
        return rank

    def valid_at(self, at: datetime) -> NDArray[np.bool_]:
        """For each subscription, whether it is valid at an instant; `at` has a time zone."""
        return valid_at(self.valid_from, self.valid_until, at)

    def descendants(self, node: int) -> list[int]:
        """The node and everything beneath it, each once, ascending."""
        found = {node}
        stack = [node]
        while stack:
            new = [child for child in self.children.row(stack.pop()).tolist() if child not in found]
            found.update(new)
            stack.extend(new)
        return sorted(found)

    def predicate(self, number: int) -> Predicate:
        """One predicate as the tree's own type."""
        constants = tuple(
            Constant(KINDS[self.constant_kind[constant]], self.constant_text[constant])
            for constant in self.predicate_constants.row(number)
        )
        attribute = self.attributes[self.predicate_attribute[number]]
        return Predicate(attribute, OPERATORS[self.predicate_operator[number]], constants)

    def predicates(self) -> Iterator[Predicate]:
        """All predicates in order: faster than one by one."""
        kinds, texts = self.constant_kind.tolist(), self.constant_text.tolist()
        constants = [Constant(KINDS[kind], text) for kind, text in zip(kinds, texts, strict=True)]
        attributes, operators = self.predicate_attribute.tolist(), self.predicate_operator.tolist()
        offsets, values = self.predicate_constants.offsets.tolist(), self.predicate_constants.values.tolist()
        for number, attribute in enumerate(attributes):
            own = tuple([constants[value] for value in values[offsets[number] : offsets[number + 1]]])
            yield Predicate(self.attributes[attribute], OPERATORS[operators[number]], own)

    def tree(self, node: int) -> Node:
        """The expression of a node. Shared nodes are shared objects, so that it is never larger than the segment."""
        trees: dict[int, Node] = {}
        for number in self.descendants(node):
            operator = self.node_operator[number]
            if operator == PREDICATE:
                trees[number] = self.predicate(int(self.node_predicate[number]))
            else:
                children = tuple(trees[child] for child in self.children.row(number).tolist())
                trees[number] = Junction("and" if operator == AND else "or", children)
        return trees[node]


def valid_at(valid_from: Instants, valid_until: Instants, at: datetime) -> NDArray[np.bool_]:
    """What is valid at an instant: from the beginning on, and no longer at the end, where there is one."""
    instant = np.datetime64(at.astimezone(timezone.utc).replace(tzinfo=None), "us")
    # A comparison with NaT is false, so each NULL is asked for.
    begun = np.isnat(valid_from) | (valid_from <= instant)
    valid: NDArray[np.bool_] = begun & (np.isnat(valid_until) | (instant < valid_until))
    return valid


def subscriptions_using(children: Csr, level: Ints, roots: Ints) -> Csr:
    """For each node, the subscriptions whose tree contains it, given the root of each subscription.

    Pairs (node, subscription) walk down from the roots, highest level first, so that each pair is expanded once.
    """
    subscriptions = max(len(roots), 1)
    pending: dict[int, list[NDArray[np.int64]]] = {}

    def put(pairs: NDArray[np.int64]) -> None:
        levels = level[pairs // subscriptions]
        for number in np.unique(levels).tolist():
            pending.setdefault(number, []).append(pairs[levels == number])

    put(roots.astype(np.int64) * subscriptions + np.arange(len(roots)))
    done: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    while pending:
        pairs = np.unique(np.concatenate(pending.pop(max(pending))))
        done.append(pairs)
        nodes, users = np.divmod(pairs, subscriptions)
        below = children.take(nodes)
        put(below.values.astype(np.int64) * subscriptions + np.repeat(users, below.lengths))
    pairs = np.sort(np.concatenate(done))
    nodes, users = np.divmod(pairs, subscriptions)
    return Csr.from_lengths(np.bincount(nodes, minlength=len(level)), users)
