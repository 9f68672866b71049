"""Decide whether two Boolean expressions overlap: is there a row for which both are true? Exact where codes decide.

Contract: the paper's test (`advertisements`) checks predicates one by one; here, all predicates of both expressions on
an attribute are intersected. `Overlap.certain` says whether the answer is proved. "No" always is. "Yes" is proved, with
a row, unless

- codes do not decide a predicate (`contains`, a regular expression, an implicit cast), or
- attributes are derived (`lower(x)`) or fields of one column, so that some combinations of values may not exist, or
- the answer depends on an unknown type (`a > 5 AND a < 6`), or
- the search stopped after `limit` steps (`is_exhausted`).

>>> from sparkrules.sql import parse_rule
>>> overlap(parse_rule("price > 5 AND price < 10"), parse_rule("price > 12 OR price < 3"))
Overlap(no, certain)
>>> overlap(parse_rule("price > 5 AND used"), parse_rule("price < 7 AND city = 'Rome'"))
Overlap(yes, certain: price = 6, used = true, city = 'Rome')
>>> between = parse_rule("a > 5"), parse_rule("a < 6")
>>> overlap(*between), overlap(*between, types={"a": pa.int32()})
(Overlap(perhaps), Overlap(no, certain))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from sparkrules.logic.attribute_type import Types
from sparkrules.logic.regions import AttributeRegions, Regions
from sparkrules.logic.satisfiable import LIMIT, Satisfiability, formula, satisfiable
from sparkrules.sql.tree import Node


@dataclass(frozen=True, repr=False)
class Overlap:
    """See the module. `row` has a value for each relevant attribute, None for NULL. Empty without a proof."""

    overlaps: bool
    certain: bool
    row: Mapping[str, Any] = field(default_factory=dict)
    is_exhausted: bool = False

    def __bool__(self) -> bool:
        return self.overlaps

    def __repr__(self) -> str:
        if not self.overlaps:
            return "Overlap(no, certain)"
        if not self.certain:
            return "Overlap(perhaps, given up)" if self.is_exhausted else "Overlap(perhaps)"
        shown = ", ".join(f"{name} = {_shown(value)}" for name, value in self.row.items())
        return f"Overlap(yes, certain: {shown})" if shown else "Overlap(yes, certain)"


def overlap(a: Node, b: Node, types: Types | pa.Schema | None = None, limit: int = LIMIT) -> Overlap:
    """Whether a row can fulfil both expressions."""
    regions = Regions.of_trees(a, b, types=types)
    found = satisfiable([formula(a, regions), formula(b, regions)], regions, limit)
    return Overlap(found.holds, found.certain, witness_row(found, regions), found.is_exhausted)


def witness_row(found: Satisfiability, regions: Regions) -> dict[str, Any]:
    """The values of a certain witness, as a table row would have them."""
    if not found.certain:
        return {}
    return {name: _value(own, found.witness[name]) for name, own in regions.attributes.items() if name in found.witness}


def _value(regions: AttributeRegions, code: int) -> Any:
    value = regions.sample(code)
    is_boolean = regions.type.column is not None and regions.type.column.family == "boolean"
    return bool(value) if is_boolean and value is not None else value


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "NULL", True: "true", False: "false"}[value]
    return repr(value) if isinstance(value, str) else str(value)
