"""A rule set, as users have it: the facade of its rules, its advertisements and its published versions.

| part | what it does |
|---|---|
| `RuleCollection` | adds and removes rules, with tickets and validity |
| `Publication` | publishes, loads and compares versions in a store |
| `Advertisements` | answers which rules could match the rows of which sources |
| `Generalization` | gives rules with fewer predicates, and filters that all rules imply |
| `PatternAnswers` | defines patterns over several rows, and finds them in a table |
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import numpy as np
import pyarrow as pa

from sparkrules.catalyst.analyze import analyze
from sparkrules.catalyst.backtest import Backtest, backtest, check_backtest
from sparkrules.catalyst.compile import compile_dataframe
from sparkrules.catalyst.dataframe import name_and_version
from sparkrules.catalyst.pattern_answers import PatternAnswers
from sparkrules.catalyst.row_truth import row_truth
from sparkrules.catalyst.rule_table import rule_cells, rule_table, sync_cells
from sparkrules.catalyst.session import RULE_SET_SETTING, STORE_SETTING, require_plugin, store_of
from sparkrules.catalyst.stored_lists import stored_lists
from sparkrules.errors import RuleSetError
from sparkrules.index import Rule, Segment, Sharing, build_segment, sharing
from sparkrules.index.chosen import check_known_tags, has_status
from sparkrules.index.rule import LIVE, SHADOW
from sparkrules.index.rule_fields import field_type, field_values
from sparkrules.lint import Report, lint
from sparkrules.local import (
    Drawing,
    EstimatedPredicates,
    Explanations,
    Matches,
    Selectivities,
    Statistics,
    explain,
    match,
    timeline,
)
from sparkrules.logic import Selectivity
from sparkrules.logic.implied_filter import MOST_DISJUNCTS, MOST_VALUES
from sparkrules.report import write_report
from sparkrules.rules.advertised import Advertised, Advertisement
from sparkrules.rules.advertisements import Advertisements
from sparkrules.rules.arguments import (
    a_data_frame,
    a_file_to_write,
    a_policy,
    a_session,
    a_span,
    a_store,
    a_table,
    a_text,
    a_whole_number,
    checked,
    one_of,
    some_ids,
    some_names,
    some_rules,
    true_or_false,
)
from sparkrules.rules.as_written import as_written
from sparkrules.rules.bulk import no_collection
from sparkrules.rules.collection import RuleCollection
from sparkrules.rules.exemption_methods import ExemptionMethods
from sparkrules.rules.fields import check_fields, names_of
from sparkrules.rules.frames import Frame, as_arrow, is_frame
from sparkrules.rules.generalization import Generalization
from sparkrules.rules.list_methods import ListMethods, asked_lists
from sparkrules.rules.pattern_methods import Span
from sparkrules.rules.pruned import Extent
from sparkrules.rules.publication import AnyStore, Publication, place_of
from sparkrules.rules.restricted import predicates_of, restricted_segment
from sparkrules.rules.scan_filter import ScanFilter
from sparkrules.rules.sources import RuleRow, is_spark, read_rules
from sparkrules.rules.strict import check_rules
from sparkrules.rules.sync import Synced, sync
from sparkrules.rules.table_schema import TableSchema, arrow_schema
from sparkrules.rules.validity import instant_of
from sparkrules.sql import DEFAULT_POLICY, Policy
from sparkrules.sql.rejected import Rejected
from sparkrules.sql.written import written_tree
from sparkrules.store import Changes, Garbage, Manifest, Merge, Store, check_name, path_in_spark

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row, SparkSession

__all__ = ["RuleSet"]

_Own = TypeVar("_Own", bound="RuleSet")


class RuleSet(PatternAnswers, ListMethods, ExemptionMethods):
    """Rules under one name: SQL WHERE texts by id, collected in Python and published for Spark.

    Queries refer to the rules by `name`. `dialect` is the SQL dialect of the texts, and `policy` limits what they may
    contain. `store` is where the rules are published: a `Store` or a path. By default it is the store of the session
    (`spark.sparkrules.store`) that the rules are published with, otherwise the store they were loaded from, otherwise
    `$SPARKRULES_STORE` or `~/.sparkrules/store`. `default_validity` is how long a rule without an end is valid; None
    means forever.

    A rule set has a length, iterates over its rules, and `id in rules` works. A new one is empty, and publishing it
    replaces what was published under its name. To change what is published, `load` it.

    >>> rules = RuleSet("alerts")
    >>> rules.subscribe("hot", "temperature > 30", priority=5)
    >>> rules.subscribe_all({"cold": "temperature < 0", "broken": "temperature >"})
    1
    >>> len(rules), "cold" in rules, [rejected.id for rejected in rules.rejected]
    (2, True, ['broken'])
    """

    @checked(dialect=a_text, policy=a_policy, store=a_store)
    def __init__(
        self,
        name: str,
        dialect: str = "spark",
        policy: Policy = DEFAULT_POLICY,
        *,
        store: AnyStore | None = None,
        default_validity: timedelta | None = None,
    ) -> None:
        self._collection = RuleCollection(check_name(name), dialect, policy, default_validity)
        self._advertised = Advertised(name)
        self._publication = Publication(self._collection, self._advertised, store)
        estimated = self._estimated  # from the store that is current when it is asked
        self._advertisements = Advertisements(self._advertised, self._collection, lambda own: estimated().matches(own))
        self._generalization = Generalization(self._collection, lambda forest: estimated().shares(forest))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {len(self)} rules{', general' * self.general})"

    def __len__(self) -> int:
        return len(self._collection.content)

    def __contains__(self, id: object) -> bool:
        return id in self._collection.content

    def __iter__(self) -> Iterator[Rule]:
        return self._collection.content.rules()

    @property
    def name(self) -> str:
        """What queries call these rules by."""
        return self._collection.name

    @property
    def dialect(self) -> str:
        """The SQL dialect of the texts."""
        return self._collection.dialect

    @property
    def policy(self) -> Policy:
        """What limits the texts."""
        return self._collection.policy

    @property
    def default_validity(self) -> timedelta | None:
        """How long a rule without an end is valid; None means forever."""
        return self._collection.default_validity

    @default_validity.setter
    def default_validity(self, span: timedelta | None) -> None:
        self._collection.default_validity = span

    @property
    def subscriptions(self) -> Mapping[str, Rule]:
        """The rules by id: a view that reads only what is asked for from the store."""
        return MappingProxyType(self._collection.content)

    @property
    def rejected(self) -> list[Rejected]:
        """The rules that were rejected, and why."""
        return self._collection.rejected

    @rejected.setter
    def rejected(self, rejected: Iterable[Rejected]) -> None:
        self._collection.rejected = list(rejected)

    # Rules: added, removed, renewed

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
        on_change: str | Sequence[str] | None = None,
        suppress: Span | None = None,
        by: str | Sequence[str] | None = None,
        status: str = "live",
        tags: Iterable[str] = (),
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
        on_change: str | Sequence[str] | None = None,
        suppress: Span | None = None,
        by: str | Sequence[str] | None = None,
        status: str = "live",
        tags: Iterable[str] = (),
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
        on_change: str | Sequence[str] | None = None,
        suppress: Span | None = None,
        by: str | Sequence[str] | None = None,
        status: str = "live",
        tags: Iterable[str] = (),
    ) -> str | None:
        """Add a rule. Raises `RuleError` if its text is invalid, `DuplicateId` if the id is taken.

        The rule matches from `valid_from` (inclusive) until `valid_until` (exclusive); both need a time zone. With
        `ticket=True` this returns a secret, without which the rule cannot be renewed or removed. Only a hash of the
        secret is kept.

        A rule whose `status` is `shadow` is matched only for queries that ask for shadow rules, and a `draft` is not
        matched at all. `tags` are names by which a query can choose rules.

        With `on_change` the rule also becomes a pattern that detects when it becomes true, for the rows with the same
        values of these columns. With `suppress` it becomes a pattern that detects every match, but for that long
        further ones with the same values of the columns `by` are only counted. See `patterns`.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "temperature > 30", priority=5, metadata={"owner": "ops"})
        >>> rules.subscribe("cold", "temperature <")
        Traceback (most recent call last):
        ...
        sparkrules.sql.errors.RuleError: rule 'cold': expected a value at line 1, column 14: end of the text
            temperature <
                         ^
        """
        fields = {"on_change": on_change, "suppress": suppress, "by": by, "metadata": metadata}
        pattern = self._option(id, where, fields)
        row = RuleRow(id, where, priority, metadata, valid_from, valid_until, status, tags)
        secret = self._collection.add(row, ticket=ticket)
        if pattern is not None:
            self._collection.patterns.add(pattern)
        return secret

    def subscribe_all(self, source: object) -> int:
        """Add all rules and patterns of a source, and return how many are accepted. The others are in `rejected`.

        The source is an iterable of `(id, where)`, `(id, where, priority, metadata)` or dictionaries; a mapping of id
        to text; a DataFrame of Spark, pandas or polars or a pyarrow table with the columns `id`, `where` and optionally
        `priority`, `metadata`, `valid_from`, `valid_until`, `status` and `tags`; or the path of a `.csv`, `.jsonl` or
        `.yaml` file with these fields. If the source cannot be read to its end, no rule is added. On a terminal, a
        progress bar appears after a second.

        A row with one of the fields `sequence`, `together`, `count` and `absence` is a pattern, which has the arguments
        of the method with this name as fields. A rule can have the fields `on_change`, `suppress` and `by`.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe_all({"hot": "temperature > 30", "broken": "temperature >"})
        1
        >>> rules.subscribe_all([("frost", "temperature < 0", 9), {"id": "dry", "where": "humidity < 10"}])
        2
        >>> rules.rejected[0].reason
        'expected a value'
        """
        if is_spark(source):
            own = self._collection
            return own.add_compiled(compile_dataframe(source, own.compile, own.define))
        return self._collection.add_all(source)

    @classmethod
    @checked(spark=a_session, table=a_text, name=a_text, dialect=a_text, policy=a_policy, store=a_store)
    def from_table(
        cls: type[_Own],
        spark: SparkSession,
        table: str,
        where: str | None = None,
        *,
        name: str | None = None,
        dialect: str = "spark",
        policy: Policy = DEFAULT_POLICY,
        store: AnyStore | None = None,
    ) -> _Own:
        """A rule set with the rules of a table or view of Spark: of any format, also one that JDBC reads.

        The table has the columns that `subscribe_all` takes from a DataFrame; others are ignored. `where` is a
        condition on its columns. The name of the rule set is by default that of the table, without database and
        catalog. Rows that are no valid rules are in `rejected`, and so are all rows with an id that another row has:
        a table has no first row. To publish again only what has changed in the table, use `sync`.

            rules = RuleSet.from_table(spark, "sec.rules", where="enabled")
        """
        found = rule_table(spark, table, where)
        rules = cls(table.rpartition(".")[2].strip("`") if name is None else name, dialect, policy, store=store)
        rules.subscribe_all(found)
        rules._collection.reject_twice()
        return rules

    @checked(force=true_or_false)
    def unsubscribe(self, id: str, *, ticket: str | None = None, force: bool = False) -> None:
        """Remove a rule, with the pattern that it has as an option. Raises `UnknownId` if there is none with this id.

        A rule with a ticket can only be removed with that ticket or with `force=True`; otherwise this raises
        `WrongTicket`. The error reveals neither whether the rule exists nor whether it has a ticket.

        >>> rules = RuleSet("alerts")
        >>> ticket = rules.subscribe("hot", "temperature > 30", ticket=True)
        >>> rules.unsubscribe("hot", ticket="guessed")
        Traceback (most recent call last):
        ...
        sparkrules.errors.WrongTicket: this is not the ticket of rule 'hot' in rule set 'alerts'
        >>> rules.unsubscribe("hot", ticket=ticket)
        """
        self._collection.remove(id, ticket, force=force)

    @checked(ids=some_ids, force=true_or_false)
    def unsubscribe_all(self, ids: Iterable[str], *, force: bool = False) -> int:
        """Remove rules, and return how many. If one of them is unknown, or has a ticket, none is removed.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe_all({"hot": "temperature > 30", "cold": "temperature < 0"})
        2
        >>> rules.unsubscribe_all(["hot", "cold"])
        2
        """
        return self._collection.remove_all(ids, force=force)

    def renew(self, id: str, ticket: str, until: datetime) -> None:
        """Change until when a rule is valid. Raises `WrongTicket` if it was not made with this ticket.

        >>> from datetime import timezone
        >>> rules = RuleSet("alerts", default_validity=timedelta(days=7))
        >>> ticket = rules.subscribe("hot", "temperature > 30", ticket=True)
        >>> rules.renew("hot", ticket, datetime(2099, 1, 1, tzinfo=timezone.utc))
        >>> rules.subscriptions["hot"].valid_until.year
        2099
        """
        self._collection.renew(id, ticket, until)

    @checked(ids=some_ids, tags=some_names, force=true_or_false)
    def set_status(
        self,
        status: Literal["live", "shadow", "draft"],
        ids: Iterable[str] | None = None,
        *,
        tags: Sequence[str] | None = None,
        force: bool = False,
    ) -> int:
        """Change the status of rules, named by their ids or by tags, and return how many had another one before.

        A rule with a ticket is changed only with `force=True`. Publish the rules to make the change effective.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "temperature > 30", status="shadow", tags=["heat"])
        >>> rules.set_status("live", ["hot"]), rules.set_status("live", tags=["heat"])
        (1, 0)
        """
        return self._collection.set_status(status, ids, tags, force=force)

    # Advertisements: what sources send

    def advertise(self, id: str, where: str) -> None:
        """State which rows a source sends: those that fulfil a condition, written like a rule.

        Raises `RuleError` if the text is invalid, `DuplicateId` if there is an advertisement with this id. A rule may
        have the same id.

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
    def advertisements(self) -> Advertisements:
        """The advertisements by id, and which rules they overlap: see `Advertisements`."""
        return self._advertisements

    @checked(exact=true_or_false)
    def restrict(
        self,
        advertisement: str | None = None,
        *,
        where: str | None = None,
        name: str | None = None,
        schema: TableSchema | None = None,
        exact: bool = True,
    ) -> RuleSet:
        """A rule set of the rules that a source needs. On rows that conform, it matches the same as this one.

        Its name is `name`, by default the name of this rule set, a dot and the id of the advertisement. It is a copy
        for matching: it has no tickets, and later changes to this rule set do not reach it. Give the `schema` of the
        table unless the columns have types that fit the constants; see `Advertisements.overlapping`.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe_all({"hot": "t > 30", "mild": "t > 15 AND t < 25", "damp": "damp"})
        3
        >>> rules.advertise("cellar", "floor < 0 AND t < 20")
        >>> rules.restrict("cellar")
        RuleSet('alerts.cellar', 2 rules)
        """
        given = self._advertisements._condition(advertisement, where)
        if name is None:
            name = f"{self.name}.{'restricted' if advertisement is None else advertisement}"
        segment = restricted_segment(self._segment, self._advertisements._numbers(given, schema, exact=exact))
        made = self._copy(name, segment, general=self.general)
        if advertisement is not None:
            made._advertised.add(given)
        for own in self._collection.patterns.defined():
            made._collection.patterns.add(own)
        return made

    # More general rules

    @property
    def general(self) -> bool:
        """Whether these rules were pruned: they may match more rows than those they were made from, never fewer."""
        return self._collection.general

    def prune(
        self,
        *,
        keep: float | None = None,
        degradation: float | None = None,
        prunings: float | None = None,
        distinct: float | None = None,
        name: str | None = None,
        schema: TableSchema | None = None,
    ) -> RuleSet:
        """A rule set of the same rules with fewer predicates. It matches every row that this one matches, and more.

        Use it where a row too many is cheap: in a broker, a gateway or a device that only decides what to pass on. It
        is marked `general`, also when it is published and loaded again.

        Parts of ANDs are removed, those first that change the estimated share of matching rows least (Bittner and Hinze
        2005), until the share `keep` of all predicates is left; until the share `prunings` of all possible removals has
        been made; or up to the first that would change the share of a rule by more than `degradation`. Every rule
        keeps at least one part. `distinct` replaces predicates by wider ones, `price < 10` by `price < 15`, in all
        rules that have them, until that share of the distinct predicates is left; for column types that fit the
        constants, or those of the `schema`. The estimates come from `analyze`; without it, they are guesses.

        Its name is `name`, by default the name of this rule set and `.general`. It is a copy for matching: it has no
        tickets and no patterns, and later changes to this rule set do not reach it.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("cellar", "indoors AND (t > 30 OR damp) AND floor = -1")
        >>> rules.prune(keep=0.5)
        RuleSet('alerts.general', 1 rules, general)
        >>> print(rules.prune(keep=0.5).subscriptions["cellar"].where)
        indoors AND floor = -1
        """
        pruned = self._generalization.pruned(Extent(keep, degradation, prunings, distinct), schema)
        made = self._copy(f"{self.name}.general" if name is None else name, pruned, general=True)
        for own in self._advertised.values():
            made._advertised.add(own)
        return made

    @checked(disjuncts=a_whole_number, values=a_whole_number)
    def scan_filter(
        self,
        *,
        at: datetime | None = None,
        schema: TableSchema | None = None,
        disjuncts: int = MOST_DISJUNCTS,
        values: int = MOST_VALUES,
    ) -> ScanFilter:
        """A small condition that is true for every row that a rule valid `at` a time, by default now, matches.

        It is a disjunction of at most `disjuncts` comparisons of columns, with at most `values` constants in a list,
        chosen to be true for few rows by the statistics of `analyze`, or by guesses. It is right for column types that
        fit the constants: numbers for columns of numbers, strings for columns of strings. For others give the `schema`
        of the table; what Spark would then have to cast is not used.

        >>> rules = RuleSet("books")
        >>> rules.subscribe_all({"bargain": "price < 7.5 AND used", "cheap": "price < 20 AND contains(title, 'Odes')"})
        2
        >>> rules.scan_filter().sql
        'price < 20'
        """
        return self._generalization.scan_filter(at, schema, disjuncts=disjuncts, values=values)

    def filter_sql(
        self,
        dialect: str = "spark",
        *,
        at: datetime | None = None,
        schema: TableSchema | None = None,
        disjuncts: int = MOST_DISJUNCTS,
        values: int = MOST_VALUES,
    ) -> str:
        """`scan_filter` as a text, for any system that can filter rows by SQL; see there.

        >>> rules = RuleSet("books")
        >>> rules.subscribe_all({"new": "state = 'new' AND price < 5", "odes": "title LIKE 'Odes%'"})
        2
        >>> print(rules.filter_sql())
        state = 'new' OR title LIKE 'Odes%'
        """
        found = self.scan_filter(at=at, schema=schema, disjuncts=disjuncts, values=values)
        return found.sql if dialect == "spark" else found.in_dialect(dialect)

    def filter_column(
        self,
        *,
        at: datetime | None = None,
        schema: TableSchema | None = None,
        disjuncts: int = MOST_DISJUNCTS,
        values: int = MOST_VALUES,
    ) -> Column:
        """`scan_filter` as a column of Spark: `df.where(rules.filter_column(schema=df))`."""
        from pyspark.sql.functions import expr

        return expr(self.filter_sql(at=at, schema=schema, disjuncts=disjuncts, values=values))

    # Published versions

    @property
    def store(self) -> Store:
        """Where the rules are published. Assign a `Store` or a path to publish them elsewhere."""
        return self._publication.store

    @store.setter
    def store(self, store: AnyStore) -> None:
        wrong = a_store(store)
        if wrong is not None:
            raise RuleSetError(f"RuleSet.store {wrong}")
        self._publication.chosen = place_of(store)

    @checked(spark=a_session, store=a_store, merge=a_text, strict=true_or_false)
    def publish(
        self,
        spark: SparkSession | None = None,
        *,
        store: AnyStore | None = None,
        merge: Merge = "auto",
        overlaps: bool | TableSchema = False,
        force: bool = False,
        schema: TableSchema | None = None,
        strict: bool = False,
    ) -> int:
        """Publish the rules as the next version of this rule set, and return the version.

        They go to the `store` of this rule set if one was given, otherwise to that of the session. The session then
        uses this store and this rule set: `SELECT match_subscriptions(*) FROM t` refers to it. `publish(store=...)`
        assigns `rules.store` first.

        Only what has changed since the version that was last loaded or published is written. If others have published
        in the meantime, this object takes over their changes. If they have changed the same rules, this publishes
        nothing and raises `PublishConflict`. A rule set that was not loaded replaces everything published under its
        name. If that includes rules with a ticket, this raises `WrongTicket` unless `force=True`.

        Small segments are merged, and expired rules in them are dropped: `merge="all"` makes one segment of everything,
        `merge="none"` only adds.

        If there are advertisements, `publish` also stores which rules overlap them, for the SQL table function
        `overlaps`. It compares as many new pairs as it can in about a second, and all of them if `overlaps` is True or
        the schema of the table (see `Advertisements.overlapping`), which also applies to later versions.

        With `strict=True` nothing is published if a rule can never match, as far as `lint` can tell, or if rules were
        rejected: `StrictPublishError` lists them. With the `schema` of the table, missing columns and constants of the
        wrong type are found as well. Without `strict`, such errors are logged as warnings.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "temperature > 30")
        >>> first = rules.publish()
        >>> rules.subscribe("cold", "temperature < 0")
        >>> rules.publish() - first
        1
        """
        if store is not None:
            self.store = store
        if strict or schema is not None:
            # The rejected rules of a loaded version were known when it was published.
            rejected = self._collection.unpublished_rejected or ()
            patterns = self._collection.patterns.stored()
            check_rules(self.name, self, rejected, arrow_schema(schema), self.policy, strict=strict, patterns=patterns)
        named = self._publication.chosen is not None
        target = self.store if spark is None or named else Store(store_of(spark))
        version = self._publication.publish(target, merge=merge, overlaps=overlaps, force=force)
        if spark is not None:
            spark.conf.set(STORE_SETTING, path_in_spark(target.path))
            spark.conf.set(RULE_SET_SETTING, self.name)
        return version

    @checked(spark=a_session, strict=true_or_false, empty=true_or_false)
    def sync(
        self,
        source: object,
        spark: SparkSession | None = None,
        where: str | None = None,
        *,
        strict: bool = False,
        schema: TableSchema | None = None,
        empty: bool = False,
    ) -> Synced:
        """Make the newest version of this rule set have the rules of a source and no others; publish what differs.

        The source is one of `subscribe_all`; with a session, a string is the name of a table or view, and `where` a
        condition on its columns. Only rules that were added, changed or removed since the newest version are compiled
        and written. If there are none, there is no new version. The result says what was done, and has the rows that
        were rejected.

        A row that is rejected does not change the rule with its id: that stays as it was published. Rows with the same
        id are all rejected. Rules with a ticket are their owners': they stay, whatever the source says. Advertisements
        stay, and so do patterns if the source is a table without a column for them, and exemptions if it has no field
        for them. A source without any valid rule is an error, so that it does not remove all rules by accident, unless
        `empty=True`.

        `strict` and `schema` are those of `publish`, for rules that were added or changed. The rules go to the store of
        this rule set if one was given, otherwise to that of the session. This object must have no unpublished changes,
        and then has the rules of the version.

        >>> rules = RuleSet("synced")
        >>> print(rules.sync({"hot": "temperature > 30", "cold": "temperature < 0"}).changes)
        2 added: cold, hot
        0 removed
        0 changed
        >>> print(rules.sync({"hot": "temperature > 35", "cold": "temperature <"}))
        synced@2
        0 added
        0 removed
        1 changed: hot
        1 rejected: cold (expected a value)
        >>> rules.subscriptions["cold"].where
        'temperature < 0'
        """
        if isinstance(source, str) and spark is not None:
            source = rule_table(spark, source, where)
        elif where is not None:
            raise RuleSetError("RuleSet.sync: where is for a table: give its name and the session")
        if is_spark(source):
            spark, source = source.sparkSession, rule_cells(source)
        named = self._publication.chosen is not None
        target = self.store if spark is None or named else Store(store_of(spark))
        self._publication.check_unchanged(target, "sync")
        types, rules = arrow_schema(schema), self._collection
        if is_frame(source):
            done = sync_cells(rules, target, as_arrow(source), empty=empty, strict=strict, schema=types)
        else:
            done = sync(rules, target, read_rules(source), empty=empty, strict=strict, schema=types)
        self._publication.take_over(target, done.version)
        return done

    @classmethod
    @checked(store=a_store, version=a_whole_number, dialect=a_text, policy=a_policy)
    def load(
        cls: type[_Own],
        name: str,
        store: AnyStore | None = None,
        version: int | None = None,
        *,
        dialect: str = "spark",
        policy: Policy = DEFAULT_POLICY,
    ) -> _Own:
        """A published rule set, by default its newest version. `dialect` and `policy` apply to rules added to it.

        Rules are read when they are needed: adding and removing some reads only ids.

            rules = RuleSet.load("alerts", "/data/rules")
            rules.unsubscribe("hot")
            rules.publish()
        """
        rules = cls(name, dialect, policy, store=store)
        rules._publication.load(version)
        return rules

    @property
    def version(self) -> int | None:
        """The version that this object loaded or published last; None if the rules have changed since.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "temperature > 30")
        >>> rules.version is None, rules.publish() == rules.version
        (True, True)
        """
        return self._publication.version

    def versions(self) -> list[Manifest]:
        """The published versions of this rule set, oldest first: number, time, publisher, action, counts."""
        return self._publication.versions()

    @checked(version=a_whole_number)
    def rollback(self, version: int, *, tickets: Iterable[str] = (), force: bool = False) -> int:
        """Publish an old version again, as the newest; this object then has its rules. Returns the new version.

        If that removes, restores or changes rules with a ticket, all their `tickets` are needed, or `force=True`;
        otherwise this raises `WrongTicket`.
        """
        return self._publication.rollback(version, tickets, force=force)

    @checked(before=a_whole_number, after=a_whole_number)
    def diff(self, before: int, after: int | None = None) -> Changes:
        """How two published versions differ, by id; `after` is by default the newest.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "temperature > 30")
        >>> first = rules.publish()
        >>> rules.subscribe("cold", "temperature < 0")
        >>> print(rules.diff(first, rules.publish()))
        1 added: cold
        0 removed
        0 changed
        """
        return self._publication.diff(before, after)

    @checked(keep=a_whole_number, older_than=a_span)
    def collect_garbage(self, keep: int = 10, older_than: timedelta = timedelta(days=1)) -> Garbage:
        """Remove all but the newest versions, and files that no version needs, and return what was removed.

        Nothing younger than `older_than` is removed, and the files of a version only that long after the version.
        """
        return self._publication.collect_garbage(keep, older_than)

    # Answers

    @checked(
        table=a_table, unsupported=one_of("error", "skip"), fields=some_names, tags=some_names, shadow=true_or_false
    )
    def match(
        self,
        table: Frame,
        *,
        unsupported: Literal["error", "skip"] = "error",
        at: datetime | None = None,
        schema: TableSchema | None = None,
        fields: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        shadow: bool = False,
    ) -> Matches:
        """Match every row of a table without Spark, against the rules that are valid `at` a time, by default now.

        The table is an Arrow table, a DataFrame of pandas (where NaN is NULL, as in Spark) or polars, or anything else
        that exports Arrow, such as a relation of DuckDB. A LazyFrame of polars is collected. Some rules only Spark can
        match: those with a derived attribute or a regular expression, and those that compare a CHAR(n) or a string with
        a collation. They raise `NeedsSpark`, or are skipped with `unsupported="skip"` and named in `Matches.skipped`.
        Arrow has no collations: if the table has any, give the `schema` of the DataFrame that it comes from.

        Only live rules are matched; with `tags`, only those that have one of them. With `shadow=True`, shadow rules are
        matched as well, and `Matches.shadow` has their ids. With `fields`, names in the metadata of rules,
        `Matches.pairs` has these.

        >>> import pyarrow as pa
        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "temperature > 30", metadata={"severity": 3})
        >>> rules.match(pa.table({"temperature": [35, 20]})).ids.to_pylist()
        [['hot'], []]
        >>> rules.match(pa.table({"temperature": [35, 20]}), fields=["severity"]).pairs().to_pylist()
        [{'row': 0, 'subscription_id': 'hot', 'priority': 0, 'severity': 3}]
        """
        arrow, instant, types = as_arrow(table), instant_of(at), arrow_schema(schema)
        of, whole = f"rule set {self.name!r}", self._segment.rules
        names, chosen = names_of(fields), names_of(tags)
        check_fields(names, ("row", "subscription_id", "priority"))
        check_known_tags(whole, chosen, of)
        kinds = {name: field_type(whole, name, of) for name in names}

        lists = stored_lists(self._publication.list_stores[0], self.name)

        def matched(status: str) -> Matches:
            own = self._collection.content.chosen(status, frozenset(chosen) if chosen else None)
            found = match(own, arrow, unsupported=unsupported, at=instant, schema=types, lists=lists)
            return replace(found, fields={name: field_values(own.rules, name, kind) for name, kind in kinds.items()})

        return replace(matched(LIVE), of_shadow=matched(SHADOW)) if shadow else matched(LIVE)

    @checked(spark=a_session, ids=some_ids)
    def explain(
        self,
        row: Mapping[str, Any] | Row,
        spark: SparkSession | None = None,
        ids: Iterable[str] | None = None,
        *,
        at: datetime | None = None,
    ) -> Explanations:
        """Which parts of each rule are true for a row, and so why it matches or not. A notebook draws it.

        With a session, Spark evaluates every predicate; without one, numpy does, as in `match`. The row is a mapping of
        column to value, or a Row of Spark. `ids` limits the answer to some rules. A rule that is not valid `at` the
        time (by default now), or not live, is explained only if it is among them. Of a pattern among `ids`, unless a
        rule has the same id, it says which steps the row fulfils.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "temperature > 30 AND NOT indoors")
        >>> print(*rules.explain({"temperature": 35, "indoors": True}))
        hot does not match
          ✗ and
            ✗ indoors is false
            ✓ temperature > 30
        """
        segment, instant = self._segment, instant_of(at)
        valid = segment.rules.valid_at(instant) & has_status(segment.rules)
        chosen = segment.rules.id[valid].tolist() if ids is None else list(ids)
        patterns = [self.patterns[id] for id in chosen if ids is not None and id in self.patterns and id not in self]
        asked = {own.id for own in patterns}
        chosen = [id for id in chosen if id not in asked]
        truth = row_truth(
            segment,
            row,
            predicates_of(segment, chosen),
            spark,
            stored_lists(self._publication.list_stores[0], self.name),
            instant,
        )
        found = explain(segment, truth, chosen, at=instant)
        found += [self._explained_pattern(own, row, spark, instant) for own in patterns]
        return found

    @checked(spark=a_session)
    def draw(
        self,
        id: str,
        row: Mapping[str, Any] | Row | None = None,
        spark: SparkSession | None = None,
        *,
        at: datetime | None = None,
    ) -> Drawing:
        """The Boolean tree of a rule as a picture; with a row, which parts of it are true. See `explain`.

        A notebook shows it, and `save` writes it: `rules.draw("hot").save("hot.svg")`. A pattern, unless a rule has the
        same id, is drawn as a timeline.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "temperature > 30 AND NOT indoors")
        >>> picture = rules.draw("hot", {"temperature": 35, "indoors": True})
        >>> "✓ temperature &gt; 30" in picture.svg, "✗ indoors is false" in picture.svg
        (True, True)
        """
        if row is not None:
            (explained,) = self.explain(row, spark, [id], at=at)
            return explained.draw()
        if id in self.patterns and id not in self:
            return timeline(self.patterns[id])
        rule = self._collection.content[id]
        return Drawing.of_tree(id, written_tree(rule.where, rule.sql) or rule.tree)

    @checked(df=a_data_frame, rows=a_whole_number, seed=a_whole_number)
    def analyze(self, df: DataFrame, rows: int = 100_000, seed: int = 0) -> Statistics:
        """Count the values of the rules' attributes in a sample of about `rows` rows, and store the counts.

        The plugin then plans with them, for this version and later ones; they never change the answers. The rules must
        be published to the session's store. For an empty DataFrame nothing is stored.

            print(rules.analyze(spark.table("readings")))
        """
        return analyze(self, df, rows, seed)

    @checked(df=a_data_frame, against=some_rules, samples=a_whole_number)
    def backtest(self, df: DataFrame, against: RuleSet | str | None = None, *, samples: int = 5) -> Backtest:
        """Which rows each rule gains and loses compared with another version, before this one is published.

        `against` is a published version in the session's store, `"alerts@12"` or `"alerts"` for the newest; by default
        the newest of this rule set. It may also be a rule set. Both are matched in one pass over the rows, as they are
        valid now, and at most `samples` rows are shown for each rule. Patterns are not compared.

        Nothing is published under the name of this rule set. Rules that are not published are given to Spark as a
        version of the rule set with this name and `.backtest`, of which old versions are removed again.

            print(rules.backtest(spark.table("readings"), against="alerts@12"))
        """
        check_backtest(df, samples)
        spark = df.sparkSession
        require_plugin(spark)
        store = Store(store_of(spark))
        if isinstance(against, RuleSet):
            known = against.version
            compared, named = against._pinned_copy(store), against.name if known is None else f"{against.name}@{known}"
        else:
            compared = named = _pinned(against or self.name, store)
        return replace(backtest(df, self._pinned_copy(store), compared, samples), against=named)

    @overload
    def selectivity(self, id: None = None) -> Selectivities: ...

    @overload
    def selectivity(self, id: str) -> Selectivity: ...

    def selectivity(self, id: str | None = None) -> Selectivities | Selectivity:
        """The share of rows that rules match: at least, probably and at most. Of one rule, or of all by id.

        It is estimated from the newest statistics of `analyze` in the store of this rule set, also for rules that are
        newer. What these rows counted is always between `min` and `max`, whatever the validity of the rule. Without
        statistics, every predicate may be true for all rows or none, and `avg` is a guess.

        >>> rules = RuleSet("guesses")
        >>> rules.subscribe("hot", "temperature > 30 AND NOT indoors")
        >>> rules.selectivity("hot")
        Selectivity(min=0.0, avg=0.15, max=1.0)
        """
        counted = self._estimated().counted
        if id is None:
            return Selectivities(self._segment, counted)
        return Selectivities(build_segment([self._collection.content[id]]), counted)[id]

    @checked(top=a_whole_number)
    def sharing(self, top: int = 10) -> Sharing:
        """How much the rules have in common, and the `top` parts that the most rules share.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "indoors AND temperature > 30 AND season = 'summer'")
        >>> rules.subscribe("dry", "indoors AND temperature > 30 AND humidity < 10")
        >>> rules.sharing().most_shared[0]
        (2, 'indoors is true and temperature > 30')
        """
        return sharing(self._segment, top)

    @no_collection()
    def lint(self, schema: TableSchema | None = None) -> Report:
        """What is wrong, or probably wrong, with rules and patterns; with the schema of their table, more is found.

        The schema is one of pyarrow or Spark, or a table that has one. See `sparkrules.lint`.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("never", "t > 30 AND t < 10")
        >>> [(finding.kind, finding.ids) for finding in rules.lint()]
        [('contradiction', ('never',))]
        """
        stored = self._collection.patterns.stored()
        conditions = as_written(stored.conditions, self.policy)
        return lint(as_written(self, self.policy), arrow_schema(schema), stored.patterns, conditions)

    @checked(path=a_file_to_write, df=a_data_frame, time=a_text)
    def report(
        self,
        path: str | os.PathLike[str],
        df: DataFrame | None = None,
        *,
        time: str | None = None,
        schema: TableSchema | None = None,
        lint: bool | None = None,
    ) -> Path:
        """Write an HTML report about the rules, for people who did not write them, and return its path.

        With a DataFrame, the report also shows what the rules do to its rows: hits by rule, rules that never hit, rules
        that hit the same rows, the distribution of values, the cost of a row. `time` names a column, and hits are then
        shown over time. As with `sparkrules.match`, changed rules are published to the session's store first. The rules
        are linted, for the columns of the DataFrame or of the `schema`; more than 20,000 only with `lint=True`, which
        takes minutes. Needs the extra `report`.

            rules.report("report.html", spark.table("readings"), time="at")
        """
        types = arrow_schema(df if schema is None else schema)
        return write_report(self, path, df, time=time, schema=types, lint=lint)

    @property
    def _segment(self) -> Segment:
        """The index of these rules, built when it is first needed after a change."""
        return self._collection.content.segment

    @property
    def _live(self) -> Segment:
        """The index of the live rules."""
        return self._collection.content.chosen()

    def _fields(self, names: Sequence[str] | None) -> dict[str, pa.Array]:
        """What the live rules have in fields of their metadata."""
        whole, live = self._segment.rules, self._live.rules
        check_fields(names or (), ("file", "row", "subscription_id", "priority"))
        return {
            name: field_values(live, name, field_type(whole, name, f"rule set {self.name!r}")) for name in names or ()
        }

    def _chosen(self, status: str, tags: Sequence[str] | None) -> RuleSet:
        """The rules with a status and one of some tags, as a rule set in which they are live."""
        check_known_tags(self._segment.rules, tags or (), f"rule set {self.name!r}")
        if status == LIVE and tags is None:
            return self
        segment = self._collection.content.chosen(status, None if tags is None else frozenset(tags))
        segment = restricted_segment(segment, np.arange(len(segment.rules.id), dtype=np.int32))
        live = replace(segment.rules, status=np.full(len(segment.rules), None, object))
        return self._copy(self.name, replace(segment, rules=live), general=self.general)

    def _estimated(self) -> EstimatedPredicates:
        return EstimatedPredicates(self.store.analysis(self.name))

    def _pinned_copy(self, store: Store) -> str:
        """A version that has these rules, as `alerts@12`: a known one of the store, or one of a copy."""
        known = self._publication.version_in(store)
        if known is not None:
            return f"{self.name}@{known}"
        everything = np.arange(len(self._segment.rules.id), dtype=np.int32)
        made = self._copy(f"{self.name}.backtest", restricted_segment(self._segment, everything), general=self.general)
        lists = self._publication.list_stores[0]
        for name in asked_lists(self._segment):
            own = lists.list_of(self.name, name)
            store.put_list(made.name, name, str(own.kind), lists.list_values(self.name, own).to_pylist())
        version = made.publish(store=store)
        made.collect_garbage(keep=2)
        return f"{made.name}@{version}"

    def _copy(self, name: str, segment: Segment, *, general: bool) -> RuleSet:
        """Rules of this rule set under another name, with the same settings."""
        policy = replace(self.policy, costs=self._publication.costs)
        chosen = self._publication.chosen
        made = RuleSet(name, self.dialect, policy, store=chosen, default_validity=self.default_validity)
        made._collection.content.add_segment(segment, segment.rules.id.tolist())
        made._collection.general = general
        return made


def _pinned(rules: str, store: Store) -> str:
    """The version that a name stands for now, as `alerts@12`."""
    name, version = name_and_version(rules)
    return f"{name}@{store.manifest(name, version).version}"
