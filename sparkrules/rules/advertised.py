"""The advertisements of a rule set, in memory: conditions by id that describe the rows which sources send.

>>> advertised = Advertised("alerts")
>>> advertised.add(Advertisement.parsed("attic", "indoors AND floor > 3"))
>>> print(advertised["attic"].tree)
indoors is true and floor > 3
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from sparkrules.errors import DuplicateId, UnknownId, listed
from sparkrules.index import Rule
from sparkrules.rules.fields import check_id, check_where
from sparkrules.sql import Node, Policy, RuleError
from sparkrules.sql.policy import DEFAULT_POLICY
from sparkrules.sql.rule import read_rule

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Advertisement:
    """What a source sends: all its rows fulfil the condition. `sql` is the condition in Spark SQL.

    A pruned advertisement says less than the source promised, which is its `original`.

    >>> from sparkrules.sql import parse_rule
    >>> print(Advertisement("attic", "floor > 3", "floor > 3", parse_rule("floor > 3")))
    floor > 3
    """

    id: str
    where: str
    sql: str
    tree: Node
    original: Advertisement | None = None

    def __str__(self) -> str:
        return self.where

    @property
    def is_pruned(self) -> bool:
        """Whether it is more general than what the source promised."""
        return self.original is not None

    @staticmethod
    def parsed(id: str | None, where: str, dialect: str = "spark", policy: Policy = DEFAULT_POLICY) -> Advertisement:
        """A condition, checked like a rule: `RuleError` if its text is invalid. It may have no id."""
        known, where = "" if id is None else check_id(id), check_where(where)
        try:
            tree, sql = read_rule(where, dialect=dialect, policy=policy)
            return Advertisement(known, where, sql or where, tree)
        except RuleError as error:
            error.id = known or None
            raise


class Advertised(Mapping[str, Advertisement]):
    """Advertisements by id, in order of arrival. Those of a store are read when they are first needed."""

    def __init__(self, rule_set: str) -> None:
        self.rule_set = rule_set
        self.become(tuple)

    def become(self, read: Callable[[], tuple[Rule, ...]]) -> None:
        """Have the advertisements of a version, which `read` reads."""
        self._read = read
        self._by_id: dict[str, Advertisement] | None = None
        self._changed = False

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._all))

    def __getitem__(self, id: str) -> Advertisement:
        if not isinstance(id, str) or id not in self._all:
            known = listed(map(repr, self._all), _SHOWN) or "none"
            raise UnknownId(
                f"rule set {self.rule_set!r} has no advertisement {id!r}; there are: {known}. "
                "To ask about a condition, write where=..."
            )
        return self._all[id]

    def __contains__(self, id: object) -> bool:
        return id in self._all

    def add(self, made: Advertisement) -> None:
        """Add one. Raises `DuplicateId` if there is one with its id."""
        if made.id in self._all:
            raise DuplicateId(
                f"rule set {self.rule_set!r} already has an advertisement {made.id!r}; unadvertise it first"
            )
        self._all[made.id] = made
        self._changed = True

    def remove(self, id: str) -> None:
        """Remove one. Raises `UnknownId` if there is none with this id."""
        del self._all[self[id].id]
        self._changed = True

    @property
    def is_changed(self) -> bool:
        """Whether one was added or removed."""
        return self._changed

    def stored(self) -> tuple[Rule, ...]:
        """As they go to a store."""
        return tuple(
            Rule(own.id, own.where, own.tree, sql=None if own.sql == own.where else own.sql)
            for own in self._all.values()
        )

    @property
    def _all(self) -> dict[str, Advertisement]:
        if self._by_id is None:
            self._by_id = {
                own.id: Advertisement(own.id, own.where, own.sql or own.where, own.tree) for own in self._read()
            }
        return self._by_id
