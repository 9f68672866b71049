"""A forest: the expressions of some rules as immutable arrays, with each subexpression stored once.

Contract:

- Rows are numbered from 0 and refer to each other by number; the arrays are the columns of `docs/store-format.md`.
- Nodes are n-ary and hash-consed: two nodes are never equal. A node is a predicate (no children), an `and` or an `or`.
  Children come before parents, are sorted by number and distinct; no child of an `and` is an `and`, nor of an `or` an
  `or`; no junction has exactly one child. An `and` without children is true, an `or` without children false.
- `level` is 1 for a predicate and an empty junction, else 1 + the highest level of a child.
- `use_count(n)` is the number of rules whose tree contains n, so `use_count(parent) <= use_count(child)`.

Derived data is computed on first use: `parents`, `rules_at`, `users`, `node_of_predicate`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparkrules.index.csr import Csr, Ints
from sparkrules.index.distinct import distinct
from sparkrules.sql.tree import OPERATORS, Constant, ConstantKind, Junction, Node, Predicate

KINDS: tuple[ConstantKind, ...] = ("null", "boolean", "integer", "decimal", "double", "string", "sql")
NODE_OPERATORS = ("predicate", "and", "or")
PREDICATE, AND, OR = range(3)

Codes = NDArray[np.uint8]
Strings = NDArray[Any]  # dtype object: str, or None where a column may be NULL
_KIND_CODE = {kind: code for code, kind in enumerate(KINDS)}


def freeze(columns: Any) -> None:
    """Make the arrays of a dataclass read-only."""
    for column in fields(columns):
        value = getattr(columns, column.name)
        if isinstance(value, np.ndarray):
            value.flags.writeable = False


def strings(values: Iterable[str | None]) -> Strings:
    """Strings as a column."""
    listed: list[Any] = list(values)
    array = np.empty(len(listed), object)
    array[:] = listed
    return array


@dataclass(frozen=True, eq=False)
class Constants:
    """Constants. `kind` is a code into `KINDS`."""

    kind: Codes
    text: Strings

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.kind)

    def __iter__(self) -> Iterator[Constant]:
        for kind, text in zip(self.kind.tolist(), self.text.tolist(), strict=True):
            yield Constant(KINDS[kind], text)

    def __getitem__(self, number: int) -> Constant:
        return Constant(KINDS[self.kind[number]], self.text[number])

    @staticmethod
    def of(constants: Iterable[Constant]) -> Constants:
        listed = list(constants)
        kinds = np.array([_KIND_CODE[constant.kind] for constant in listed], np.uint8)
        return Constants(kinds, strings(constant.text for constant in listed))


@dataclass(frozen=True, eq=False)
class Predicates:
    """Predicates. `operator` is a code into `OPERATORS`."""

    attribute: Ints
    operator: Codes
    constants: Csr

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.operator)


@dataclass(frozen=True, eq=False)
class Nodes:
    """Nodes. `operator` is a code into `NODE_OPERATORS`; `predicate` is -1 for a junction."""

    operator: Codes
    predicate: Ints
    children: Csr
    level: Ints
    use_count: Ints

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.operator)


@dataclass(frozen=True, eq=False, repr=False)
class Forest:
    """See the module. `roots` is the node of each rule."""

    attributes: Strings
    constants: Constants
    predicates: Predicates
    nodes: Nodes
    roots: Ints

    def __post_init__(self) -> None:
        freeze(self)

    def __repr__(self) -> str:
        return f"Forest({len(self.roots)} rules, {len(self.predicates)} predicates, {len(self.nodes)} nodes)"

    @cached_property
    def parents(self) -> Csr:
        """For each node, the nodes it is a child of."""
        return self.nodes.children.transposed(len(self.nodes))

    @cached_property
    def rules_at(self) -> Csr:
        """For each node, the rules whose root it is."""
        return Csr.from_lengths(np.ones(len(self.roots), np.int64), self.roots).transposed(len(self.nodes))

    @cached_property
    def users(self) -> Csr:
        """For each node, the rules whose tree contains it. `use_count` is the row lengths."""
        return rules_using(self.nodes.children, self.nodes.level, self.roots)

    @cached_property
    def node_of_predicate(self) -> Ints:
        """For each predicate, its node."""
        found = np.full(len(self.predicates), -1, np.int32)
        nodes = np.flatnonzero(self.nodes.operator == PREDICATE)
        found[self.nodes.predicate[nodes]] = nodes
        return found

    def descendants(self, node: int) -> list[int]:
        """The node and everything beneath it, each once, ascending."""
        found = {node}
        stack = [node]
        while stack:
            new = [child for child in self.nodes.children.row(stack.pop()).tolist() if child not in found]
            found.update(new)
            stack.extend(new)
        return sorted(found)

    def predicate(self, number: int) -> Predicate:
        """One predicate in the tree's own type."""
        constants = tuple(self.constants[constant] for constant in self.predicates.constants.row(number))
        attribute = self.attributes[self.predicates.attribute[number]]
        return Predicate(attribute, OPERATORS[self.predicates.operator[number]], constants)

    def all_predicates(self) -> Iterator[Predicate]:
        """All predicates in order. Faster than one by one."""
        constants = list(self.constants)
        attributes, operators = self.predicates.attribute.tolist(), self.predicates.operator.tolist()
        offsets, values = self.predicates.constants.offsets.tolist(), self.predicates.constants.values.tolist()
        for number, attribute in enumerate(attributes):
            own = tuple([constants[value] for value in values[offsets[number] : offsets[number + 1]]])
            yield Predicate(self.attributes[attribute], OPERATORS[operators[number]], own)

    def tree(self, node: int) -> Node:
        """The expression of a node. Shared nodes are shared objects, so it is never larger than the forest."""
        trees: dict[int, Node] = {}
        # Children of a factored forest may follow their parents.
        for number in sorted(self.descendants(node), key=self.nodes.level.__getitem__):
            operator = self.nodes.operator[number]
            if operator == PREDICATE:
                trees[number] = self.predicate(int(self.nodes.predicate[number]))
            else:
                children = tuple(trees[child] for child in self.nodes.children.row(number).tolist())
                trees[number] = Junction("and" if operator == AND else "or", children)
        return trees[node]


