"""The shared subexpressions of some rules as arrays, and how several such forests become one.

Contract: a forest is what a `Segment` is without its subscriptions' texts. It is *canonical*: its numbers follow from
what the rules are and from nothing else, neither the order of their arrival nor how they were divided into forests.

| numbered | by |
|---|---|
| attributes | text |
| constants | kind, text |
| predicates | how many constants they have, attribute, operator, constants |
| nodes | level (predicates first), operator, number of children, children |

`merge_forests` is exact: equal rows of numbers are found by sorting them, never by a hash. It works level by level,
because a node is known by its operator and its children once these have their final numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparkrules.index.csr import Csr, Ints
from sparkrules.index.segment import AND, KINDS, OR, PREDICATE, Codes, Segment, subscriptions_using
from sparkrules.sql.tree import Constant

_KIND_CODE = {kind: code for code, kind in enumerate(KINDS)}
Wide = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Forest:
    """`roots` has the node of each rule; the other columns are those of `Segment`."""

    attributes: list[str]
    constants: list[Constant]
    predicate_attribute: Ints
    predicate_operator: Codes
    predicate_constants: Csr
    node_operator: Codes
    node_predicate: Ints
    children: Csr
    level: Ints
    use_count: Ints
    roots: Ints


def forest_of(segment: Segment, keep: NDArray[np.bool_] | None = None) -> Forest:
    """The forest of a segment's subscriptions, or of some of them: nodes that only the others used are gone."""
    constants = [
        Constant(KINDS[kind], text)
        for kind, text in zip(segment.constant_kind.tolist(), segment.constant_text.tolist(), strict=True)
    ]
    everything = keep is None or bool(keep.all())
    whole = Forest(
        segment.attributes.tolist(),
        constants,
        segment.predicate_attribute,
        segment.predicate_operator,
        segment.predicate_constants,
        segment.node_operator,
        segment.node_predicate,
        segment.children,
        segment.level,
        segment.use_count if everything else _uses_without(segment, ~keep),  # type: ignore[operator]
        segment.subscription_node if everything else segment.subscription_node[keep],
    )
    return whole if everything else without_unused(whole)


def _uses_without(segment: Segment, removed: NDArray[np.bool_]) -> Ints:
    """The use counts when some subscriptions are gone: only their trees are walked, or only those of the others."""
    few = removed if removed.sum() * 2 < len(removed) else ~removed
    counted = subscriptions_using(segment.children, segment.level, segment.subscription_node[few]).lengths
    uses = segment.use_count - counted if few is removed else counted
    return uses.astype(np.int32)


def without_unused(forest: Forest) -> Forest:
    """The forest without the nodes, predicates, constants and attributes that no rule uses."""
    nodes = np.flatnonzero(forest.use_count > 0)
    if len(nodes) == len(forest.use_count):
        return forest
    number = _numbers(nodes, len(forest.use_count))
    is_leaf = forest.node_operator[nodes] == PREDICATE
    predicates = np.sort(forest.node_predicate[nodes[is_leaf]])
    node_predicate = np.full(len(nodes), -1, np.int32)
    node_predicate[is_leaf] = np.searchsorted(predicates, forest.node_predicate[nodes[is_leaf]])
    own = forest.predicate_constants.take(predicates)
    constants = np.unique(own.values)
    attributes = np.unique(forest.predicate_attribute[predicates])
    children = forest.children.take(nodes)
    return Forest(
        [forest.attributes[i] for i in attributes.tolist()],
        [forest.constants[i] for i in constants.tolist()],
        np.searchsorted(attributes, forest.predicate_attribute[predicates]).astype(np.int32),
        forest.predicate_operator[predicates],
        Csr(own.offsets, np.searchsorted(constants, own.values).astype(np.int32)),
        forest.node_operator[nodes],
        node_predicate,
        Csr(children.offsets, number[children.values]),
        forest.level[nodes],
        forest.use_count[nodes],
        number[forest.roots],
    )


def merge_forests(forests: Sequence[Forest]) -> Forest:
    """One forest for the rules of all, one forest's after the other's; of one forest, itself in canonical numbers."""
    attributes = sorted({attribute for forest in forests for attribute in forest.attributes})
    attribute_number = {attribute: i for i, attribute in enumerate(attributes)}
    constants = sorted(
        {constant for forest in forests for constant in forest.constants}, key=lambda c: (_KIND_CODE[c.kind], c.text)
    )
    constant_number = {constant: i for i, constant in enumerate(constants)}
    predicates = _merged_predicates(forests, attribute_number, constant_number)
    nodes = _Nodes(forests, predicates.numbers, len(predicates.operator))
    for level in range(1, 1 + max((int(forest.level.max(initial=0)) for forest in forests), default=0)):
        nodes.add_level(level)
    use_count = np.zeros(nodes.count, np.int32)
    for forest, number in zip(forests, nodes.numbers, strict=True):
        use_count[number] += forest.use_count
    roots = [number[forest.roots] for forest, number in zip(forests, nodes.numbers, strict=True)]
    operators, children, levels = nodes.columns()
    return Forest(
        attributes,
        constants,
        predicates.attribute,
        predicates.operator,
        predicates.constants,
        operators,
        np.where(np.arange(nodes.count) < nodes.leaves, np.arange(nodes.count), -1).astype(np.int32),
        children,
        levels,
        use_count,
        np.concatenate([np.empty(0, np.int32), *roots]),
    )


