"""Factor chains: common parts of conjunctions, and of disjunctions, become nodes of their own.

The most frequent parts come first. In each round, every chain chooses the pair of its operands that the most chains
contain. A pair chosen by two or more chains becomes a node, and those chains refer to it. The rounds end when no two
chains agree. The thesis' dynamic program inserts one rule into an existing forest instead; see `ATree.insert` in
`tests/specification/atree.py`.

A stored segment keeps its chains flat: `A AND B AND C` is one node with three children. That form does not depend on
the other rules, so segments built at different times can be merged and compared. The fastest way to split a chain
depends on all rules evaluated together and on how likely each part is true. So the plugin decides it anew (its trie of
shared conditions). For the matcher in `local` it made no difference (auctions 10,000 rules, thesis 5,000: within
noise). Factoring serves to tell people what their rules have in common: `sharing`.

>>> from sparkrules.index.builder import trees_forest
>>> from sparkrules.index.merge_forests import merge_forests
>>> from sparkrules.sql.tree import Junction, Predicate
>>> a, b, c, d = (Predicate(name, "is true") for name in "abcd")
>>> flat = merge_forests([trees_forest({"1": Junction("and", (a, b, c)), "2": Junction("and", (a, b, d))})])
>>> flat.nodes.children.to_lists()[4:], factored(flat).nodes.children.to_lists()[4:]
([[0, 1, 2], [0, 1, 3]], [[2, 6], [3, 6], [0, 1]])
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sparkrules.index.csr import Csr, Ints
from sparkrules.index.forest import AND, OR, PREDICATE, Forest, Nodes, use_counts
from sparkrules.index.merge_forests import Wide, distinct_rows

# Longer chains pair only this many operands, the most used ones.
_PAIRED = 32
_ROUNDS = 64


def factored(forest: Forest) -> Forest:
    """The forest with new nodes added at the end. Existing nodes keep their numbers and their meaning."""
    for operator in (AND, OR):
        forest = _factored(forest, operator)
    nodes = forest.nodes
    level = _levels(nodes.children, nodes.operator == PREDICATE)
    use_count = use_counts(nodes.children, level, forest.roots)
    return replace(forest, nodes=replace(nodes, level=level, use_count=use_count))


def _factored(forest: Forest, operator: int) -> Forest:
    chains = np.flatnonzero(forest.nodes.operator == operator)
    chains = chains[forest.nodes.children.lengths[chains] > 1]
    operands = forest.nodes.children.take(chains)
    made: list[NDArray[np.integer]] = []
    count = len(forest.nodes.operator)
    for _ in range(_ROUNDS):
        chain, pair = _choices(operands)
        if not len(chain):
            break
        distinct, which = distinct_rows(pair)
        # A chain that is exactly this pair becomes its node; otherwise a new node is created.
        node = _nodes_of_pairs(chains, operands, distinct)
        is_new = (node < 0) & (np.bincount(which, minlength=len(distinct)) > 1)
        node[is_new] = count + np.arange(int(is_new.sum()))
        count += int(is_new.sum())
        made.append(distinct[is_new])
        replaced = (node[which] >= 0) & (node[which] != chains[chain]) if len(chains) else np.zeros(0, bool)
        if not replaced.any():
            break
        operands = _with_nodes(operands, chain[replaced], pair[replaced], node[which[replaced]])
        # The new nodes are chains of two operands, so that they are found again and never split.
        chains = np.concatenate([chains, node[is_new]])
        operands = Csr.from_lengths(
            np.concatenate([operands.lengths, np.full(int(is_new.sum()), 2)]),
            np.concatenate([operands.values, distinct[is_new].ravel()]),
        )
    return _with_chains(forest, operator, *_without_single_uses(chains, operands, len(forest.nodes.operator), count))


def _choices(operands: Csr) -> tuple[Wide, NDArray[np.integer]]:
    """For each chain of three or more operands that shares a pair with another chain: its number and that pair."""
    uses = np.bincount(operands.values)
    lengths = operands.lengths
    chain: list[Wide] = [np.empty(0, np.int64)]
    pairs: list[NDArray[np.integer]] = [np.empty((0, 2), np.int32)]
    for length in np.unique(lengths[lengths > 1]).tolist():
        own = np.flatnonzero(lengths == length)
        table = operands.values[operands.offsets[own][:, None] + np.arange(length)]
        if length > _PAIRED:
            most_used = np.argsort(-uses[table], axis=1, kind="stable")[:, :_PAIRED]
            table = np.sort(np.take_along_axis(table, most_used, axis=1), axis=1)
        left, right = np.triu_indices(table.shape[1], 1)
        chain.append(np.repeat(own, len(left)))
        pairs.append(np.stack([table[:, left].ravel(), table[:, right].ravel()], axis=1))
    all_chains, all_pairs = np.concatenate(chain), np.concatenate(pairs)
    if not len(all_chains):
        return all_chains, all_pairs
    _, which = distinct_rows(all_pairs)
    frequency = np.bincount(which)[which]
    # The most frequent pair of each chain; the first one on a tie. Chains of two are counted but choose nothing.
    order = np.lexsort((which, -frequency, all_chains))
    best = order[np.flatnonzero(np.diff(all_chains[order], prepend=-1))]
    best = best[(frequency[best] > 1) & (lengths[all_chains[best]] > 2)]
    return all_chains[best], all_pairs[best]


def _nodes_of_pairs(chains: NDArray[np.integer], operands: Csr, pairs: NDArray[np.integer]) -> Wide:
    """For each pair, the chain that is exactly this pair, or -1."""
    twos = np.flatnonzero(operands.lengths == 2)
    table = operands.values[operands.offsets[twos][:, None] + np.arange(2)]
    distinct, which = distinct_rows(np.concatenate([table, pairs]))
    node = np.full(len(distinct), -1, np.int64)
    node[which[: len(twos)]] = chains[twos]
    return node[which[len(twos) :]]


def _with_nodes(operands: Csr, chain: Wide, pair: NDArray[np.integer], node: Wide) -> Csr:
    """The operands of the chains, with one pair in each replaced by a node."""
    size = int(max(operands.values.max(initial=0), node.max(initial=0))) + 1
    rows = operands.row_numbers().astype(np.int64)
    gone = np.concatenate([chain * size + pair[:, 0], chain * size + pair[:, 1]])
    kept = ~np.isin(rows * size + operands.values, gone)
    row = np.concatenate([rows[kept], chain])
    value = np.concatenate([operands.values[kept], node])
    order = np.lexsort((value, row))
    return Csr.from_lengths(np.bincount(row, minlength=len(operands)), value[order])


def _without_single_uses(
    chains: NDArray[np.integer], operands: Csr, first: int, count: int
) -> tuple[NDArray[np.integer], Csr, int]:
    """Inline the nodes from `first` on that only one chain still refers to, and renumber the others."""
    while True:
        uses = np.bincount(operands.values, minlength=count)
        is_single = (chains >= first) & (uses[chains] == 1)
        if not is_single.any():
            return chains, operands, count
        # Innermost first: a node that refers to another such node waits.
        waits = np.zeros(count, bool)
        waits[chains[is_single]] = True
        is_single[operands.row_numbers()[waits[operands.values]]] = False
        row_of = np.full(count, -1, np.int64)
        row_of[chains[is_single]] = np.flatnonzero(is_single)
        row = operands.row_numbers()
        inlined = row_of[operands.values] >= 0
        inner = operands.take(row_of[operands.values[inlined]])
        rows = np.concatenate([row[~inlined], np.repeat(row[inlined], inner.lengths)])
        values = np.concatenate([operands.values[~inlined], inner.values])
        number = np.arange(count)
        gone = chains[is_single]
        number -= np.searchsorted(np.sort(gone), number)
        order = np.lexsort((number[values], rows))
        whole = Csr.from_lengths(np.bincount(rows, minlength=len(operands)), number[values][order])
        kept = np.flatnonzero(~is_single)
        chains, operands, count = number[chains[kept]], whole.take(kept), count - len(gone)


def _with_chains(forest: Forest, operator: int, chains: NDArray[np.integer], operands: Csr, count: int) -> Forest:
    added = count - len(forest.nodes.operator)
    lengths = np.concatenate([forest.nodes.children.lengths, np.zeros(added, np.int64)])
    lengths[chains] = operands.lengths
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    values = np.empty(int(offsets[-1]), np.int32)
    is_chain = np.zeros(count, bool)
    is_chain[chains] = True
    others = np.flatnonzero(~is_chain[: len(forest.nodes.operator)])
    for rows, source in ((others, forest.nodes.children.take(others)), (chains, operands)):
        place = np.repeat(offsets[rows] - source.offsets[:-1], source.lengths) + np.arange(len(source.values))
        values[place] = source.values
    nodes = Nodes(
        np.concatenate([forest.nodes.operator, np.full(added, operator, np.uint8)]),
        np.concatenate([forest.nodes.predicate, np.full(added, -1, np.int32)]),
        Csr(offsets, values),
        np.concatenate([forest.nodes.level, np.zeros(added, np.int32)]),  # `factored` recomputes these two
        np.concatenate([forest.nodes.use_count, np.zeros(added, np.int32)]),
    )
    return replace(forest, nodes=nodes)


def _levels(children: Csr, is_predicate: NDArray[np.bool_]) -> Ints:
    """1 for a predicate or an empty junction, else 1 + the highest level of a child. Children may follow parents."""
    level = np.ones(len(is_predicate), np.int32)
    parent = children.row_numbers()
    while True:
        raised = level.copy()
        np.maximum.at(raised, parent, level[children.values] + 1)
        if (raised == level).all():
            return level
        level = raised
