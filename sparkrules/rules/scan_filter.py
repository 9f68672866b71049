"""The filter that follows from rules, as users have it."""

from __future__ import annotations

from dataclasses import dataclass

import sqlglot
from sqlglot.errors import SqlglotError

from sparkrules.errors import RuleSetError, listed
from sparkrules.index import Segment
from sparkrules.logic.implied_filter import ImpliedFilter

_SHOWN = 5


@dataclass(frozen=True)
class ScanFilter:
    """A condition that is true for every row that some rule matches, and usually for others.

    `share` is the estimated share of rows for which it is true. `blamed` are the ids of the rules that allow no filter,
    because they have no plain comparison of a column in one of their alternatives; if there are any, `sql` is TRUE.

    >>> from sparkrules import RuleSet
    >>> rules = RuleSet("alerts")
    >>> rules.subscribe_all({"hot": "t > 30 AND indoors", "warm": "t > 25.5 AND lower(place) = 'cellar'"})
    2
    >>> print(rules.scan_filter())
    t > 25.5
    >>> rules.subscribe("odd", "t + 1 > u")
    >>> rules.scan_filter()
    ScanFilter(TRUE, because of 'odd')
    """

    sql: str
    share: float
    blamed: tuple[str, ...] = ()

    @staticmethod
    def of(found: ImpliedFilter, segment: Segment) -> ScanFilter:
        return ScanFilter(found.sql, found.share, tuple(segment.rules.id[list(found.blamed)].tolist()))

    def __str__(self) -> str:
        return self.sql

    def __repr__(self) -> str:
        if self.blamed:
            return f"ScanFilter(TRUE, because of {listed(map(repr, self.blamed), _SHOWN)})"
        return f"ScanFilter({self.sql})"

    def in_dialect(self, dialect: str) -> str:
        """The condition in another SQL dialect, as sqlglot writes it."""
        try:
            (made,) = sqlglot.transpile(self.sql, read="spark", write=dialect)
        except (SqlglotError, ValueError) as error:
            raise RuleSetError(f"the filter cannot be written in the dialect {dialect!r}: {error}") from None
        return made
