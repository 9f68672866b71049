"""What a rule set can do with exemptions: where a rule does not match although it is true."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sparkrules.errors import RuleSetError
from sparkrules.rules.collection import RuleCollection
from sparkrules.rules.exemptions import check_exemption
from sparkrules.sql.exemption import Exemption, exemptions_of


class ExemptionMethods:
    """See `RuleSet`."""

    _collection: RuleCollection

    def exempt(
        self,
        ids: str | Iterable[str] | None = None,
        where: str = "",
        *,
        tags: str | Iterable[str] | None = None,
        until: datetime | str | None = None,
        reason: str = "",
        force: bool = False,
    ) -> None:
        """Except rows from a rule, several rules, or all rules with one of the `tags`: where the condition is TRUE.

        The exemption ends at the instant `until`, by the clock of the query. `reason` says why it is there. The text of
        the rule stays as it is. A rule with a ticket needs `force=True`.

        >>> from sparkrules import RuleSet
        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("brute force", "failures > 5")
        >>> rules.exempt("brute force", "host = 'lab-7'", reason="a load test")
        >>> import pyarrow as pa
        >>> rules.match(pa.table({"failures": [9, 9, 9], "host": ["lab-7", "web-1", None]})).ids.to_pylist()
        [[], ['brute force'], ['brute force']]
        """
        wanted = [ids] if isinstance(ids, str) else ids
        self._collection.exempt(wanted, tags, check_exemption(where, until, reason), force=force)

    def unexempt(self, id: str, where: str | None = None, *, force: bool = False) -> int:
        """Remove the exemptions of a rule, or only those with this condition, and return how many."""
        removed = self._collection.unexempt(id, where, force=force)
        if where is not None and not removed:
            raise RuleSetError(f"rule {id!r} has no exemption where {where}")
        return removed

    def exemptions(self, id: str) -> tuple[Exemption, ...]:
        """The exemptions of a rule."""
        return exemptions_of(self._collection.content[id].exemptions)[1]
