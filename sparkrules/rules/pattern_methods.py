"""What a rule set can do with patterns: define them, name them, remove them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import Any, TypeAlias

from sparkrules.patterns import Pattern
from sparkrules.rules.arguments import a_whole_number, checked, shown, true_or_false
from sparkrules.rules.collection import RuleCollection
from sparkrules.rules.pattern_fields import DefinedPattern, define, define_option

AnyTerm: TypeAlias = "str | Mapping[str, str]"
AnyStep: TypeAlias = "AnyTerm | Sequence[AnyTerm]"
Span: TypeAlias = "str | timedelta"


def _some_steps(value: object) -> str | None:
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
        return f"must be a list of steps, not {shown(value)}"
    return None


class PatternMethods:
    """The methods of a rule set that are about its patterns.

    A step is the id of a rule, a list of ids, any of which fulfils it, or a condition of its own: `{"where": "a > 1"}`.
    A rule that does not exist yet may be named; `lint` finds it. A span is a timedelta, or text such as `"10 minutes"`.
    """

    _collection: RuleCollection

    @checked(steps=_some_steps, overlapping=true_or_false)
    def sequence(
        self,
        id: str,
        steps: Sequence[AnyStep],
        *,
        by: str | Sequence[str] = (),
        within: Span,
        after: Span | None = None,
        overlapping: bool = False,
        suppress: Span | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Look for rows that fulfil the steps one after the other, with the same values of the columns `by`.

        The last row is at most `within` and at least `after` later than the first. Rows of the same time are not one
        after the other. With `overlapping=True` rows of one detection can be part of the next. `suppress` is how long
        further detections of the same key are only counted.

        >>> from sparkrules import RuleSet
        >>> rules = RuleSet("alerts")
        >>> rules.subscribe_all({"failed login": "action = 'login' AND NOT ok", "new admin": "action = 'grant'"})
        2
        >>> rules.sequence("breach", ["failed login", "new admin"], by=["user"], within="10 minutes")
        >>> print(rules.patterns["breach"])
        failed login, then new admin, by user, within 10 minutes
        """
        self._define(
            id,
            "sequence",
            steps,
            by=by,
            within=within,
            after=after,
            overlapping=overlapping,
            suppress=suppress,
            metadata=metadata,
        )

    @checked(steps=_some_steps, overlapping=true_or_false)
    def together(
        self,
        id: str,
        steps: Sequence[AnyStep],
        *,
        by: str | Sequence[str] = (),
        within: Span,
        overlapping: bool = False,
        suppress: Span | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Look for rows that fulfil all steps, in any order; see `sequence`. One row may fulfil several of them.

        >>> from sparkrules import RuleSet
        >>> rules = RuleSet("alerts")
        >>> rules.together("odd", ["port scan", {"where": "queries > 100"}], by="host", within="5 minutes")
        >>> print(rules.patterns["odd"])
        port scan and (queries > 100) together, by host, within 5 minutes
        """
        self._define(
            id, "together", steps, by=by, within=within, overlapping=overlapping, suppress=suppress, metadata=metadata
        )

    @checked(at_least=a_whole_number, overlapping=true_or_false)
    def count(
        self,
        id: str,
        step: AnyStep,
        *,
        by: str | Sequence[str] = (),
        within: Span,
        at_least: int,
        distinct: str | None = None,
        overlapping: bool = False,
        suppress: Span | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Look for `at_least` rows that fulfil a step; see `sequence`.

        With `distinct`, values of that column other than NULL are counted instead of rows, each once.

        >>> from sparkrules import RuleSet
        >>> rules = RuleSet("alerts")
        >>> rules.count("brute force", "failed login", by=["user"], within="5 minutes", at_least=10, distinct="ip")
        >>> print(rules.patterns["brute force"])
        failed login with 10 different values of ip, by user, within 5 minutes
        """
        self._define(
            id,
            "count",
            [step],
            by=by,
            within=within,
            at_least=at_least,
            distinct=distinct,
            overlapping=overlapping,
            suppress=suppress,
            metadata=metadata,
        )

    def absence(
        self,
        id: str,
        *,
        after: AnyStep,
        without: AnyStep,
        by: str | Sequence[str] = (),
        within: Span,
        suppress: Span | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Look for a row that fulfils `after`, and is not followed by one that fulfils `without`; see `sequence`.

        >>> from sparkrules import RuleSet
        >>> rules = RuleSet("alerts")
        >>> rules.absence("silent", after="started", without="heartbeat", by=["host"], within="1 hour")
        >>> print(rules.patterns["silent"])
        started without heartbeat, by host, within 1 hour
        """
        self._define(id, "absence", [after, without], by=by, within=within, suppress=suppress, metadata=metadata)

    def remove_pattern(self, id: str) -> None:
        """Remove a pattern. Raises `UnknownId` if there is none with this id. A rule with the same id stays.

        >>> from sparkrules import RuleSet
        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "temperature > 30", on_change=["sensor"])
        >>> rules.remove_pattern("hot")
        >>> len(rules), len(rules.patterns)
        (1, 0)
        """
        self._collection.patterns.remove(id)

    @property
    def patterns(self) -> Mapping[str, Pattern]:
        """The patterns by id, in order of definition; `str()` of one reads like English.

        >>> from sparkrules import RuleSet
        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "temperature > 30", on_change=["sensor"], suppress="1 hour")
        >>> print(rules.patterns["hot"])
        hot becomes true, by sensor, at most once in 1 hour
        """
        return MappingProxyType(self._collection.patterns)

    def _define(self, id: str, kind: str, steps: Iterable[Any], **fields: Any) -> None:
        if isinstance(id, str):
            self._collection.patterns.check_free(id)
        self._collection.patterns.add(
            define(id, kind, steps, fields, self._collection.dialect, self._collection.policy)
        )

    def _option(self, id: str, where: str, fields: Mapping[str, Any]) -> DefinedPattern | None:
        """The pattern that a rule has as an option, if any. Raises `DuplicateId` if its id is taken."""
        made = define_option(id, where, fields, self._collection.dialect, self._collection.policy)
        if made is not None:
            self._collection.patterns.check_free(made.pattern.id)
        return made
