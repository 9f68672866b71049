"""Build the forest of rules that differ only in their constants, column by column.

Contract: `instances_forest` returns the same forest as building each rule from its own tree. If two operands of a
junction become equal in a rule (`a = ? OR a = ?` with the same constant twice), its shape differs from the template.
The forest does not contain that rule, and the caller builds it separately.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sparkrules.index.csr import Csr, Ints
from sparkrules.index.distinct import distinct
from sparkrules.index.forest import AND, KINDS, OR, PREDICATE, Constants, Forest, Nodes, Predicates, strings
from sparkrules.index.merge_forests import distinct_rows, without_unused
from sparkrules.sql.tree import OPERATORS, Constant, Junction, Node, Predicate

_OPERATOR_CODE = {operator: code for code, operator in enumerate(OPERATORS)}


class ConstantTable:
    """Distinct constants by number: the code of their kind in `KINDS`, and their text."""

    def __init__(self) -> None:
        self.keys: list[tuple[int, str]] = []
        self._numbers: dict[tuple[int, str], int] = {}

    def number(self, constant: Constant) -> int:
        """The number of a constant; a new constant is added."""
        return self.number_of(KINDS.index(constant.kind), constant.text)

    def number_of(self, kind: int, text: str) -> int:
        """The number of a constant, given its parts."""
        key = (kind, text)
        number = self._numbers.setdefault(key, len(self.keys))
        if number == len(self.keys):
            self.keys.append(key)
        return number

    def numbers_of(self, kind: int, texts: Iterable[str]) -> list[int]:
        """The numbers of many constants of one kind."""
        keys, numbers = self.keys, self._numbers
        found: list[int] = []
        for text in texts:
            key = (kind, text)
            number = numbers.get(key)
            if number is None:
                number = numbers[key] = len(keys)
                keys.append(key)
            found.append(number)
        return found

    def ordered(self, numbers: Iterable[int]) -> list[int]:
        """The numbers in the order of kind and text."""
        by_kind: dict[int, list[int]] = {}
        for number in numbers:
            by_kind.setdefault(self.keys[number][0], []).append(number)
        return [number for _, own in sorted(by_kind.items()) for number in self._by_text(own)]

    def _by_text(self, numbers: list[int]) -> list[int]:
        texts = [self.keys[number][1] for number in numbers]
        try:
            # The order of bytes in UTF-8 is that of characters. Arrow sorts in a fraction of the time.
            order = pc.sort_indices(pa.array(texts, pa.large_string())).to_numpy()
        except UnicodeEncodeError:  # half a character
            return [number for _, number in sorted(zip(texts, numbers, strict=True))]
        ordered: list[int] = np.array(numbers, np.int64)[order].tolist()
        return ordered

    def chosen(self, numbers: Iterable[int]) -> Constants:
        """The constants with these numbers."""
        keys = [self.keys[number] for number in numbers]
        return Constants(np.array([kind for kind, _ in keys], np.uint8), strings(text for _, text in keys))


@dataclass(frozen=True, eq=False)
class Instances:
    """Rules with the same tree.

    `holes` maps placeholder constants of the tree to columns of `constants`, which has one row per rule. Its values are
    numbers in a `ConstantTable`.
    """

    tree: Node
    holes: Mapping[Constant, int]
    constants: Ints


def instances_forest(instances: Instances, table: ConstantTable) -> tuple[Forest, NDArray[np.bool_]]:
    """The forest, and a mask of the rules it contains: those of the usual shape.

    >>> table, mark = ConstantTable(), Constant("integer", "?")
    >>> five, seven = (table.number(Constant("integer", text)) for text in "57")
    >>> cheap = Predicate("price", "<", (mark,))
    >>> forest, usual = instances_forest(Instances(cheap, {mark: 0}, np.array([[five], [seven], [five]])), table)
    >>> forest.roots.tolist(), forest.nodes.use_count.tolist(), usual.all()
    ([0, 1, 0], [2, 1], np.True_)
    """
    columns = _Columns(instances, table)
    for level in columns.levels():
        columns.add_level(level)
    return columns.forest(), columns.usual


def predicates_forest(instances: Sequence[Instances], table: ConstantTable) -> Forest:
    """The forest of rules that are one predicate each: first those of the first template, then those of the next. Its
    attributes, constants and predicates are numbered as in a merged forest.

    >>> table, mark = ConstantTable(), Constant("integer", "?")
    >>> seven, five = (table.number(Constant("integer", text)) for text in "75")
    >>> cheap, old = Predicate("price", "<", (mark,)), Predicate("age", ">", (mark,))
    >>> rows = np.array([[five], [seven], [five]])
    >>> forest = predicates_forest([Instances(cheap, {mark: 0}, rows), Instances(old, {mark: 0}, rows[:1])], table)
    >>> forest.roots.tolist(), forest.nodes.use_count.tolist(), str(forest.tree(0))
    ([1, 2, 1, 0], [1, 2, 1], 'age > 5')
    """
    trees = [one.tree for one in instances if isinstance(one.tree, Predicate)]
    assert len(trees) == len(instances)
    attributes = sorted({tree.attribute for tree in trees})
    attribute_number = {attribute: number for number, attribute in enumerate(attributes)}
    widths: dict[int, list[tuple[int, NDArray[np.int32]]]] = {}
    first = 0
    for tree, own in zip(trees, instances, strict=True):
        rows = np.empty((len(own.constants), 2 + len(tree.constants)), np.int32)
        rows[:, 0], rows[:, 1] = attribute_number[tree.attribute], _OPERATOR_CODE[tree.operator]
        for place, constant in enumerate(tree.constants):
            hole = own.holes.get(constant)
            rows[:, 2 + place] = table.number(constant) if hole is None else own.constants[:, hole]
        widths.setdefault(len(tree.constants), []).append((first, rows))
        first += len(rows)
    constants = distinct(
        np.concatenate([np.empty(0, np.int32), *(rows[:, 2:].ravel() for own in widths.values() for _, rows in own)])
    )
    ordered = table.ordered(constants.tolist())
    place_of = np.zeros(len(table.keys) + 1, np.int32)
    place_of[ordered] = np.arange(len(ordered))
    roots = np.empty(first, np.int32)
    merged: list[NDArray[np.integer]] = []
    count = 0
    for _, parts in sorted(widths.items()):
        whole = np.concatenate([rows for _, rows in parts])
        whole[:, 2:] = place_of[whole[:, 2:]]
        different, which = distinct_rows(whole)
        at = 0
        for start, rows in parts:
            roots[start : start + len(rows)] = count + which[at : at + len(rows)]
            at += len(rows)
        merged.append(different)
        count += len(different)
    lengths = [rows.shape[1] - 2 for rows in merged for _ in range(len(rows))]
    columns = [np.concatenate([np.empty(0, np.int32), *(rows[:, place] for rows in merged)]) for place in (0, 1)]
    return Forest(
        strings(attributes),
        table.chosen(ordered),
        Predicates(
            columns[0].astype(np.int32),
            columns[1].astype(np.uint8),
            Csr.from_lengths(
                lengths, np.concatenate([np.empty(0, np.int32), *(rows[:, 2:].ravel() for rows in merged)])
            ),
        ),
        Nodes(
            np.full(count, PREDICATE, np.uint8),
            np.arange(count, dtype=np.int32),
            Csr.from_lengths(np.zeros(count, np.int64), []),
            np.ones(count, np.int32),
            np.bincount(roots, minlength=count).astype(np.int32),
        ),
        roots,
    )


class _Columns:
    """For each node of the tree, its node number in each rule."""

    def __init__(self, instances: Instances, table: ConstantTable) -> None:
        self.tree = instances.tree
        self.rules = len(instances.constants)
        self.usual = np.ones(self.rules, bool)
        self.level: dict[int, int] = {}
        self.junctions: dict[int, list[Junction]] = {}
        self.numbers: dict[int, Ints] = {}  # by the identity of the node
        predicates = self._levels()
        self._add_predicates(predicates, instances, table)

    def _levels(self) -> list[Predicate]:
        """Compute the level of each node and return the predicates."""
        predicates: list[Predicate] = []
        stack: list[tuple[Node, bool]] = [(self.tree, False)]
        while stack:
            node, seen_children = stack.pop()
            if id(node) in self.level:
                continue
            if isinstance(node, Predicate):
                self.level[id(node)] = 1
                predicates.append(node)
            elif seen_children:
                level = 1 + max((self.level[id(child)] for child in node.children), default=0)
                self.level[id(node)] = level
                self.junctions.setdefault(level, []).append(node)
            else:
                stack.append((node, True))
                stack.extend((child, False) for child in node.children)
        return predicates

    def levels(self) -> list[int]:
        return sorted(self.junctions)

    def _add_predicates(self, predicates: list[Predicate], instances: Instances, table: ConstantTable) -> None:
        kinds: dict[tuple[str, str], int] = {}
        widths: dict[int, list[Predicate]] = {}
        for predicate in predicates:
            kinds.setdefault((predicate.attribute, predicate.operator), len(kinds))
            widths.setdefault(len(predicate.constants), []).append(predicate)
        merged: list[NDArray[np.integer]] = []
        first = 0
        for width, own in sorted(widths.items()):
            rows = np.empty((len(own), self.rules, 1 + width), np.int32)
            for i, predicate in enumerate(own):
                rows[i, :, 0] = kinds[predicate.attribute, predicate.operator]
                for j, constant in enumerate(predicate.constants):
                    hole = instances.holes.get(constant)
                    rows[i, :, 1 + j] = table.number(constant) if hole is None else instances.constants[:, hole]
            different, which = distinct_rows(rows.reshape(-1, 1 + width))
            for i, predicate in enumerate(own):
                self.numbers[id(predicate)] = (first + which[i * self.rules : (i + 1) * self.rules]).astype(np.int32)
            merged.append(different)
            first += len(different)
        self.nodes = first
        kind = np.concatenate([np.empty(0, np.int64), *(rows[:, 0] for rows in merged)])
        constants = np.concatenate([np.empty(0, np.int64), *(rows[:, 1:].ravel() for rows in merged)])
        used = distinct(constants)
        attributes = sorted({attribute for attribute, _ in kinds})
        place = {attribute: i for i, attribute in enumerate(attributes)}
        self.attributes = attributes
        self.constants = table.chosen(used.tolist())
        self.predicates = Predicates(
            np.array([place[attribute] for attribute, _ in kinds], np.int32)[kind],
            np.array([_OPERATOR_CODE[operator] for _, operator in kinds], np.uint8)[kind],
            Csr.from_lengths(
                np.concatenate([np.empty(0, np.int64), *(np.full(len(rows), rows.shape[1] - 1) for rows in merged)]),
                np.searchsorted(used, constants),
            ),
        )
        self.parts: list[tuple[int, int, NDArray[np.integer]]] = [(PREDICATE, 1, np.empty((first, 0), np.int32))]

    def add_level(self, level: int) -> None:
        groups: dict[tuple[int, int], list[Junction]] = {}
        for junction in self.junctions[level]:
            operator = AND if junction.operator == "and" else OR
            groups.setdefault((operator, len(junction.children)), []).append(junction)
        for (operator, width), own in sorted(groups.items()):
            rows = np.empty((len(own), self.rules, width), np.int32)
            for i, junction in enumerate(own):
                for j, child in enumerate(junction.children):
                    rows[i, :, j] = self.numbers[id(child)]
            rows.sort(axis=2)
            self.usual &= ~(rows[:, :, 1:] == rows[:, :, :-1]).any(axis=(0, 2))
            different, which = distinct_rows(rows.reshape(len(own) * self.rules, width))
            for i, junction in enumerate(own):
                self.numbers[id(junction)] = (self.nodes + which[i * self.rules : (i + 1) * self.rules]).astype(
                    np.int32
                )
            self.parts.append((operator, level, different))
            self.nodes += len(different)

    def forest(self) -> Forest:
        sizes = [len(rows) for _, _, rows in self.parts]
        node_predicate = np.full(self.nodes, -1, np.int32)
        node_predicate[: sizes[0]] = np.arange(sizes[0])
        return without_unused(
            Forest(
                strings(self.attributes),
                self.constants,
                self.predicates,
                Nodes(
                    np.repeat(np.array([operator for operator, _, _ in self.parts], np.uint8), sizes),
                    node_predicate,
                    Csr.from_lengths(
                        np.repeat([rows.shape[1] for _, _, rows in self.parts], sizes),
                        np.concatenate([rows.ravel() for _, _, rows in self.parts]),
                    ),
                    np.repeat(np.array([level for _, level, _ in self.parts], np.int32), sizes),
                    self._use_count(),
                ),
                self.numbers[id(self.tree)][self.usual],
            )
        )

    def _use_count(self) -> Ints:
        """How many of the usual rules contain each node. Several occurrences in one rule count once."""
        uses = np.zeros(self.nodes, np.int64)
        used = np.stack([numbers[self.usual] for numbers in self.numbers.values()], axis=1)
        used.sort(axis=1)
        is_first = np.ones(used.shape, bool)
        is_first[:, 1:] = used[:, 1:] != used[:, :-1]
        uses += np.bincount(used[is_first], minlength=self.nodes)
        return uses.astype(np.int32)
