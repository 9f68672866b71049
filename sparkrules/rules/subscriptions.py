"""Subscriptions by id, each a SQL WHERE text: adding and removing them, with tickets and validity, in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, overload

from tqdm import tqdm

from sparkrules.errors import RuleSetError, UnknownId
from sparkrules.index import Rule, Segment
from sparkrules.rules.advertised import Advertised, Advertisement
from sparkrules.rules.arguments import a_policy, a_text, checked, some_ids, true_or_false
from sparkrules.rules.bulk import CheckedRow, CompiledRows, check_row, compile_rows, duplicate, without_taken
from sparkrules.rules.content import Content
from sparkrules.rules.sources import RuleRow, is_spark, read_rules
from sparkrules.rules.validity import check_instant, check_span, check_validity
from sparkrules.sql import DEFAULT_POLICY, Policy, RuleError, parse_rule, spark_sql
from sparkrules.sql.rejected import Rejected
from sparkrules.store import Store, Version, check_name
from sparkrules.store.tickets import check_ticket, new_ticket, read_key, refuse, ticket_hash

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Subscriptions:
    """Subscriptions by id. `dialect` is the SQL dialect of their texts, `policy` bounds what they may contain.

    `default_validity` is for how long a subscription is valid that does not say until when: for ever, if it is None.
    """

    @checked(dialect=a_text, policy=a_policy)
    def __init__(
        self,
        name: str,
        dialect: str = "spark",
        policy: Policy = DEFAULT_POLICY,
        *,
        default_validity: timedelta | None = None,
    ) -> None:
        self.name = check_name(name)
        self.dialect = dialect
        self.policy = policy
        self.default_validity = check_span(default_validity)
        self._content = Content(name)
        self._secrets: dict[str, str] = {}  # tickets of rules that wait: hashed with the key of the store they go to
        self._rejected: list[Rejected] | None = []  # None: that of the version loaded, not read yet
        self._advertised = Advertised(name)
        self._known: dict[Path, Version] = {}  # per store, the version loaded or published last
        self._home: Path | None = None  # the store of that

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {len(self)} subscriptions)"

    def __len__(self) -> int:
        return len(self._content)

    def __contains__(self, id: object) -> bool:
        return id in self._content

    def __iter__(self) -> Iterator[Rule]:
        return self._content.rules()

    @property
    def subscriptions(self) -> Mapping[str, Rule]:
        """The subscriptions by id: a view, of which only what is asked for is read from the store."""
        return MappingProxyType(self._content)

    @property
    def rejected(self) -> list[Rejected]:
        """The rules that were set aside, and why."""
        if self._rejected is None:
            self._rejected = self._published_rejected()
        return self._rejected

    @rejected.setter
    def rejected(self, rejected: Iterable[Rejected]) -> None:
        self._rejected = list(rejected)

    @overload
    def subscribe(
        self,
        id: str,
        where: str,
        priority: int = 0,
        metadata: Mapping[str, object] | None = None,
        *,
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        ticket: Literal[False] = False,
    ) -> None: ...

    @overload
    def subscribe(
        self,
        id: str,
        where: str,
        priority: int = 0,
        metadata: Mapping[str, object] | None = None,
        *,
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        ticket: Literal[True],
    ) -> str: ...

    @checked(ticket=true_or_false)
    def subscribe(
        self,
        id: str,
        where: str,
        priority: int = 0,
        metadata: Mapping[str, object] | None = None,
        *,
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        ticket: bool = False,
    ) -> str | None:
        """Add a rule. Raises `RuleError` if its text is not accepted, `DuplicateId` if there is one with this id.

        It matches from `valid_from` (inclusive) until `valid_until` (exclusive), which have a time zone. With
        `ticket=True`, a secret is returned that is needed to `renew` or `unsubscribe` it; only a hash of it is kept.

        >>> from sparkrules import RuleSet
        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "temperature > 30", priority=5, metadata={"owner": "ops"})
        >>> rules.subscribe("cold", "temperature <")
        Traceback (most recent call last):
        ...
        sparkrules.sql.errors.RuleError: rule 'cold': expected a value at line 1, column 14: end of the text
            temperature <
                         ^
        """
        row = RuleRow(id, where, priority, metadata, valid_from, valid_until)
        rule = self._rule_of(check_row(row, self.default_validity))
        if rule.id in self._content:
            raise duplicate(self.name, rule.id)
        self._content.add(rule)
        if not ticket:
            return None
        self._secrets[rule.id] = new_ticket()
        return self._secrets[rule.id]

    @checked(force=true_or_false)
    def unsubscribe(self, id: str, *, ticket: str | None = None, force: bool = False) -> None:
        """Remove a rule. Raises `UnknownId` if there is none with this id.

        A subscription that was made with a ticket is removed with that, or with `force=True`; else: `WrongTicket`. An
        error does not tell whether there is such a subscription, nor whether it has a ticket.

        >>> from sparkrules import RuleSet
        >>> rules = RuleSet("alerts")
        >>> ticket = rules.subscribe("hot", "temperature > 30", ticket=True)
        >>> rules.unsubscribe("hot", ticket="guessed")
        Traceback (most recent call last):
        ...
        sparkrules.errors.WrongTicket: this is not the ticket of subscription 'hot' in rule set 'alerts'
        >>> rules.unsubscribe("hot", ticket=ticket)
        """
        if ticket is not None:
            self._check_ticket(id, ticket)
            force = True
        self.unsubscribe_all([id], force=force)

    @checked(ids=some_ids, force=true_or_false)
    def unsubscribe_all(self, ids: Iterable[str], *, force: bool = False) -> int:
        """Remove many rules, and return how many; if one of them is unknown, or has a ticket, none is removed.

        >>> from sparkrules import RuleSet
        >>> rules = RuleSet("alerts")
        >>> rules.subscribe_all({"hot": "temperature > 30", "cold": "temperature < 0"})
        2
        >>> rules.unsubscribe_all(["hot", "cold"])
        2
        """
        wanted = list(ids)
        if odd := [id for id in wanted if not isinstance(id, str)]:
            raise UnknownId(f"an id is a text, not {odd[0]!r}")
        # Where there is no ticket, there is nothing to be silent about.
        owned = self._owned(wanted) if not force and (self._secrets or self._content.has_tickets()) else None
        before = len(self)
        self._content.remove_all(wanted, owned)
        if self._secrets:
            for id in wanted:
                self._secrets.pop(id, None)
        return before - len(self)

    def renew(self, id: str, ticket: str, until: datetime) -> None:
        """Let a subscription be valid until another time. Raises `WrongTicket` if it was not made with this ticket.

        >>> from sparkrules import RuleSet
        >>> rules = RuleSet("alerts", default_validity=timedelta(days=7))
        >>> ticket = rules.subscribe("hot", "temperature > 30", ticket=True)
        >>> rules.renew("hot", ticket, datetime(2099, 1, 1, tzinfo=timezone.utc))
        >>> rules.subscriptions["hot"].valid_until.year
        2099
        """
        self._check_ticket(id if isinstance(id, str) else "", ticket)
        rule = self._content[id]
        _, valid_until = check_validity(rule.valid_from, check_instant(until, "until"))
        if valid_until is None or valid_until <= datetime.now(timezone.utc):
            raise RuleSetError(f"a subscription is renewed until some time in the future, not {until}")
        self._content.replace(replace(rule, valid_until=valid_until))

    def subscribe_all(self, source: object) -> int:
        """Add all rules of a source, and return how many were accepted; the others are set aside in `rejected`.

        The source is an iterable of `(id, where)`, `(id, where, priority, metadata)` or dictionaries; a mapping of id
        to text; a Spark DataFrame or pyarrow table with the columns `id`, `where` and, if wanted, `priority`,
        `metadata`, `valid_from` and `valid_until`; or the path of a `.csv`, `.jsonl` or `.yaml` file with such fields.
        If it cannot be read to its end, none of its rules is added. On a terminal, a progress bar appears after a
        second.

        >>> from sparkrules import RuleSet
        >>> rules = RuleSet("alerts")
        >>> rules.subscribe_all({"hot": "temperature > 30", "broken": "temperature >"})
        1
        >>> rules.subscribe_all([("frost", "temperature < 0", 9), {"id": "dry", "where": "humidity < 10"}])
        2
        >>> rules.rejected[0].reason
        'expected a value'
        """
        compile_here = partial(
            compile_rows,
            rule_set=self.name,
            dialect=self.dialect,
            policy=self.policy,
            default_validity=self.default_validity,
        )
        if is_spark(source):
            # The partitions do not know of each other, nor of this rule set.
            return sum(
                self._add_compiled(without_taken(done, self.name, self._content.taken(done.ids)))
                for done in self._compiled_by_spark(source, compile_here)
            )
        rows = read_rules(source)
        return self._add_compiled(compile_here(rows, taken=self._content.taken, progress=self._progress))

    def _compiled_by_spark(
        self, df: DataFrame, compile: Callable[[Iterable[RuleRow]], CompiledRows]
    ) -> Iterable[CompiledRows]:
        """What `compile` makes of the rows of a DataFrame, in pieces: for a class that knows Spark."""
        raise NotImplementedError

    def _add_compiled(self, done: CompiledRows) -> int:
        """Add what was compiled, and return how much that is."""
        if done.rejected:
            self.rejected += [found for _, found in done.rejected]
        self._content.add_segment(done.segment, done.ids)
        return len(done.segment.rules.priority)

    def _progress(self, texts: list[str]) -> Iterable[str]:
        return tqdm(texts, desc=self.name, unit=" rules", delay=1, disable=None, leave=False)

    def advertise(self, id: str, where: str) -> None:
        """Say what rows a source will send: those that fulfil a condition, written as that of a subscription.

        Raises `RuleError` if the text is not accepted, `DuplicateId` if there is an advertisement with this id. They
        have ids of their own: one may be that of a subscription as well.

        >>> from sparkrules import RuleSet
        >>> rules = RuleSet("alerts")
        >>> rules.advertise("attic", "indoors AND floor > 3")
        >>> print(rules.advertisements["attic"])
        indoors AND floor > 3
        """
        self._advertised.add(Advertisement.parsed(id, where, self.dialect, self.policy))

    def unadvertise(self, id: str) -> None:
        """Remove an advertisement. Raises `UnknownId` if there is none with this id."""
        self._advertised.remove(id)

    @property
    def advertisements(self) -> Mapping[str, Advertisement]:
        """The advertisements by id, in order of arrival: each has a text (`where`) and a `tree`."""
        return MappingProxyType(self._advertised)

    @property
    def segment(self) -> Segment:
        """The index of these rules, built when it is first asked for after a change."""
        return self._content.segment

    def _rule_of(self, row: CheckedRow) -> Rule:
        try:
            sql = spark_sql(row.where, dialect=self.dialect, policy=self.policy)
            tree = parse_rule(sql, policy=self.policy)
        except RuleError as error:
            error.id = row.id
            raise
        return Rule(
            row.id,
            row.where,
            tree,
            row.priority,
            row.metadata,
            None if sql == row.where else sql,
            row.valid_from,
            row.valid_until,
        )

    def _published_rejected(self) -> list[Rejected]:
        assert self._home is not None
        return Store(self._home).rejected(self._known[self._home].manifest)

    def _owned(self, ids: list[str]) -> set[str]:
        """Those of the subscriptions that were made with a ticket."""
        owned = {id for id in ids if id in self._secrets} | set(self._content.ticketed(ids))
        for id in sorted(owned)[:1]:
            refuse(self.name, id, "no ticket")
        return owned

    def _check_ticket(self, id: str, ticket: str) -> None:
        # A rule that waits has its ticket still: hashed here with any key, so that all cases take the same path.
        key = self._ticket_key() or b"no store, no key"
        waiting, stored = ticket_hash(key, self._secrets.get(id, "")), self._content.ticket(id)
        if id in self._secrets:
            stored = waiting
        check_ticket(key, ticket, stored, self.name, id)

    def _ticket_key(self) -> bytes | None:
        return None if self._home is None else read_key(self._home / self.name)
