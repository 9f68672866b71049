"""Merge several forests into one, and remove unused parts of a forest.

Contract: the merged forest is *canonical*. Its numbers depend only on the rules, not on the order in which they arrived
or how they were divided into forests.

| numbered | by |
|---|---|
| attributes | SQL text |
| constants | kind, text |
| predicates | number of constants, attribute, operator, constants |
| nodes | level (predicates first), operator, number of children, children |

`merge_forests` is exact: it finds equal rows of numbers by sorting, never by hashing. It works level by level, because
a node is identified by its operator and its children once these have their final numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from operator import lt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparkrules.index.csr import Csr, Ints
from sparkrules.index.distinct import distinct
from sparkrules.index.forest import (
    AND,
    OR,
    PREDICATE,
    Constants,
    Forest,
    Nodes,
    Predicates,
    strings,
    use_counts,
)

Wide = NDArray[np.int64]


def only_rules(forest: Forest, keep: NDArray[np.bool_]) -> Forest:
    """The forest of some of the rules. Nodes used only by the others are gone."""
    if keep.all():
        return forest
    nodes = replace(forest.nodes, use_count=_uses_without(forest, ~keep))
    return without_unused(replace(forest, nodes=nodes, roots=forest.roots[keep]))


def _uses_without(forest: Forest, removed: NDArray[np.bool_]) -> Ints:
    """The use counts without the removed rules. Walks the smaller group: removed or kept rules."""
    few = removed if removed.sum() * 2 < len(removed) else ~removed
    counted = use_counts(forest.nodes.children, forest.nodes.level, forest.roots[few])
    uses = forest.nodes.use_count - counted if few is removed else counted
    return uses.astype(np.int32)


def without_unused(forest: Forest) -> Forest:
    """The forest without the nodes, predicates, constants and attributes that no rule uses."""
    old, tests = forest.nodes, forest.predicates
    nodes = np.flatnonzero(old.use_count > 0)
    if len(nodes) == len(old):
        return forest
    number = _numbers(nodes, len(old))
    is_predicate = old.operator[nodes] == PREDICATE
    predicates = np.sort(old.predicate[nodes[is_predicate]])
    predicate = np.full(len(nodes), -1, np.int32)
    predicate[is_predicate] = np.searchsorted(predicates, old.predicate[nodes[is_predicate]])
    own = tests.constants.take(predicates)
    constants = distinct(own.values)
    attributes = distinct(tests.attribute[predicates])
    children = old.children.take(nodes)
    return Forest(
        forest.attributes[attributes],
        Constants(forest.constants.kind[constants], forest.constants.text[constants]),
        Predicates(
            np.searchsorted(attributes, tests.attribute[predicates]).astype(np.int32),
            tests.operator[predicates],
            Csr(own.offsets, np.searchsorted(constants, own.values).astype(np.int32)),
        ),
        Nodes(
            old.operator[nodes],
            predicate,
            Csr(children.offsets, number[children.values]),
            old.level[nodes],
            old.use_count[nodes],
        ),
        number[forest.roots],
    )


def merge_forests(forests: Sequence[Forest]) -> Forest:
    """One forest for the rules of all, in the order of the forests. A single forest is renumbered canonically."""
    if len(forests) == 1 and _has_canonical_predicates(forests[0]):
        return _merged_nodes(forests, forests[0], [np.arange(len(forests[0].predicates), dtype=np.int32)])
    attributes = sorted({attribute for forest in forests for attribute in forest.attributes.tolist()})
    attribute_number = {attribute: i for i, attribute in enumerate(attributes)}
    constants = sorted(set().union(*(_kinds_and_texts(forest.constants) for forest in forests)))
    constant_number = {constant: i for i, constant in enumerate(constants)}
    predicates, numbers = _merged_predicates(forests, attribute_number, constant_number)
    kinds, texts = np.array([kind for kind, _ in constants], np.uint8), strings(text for _, text in constants)
    none = np.empty(0, np.int32)
    empty = Nodes(none.astype(np.uint8), none, Csr.from_rows([]), none, none)
    return _merged_nodes(
        forests, Forest(strings(attributes), Constants(kinds, texts), predicates, empty, none), numbers
    )


def _merged_nodes(forests: Sequence[Forest], merged: Forest, numbers: Sequence[Ints]) -> Forest:
    """The forest with the attributes, constants and predicates of `merged`, and the nodes and roots of all."""
    nodes = _Nodes(forests, numbers, len(merged.predicates))
    for level in range(1, 1 + max((int(forest.nodes.level.max(initial=0)) for forest in forests), default=0)):
        nodes.add_level(level)
    roots = [number[forest.roots] for forest, number in zip(forests, nodes.numbers, strict=True)]
    return replace(merged, nodes=nodes.merged(), roots=np.concatenate([np.empty(0, np.int32), *roots]))


def _has_canonical_predicates(forest: Forest) -> bool:
    """Whether attributes, constants and predicates have their canonical numbers already, as those of a merged forest
    have: comparing neighbours costs far less than renumbering."""
    own, constants = forest.predicates.constants, forest.constants
    if not _is_ascending(forest.attributes.tolist()) or not _is_sorted(constants.kind) or not _is_sorted(own.lengths):
        return False
    kinds = np.flatnonzero(np.diff(constants.kind)) + 1
    if not all(_is_ascending(texts.tolist()) for texts in np.split(constants.text, kinds)):
        return False
    for length in np.unique(own.lengths).tolist():
        rows = np.flatnonzero(own.lengths == length)
        columns: list[NDArray[Any]] = [forest.predicates.attribute[rows], forest.predicates.operator[rows]]
        columns += [own.values[own.offsets[rows] + place] for place in range(length)]
        order = np.lexsort(columns[::-1])
        is_repeated = np.ones(max(len(rows) - 1, 0), bool)
        for column in columns:
            is_repeated &= column[1:] == column[:-1]
        if not _is_sorted(order) or is_repeated.any():
            return False
    return True


def _is_ascending(values: Sequence[Any]) -> bool:
    return all(map(lt, values, islice(values, 1, None)))


def _is_sorted(values: NDArray[np.integer]) -> bool:
    return bool((values[1:] >= values[:-1]).all())


def _kinds_and_texts(constants: Constants) -> Iterable[tuple[int, str]]:
    """The constants as tuples, which are compared and hashed much faster; in the order of `KINDS`."""
    return zip(constants.kind.tolist(), constants.text.tolist(), strict=True)


def _merged_predicates(
    forests: Sequence[Forest], attribute_number: dict[str, int], constant_number: dict[tuple[int, str], int]
) -> tuple[Predicates, list[Ints]]:
    """The merged predicates, and for each forest the new numbers of its predicates."""
    rows: list[Csr] = []  # attribute, operator, constants
    for forest in forests:
        numbers = np.array([attribute_number[a] for a in forest.attributes.tolist()], np.int32)
        constant = np.array([constant_number[c] for c in _kinds_and_texts(forest.constants)], np.int32)
        own = forest.predicates.constants
        offsets = own.offsets + 2 * np.arange(len(own.offsets))
        values = np.empty(offsets[-1], np.int32)
        values[offsets[:-1]] = numbers[forest.predicates.attribute]
        values[offsets[:-1] + 1] = forest.predicates.operator
        values[np.arange(len(own.values)) + 2 * (own.row_numbers() + 1)] = constant[own.values]
        rows.append(Csr(offsets, values))
    found = [np.full(len(own), -1, np.int32) for own in rows]
    merged, _ = _interned(rows, [np.arange(len(own)) for own in rows], found, 0)
    starts = merged.offsets[:-1]
    is_constant = np.ones(len(merged.values), bool)
    is_constant[starts] = is_constant[starts + 1] = False
    predicates = Predicates(
        merged.values[starts],
        merged.values[starts + 1].astype(np.uint8),
        Csr.from_lengths(merged.lengths - 2, merged.values[is_constant]),
    )
    return predicates, found


class _Nodes:
    """The nodes of all forests, which receive their final numbers level by level."""

    def __init__(self, forests: Sequence[Forest], predicate_numbers: Sequence[Ints], predicates: int) -> None:
        self.forests = forests
        self.predicates = predicates
        self.count = predicates
        self.numbers = [np.full(len(forest.nodes), -1, np.int32) for forest in forests]
        self.parts: list[tuple[int, int, Csr]] = [(1, PREDICATE, Csr.from_lengths(np.zeros(predicates, np.int64), []))]
        for forest, number, of_predicate in zip(forests, self.numbers, predicate_numbers, strict=True):
            is_predicate = forest.nodes.operator == PREDICATE
            number[is_predicate] = of_predicate[forest.nodes.predicate[is_predicate]]

    def add_level(self, level: int) -> None:
        for operator in (AND, OR):
            chosen = [
                np.flatnonzero((forest.nodes.level == level) & (forest.nodes.operator == operator))
                for forest in self.forests
            ]
            rows = [
                _ascending(Csr(own.offsets, number[own.values]))
                for own, number in zip(
                    (forest.nodes.children.take(nodes) for forest, nodes in zip(self.forests, chosen, strict=True)),
                    self.numbers,
                    strict=True,
                )
            ]
            merged, self.count = _interned(rows, chosen, self.numbers, self.count)
            self.parts.append((level, operator, merged))

    def merged(self) -> Nodes:
        sizes = [len(children) for _, _, children in self.parts]
        children = Csr.from_lengths(
            np.concatenate([children.lengths for _, _, children in self.parts]),
            np.concatenate([children.values for _, _, children in self.parts]),
        )
        use_count = np.zeros(self.count, np.int32)
        for forest, number in zip(self.forests, self.numbers, strict=True):
            use_count[number] += forest.nodes.use_count
        return Nodes(
            np.repeat(np.array([operator for _, operator, _ in self.parts], np.uint8), sizes),
            np.where(np.arange(self.count) < self.predicates, np.arange(self.count), -1).astype(np.int32),
            children,
            np.repeat(np.array([level for level, _, _ in self.parts], np.int32), sizes),
            use_count,
        )


def _interned(
    rows: Sequence[Csr], places: Sequence[NDArray[np.integer]], numbers: Sequence[Ints], first: int
) -> tuple[Csr, int]:
    """The distinct rows of all, shorter ones first, numbered from `first`, and the next free number.

    `numbers[i][places[i][j]]` becomes the number of row j of `rows[i]`.
    """
    lengths = [own.lengths for own in rows]
    merged: list[NDArray[np.integer]] = []
    for length in np.unique(np.concatenate([np.empty(0, np.int64), *lengths])).tolist():
        chosen = [np.flatnonzero(own == length) for own in lengths]
        tables = [
            own.values[own.offsets[picked][:, None] + np.arange(length)]
            for own, picked in zip(rows, chosen, strict=True)
        ]
        distinct, inverse = distinct_rows(np.concatenate(tables))
        merged.append(distinct)
        at = 0
        for number, place, picked in zip(numbers, places, chosen, strict=True):
            number[place[picked]] = first + inverse[at : at + len(picked)]
            at += len(picked)
        first += len(distinct)
    found = [len(table) for table in merged]
    return (
        Csr.from_lengths(
            np.repeat([table.shape[1] for table in merged], found) if merged else [],
            np.concatenate([np.empty(0, np.int32), *(table.ravel() for table in merged)]),
        ),
        first,
    )


def distinct_rows(table: NDArray[np.integer]) -> tuple[NDArray[np.integer], Wide]:
    """The distinct rows of a matrix of non-negative numbers in lexicographic order, and the index of each row in them.

    >>> distinct, which = distinct_rows(np.array([[2, 1], [0, 3], [2, 1]]))
    >>> distinct.tolist(), which.tolist()
    ([[0, 3], [2, 1]], [1, 0, 1])
    """
    rows, width = table.shape
    if width == 0 or rows == 0:
        return table[:1], np.zeros(rows, np.int64)
    # Pack as many columns as fit into one integer. On overflow, renumber the distinct keys and continue.
    key = table[:, 0].astype(np.int64)
    bound = int(key.max()) + 1
    for column in range(1, width):
        values = table[:, column]
        size = int(values.max()) + 1
        if bound * size >= 2**63:
            distinct, key = np.unique(key, return_inverse=True)
            bound = len(distinct)
        key = key * size + values
        bound *= size
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    return table[first], which


def _ascending(rows: Csr) -> Csr:
    """The same rows, each sorted."""
    order = np.lexsort((rows.values, rows.row_numbers()))
    return Csr(rows.offsets, rows.values[order])


def _numbers(kept: NDArray[np.integer], size: int) -> Ints:
    number = np.full(size, -1, np.int32)
    number[kept] = np.arange(len(kept), dtype=np.int32)
    return number
