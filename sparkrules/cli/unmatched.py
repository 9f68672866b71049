"""The rules that numpy cannot match on some columns: for lack of a column, or because only Spark can."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

import pyarrow as pa

from sparkrules.local import NeedsSpark, UnknownColumn
from sparkrules.ruleset import RuleSet
from sparkrules.sql import columns_in, distinct_predicates


@dataclass(frozen=True)
class Unmatched:
    """Rules with a column that the rows lack, and rules that only Spark can match, each with the reason."""

    missing: Mapping[str, str]
    undecided: Mapping[str, str]

    @staticmethod
    def of(rules: RuleSet, rows: pa.Table) -> Unmatched:
        missing: Mapping[str, str] = {}
        try:
            rules.match(rows)
        except UnknownColumn as error:
            missing = error.reasons
        except NeedsSpark:
            pass
        skipped = rules.match(rows, unsupported="skip").skipped
        undecided = {id: reason for id, reason in skipped.items() if id not in missing}
        unknown = _unknown_columns(rules, undecided, {name.lower() for name in rows.column_names})
        return Unmatched({**missing, **unknown}, {id: reason for id, reason in undecided.items() if id not in unknown})


def _unknown_columns(rules: RuleSet, ids: Iterable[str], known: Set[str]) -> dict[str, str]:
    """The rules among `ids` with a derived attribute for which a column is missing."""
    found: dict[str, str] = {}
    for id in ids:
        for predicate in distinct_predicates(rules.subscriptions[id].tree):
            for name in sorted(columns_in(predicate.attribute) - known):
                found.setdefault(id, f"there is no column `{name}`")
    return found