def rules_using(children: Csr, level: Ints, roots: Ints) -> Csr:
    """For each node, the rules whose tree contains it, given the root of each rule."""
    rules = max(len(roots), 1)
    pairs = np.sort(np.concatenate([np.empty(0, np.int64), *_pairs_using(children, level, roots)]))
    nodes, users = np.divmod(pairs, rules)
    return Csr.from_lengths(np.bincount(nodes, minlength=len(level)), users)


def use_counts(children: Csr, level: Ints, roots: Ints) -> Ints:
    """For each node, how many rules contain it: the lengths of `rules_using`, in half of the time."""
    rules = max(len(roots), 1)
    counts = np.zeros(len(level), np.int64)
    for pairs in _pairs_using(children, level, roots):
        counts += np.bincount(pairs // rules, minlength=len(level))
    return counts.astype(np.int32)


def _pairs_using(children: Csr, level: Ints, roots: Ints) -> Iterator[NDArray[np.int64]]:
    """Each pair of a node and a rule whose tree contains it, once, as node * rules + rule.

    Pairs walk down from the roots, highest level first, so that each pair is expanded once.
    """
    rules = max(len(roots), 1)
    pending: dict[int, list[NDArray[np.int64]]] = {}

    def put(pairs: NDArray[np.int64], nodes: NDArray[np.integer]) -> None:
        levels = level[nodes]
        for number in np.flatnonzero(np.bincount(levels)).tolist():
            pending.setdefault(number, []).append(pairs[levels == number])

    put(roots.astype(np.int64) * rules + np.arange(len(roots)), roots)
    while pending:
        pairs = distinct(np.concatenate(pending.pop(max(pending))))
        yield pairs
        nodes, users = np.divmod(pairs, rules)
        below = children.take(nodes)
        put(below.values.astype(np.int64) * rules + np.repeat(users, below.lengths), below.values)