@dataclass(frozen=True)
class _Predicates:
    attribute: Ints
    operator: Codes
    constants: Csr
    numbers: list[Ints]
    """For each forest, the numbers of its predicates here."""


def _merged_predicates(
    forests: Sequence[Forest], attribute_number: dict[str, int], constant_number: dict[Constant, int]
) -> _Predicates:
    rows: list[Csr] = []  # attribute, operator, constants
    for forest in forests:
        attribute = np.array([attribute_number[a] for a in forest.attributes], np.int32)[forest.predicate_attribute]
        constant = np.array([constant_number[c] for c in forest.constants], np.int32)
        own = forest.predicate_constants
        offsets = own.offsets + 2 * np.arange(len(own.offsets))
        values = np.empty(offsets[-1], np.int32)
        values[offsets[:-1]] = attribute
        values[offsets[:-1] + 1] = forest.predicate_operator
        values[np.arange(len(own.values)) + 2 * (own.row_numbers() + 1)] = constant[own.values]
        rows.append(Csr(offsets, values))
    numbers = [np.full(len(own), -1, np.int32) for own in rows]
    merged, _ = _interned(rows, [np.arange(len(own)) for own in rows], numbers, 0)
    starts = merged.offsets[:-1]
    is_constant = np.ones(len(merged.values), bool)
    is_constant[starts] = is_constant[starts + 1] = False
    return _Predicates(
        merged.values[starts],
        merged.values[starts + 1].astype(np.uint8),
        Csr.from_lengths(merged.lengths - 2, merged.values[is_constant]),
        numbers,
    )


class _Nodes:
    """The nodes of all forests, given their final numbers level by level."""

    def __init__(self, forests: Sequence[Forest], predicates: Sequence[Ints], leaves: int) -> None:
        self.forests = forests
        self.leaves = leaves
        self.count = leaves
        self.numbers = [np.full(len(forest.level), -1, np.int32) for forest in forests]
        self.parts: list[tuple[int, int, Csr]] = [(1, PREDICATE, Csr.from_lengths(np.zeros(leaves, np.int64), []))]
        for forest, number, predicate in zip(forests, self.numbers, predicates, strict=True):
            is_leaf = forest.node_operator == PREDICATE
            number[is_leaf] = predicate[forest.node_predicate[is_leaf]]

    def add_level(self, level: int) -> None:
        for operator in (AND, OR):
            chosen = [
                np.flatnonzero((forest.level == level) & (forest.node_operator == operator)) for forest in self.forests
            ]
            rows = [
                _ascending(Csr(own.offsets, number[own.values]))
                for own, number in zip(
                    (forest.children.take(nodes) for forest, nodes in zip(self.forests, chosen, strict=True)),
                    self.numbers,
                    strict=True,
                )
            ]
            merged, self.count = _interned(rows, chosen, self.numbers, self.count)
            self.parts.append((level, operator, merged))

    def columns(self) -> tuple[Codes, Csr, Ints]:
        """Operators, children, levels."""
        sizes = [len(children) for _, _, children in self.parts]
        children = Csr.from_lengths(
            np.concatenate([children.lengths for _, _, children in self.parts]),
            np.concatenate([children.values for _, _, children in self.parts]),
        )
        operator = np.repeat(np.array([operator for _, operator, _ in self.parts], np.uint8), sizes)
        level = np.repeat(np.array([level for level, _, _ in self.parts], np.int32), sizes)
        return operator, children, level


def _interned(
    rows: Sequence[Csr], places: Sequence[NDArray[np.integer]], numbers: Sequence[Ints], first: int
) -> tuple[Csr, int]:
    """The distinct rows of all, shorter ones first, numbered from `first`; and the number after the last.

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
    """The distinct rows of a matrix of numbers from 0 on, in lexicographic order, and for each row which it is.

    >>> distinct, which = distinct_rows(np.array([[2, 1], [0, 3], [2, 1]]))
    >>> distinct.tolist(), which.tolist()
    ([[0, 3], [2, 1]], [1, 0, 1])
    """
    rows, width = table.shape
    if width == 0 or rows == 0:
        return table[:1], np.zeros(rows, np.int64)
    # As many columns as fit are packed into one number; then what there is of it is numbered anew.
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
    """Each row sorted."""
    order = np.lexsort((rows.values, rows.row_numbers()))
    return Csr(rows.offsets, rows.values[order])


def _numbers(kept: NDArray[np.integer], size: int) -> Ints:
    number = np.full(size, -1, np.int32)
    number[kept] = np.arange(len(kept), dtype=np.int32)
    return number
