"""All rules of a report, packed for the page to search, list and explore. One string, however many rules there are.

Contract: rules are sorted by hits, most first, then in output order. A rule is referred to by its place. The nodes are
those of the factored forest, so common parts of several rules are nodes; `tests` has the texts of the leaves, in order.
The page itself unpacks the string (gzip in base64): 100,000 rules take about three megabytes.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sparkrules.index import PREDICATE, Forest, Ints, Segment, factored, only_rules
from sparkrules.local import Selectivities
from sparkrules.sql import OPERATORS, Predicate

MOST_RULES = 200_000
_LONGEST_TEXT = 4_000


@dataclass(frozen=True, eq=False)
class Catalogue:
    """`hits` has the rules that hit, or is None if no rows were matched; `valid` has the rules that are valid now, and
    live. `estimates` is None if no rows were counted.
    """

    segment: Segment
    hits: Mapping[str, int] | None
    valid: NDArray[np.bool_]
    estimates: Selectivities | None = None

    @cached_property
    def order(self) -> Ints:
        """The numbers of the rules, in catalogue order."""
        ranked = self.segment.rules.output_order
        order: Ints = ranked[np.argsort(-self._counts[ranked], kind="stable")][:MOST_RULES]
        return order

    @cached_property
    def ids(self) -> list[str]:
        """The ids of the rules, in catalogue order."""
        found: list[str] = self.segment.rules.id[self.order].tolist()
        return found

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each rule, by id."""
        return {id: place for place, id in enumerate(self.ids)}

    @cached_property
    def forest(self) -> Forest:
        """The nodes of these rules, with common parts shared; its roots are in the order of the segment."""
        return factored(only_rules(self.segment.forest, self._kept))

    @cached_property
    def roots(self) -> Ints:
        """The node of each rule, in catalogue order."""
        rows = np.full(len(self.segment.rules.priority), -1, np.int32)
        rows[self._kept] = self.forest.roots
        return rows[self.order]

    @cached_property
    def _counts(self) -> NDArray[np.int64]:
        known = self.hits or {}
        return np.array([known.get(id, 0) for id in self.segment.rules.id.tolist()], np.int64)

    @cached_property
    def _kept(self) -> NDArray[np.bool_]:
        kept = np.zeros(len(self.segment.rules.priority), bool)
        kept[self.order] = True
        return kept

    def packed(self) -> str:
        """The packed string that the module describes."""
        forest, order = self.forest, self.order
        tests = _predicates(forest)
        numbers = forest.nodes.predicate[forest.nodes.operator == PREDICATE].tolist()
        content = {
            "ids": self.ids,
            "texts": [_shortened(text) for text in self.segment.rules.where[order].tolist()],
            "metadata": self.segment.rules.metadata[order].tolist(),
            "priorities": self.segment.rules.priority[order].tolist(),
            "invalid": np.flatnonzero(~self.valid[order]).tolist(),
            "statuses": _given(self.segment.rules.status[order].tolist()),
            "tags": _given(self.segment.rules.tags[order].tolist()),
            "hits": None if self.hits is None else self._counts[order].tolist(),
            "estimates": None if self.estimates is None else _estimated(self.estimates, order),
            "roots": self.roots.tolist(),
            "operators": forest.nodes.operator.tolist(),
            "uses": forest.nodes.use_count.tolist(),
            "counts": forest.nodes.children.lengths.tolist(),
            "children": forest.nodes.children.values.tolist(),
            "tests": [_shortened(tests[number]) for number in numbers],
        }
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), 6, mtime=0)).decode()


def _given(values: list[object]) -> dict[int, object]:
    """The values that are not None, by the place of the rule: few rules have any."""
    return {place: value for place, value in enumerate(values) if value is not None}


def _estimated(estimates: Selectivities, order: Ints) -> list[float]:
    """The least, the probable and the largest share of each rule in turn, with four digits."""
    columns = estimates.to_arrow()
    shares = np.stack([columns[name].to_numpy()[order] for name in ("min", "avg", "max")], axis=1)
    return [float(f"{share:.4g}") for share in shares.ravel().tolist()]


def _predicates(forest: Forest) -> list[str]:
    constants = forest.predicates.constants.to_lists()
    attributes, operators = forest.predicates.attribute.tolist(), forest.predicates.operator.tolist()
    return [
        str(Predicate(forest.attributes[attribute], OPERATORS[operator], tuple(forest.constants[c] for c in own)))
        for attribute, operator, own in zip(attributes, operators, constants, strict=True)
    ]


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + " …"
