"""Brute force in numpy: each rule is a mask over a batch of rows, in Python workers.

String columns are numbered once per batch, so that a predicate compares integers; a rule is a few vector operations.
This is what you would write by hand for rules of AND, OR and comparisons. Other rules are not supported.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from pyspark.sql import DataFrame

from benchmarks.workloads.workload import RuleText
from sparkrules.sql import Constant, Node, Predicate, parse_rule

if TYPE_CHECKING:
    import pandas as pd

RULES_PER_QUERY = 1_000

Mask = npt.NDArray[np.bool_]
Test = tuple[str, str, Any]  # column, operator, value
Plan = Test | tuple[str, "list[Plan]"]

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is true": operator.eq,
    "is false": operator.eq,
}
_ABSENT = -2  # the number of a string that is not in the batch; -1 is NULL


def match_by_masks(df: DataFrame, rules: Sequence[RuleText]) -> int:
    """The number of matches."""
    plans = [_plan(parse_rule(where)) for _, where in rules]

    def count(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        import pandas as pd

        for batch in batches:
            columns = {name: Column(batch[name]) for name in batch.columns}
            yield pd.DataFrame({"matches": [sum(int(mask(plan, columns).sum()) for plan in plans)]})

    return int(df.mapInPandas(count, "matches BIGINT").selectExpr("coalesce(sum(matches), 0)").collect()[0][0])


class Column:
    """The values of a batch, strings as numbers. NULL is NaN or -1, which no constant equals."""

    def __init__(self, values: pd.Series[Any]) -> None:
        self.numbers: dict[str, int] | None = None
        if values.dtype.kind in "biuf":
            self.values = values.to_numpy()
            self.valid = ~np.isnan(self.values) if values.dtype.kind == "f" else None
        else:
            codes, texts = values.factorize()
            self.values, self.valid = codes, codes >= 0
            self.numbers = {text: number for number, text in enumerate(texts)}

    def test(self, comparison: str, value: Any) -> Mask:
        if self.numbers is not None:
            value = self.numbers.get(value, _ABSENT)
        found: Mask = _COMPARISONS[comparison](self.values, value)
        return found & self.valid if comparison == "<>" and self.valid is not None else found


def mask(plan: Plan, columns: dict[str, Column]) -> Mask:
    """The rows for which a rule is true. A rule's tree has no NOT, so unknown can be treated as false everywhere."""
    if len(plan) == 3:
        column, comparison, value = plan
        return columns[column].test(comparison, value)
    junction, children = plan
    combine = operator.and_ if junction == "and" else operator.or_
    masks: Iterator[Mask] = (mask(child, columns) for child in children)
    return reduce(combine, masks)


def _plan(tree: Node) -> Plan:
    if not isinstance(tree, Predicate):
        return tree.operator, [_plan(child) for child in tree.children]
    if tree.operator not in _COMPARISONS:
        raise ValueError(f"{tree} is no comparison")
    value = tree.operator == "is true" if not tree.constants else _value(tree.constants[0])
    return tree.attribute, tree.operator, value


def _value(constant: Constant) -> Any:
    return constant.text if constant.kind == "string" else float(constant.text)
