"""The rules of a rule set, in memory: added and removed, with tickets and validity."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from functools import partial
from typing import Any

from tqdm import tqdm

from sparkrules.errors import DuplicateId, RuleSetError, UnknownId
from sparkrules.index.chosen import check_known_tags
from sparkrules.rules.bulk import (
    CompiledRows,
    accepted_patterns,
    check_row,
    compile_rows,
    duplicate,
    rule_of,
    without_taken,
)
from sparkrules.rules.content import Content
from sparkrules.rules.exemptions import exempted_rule
from sparkrules.rules.fields import check_status, check_tags
from sparkrules.rules.pattern_rows import PlacedPattern, placed_pattern
from sparkrules.rules.patterns import Patterns
from sparkrules.rules.sources import RuleRow, read_rules
from sparkrules.rules.validity import check_instant, check_span, check_validity
from sparkrules.sql import Policy, RuleError
from sparkrules.sql.exemption import Exemption, exemptions_of
from sparkrules.sql.rejected import Rejected
from sparkrules.sql.written import text_in_spark_dialect
from sparkrules.store.tickets import check_ticket, new_ticket, refuse, ticket_hash


class RuleCollection:
    """Rules and patterns by id. `dialect` is the SQL dialect of the texts, and `policy` limits what they may contain.

    >>> from sparkrules.sql import DEFAULT_POLICY
    >>> rules = RuleCollection("alerts", "spark", DEFAULT_POLICY, None)
    >>> rules.add_all({"hot": "temperature > 30", "broken": "temperature >"})
    1
    >>> list(rules.content), [rejected.id for rejected in rules.rejected]
    (['hot'], ['broken'])
    """

    def __init__(self, name: str, dialect: str, policy: Policy, default_validity: timedelta | None) -> None:
        self.name = name
        self.dialect = dialect
        self.policy = policy
        self.default_validity = check_span(default_validity)
        self.content = Content(name)
        self.patterns = Patterns(name)
        self.general = False
        self._secrets: dict[str, str] = {}  # tickets of waiting rules: hashed with the key of the store they go to
        self._new_rejected: list[Rejected] | None = []  # None: those of the loaded version, not read yet
        self._stored_rejected: Callable[[], list[Rejected]] = list
        self._ticket_key: Callable[[], bytes | None] = lambda: None

    @property
    def rejected(self) -> list[Rejected]:
        """The rejected rules. Those of a loaded version are read when they are first needed."""
        if self._new_rejected is None:
            self._new_rejected = self._stored_rejected()
        return self._new_rejected

    @rejected.setter
    def rejected(self, rejected: Iterable[Rejected]) -> None:
        self._new_rejected = list(rejected)

    @property
    def unpublished_rejected(self) -> list[Rejected] | None:
        """The rejected rules, unless they are those of the loaded version and nobody has asked for them."""
        return self._new_rejected

    def become(
        self,
        content: Content,
        default_validity: timedelta | None,
        rejected: Callable[[], list[Rejected]],
        ticket_key: Callable[[], bytes | None],
        *,
        general: bool,
    ) -> None:
        """Have the rules of a version. `ticket_key` returns the key with which its tickets are hashed."""
        self.content = content
        self.default_validity = default_validity
        self.general = general
        self._secrets.clear()
        self._new_rejected = None
        self._stored_rejected = rejected
        self._ticket_key = ticket_key

    def add(self, row: RuleRow, *, ticket: bool) -> str | None:
        """Add a rule, and return its ticket if it is to have one."""
        rule = rule_of(check_row(row, self.default_validity), self.dialect, self.policy)
        if rule.id in self.content:
            raise duplicate(self.name, rule.id)
        self.content.add(rule)
        if not ticket:
            return None
        self._secrets[rule.id] = new_ticket()
        return self._secrets[rule.id]

    def add_all(self, source: object) -> int:
        """Add the rules of a source that is not a DataFrame of Spark, and return how many are accepted."""
        rows = read_rules(source)
        return self._add_compiled(self.compile(rows, taken=self.content.taken, progress=self._progress))

    def add_compiled(self, pieces: Iterable[CompiledRows]) -> int:
        """Add rules that `compile` has compiled elsewhere, without knowing the ids that are taken here."""
        return sum(
            self._add_compiled(without_taken(piece, self.name, self.content.taken(piece.ids))) for piece in pieces
        )

    def reject_twice(self) -> None:
        """Reject also the accepted one of several rows with the same id: their source has no order."""
        twice = {own.id: own for own in self.rejected if own.id in self.content}
        for id in twice:
            error = DuplicateId(f"several rows have the id {id!r}: give each rule an id of its own")
            self.rejected.append(Rejected.of(id, self.content[id].where, error))
        self.remove_all(list(twice), force=True)

    @property
    def compile(self) -> Callable[..., CompiledRows]:
        """What compiles rows as rules of this collection; a task of Spark can do it as well."""
        return partial(
            compile_rows,
            rule_set=self.name,
            dialect=self.dialect,
            policy=self.policy,
            default_validity=self.default_validity,
        )

    def define(self, fields: Mapping[str, Any], place: int) -> PlacedPattern | None:
        """The pattern of a row of a source, if it has one."""
        return placed_pattern(fields, place, None, self.dialect, self.policy)

    def remove(self, id: str, ticket: str | None, *, force: bool) -> None:
        """Remove a rule: with its ticket, or by force, if it has one."""
        if ticket is not None:
            self._check_ticket(id, ticket)
            force = True
        self.remove_all([id], force=force)

    def remove_all(self, ids: Iterable[str], *, force: bool) -> int:
        """Remove rules, with the patterns that they have as options, and return how many.

        All of them or, if one is unknown or has a ticket, none.
        """
        wanted = list(ids)
        if odd := [id for id in wanted if not isinstance(id, str)]:
            raise UnknownId(f"an id is a string, not {odd[0]!r}")
        # Where no rule has a ticket, there is nothing to keep secret.
        owned = self._owned(wanted) if not force and (self._secrets or self.content.has_tickets()) else None
        options = [id for id in wanted if id in self.patterns]  # read before anything is removed
        before = len(self.content)
        self.content.remove_all(wanted, owned)
        if self._secrets:
            for id in wanted:
                self._secrets.pop(id, None)
        self.patterns.remove_with_rules(options)
        return before - len(self.content)

    def renew(self, id: str, ticket: str, until: datetime) -> None:
        """Change until when a rule is valid."""
        self._check_ticket(id if isinstance(id, str) else "", ticket)
        rule = self.content[id]
        _, valid_until = check_validity(rule.valid_from, check_instant(until, "until"))
        if valid_until is None or valid_until <= datetime.now(timezone.utc):
            raise RuleSetError(f"a rule can only be renewed until a time in the future, not {until}")
        self.content.replace(replace(rule, valid_until=valid_until))

    def set_status(self, status: str, ids: Iterable[str] | None, tags: Any, *, force: bool) -> int:
        """Change the status of rules, by their ids or tags, and return how many have another one than before."""
        known = check_status(status)
        if (ids is None) == (tags is None):
            raise RuleSetError("name the rules whose status changes by their ids, or by tags")
        wanted = self._tagged(tags) if ids is None else list(dict.fromkeys(ids))
        changed = [rule for rule in map(self.content.__getitem__, wanted) if rule.status != known]
        own = [rule.id for rule in changed]
        owned = self._owned(own) if not force and (self._secrets or self.content.has_tickets()) else None
        self.content.remove_all(own, owned)
        for rule in changed:
            self.content.add(replace(rule, status=known))
        return len(changed)

    def _tagged(self, tags: Any) -> list[str]:
        """The ids of the rules with one of the tags."""
        named, rules = check_tags(tags), self.content.segment.rules
        check_known_tags(rules, named, f"rule set {self.name!r}")
        wanted = frozenset(named)
        both = zip(rules.id.tolist(), rules.tags.tolist(), strict=True)
        return [id for id, own in both if own is not None and not wanted.isdisjoint(own)]

    def exempt(self, ids: Iterable[str] | None, tags: Any, exemption: Exemption, *, force: bool) -> None:
        """Add an exemption to rules, by their ids or tags: to all or, if one is unknown or has a ticket, to none."""
        if (ids is None) == (tags is None):
            raise RuleSetError("name the rules to exempt from by their ids, or by tags")
        wanted = self._tagged(tags) if ids is None else list(dict.fromkeys(ids))
        self._change_exemptions(wanted, lambda known: (*known, exemption), force=force)

    def unexempt(self, id: str, where: str | None, *, force: bool) -> int:
        """Remove the exemptions of a rule, or those with a text, and return how many."""
        before = exemptions_of(self.content[id].exemptions)[1]
        kept = tuple(own for own in before if where is not None and own.where != where)
        if len(kept) < len(before):
            self._change_exemptions([id], lambda _: kept, force=force)
        return len(before) - len(kept)

    def _change_exemptions(
        self, ids: list[str], change: Callable[[tuple[Exemption, ...]], tuple[Exemption, ...]], *, force: bool
    ) -> None:
        changed = []
        for rule in map(self.content.__getitem__, ids):
            text, known = exemptions_of(rule.exemptions)
            if text is None:
                text = text_in_spark_dialect(rule.where, rule.sql, self.policy) or rule.sql or rule.where
            try:
                tree, sql, stored = exempted_rule(text, change(known), self.dialect, self.policy)
            except RuleError as error:
                error.id = rule.id
                raise
            changed.append(replace(rule, tree=tree, sql=None if sql == rule.where else sql, exemptions=stored))
        owned = self._owned(ids) if not force and (self._secrets or self.content.has_tickets()) else None
        self.content.remove_all(ids, owned)
        for rule in changed:
            self.content.add(rule)

    @property
    def has_secrets(self) -> bool:
        """Whether tickets wait to be hashed."""
        return bool(self._secrets)

    @property
    def ticket_key(self) -> bytes | None:
        """The key with which the stored tickets are hashed, if there is one."""
        return self._ticket_key()

    def hashed(self, key: bytes) -> Content:
        """The content with the tickets of waiting rules hashed."""
        content = Content(self.name, self.content.parts)
        for rule in self.content.waiting_rules():
            secret = self._secrets.get(rule.id)
            content.add(rule if secret is None else replace(rule, ticket=ticket_hash(key, secret)))
        return content

    def _add_compiled(self, done: CompiledRows) -> int:
        if done.patterns:
            done = accepted_patterns(done, self.patterns.check_free)
        if done.rejected:
            self.rejected += [found for _, found in done.rejected]
        self.content.add_segment(done.segment, done.ids)
        for own in done.patterns:
            self.patterns.add(own.made)
        return len(done.segment.rules.priority) + sum(not own.is_option for own in done.patterns)

    def _progress(self, texts: list[str]) -> Iterable[str]:
        return tqdm(texts, desc=self.name, unit=" rules", delay=1, disable=None, leave=False)

    def _owned(self, ids: list[str]) -> set[str]:
        """The ids of rules that have a ticket."""
        owned = {id for id in ids if id in self._secrets} | set(self.content.ticketed(ids))
        for id in sorted(owned)[:1]:
            refuse(self.name, id, "no ticket")
        return owned

    def _check_ticket(self, id: str, ticket: str) -> None:
        # The ticket of a waiting rule is hashed here, with any key, so that all cases take the same path.
        key = self.ticket_key or b"no store, no key"
        waiting, stored = ticket_hash(key, self._secrets.get(id, "")), self.content.ticket(id)
        if id in self._secrets:
            stored = waiting
        check_ticket(key, ticket, stored, self.name, id)
