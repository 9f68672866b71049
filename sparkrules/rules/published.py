"""Subscriptions that come from a store and go to one: publishing, loading, versions."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TypeVar

import pyarrow as pa

from sparkrules.errors import RuleSetError
from sparkrules.index import Rule
from sparkrules.lint import Report, lint_errors
from sparkrules.rules.advertised import Advertised
from sparkrules.rules.arguments import (
    a_path,
    a_policy,
    a_span,
    a_text,
    a_whole_number,
    checked,
)
from sparkrules.rules.as_written import as_written
from sparkrules.rules.content import Content
from sparkrules.rules.overlapping import decided
from sparkrules.rules.subscriptions import Subscriptions
from sparkrules.rules.table_schema import TableSchema, arrow_schema
from sparkrules.rules.validity import check_span
from sparkrules.sql import DEFAULT_POLICY, Policy
from sparkrules.sql.rejected import Rejected
from sparkrules.store import (
    Changes,
    Draft,
    Garbage,
    Manifest,
    Merge,
    OverlapPlan,
    Store,
    Version,
    local_path,
    publish_draft,
)
from sparkrules.store.tickets import shared_key, ticket_hash

_log = logging.getLogger("sparkrules.lint")
_Own = TypeVar("_Own", bound="PublishedSubscriptions")
_SHOWN = 20


class StrictPublishError(RuleSetError):
    """A strict publish was refused. `report` has the findings that are errors, `rejected` the rules set aside."""

    def __init__(self, rule_set: str, report: Report, rejected: tuple[Rejected, ...]) -> None:
        shown = [str(finding) for finding in report.findings[:_SHOWN]]
        shown += [f"error not accepted: {own.id}\n    {own.reason}" for own in rejected[: _SHOWN - len(shown)]]
        rest = len(report) + len(rejected) - len(shown)
        shown += [f"and {rest} more: see `report` and `rejected` of this error"] if rest else []
        super().__init__("\n".join([f"rule set {rule_set!r} is not published, for there are errors in it:", *shown]))
        self.report = report
        self.rejected = rejected


class PublishedSubscriptions(Subscriptions):
    """Subscriptions that know which version of which store they are from."""

    def _publish(
        self,
        target: Store,
        *,
        merge: Merge,
        overlaps: bool | TableSchema,
        force: bool,
        schema: TableSchema | None,
        strict: bool,
    ) -> int:
        """Publish the rules to a store as the next version, and return the version. See `RuleSet.publish`."""
        if strict or schema is not None:
            self._check(arrow_schema(schema), strict=strict)
        base = self._known.get(target.path)
        draft = Draft(
            self._content_for(target).sealed(),
            _overlap_plan(overlaps),
            self._new_rejected(target, base),
            self._default_seconds(),
            self._new_advertisements(target, base),
        )
        self._take_over(target, publish_draft(target, self.name, draft, base, merge=merge, force=force))
        return self._known[target.path].number

    def _check(self, schema: pa.Schema | None, *, strict: bool) -> None:
        """Look for rules that cannot be meant: refuse them, or only say so."""
        report = lint_errors(as_written(self, self.policy), schema)
        # Those of a version that was loaded were known when it was published.
        rejected = self._rejected or ()
        if strict and (report or rejected):
            raise StrictPublishError(self.name, report, tuple(rejected))
        for finding in report:
            _log.warning("rule set %r: %s", self.name, finding)

    @checked(store=a_path)
    def version_in(self, store: str | os.PathLike[str]) -> int | None:
        """The version of the store that this object published or loaded, unless the rules have changed since."""
        known = self._known.get(local_path(store))
        if known is None or self._content.waiting or known.parts != self._content.parts:
            return None
        return known.number

    @checked(store=a_path)
    def versions(self, store: str | os.PathLike[str] | None = None) -> list[Manifest]:
        """The published versions of this rule set, oldest first: number, time, publisher, action, counts."""
        source = self._store(store)
        return [source.manifest(self.name, number) for number in source.versions(self.name)]

    @checked(version=a_whole_number, store=a_path)
    def rollback(
        self,
        version: int,
        store: str | os.PathLike[str] | None = None,
        *,
        tickets: Iterable[str] = (),
        force: bool = False,
    ) -> int:
        """Publish an old version again, as the newest; this object then has its rules. Returns the new version.

        If that would remove, bring back or change subscriptions that were made with a ticket, all their `tickets` must
        be given, or `force=True`; else: `WrongTicket`.
        """
        target = self._store(store)
        if (len(self) and self.version_in(target.path) is None) or self._advertised.is_changed:
            raise RuleSetError(
                f"rule set {self.name!r} has changes that are not published: publish it, or roll back with a fresh "
                f"RuleSet.load({self.name!r}, store)"
            )
        number = target.rollback(self.name, version, tickets=tickets, force=force)
        self._take_over(target, target.open(self.name, number))
        return number

    @checked(before=a_whole_number, after=a_whole_number, store=a_path)
    def diff(self, before: int, after: int | None = None, store: str | os.PathLike[str] | None = None) -> Changes:
        """What two published versions differ in, by id; `after` is the newest if it is not given.

        >>> from sparkrules import RuleSet
        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "temperature > 30")
        >>> first = rules.publish()
        >>> rules.subscribe("cold", "temperature < 0")
        >>> print(rules.diff(first, rules.publish()))
        1 added: cold
        0 removed
        0 changed
        """
        return self._store(store).diff(self.name, before, after)

    @checked(keep=a_whole_number, older_than=a_span, store=a_path)
    def collect_garbage(
        self,
        keep: int = 10,
        older_than: timedelta = timedelta(days=1),
        store: str | os.PathLike[str] | None = None,
    ) -> Garbage:
        """Remove all but the newest versions, and files that none refers to, and say what was removed.

        Nothing is removed that is younger than `older_than`, and the files of a version only that long after it.
        """
        return self._store(store).collect_garbage(self.name, keep, older_than)

    @classmethod
    @checked(store=a_path, version=a_whole_number, dialect=a_text, policy=a_policy)
    def load(
        cls: type[_Own],
        name: str,
        store: str | os.PathLike[str] | None = None,
        version: int | None = None,
        *,
        dialect: str = "spark",
        policy: Policy = DEFAULT_POLICY,
    ) -> _Own:
        """A published rule set, by default its newest version. `dialect` and `policy` are for rules added to it.

        The rules are read when they are needed: to add or remove some, only their ids are looked at.

            rules = RuleSet.load("alerts", "/data/rules")
            rules.unsubscribe("hot")
            rules.publish()
        """
        source = Store(store)
        rules = cls(name, dialect, policy)
        rules._take_over(source, source.open(name, version))
        return rules

    def _store(self, store: str | os.PathLike[str] | None) -> Store:
        return Store(self._home if store is None else store)

    def _take_over(self, store: Store, version: Version) -> None:
        """Have the rules of a version, whether it was loaded or has been made of these."""
        self._content = Content(self.name, version.parts)
        self._secrets.clear()
        self._rejected = None
        self._advertised = Advertised(self.name, partial(store.advertisements, version.manifest))
        seconds = version.manifest.default_validity
        self.default_validity = None if seconds is None else timedelta(seconds=seconds)
        self._known[store.path] = version
        self._home = store.path

    def _default_seconds(self) -> int | None:
        span = check_span(self.default_validity)
        return None if span is None else int(span.total_seconds())

    def _new_rejected(self, target: Store, base: Version | None) -> tuple[Rejected, ...] | None:
        """What was set aside, if the version that the target knows has something else."""
        if base is not None and self._rejected is None and target.path == self._home:
            return None
        return tuple(self.rejected)

    def _new_advertisements(self, target: Store, base: Version | None) -> tuple[Rule, ...] | None:
        """The advertisements, if the version that the target knows may have others."""
        if base is not None and target.path == self._home and not self._advertised.is_changed:
            return None
        return self._advertised.stored()

    def _content_for(self, target: Store) -> Content:
        """The content as it goes to a store: tickets hashed with the store's key."""
        # Tickets that were hashed with the key of another store are valid in this one only if it has the same key.
        foreign = self._home not in (None, target.path) and self._content.has_tickets()
        if not (self._secrets or foreign):
            return self._content
        key = shared_key(target.path / self.name, self._ticket_key() if foreign else None)
        content = Content(self.name, self._content.parts)
        for rule in self._content.waiting_rules():
            secret = self._secrets.get(rule.id)
            content.add(rule if secret is None else replace(rule, ticket=ticket_hash(key, secret)))
        return content


def _overlap_plan(overlaps: bool | TableSchema) -> OverlapPlan:
    if isinstance(overlaps, bool):
        return OverlapPlan(decided, is_asked=overlaps)
    types = arrow_schema(overlaps)
    return OverlapPlan(decided) if types is None else OverlapPlan(decided, is_asked=True, types=types.remove_metadata())
