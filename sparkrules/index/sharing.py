"""What rules have in common, as the thesis measures it (5.2) and in readable form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparkrules.index.factor import factored
from sparkrules.index.forest import PREDICATE, Forest
from sparkrules.index.merge_forests import Wide
from sparkrules.index.segment import Segment

_LONGEST_TEXT = 2_000


@dataclass(frozen=True)
class Sharing:
    """How much the rules of a set share.

    `snps` is the thesis' *shared nodes per subscription*: the share of a rule's nodes that other rules also have, on
    average. `snps_factored` and `nodes_factored` (the number of nodes) also count common parts of ANDs and ORs.
    `most_shared` lists the largest parts that many rules have in common, each with its number of rules.
    """

    subscriptions: int
    predicates: int
    nodes: int
    snps: float
    nodes_factored: int
    snps_factored: float
    most_shared: tuple[tuple[int, str], ...]

    def __str__(self) -> str:
        counts = f"{self.subscriptions:,} subscriptions, {self.predicates:,} predicates, {self.nodes:,} nodes"
        shared = f"{self.snps:.0%} of a subscription's nodes are shared; {self.snps_factored:.0%} when common parts of "
        shared += f"ANDs and ORs are nodes too ({self.nodes_factored:,} nodes)"
        return "\n".join([counts, shared, *(f"{uses:>9,}  {text}" for uses, text in self.most_shared)])


def sharing(segment: Segment, top: int = 10, better: Forest | None = None) -> Sharing:
    """What the subscriptions of a segment share. `better` is its factored forest, if already computed.

    >>> from sparkrules.index.builder import build_segment
    >>> from sparkrules.index.rule import Rule
    >>> from sparkrules.sql.tree import Junction, Predicate
    >>> a, b, c, d = (Predicate(name, "is true") for name in "abcd")
    >>> trees = {"1": Junction("and", (a, b, c)), "2": Junction("and", (a, b, d)), "3": Junction("or", (a, c))}
    >>> print(sharing(build_segment([Rule(id, "", tree) for id, tree in trees.items()]), top=2))
    3 subscriptions, 4 predicates, 7 nodes
    64% of a subscription's nodes are shared; 69% when common parts of ANDs and ORs are nodes too (8 nodes)
            2  a is true and b is true
            3  a is true
    """
    flat = segment.forest
    better = factored(flat) if better is None else better
    # Size times uses: three predicates shared by ten rules matter more than one predicate shared by twenty.
    weight = np.where(better.nodes.use_count > 1, better.nodes.use_count.astype(np.int64) * _predicates(better), 0)
    order = np.lexsort((np.arange(len(weight)), -better.nodes.use_count, -weight))[:top]
    return Sharing(
        len(segment.rules),
        len(flat.predicates),
        len(flat.nodes),
        shared_nodes_per_subscription(flat),
        len(better.nodes),
        shared_nodes_per_subscription(better),
        tuple(
            (int(better.nodes.use_count[node]), _shortened(str(better.tree(node))))
            for node in order.tolist()
            if weight[node]
        ),
    )


def shared_nodes_per_subscription(forest: Forest) -> float:
    """SNPS: the share of a rule's nodes that other rules also have, on average."""
    if not len(forest.roots):
        return 0.0
    users = forest.users
    rule, is_shared = users.values, np.repeat(users.lengths > 1, users.lengths)
    nodes = np.bincount(rule, minlength=len(forest.roots))
    return float((np.bincount(rule, is_shared, minlength=len(forest.roots)) / nodes).mean())


def _shortened(text: str) -> str:
    """Parts of a count are long when written out."""
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 3] + "..."


def _predicates(forest: Forest) -> Wide:
    """The number of predicates in each node. Predicates of shared parts count each time."""
    predicates: Wide = (forest.nodes.operator == PREDICATE).astype(np.int64)
    for level in range(2, int(forest.nodes.level.max(initial=1)) + 1):
        nodes = np.flatnonzero(forest.nodes.level == level)
        children = forest.nodes.children.take(nodes)
        predicates[nodes] = np.add.reduceat(np.append(predicates[children.values], 0), children.offsets[:-1])
    return predicates
