"""Rules and advertisements that are more general than those they were made from, and have fewer predicates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from sparkrules.errors import RuleSetError
from sparkrules.index import Segment
from sparkrules.index.builder import trees_forest
from sparkrules.index.forest import Forest, Strings
from sparkrules.index.merge_forests import merge_forests, only_rules
from sparkrules.logic.pruning import Prunings, Triples
from sparkrules.logic.replacement import Replacements
from sparkrules.logic.selectivity_measure import SelectivityMeasure
from sparkrules.rules.advertised import Advertisement
from sparkrules.sql import Node
from sparkrules.sql.tree_sql import tree_sql


@dataclass(frozen=True)
class Extent:
    """How far to prune: see `RuleSet.prune`."""

    keep: float | None = None
    degradation: float | None = None
    prunings: float | None = None
    distinct: float | None = None

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name in ("keep", "degradation", "prunings", "distinct")}
        if all(share is None for share in given.values()):
            raise RuleSetError("say how far to prune: keep=0.34 for a third of the predicates, or degradation=0.01")
        for name, share in given.items():
            if share is not None and not (_is_number(share) and 0.0 <= share <= 1.0):
                raise RuleSetError(f"{name} is a number from 0 to 1, not {share!r:.60}")

    def count(self, prunings: Prunings) -> int:
        """How many prunings that is."""
        if self.keep is None and self.degradation is None and self.prunings is None:
            return 0
        return prunings.until(self.keep, self.degradation, self.prunings)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def pruned_segment(
    segment: Segment,
    leaves: Callable[[Forest], Triples],
    extent: Extent,
    types: pa.Schema | None = None,
) -> Segment:
    """The rules of a segment after pruning, and then after replacing predicates. `leaves` estimates predicates."""
    before = len(segment.forest.predicates)
    prunings = Prunings.of(segment.forest, leaves(segment.forest), SelectivityMeasure())
    made = with_trees(segment, dict(prunings.trees(extent.count(prunings))))
    if extent.distinct is not None:
        replacements = Replacements(made.forest, leaves(made.forest), SelectivityMeasure(), types)
        replacements.until(int(extent.distinct * before))
        made = with_trees(made, dict(replacements.trees()))
    return made


def with_trees(segment: Segment, trees: dict[int, Node]) -> Segment:
    """A segment whose rules with these numbers have other trees, and texts that say so. Tickets are left behind.

    >>> from sparkrules.index import Rule, build_segment
    >>> from sparkrules.sql import parse_rule
    >>> whole = build_segment([Rule("a", "x > 1 AND y", parse_rule("x > 1 AND y"))])
    >>> with_trees(whole, {0: parse_rule("x > 1")}).rules.where.tolist()
    ['x > 1']
    """
    changed = np.array(sorted(trees), np.int64)
    rules = segment.rules
    where, sql = rules.where.copy(), rules.sql.copy()
    texts: dict[Node, str] = {}
    for number in changed.tolist():
        tree = trees[number]
        text = texts.get(tree)
        if text is None:
            text = texts[tree] = tree_sql(tree)
        where[number], sql[number] = text, None
    keep = np.ones(len(rules), bool)
    keep[changed] = False
    made = trees_forest({rules.id[number]: trees[number] for number in changed.tolist()})
    forest = merge_forests([only_rules(segment.forest, keep), made])
    order = np.concatenate([np.flatnonzero(keep), changed])
    columns = replace(rules, where=where, sql=sql, ticket=_none(len(rules))).take(order)
    return Segment.of(forest, columns, segment.functions)


def pruned_advertisement(own: Advertisement, tree: Node) -> Advertisement:
    """An advertisement that says less."""
    text = tree_sql(tree)
    return Advertisement(own.id, text, text, tree, own.original or own)


def _none(count: int) -> Strings:
    return np.full(count, None, object)
