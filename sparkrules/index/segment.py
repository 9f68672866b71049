"""A segment: the form in which rules are stored, loaded and matched. It is immutable.

    Segment
      forest      the expressions, each subexpression once: attributes, constants, predicates, nodes, roots
      rules       the other data of each rule: id, priority, text, ...; rule i has the tree of `forest.roots[i]`
      functions   the functions that the rules call, in lower case

The plugin has the same parts (`store/Segment.scala`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import pyarrow.compute as pc

from sparkrules.index.arrow_arrays import numpy_of, texts_to_arrow
from sparkrules.index.forest import Forest
from sparkrules.index.rule_columns import RuleColumns


@dataclass(frozen=True, eq=False, repr=False)
class Segment:
    """See the module."""

    forest: Forest
    rules: RuleColumns
    functions: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Segment({repr(self.forest)[7:]}"

    @staticmethod
    def of(forest: Forest, rules: RuleColumns, functions: Iterable[str] = ()) -> Segment:
        """The segment of a canonical forest and the rules of its roots, sorted by id."""
        # In the order of UTF-8 bytes, the same as in Python and Spark.
        order = numpy_of(pc.sort_indices(texts_to_arrow(rules.id)))
        sorted_forest = replace(forest, roots=forest.roots[order])
        return Segment(sorted_forest, rules.take(order), tuple(sorted({name.lower() for name in functions})))
