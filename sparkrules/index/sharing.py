"""What rules have in common, as the thesis measures it (5.2) and as people want to read it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparkrules.index.factor import factored
from sparkrules.index.forest import Forest, Wide, forest_of
from sparkrules.index.segment import PREDICATE, Segment, subscriptions_using


@dataclass(frozen=True)
class Sharing:
    """How much the rules of a set share.

    `snps` is the thesis' *shared nodes per subscription*: which share of a rule's nodes other rules have as well, on
    average; `snps_factored` the same when common parts of its ANDs and ORs count as nodes, of which there are then
    `nodes_factored`. `most_shared` are the largest parts that many rules have in common: how many, and what.
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
    """What the subscriptions of a segment share; `better` is its factored forest, if that is known already.

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
    flat = forest_of(segment)
    better = factored(flat) if better is None else better
    whole = replace(
        segment,
        node_operator=better.node_operator,
        node_predicate=better.node_predicate,
        children=better.children,
        level=better.level,
        use_count=better.use_count,
    )
    # By what a node stands for, times how often: a part of three tests in ten rules says more than one test in twenty.
    weight = np.where(better.use_count > 1, better.use_count.astype(np.int64) * _tests(better), 0)
    order = np.lexsort((np.arange(len(weight)), -better.use_count, -weight))[:top]
    return Sharing(
        len(segment.subscription_id),
        len(segment.predicate_operator),
        len(flat.level),
        shared_nodes_per_subscription(flat),
        len(better.level),
        shared_nodes_per_subscription(better),
        tuple((int(better.use_count[node]), str(whole.tree(node))) for node in order.tolist() if weight[node]),
    )


def shared_nodes_per_subscription(forest: Forest) -> float:
    """SNPS: which share of a rule's nodes other rules have too, on average."""
    if not len(forest.roots):
        return 0.0
    users = subscriptions_using(forest.children, forest.level, forest.roots)
    rule, is_shared = users.values, np.repeat(users.lengths > 1, users.lengths)
    nodes = np.bincount(rule, minlength=len(forest.roots))
    return float((np.bincount(rule, is_shared, minlength=len(forest.roots)) / nodes).mean())


def _tests(forest: Forest) -> Wide:
    """How many tests each node has, those of shared parts counted each time."""
    tests: Wide = (forest.node_operator == PREDICATE).astype(np.int64)
    for level in range(2, int(forest.level.max(initial=1)) + 1):
        nodes = np.flatnonzero(forest.level == level)
        children = forest.children.take(nodes)
        tests[nodes] = np.add.reduceat(np.append(tests[children.values], 0), children.offsets[:-1])
    return tests
