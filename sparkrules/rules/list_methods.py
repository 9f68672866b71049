"""What a rule set can do with its reference lists. They live in its store, and change without its rules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sparkrules.errors import RuleSetError, StoreError
from sparkrules.index.segment import Segment
from sparkrules.rules.list_values import Kind, list_values
from sparkrules.sql.tree import OPERATORS
from sparkrules.store import ListVersion, Store

if TYPE_CHECKING:
    from sparkrules.rules.publication import Publication

_OF_LISTS = np.isin(OPERATORS, ["in list", "not in list"])


class ListMethods:
    """See `RuleSet`."""

    @property
    def name(self) -> str:
        """The name of the rule set."""
        raise NotImplementedError

    _publication: Publication

    def put_list(self, name: str, source: object, kind: Kind = "values", *, column: str | None = None) -> ListVersion:
        """Store a list of values that rules ask with `in_list('name', value)`, and return its version.

        The source is a path (text, CSV, JSON lines), a DataFrame of Spark, pandas or polars, an Arrow table, or
        strings and integers. NULLs are left out, and `nulls` of the result counts them. `kind="cidr"` is a list of
        networks, `kind="glob"` one of patterns with `*` and `?`. The list replaces one of the same name: the next
        query, or the next micro-batch, uses it, and no rule is compiled again. See docs/lists.md.

        >>> from sparkrules import RuleSet
        >>> rules = RuleSet("logins")
        >>> rules.put_list("admins", ["root", "admin"]).values
        2
        >>> rules.subscribe("admin login", "in_list('admins', user)")
        >>> import pyarrow as pa
        >>> rules.match(pa.table({"user": ["root", "bob"]})).ids.to_pylist()
        [['admin login'], []]
        """
        read = list_values(source, kind, column)
        if not read.values:
            raise RuleSetError(f"the list {name!r} would be empty: drop_list removes a list")
        put = [store.put_list(self.name, name, kind, read.values) for store in self._publication.list_stores]
        return replace(put[0], nulls=read.nulls)

    def drop_list(self, name: str) -> None:
        """Remove a list. Rules that ask for it are then rejected by queries, as those of an unknown column."""
        for store in self._publication.list_stores:
            store.drop_list(self.name, name)

    def lists(self) -> dict[str, ListVersion]:
        """The lists of the rule set as they are now, by name."""
        return {own.name: own for own in self._publication.list_stores[0].lists(self.name)}


def provide_lists(source: Store, target: Store, rule_set: str, segments: Iterable[Segment]) -> None:
    """Copy the lists that rules ask for to a store that lacks them. `RuleSetError` if a list is in neither store."""
    for name, ids in sorted(own for segment in segments for own in asked_lists(segment).items()):
        if target.has_list(rule_set, name):
            continue
        try:
            own = source.list_of(rule_set, name)
        except StoreError as error:
            more = f" and {len(ids) - 1:,} more" if len(ids) > 1 else ""
            raise RuleSetError(
                f"rule {ids[0]!r}{more} asks for in_list({name!r}, ...): {error} Put it first: "
                f"rules.put_list({name!r}, values)"
            ) from error
        target.put_list(rule_set, name, str(own.kind), source.list_values(rule_set, own).to_pylist())


def asked_lists(segment: Segment) -> dict[str, list[str]]:
    """The lists that rules ask for, each with the ids of these rules."""
    forest, found = segment.forest, dict[str, list[str]]()
    for number in np.flatnonzero(_OF_LISTS[forest.predicates.operator]).tolist():
        users = forest.users.row(int(forest.node_of_predicate[number])).tolist()
        found.setdefault(forest.predicate(number).constants[0].text, []).extend(
            segment.rules.id[user] for user in users
        )
    return found
