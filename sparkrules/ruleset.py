"""A rule set, as users have it: what is collected and published, and the questions that it answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import pyarrow as pa

from sparkrules.catalyst.analyze import count_ranges, counted_values
from sparkrules.catalyst.compile import compile_dataframe
from sparkrules.catalyst.conformity import nonconforming, where_texts
from sparkrules.catalyst.row_truth import row_truth
from sparkrules.catalyst.session import RULE_SET_SETTING, STORE_SETTING, require_plugin, store_of
from sparkrules.errors import RuleSetError
from sparkrules.index import Sharing, sharing
from sparkrules.lint import Report, lint
from sparkrules.local import Drawing, Explanations, Matches, Statistics, explain, match, statistics_of
from sparkrules.report import write_report
from sparkrules.rules.advertised import Advertisement
from sparkrules.rules.arguments import (
    a_data_frame,
    a_file_to_write,
    a_path,
    a_session,
    a_table,
    a_text,
    a_whole_number,
    checked,
    one_of,
    some_ids,
    true_or_false,
)
from sparkrules.rules.as_written import as_written
from sparkrules.rules.bulk import CompiledRows
from sparkrules.rules.frames import Frame, as_arrow
from sparkrules.rules.overlapping import OverlappingPair, OverlapQuestions, advertising, texts_table
from sparkrules.rules.published import PublishedSubscriptions
from sparkrules.rules.restricted import restricted_segment
from sparkrules.rules.sources import RuleRow, is_spark
from sparkrules.rules.table_schema import TableSchema, arrow_schema
from sparkrules.rules.validity import instant_of
from sparkrules.sql import RuleError
from sparkrules.sql.rejected import Rejected
from sparkrules.store import Merge, Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

__all__ = ["Rejected", "RuleSet"]


class RuleSet(PublishedSubscriptions):
    """Rules under one name: subscriptions by id, each a SQL WHERE text, collected in Python and published for Spark.

    `name` is what queries call them by. `dialect` is the SQL dialect of the texts, `policy` bounds what they may
    contain. `default_validity` is for how long a subscription is valid that does not say until when: for ever, if it is
    None. It has a length, iterates over its rules and knows whether it has an id.

    One that is made like this begins with nothing, and replaces what was published under its name; to change what is
    published, `load` it.

    >>> rules = RuleSet("alerts")
    >>> rules.subscribe("hot", "temperature > 30", priority=5)
    >>> rules.subscribe_all({"cold": "temperature < 0", "broken": "temperature >"})
    1
    >>> len(rules), "cold" in rules, [rejected.id for rejected in rules.rejected]
    (2, True, ['broken'])
    """

    _asked: OverlapQuestions | None = None

    @checked(spark=a_session, store=a_path, merge=a_text, strict=true_or_false)
    def publish(
        self,
        spark: SparkSession | None = None,
        store: str | os.PathLike[str] | None = None,
        *,
        merge: Merge = "auto",
        overlaps: bool | TableSchema = False,
        force: bool = False,
        schema: TableSchema | None = None,
        strict: bool = False,
    ) -> int:
        """Publish the rules as the next version of this rule set, and return the version.

        The store is `store`, else that of the session (`spark.sparkrules.store`), else the one that this object was
        loaded from or published to last, else the default one. With a session, its settings then name this store and
        this rule set, so that `SELECT match_subscriptions(*) FROM t` uses it.

        Only what is new since the version that was loaded or published last is written. If others have published
        meanwhile, this object takes over their changes; if they have changed the same subscriptions, nothing is
        published and `PublishConflict` is raised. A rule set that was made from nothing replaces all that was there; if
        that has subscriptions with a ticket, only with `force=True`; else: `WrongTicket`.

        Small segments are merged, and rules that have expired are dropped from those: `merge="all"` makes one segment
        of everything, `merge="none"` only adds.

        If there are advertisements, which subscriptions may match their rows is stored for the table function
        `overlaps`. What is new is decided if there are few pairs, or if `overlaps` is True, or the schema of the table
        (see `RuleSet.overlapping`), with which pairs of later versions are then decided too.

        With `strict=True` nothing is published if a rule can never match, as far as `lint` can tell, or if rules were
        set aside: `StrictPublishError` lists them. The `schema` of the table lets it find columns that are missing and
        constants that do not fit; without `strict`, what is wrong is then logged as a warning.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "temperature > 30")
        >>> first = rules.publish()
        >>> rules.subscribe("cold", "temperature < 0")
        >>> rules.publish() - first
        1
        """
        target = self._store(store_of(spark) if store is None and spark is not None else store)
        version = self._publish(target, merge=merge, overlaps=overlaps, force=force, schema=schema, strict=strict)
        if spark is not None:
            spark.conf.set(STORE_SETTING, str(target.path))
            spark.conf.set(RULE_SET_SETTING, self.name)
        return version

    @checked(table=a_table, unsupported=one_of("error", "skip"))
    def match(
        self,
        table: Frame,
        *,
        unsupported: Literal["error", "skip"] = "error",
        at: datetime | None = None,
        schema: TableSchema | None = None,
    ) -> Matches:
        """The matches of every row of a table, without Spark, of the rules that are valid `at` a time, or now.

        The table is one of Arrow, or a DataFrame of pandas (of which NaN is NULL, as to Spark) or polars.
        A subscription that only Spark can match (a derived attribute, a regular expression) is an error, or left out
        and named in `Matches.skipped` with `unsupported="skip"`. So is one that compares a text which Spark pads, a
        CHAR(n), or compares by a collation. Arrow does not know the collation of a column: give the `schema` of the
        DataFrame that the table comes from, if it has some.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "temperature > 30")
        >>> rules.match(pa.table({"temperature": [35, 20]})).ids.to_pylist()
        [['hot'], []]
        """
        arrow = as_arrow(table)
        return match(self.segment, arrow, unsupported=unsupported, at=instant_of(at), schema=arrow_schema(schema))

    @checked(spark=a_session, ids=some_ids)
    def explain(
        self,
        row: Mapping[str, Any] | Row,
        spark: SparkSession | None = None,
        ids: Iterable[str] | None = None,
        *,
        at: datetime | None = None,
    ) -> Explanations:
        """Which parts of each subscription are true for a row, and so why it matches or not; a notebook draws it.

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
        valid = segment.rules.valid_at(instant)
        chosen = segment.rules.id[valid].tolist() if ids is None else list(ids)
        truth = row_truth(segment, row, self._predicates_of(chosen), spark)
        return explain(segment, truth, chosen, at=instant)

    @checked(spark=a_session)
    def draw(
        self,
        id: str,
        row: Mapping[str, Any] | Row | None = None,
        spark: SparkSession | None = None,
        *,
        at: datetime | None = None,
    ) -> Drawing:
        """The Boolean tree of a subscription as a picture; with a row, what of it is true. See `explain`.

        A notebook shows it, and `save` writes it: `rules.draw("hot").save("hot.svg")`.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "temperature > 30 AND NOT indoors")
        >>> picture = rules.draw("hot", {"temperature": 35, "indoors": True})
        >>> "✓ temperature &gt; 30" in picture.svg, "✗ indoors is false" in picture.svg
        (True, True)
        """
        if row is not None:
            (explained,) = self.explain(row, spark, [id], at=at)
            return explained.draw()
        return Drawing.of_tree(id, self._content[id].tree)

    @checked(df=a_data_frame, rows=a_whole_number, seed=a_whole_number)
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
        # After that: the tests are to say how values are looked up from now on.
        counted = counted_values(df, store, self.name, version, ranges)
        return statistics_of(self.name, version, ranges, counted.tests, [*map(str, counted.predicates)], counted.uses)

    @checked(top=a_whole_number)
    def sharing(self, top: int = 10) -> Sharing:
        """How much the rules have in common, and the `top` parts that the most rules share.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "indoors AND temperature > 30 AND season = 'summer'")
        >>> rules.subscribe("dry", "indoors AND temperature > 30 AND humidity < 10")
        >>> rules.sharing().most_shared[0]
        (2, 'indoors is true and temperature > 30')
        """
        return sharing(self.segment, top)

    @checked(exact=true_or_false)
    def overlapping(
        self,
        advertisement: str | None = None,
        *,
        where: str | None = None,
        schema: TableSchema | None = None,
        exact: bool = True,
    ) -> list[str]:
        """The ids of the subscriptions that may match rows of an advertisement, or rows that fulfil a condition.

        Those that are left out match no such row: that is proved for the types of the `schema` (of pyarrow or Spark, or
        a table) or, without one, for types that fit the constants. With `exact=False` predicates are looked at one by
        one, which is faster and finds some in addition. When a subscription is valid does not matter here.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe_all({"hot": "t > 30", "damp attic": "floor > 3 AND damp", "mild": "t > 15 AND t < 25"})
        3
        >>> rules.advertise("cellar", "floor < 0 AND t < 20")
        >>> rules.overlapping("cellar"), rules.overlapping(where="t BETWEEN 25 AND 35")
        (['mild'], ['damp attic', 'hot'])
        """
        given = self._advertisement(advertisement, where)
        return self._questions(schema).ids(given.tree, exact=exact)

    def sources(
        self, subscription: str | None = None, *, where: str | None = None, schema: TableSchema | None = None
    ) -> list[str]:
        """The ids of the advertisements whose rows a subscription, or a condition, may match; see `overlapping`.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "t > 30")
        >>> rules.advertise("cellar", "floor < 0 AND t < 20")
        >>> rules.advertise("attic", "floor > 3")
        >>> rules.sources("hot"), rules.sources(where="floor = 0")
        (['attic'], [])
        """
        if (subscription is None) == (where is None):
            raise RuleSetError("give either the id of a subscription or a condition, where=...")
        given = self._advertisement(None, where) if subscription is None else self._content[subscription]
        return list(advertising(self._advertised, given.tree, arrow_schema(schema)))

    @overload
    def overlaps(self, *, schema: TableSchema | None = None) -> list[OverlappingPair]: ...

    @overload
    def overlaps(self, texts: DataFrame | pa.Table, column: str, *, schema: TableSchema | None = None) -> Any: ...

    @checked(column=a_text)
    def overlaps(
        self,
        texts: DataFrame | pa.Table | None = None,
        column: str = "where",
        *,
        schema: TableSchema | None = None,
    ) -> Any:
        """Every advertisement with every subscription that may match its rows, and whether that is certain.

        With a DataFrame or Arrow table of conditions, `overlaps(df, "where")`, the answer is another one: each
        different text of the column, the ids of the `subscriptions` that may match its rows, and an `error` if it is
        not accepted.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe_all({"hot": "t > 30", "Rome": "contains(place, 'Rome')"})
        2
        >>> rules.advertise("attic", "floor > 3")
        >>> [tuple(pair) for pair in rules.overlaps()]
        [('attic', 'Rome', False), ('attic', 'hot', True)]
        """
        questions = self._questions(schema)
        if texts is None:
            return list(questions.pairs(list(self._advertised.values())))
        found = texts_table(self._answers(where_texts(texts, column), questions), column)
        if not is_spark(texts):
            return found
        return texts.sparkSession.createDataFrame(found)

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
        """A rule set of the subscriptions that a source needs: on rows that conform, it matches what this one does.

        Its name is that of this one, a point and the id of the advertisement, unless `name` says otherwise. It is a
        copy for matching: without tickets, and changes of this rule set do not reach it. Give the `schema` of the
        table unless the columns have types that fit the constants; see `overlapping`.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe_all({"hot": "t > 30", "mild": "t > 15 AND t < 25", "damp": "damp"})
        3
        >>> rules.advertise("cellar", "floor < 0 AND t < 20")
        >>> rules.restrict("cellar")
        RuleSet('alerts.cellar', 2 subscriptions)
        """
        given = self._advertisement(advertisement, where)
        if name is None:
            name = f"{self.name}.{'restricted' if advertisement is None else advertisement}"
        made = RuleSet(name, self.dialect, self.policy, default_validity=self.default_validity)
        questions = self._questions(schema)
        segment = restricted_segment(self.segment, questions.numbers(given.tree, exact=exact))
        made._content.add_segment(segment, segment.rules.id.tolist())
        if advertisement is not None:
            made._advertised.add(given)
        return made

    @checked(df=a_data_frame)
    def breaking(self, df: DataFrame, advertisement: str | None = None, *, where: str | None = None) -> DataFrame:
        """The rows that break an advertisement: for which its condition is not true. No rows: the data conforms.

        The advertisement is given by its id, or as a condition:
        `rules.breaking(spark.table("readings"), where="floor < 0").isEmpty()`.
        """
        return nonconforming(df, self._advertisement(advertisement, where))

    def lint(self, schema: TableSchema | None = None) -> Report:
        """What is wrong, or probably wrong, with the subscriptions; with the schema of their table, more is found.

        The schema is one of pyarrow or Spark, or a table that has one. See `sparkrules.lint`.

        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("never", "t > 30 AND t < 10")
        >>> [(finding.kind, finding.ids) for finding in rules.lint()]
        [('contradiction', ('never',))]
        """
        return lint(as_written(self, self.policy), arrow_schema(schema))

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
        """Write a page about the rules, for people who did not write them, and return its path.

        With a DataFrame, what the rules do to its rows as well: hits by rule, rules that never hit, rules that hit the
        same rows, where values lie, what a row costs; `time` names a column, and hits are then shown over time. As by
        `sparkrules.match`, rules that have changed are published to the session's store first. The rules are linted,
        for the columns of the DataFrame or of the `schema`; more than 20,000 only with `lint=True`, which takes
        minutes. Needs the extra `sparkrules[report]`.

            rules.report("report.html", spark.table("readings"), time="at")
        """
        types = arrow_schema(df if schema is None else schema)
        return write_report(self, path, df, time=time, schema=types, lint=lint)

    def _compiled_by_spark(
        self, df: DataFrame, compile: Callable[[Iterable[RuleRow]], CompiledRows]
    ) -> Iterable[CompiledRows]:
        return compile_dataframe(df, compile)

    def _advertisement(self, id: str | None, where: str | None) -> Advertisement:
        if (id is None) == (where is None):
            raise RuleSetError("give either the id of an advertisement or a condition, where=...")
        if where is not None:
            return Advertisement.parsed(None, where, self.dialect, self.policy)
        assert id is not None
        return self._advertised[id]

    def _questions(self, schema: TableSchema | None) -> OverlapQuestions:
        """Those that were asked last, if neither the rules nor the schema have changed: making them takes time."""
        types, asked = arrow_schema(schema), self._asked
        if asked is None or asked.segment is not self.segment or asked.schema != types:
            asked = self._asked = OverlapQuestions(self.segment, types)
        return asked

    def _answers(
        self, texts: Iterable[str | None], questions: OverlapQuestions
    ) -> Iterator[tuple[str | None, list[str] | None, str | None]]:
        given: dict[str | None, Advertisement | RuleError] = {}
        for text in texts:
            try:
                given[text] = Advertisement.parsed(None, text or "", self.dialect, self.policy)
            except RuleError as error:
                given[text] = error
        questions.prepare(own.tree for own in given.values() if isinstance(own, Advertisement))
        for text, own in given.items():
            if isinstance(own, RuleError):
                yield text, None, f"{own.reason} at line {own.line}, column {own.column}"
            else:
                yield text, questions.ids(own.tree), None

    def _predicates_of(self, ids: list[str]) -> list[int]:
        segment, wanted = self.segment, set(ids)
        found: set[int] = set()
        for number, id in enumerate(segment.rules.id.tolist()):
            if id in wanted:
                nodes = segment.forest.descendants(int(segment.forest.roots[number]))
                found.update(segment.forest.nodes.predicate[nodes].tolist())
        return sorted(found - {-1})
