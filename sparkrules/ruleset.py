"""A rule set: subscriptions by id, each a SQL WHERE text, collected in Python and published for Spark.

>>> rules = RuleSet("alerts")
>>> rules.subscribe("hot", "temperature > 30 AND NOT indoors", priority=5)
>>> rules.subscribe_all({"cold": "temperature < 0", "broken": "temperature >"})
1
>>> [rule.id for rule in rules], [rejected.id for rejected in rules.rejected]
(['hot', 'cold'], ['broken'])
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, overload

import pyarrow as pa
from tqdm import tqdm

from sparkrules.bulk import CheckedRow, CompiledRows, check_row, compile_rows, duplicate, without_taken
from sparkrules.catalyst.analyze import bound_tests, count_ranges
from sparkrules.catalyst.compile import compile_dataframe
from sparkrules.catalyst.session import RULE_SET_SETTING, STORE_SETTING, require_plugin, store_of
from sparkrules.content import Content
from sparkrules.errors import RuleSetError, UnknownId, WrongTicket
from sparkrules.index import (
    Explanation,
    Matches,
    Rule,
    Segment,
    Sharing,
    Statistics,
    explain,
    match,
    sharing,
    statistics_of,
)
from sparkrules.rejected import Rejected
from sparkrules.row_truth import row_truth
from sparkrules.rule_sources import RuleRow, is_spark, read_rules
from sparkrules.sql import DEFAULT_POLICY, Policy, RuleError, parse_rule, spark_sql
from sparkrules.store import (
    Changes,
    Draft,
    Garbage,
    Manifest,
    Merge,
    Store,
    Version,
    check_name,
    local_path,
    publish_draft,
)
from sparkrules.tickets import check_ticket, new_ticket, read_key, refuse, shared_key, ticket_hash
from sparkrules.validity import check_instant, check_span, check_validity, instant_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

__all__ = ["Rejected", "RuleSet"]


class RuleSet:
    """Subscriptions by id. `dialect` is the SQL dialect of their texts, `policy` bounds what they may contain.

    `default_validity` is for how long a subscription is valid that does not say until when: for ever, if it is None.
    """

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
        self._known: dict[Path, Version] = {}  # per store, the version loaded or published last
        self._home: Path | None = None  # the store of that

    def __repr__(self) -> str:
        return f"RuleSet({self.name!r}, {len(self)} subscriptions)"

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

        >>> RuleSet("alerts").subscribe("hot", "temperature > ")
        Traceback (most recent call last):
        ...
        sparkrules.sql.errors.RuleError: ...
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

    def unsubscribe(self, id: str, *, ticket: str | None = None, force: bool = False) -> None:
        """Remove a rule. Raises `UnknownId` if there is none with this id.

        A subscription that was made with a ticket is removed with that, or with `force=True`; else: `WrongTicket`.

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

    def unsubscribe_all(self, ids: Iterable[str], *, force: bool = False) -> int:
        """Remove many rules, and return how many; if one of them is unknown, or has a ticket, none is removed.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe_all({"hot": "temperature > 30", "cold": "temperature < 0"})
        2
        >>> rules.unsubscribe_all(["hot", "cold"])
        2
        """
        if isinstance(ids, str):
            raise RuleSetError(f"unsubscribe_all takes several ids, not the text {ids!r}")
        wanted = list(ids)
        if odd := [id for id in wanted if not isinstance(id, str)]:
            raise UnknownId(f"an id is a text, not {odd[0]!r}")
        if not force:
            self._check_unowned(wanted)
        before = len(self)
        self._content.remove_all(wanted)
        if self._secrets:
            for id in wanted:
                self._secrets.pop(id, None)
        return before - len(self)

    def renew(self, id: str, ticket: str, until: datetime) -> None:
        """Let a subscription be valid until another time. Raises `WrongTicket` if it was not made with this ticket.

        >>> rules = RuleSet("alerts", default_validity=timedelta(days=7))
        >>> ticket = rules.subscribe("hot", "temperature > 30", ticket=True)
        >>> rules.renew("hot", ticket, datetime(2099, 1, 1, tzinfo=timezone.utc))
        >>> rules.subscriptions["hot"].valid_until.year
        2099
        """
        self._check_ticket(id, ticket)
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
        """
        compile_here = partial(
            compile_rows,
            rule_set=self.name,
            dialect=self.dialect,
            policy=self.policy,
            default_validity=self.default_validity,
        )
        if is_spark(source):
            return sum(map(self._add_compiled, compile_dataframe(source, compile_here)))
        rows, _ = read_rules(source)
        return self._add_compiled(compile_here(rows, taken=self._content.taken, progress=self._progress))

    def _add_compiled(self, done: CompiledRows) -> int:
        """Add what was compiled, but for ids that are taken meanwhile; how many that is."""
        done = without_taken(done, self.name, self._content.taken(done.segment.subscription_id.tolist()))
        if done.rejected:
            self.rejected += [found for _, found in done.rejected]
        self._content.add_segment(done.segment, done.ids)
        return len(done.segment.priority)

    def _progress(self, texts: list[str]) -> Iterable[str]:
        return tqdm(texts, desc=self.name, unit=" rules", delay=1, disable=None, leave=False)

    @property
    def segment(self) -> Segment:
        """The index of these rules, built when it is first asked for after a change."""
        return self._content.segment

    def publish(
        self,
        spark: SparkSession | None = None,
        store: str | os.PathLike[str] | None = None,
        *,
        merge: Merge = "auto",
    ) -> int:
        """Publish the rules as the next version of this rule set, and return the version.

        The store is `store`, else that of the session (`spark.sparkrules.store`), else the one that this object was
        loaded from or published to last, else the default one. With a session, its settings then name this store and
        this rule set, so that `SELECT match_subscriptions(*) FROM t` uses it.

        Only what is new since the version that was loaded or published last is written. If others have published
        meanwhile, this object takes over their changes; if they have changed the same subscriptions, nothing is
        published and `PublishConflict` is raised. A rule set that was made from nothing replaces all that was there.

        Small segments are merged, and rules that have expired are dropped from those: `merge="all"` makes one segment
        of everything, `merge="none"` only adds.
        """
        if store is None and spark is not None:
            store = store_of(spark)
        target = self._store(store)
        base = self._known.get(target.path)
        draft = Draft(self._content_for(target).sealed(), self._new_rejected(target, base), self._default_seconds())
        self._take_over(target, publish_draft(target, self.name, draft, base, merge=merge))
        if spark is not None:
            spark.conf.set(STORE_SETTING, str(target.path))
            spark.conf.set(RULE_SET_SETTING, self.name)
        return self._known[target.path].number

    def version_in(self, store: str | os.PathLike[str]) -> int | None:
        """The version of the store that this object published or loaded, unless the rules have changed since."""
        known = self._known.get(local_path(store))
        if known is None or self._content.waiting or known.parts != self._content.parts:
            return None
        return known.number

    def versions(self, store: str | os.PathLike[str] | None = None) -> list[Manifest]:
        """The published versions of this rule set, oldest first: number, time, publisher, action, counts."""
        source = self._store(store)
        return [source.manifest(self.name, number) for number in source.versions(self.name)]

    def rollback(self, version: int, store: str | os.PathLike[str] | None = None) -> int:
        """Publish an old version again, as the newest; this object then has its rules. Returns the new version."""
        target = self._store(store)
        if len(self) and self.version_in(target.path) is None:
            raise RuleSetError(
                f"rule set {self.name!r} has changes that are not published: publish it, or roll back with a fresh "
                f"RuleSet.load({self.name!r}, store)"
            )
        number = target.rollback(self.name, version)
        self._take_over(target, target.open(self.name, number))
        return number

    def diff(self, before: int, after: int | None = None, store: str | os.PathLike[str] | None = None) -> Changes:
        """What two published versions differ in, by id; `after` is the newest if it is not given.

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
    def load(
        cls,
        name: str,
        store: str | os.PathLike[str] | None = None,
        version: int | None = None,
        *,
        dialect: str = "spark",
        policy: Policy = DEFAULT_POLICY,
    ) -> RuleSet:
        """A published rule set, by default its newest version. `dialect` and `policy` are for rules added to it.

        The rules are read when they are needed: to add or remove some, only their ids are looked at.
        """
        source = Store(store)
        rules = cls(name, dialect, policy)
        rules._take_over(source, source.open(name, version))
        return rules

    def match(
        self,
        table: pa.Table | pa.RecordBatch,
        *,
        unsupported: Literal["error", "skip"] = "error",
        at: datetime | None = None,
    ) -> Matches:
        """The matches of every row of an Arrow table, without Spark, of the rules that are valid `at` a time, or now.

        A subscription that only Spark can match (a derived attribute, a regular expression) is an error, or left out
        and named in `Matches.skipped` with `unsupported="skip"`.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "temperature > 30")
        >>> rules.match(pa.table({"temperature": [35, 20]})).ids.to_pylist()
        [['hot'], []]
        """
        return match(self.segment, table, unsupported=unsupported, at=instant_of(at))

    def explain(
        self,
        row: Mapping[str, Any] | Row,
        spark: SparkSession | None = None,
        ids: Iterable[str] | None = None,
        *,
        at: datetime | None = None,
    ) -> list[Explanation]:
        """Which parts of each subscription are true for a row, and so why it matches or not.

        With a session, Spark itself evaluates every predicate; without, numpy does, as in `match`. The row is a mapping
        of column to value or a Row of Spark. `ids` limits the answer to some subscriptions; a subscription that is not
        valid `at` the time (now, if none is given) is explained only if it is among them.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "temperature > 30 AND NOT indoors")
        >>> print(*rules.explain({"temperature": 35, "indoors": True}))
        hot does not match
          ✗ and
            ✗ indoors is false
            ✓ temperature > 30
        """
        segment, instant = self.segment, instant_of(at)
        valid = segment.valid_at(instant)
        chosen = segment.subscription_id[valid].tolist() if ids is None else list(ids)
        truth = row_truth(segment, row, self._predicates_of(chosen), spark)
        return explain(segment, truth, chosen, at=instant)

    def analyze(self, df: DataFrame, rows: int = 100_000, seed: int = 0) -> Statistics:
        """Count where the values of the rules' attributes lie, in a sample of about `rows` rows, and store that.

        The plugin then plans with it, this version and those to come; the answers of a query never depend on it. The
        rules must have been published to the session's store. Of a DataFrame without rows nothing is stored.

            print(rules.analyze(spark.table("readings")))
        """
        if rows < 1:
            raise RuleSetError(f"a sample has at least one row, not {rows}")
        require_plugin(df.sparkSession)
        store = Store(store_of(df.sparkSession))
        version = self.version_in(store.path)
        if version is None:
            raise RuleSetError(f"rule set {self.name!r} is not in {store.path} as it is now: publish it first")
        ranges = count_ranges(df, f"{self.name}@{version}", rows, seed)
        if ranges.num_rows:
            store.analyzed(self.name, ranges)
        tests = bound_tests(df, f"{self.name}@{version}")
        _, segments = store.load(self.name, version)
        predicates = [str(predicate) for segment in segments for predicate in segment.predicates()]
        uses = [use for segment in segments for use in segment.use_count[segment.leaf_of_predicate].tolist()]
        return statistics_of(self.name, version, ranges, tests, predicates, uses)

    def sharing(self, top: int = 10) -> Sharing:
        """How much the rules have in common, and the `top` parts that the most rules share.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "indoors AND temperature > 30 AND season = 'summer'")
        >>> rules.subscribe("dry", "indoors AND temperature > 30 AND humidity < 10")
        >>> rules.sharing().most_shared[0]
        (2, 'indoors is true and temperature > 30')
        """
        return sharing(self.segment, top)

    def _predicates_of(self, ids: list[str]) -> list[int]:
        segment, wanted = self.segment, set(ids)
        found: set[int] = set()
        for number, id in enumerate(segment.subscription_id.tolist()):
            if id in wanted:
                nodes = segment.descendants(int(segment.subscription_node[number]))
                found.update(segment.node_predicate[nodes].tolist())
        return sorted(found - {-1})

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

    def _store(self, store: str | os.PathLike[str] | None) -> Store:
        return Store(self._home if store is None else store)

    def _take_over(self, store: Store, version: Version) -> None:
        """Have the rules of a version, whether it was loaded or has been made of these."""
        self._content = Content(self.name, version.parts)
        self._secrets.clear()
        self._rejected = None
        seconds = version.manifest.default_validity
        self.default_validity = None if seconds is None else timedelta(seconds=seconds)
        self._known[store.path] = version
        self._home = store.path

    def _default_seconds(self) -> int | None:
        span = check_span(self.default_validity)
        return None if span is None else int(span.total_seconds())

    def _published_rejected(self) -> list[Rejected]:
        assert self._home is not None
        return Store(self._home).rejected(self._known[self._home].manifest)

    def _new_rejected(self, target: Store, base: Version | None) -> tuple[Rejected, ...] | None:
        """What was set aside, if the version that the target knows has something else."""
        if base is not None and self._rejected is None and target.path == self._home:
            return None
        return tuple(self.rejected)

    def _check_unowned(self, ids: list[str]) -> None:
        """Raise `WrongTicket` if one of the subscriptions was made with a ticket."""
        owned = [id for id in ids if id in self._secrets] or self._content.ticketed(ids)
        if owned:
            refuse(self.name, owned[0], "no ticket")
            raise WrongTicket(
                f"subscription {owned[0]!r} of rule set {self.name!r} was made with a ticket: give that, or force=True"
            )

    def _check_ticket(self, id: str, ticket: str) -> None:
        # A rule that waits has its ticket still: hashed here with any key, so that all cases take the same path.
        key = self._ticket_key() or b"no store, no key"
        waiting, stored = ticket_hash(key, self._secrets.get(id, "")), self._content.ticket(id)
        if id in self._secrets:
            stored = waiting
        check_ticket(key, ticket, stored, self.name, id)

    def _ticket_key(self) -> bytes | None:
        return None if self._home is None else read_key(self._home / self.name)

    def _content_for(self, target: Store) -> Content:
        """The content as it goes to a store: tickets hashed with the store's key."""
        # Tickets that were hashed with the key of another store are valid in this one only if it has the same key.
        foreign = self._home not in (None, target.path) and self._content.has_tickets()
        if not (self._secrets or foreign):
            return self._content
        key = shared_key(target.path / self.name, self._ticket_key() if foreign else None)
        content = Content(self.name, self._content.parts)
        for rule in self._content.waiting.values():
            secret = self._secrets.get(rule.id)
            content.add(rule if secret is None else replace(rule, ticket=ticket_hash(key, secret)))
        return content
