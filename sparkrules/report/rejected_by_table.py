"""Rules that a query rejects because they do not fit its columns, with `spark.sparkrules.invalidRules=skip`."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparkrules.sql import Rejected

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MOST = 200
_TAKEN = re.compile(r"Match \[\S+, (\d+) rule")


@dataclass(frozen=True)
class RejectedByTable:
    """The number of rejected rules, and the first of them. A Connect server does not report which they are."""

    count: int = 0
    named: Sequence[Rejected] = ()


NOTHING = RejectedByTable()


def rejected_by_table(matched: DataFrame, texts: Mapping[str, str]) -> RejectedByTable:
    """The rules that the plan of a match rejects; `texts` has the text of each rule of the set."""
    java = getattr(matched, "_jdf", None)
    if java is None:
        taken = _TAKEN.search(matched._explain_string())  # type: ignore[operator]
        return RejectedByTable(0 if taken is None else len(texts) - int(taken[1]))
    found = _rules_in(java.queryExecution().optimizedPlan())
    if found is None:
        return NOTHING
    rejected = found.rejectedAt(int(time.time() * 1_000_000))
    first = [rejected.apply(i) for i in range(min(_MOST, rejected.size()))]
    named = [Rejected(rule.id(), texts.get(rule.id(), ""), rule.rejection().reason()) for rule in first]
    return RejectedByTable(rejected.size(), named)


def _rules_in(plan: Any) -> Any:
    """The rules of the first match in a Spark plan."""
    if plan.nodeName() == "Match":
        return plan.spec().rules()
    children = plan.children()
    found = (_rules_in(children.apply(i)) for i in range(children.size()))
    return next((rules for rules in found if rules is not None), None)
