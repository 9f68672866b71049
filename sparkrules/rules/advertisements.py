"""The advertisements of a rule set as users see them: by id, and the questions about rules and sources.

An advertisement describes the rows that a source sends. It *overlaps* a rule if some row could fulfil both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkrules.errors import RuleSetError
from sparkrules.index import Segment
from sparkrules.logic.overlapping_rank import advertisement_prunings
from sparkrules.rules.advertised import Advertised, Advertisement
from sparkrules.rules.arguments import a_data_frame, a_text, checked, true_or_false
from sparkrules.rules.collection import RuleCollection
from sparkrules.rules.conformity import nonconforming, where_texts
from sparkrules.rules.overlapping import (
    OverlappingPair,
    OverlapQuestions,
    advertised_segment,
    advertising,
    texts_table,
)
from sparkrules.rules.pruned import Extent, pruned_advertisement
from sparkrules.rules.sources import is_spark
from sparkrules.rules.table_schema import TableSchema, arrow_schema
from sparkrules.sql import Node, RuleError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Advertisements(Mapping[str, Advertisement]):
    """The advertisements by id, in order of arrival: each has a text, `where`, and a `tree`.

    `RuleSet.advertise` adds one and `RuleSet.unadvertise` removes one.

    >>> from sparkrules import RuleSet
    >>> rules = RuleSet("alerts")
    >>> rules.subscribe_all({"hot": "t > 30", "damp attic": "floor > 3 AND damp", "mild": "t > 15 AND t < 25"})
    3
    >>> rules.advertise("cellar", "floor < 0 AND t < 20")
    >>> list(rules.advertisements), rules.advertisements.overlapping("cellar")
    (['cellar'], ['mild'])
    """

    def __init__(
        self, advertised: Advertised, rules: RuleCollection, matches: Callable[[Segment], NDArray[np.float64]]
    ) -> None:
        self._advertised = advertised
        self._rules = rules
        self._matches = matches  # for how many rows each predicate of the rules is true
        self._asked: OverlapQuestions | None = None

    def __len__(self) -> int:
        return len(self._advertised)

    def __iter__(self) -> Iterator[str]:
        return iter(self._advertised)

    def __getitem__(self, id: str) -> Advertisement:
        return self._advertised[id]

    def __contains__(self, id: object) -> bool:
        return id in self._advertised

    def __repr__(self) -> str:
        return f"Advertisements({', '.join(map(repr, self))})"

    @checked(exact=true_or_false)
    def overlapping(
        self,
        advertisement: str | None = None,
        *,
        where: str | None = None,
        schema: TableSchema | None = None,
        exact: bool = True,
    ) -> list[str]:
        """The ids of the rules that could match rows of an advertisement, or rows that fulfil a condition.

        All other rules match no such row. That is proved for the column types of the `schema` (of pyarrow or Spark, or
        a table); without one, for types that fit the constants. With `exact=False` each predicate is considered by
        itself, which is faster and may return more rules. The validity of the rules is ignored.

        >>> from sparkrules import RuleSet
        >>> rules = RuleSet("alerts")
        >>> rules.subscribe_all({"hot": "t > 30", "damp attic": "floor > 3 AND damp", "mild": "t > 15 AND t < 25"})
        3
        >>> rules.advertisements.overlapping(where="t BETWEEN 25 AND 35")
        ['damp attic', 'hot']
        """
        return self._questions(schema).ids(self._condition(advertisement, where).tree, exact=exact)

    @checked(exact=true_or_false)
    def any_overlapping(
        self,
        advertisement: str | None = None,
        *,
        where: str | None = None,
        schema: TableSchema | None = None,
        exact: bool = True,
    ) -> bool:
        """Whether any rule could match rows of an advertisement, or rows that fulfil a condition; see `overlapping`.

        Ends at the first such rule, so it is faster than `overlapping` if there is one.

        >>> from sparkrules import RuleSet
        >>> rules = RuleSet("alerts")
        >>> rules.subscribe_all({"hot": "t > 30", "mild": "t > 15 AND t < 25"})
        2
        >>> rules.advertisements.any_overlapping(where="t > 20"), rules.advertisements.any_overlapping(where="t < 5")
        (True, False)
        """
        return self._questions(schema).any(self._condition(advertisement, where).tree, exact=exact)

    def sources(
        self, rule: str | None = None, *, where: str | None = None, schema: TableSchema | None = None
    ) -> list[str]:
        """The ids of the advertisements whose rows a rule, or a condition, could match; see `overlapping`.

        >>> from sparkrules import RuleSet
        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "t > 30")
        >>> rules.advertise("cellar", "floor < 0 AND t < 20")
        >>> rules.advertise("attic", "floor > 3")
        >>> rules.advertisements.sources("hot"), rules.advertisements.sources(where="floor = 0")
        (['attic'], [])
        """
        return list(advertising(self._advertised, self._wanted(rule, where), arrow_schema(schema)))

    def any_source(
        self, rule: str | None = None, *, where: str | None = None, schema: TableSchema | None = None
    ) -> bool:
        """Whether there is any advertisement whose rows a rule, or a condition, could match; see `sources`.

        >>> from sparkrules import RuleSet
        >>> rules = RuleSet("alerts")
        >>> rules.subscribe("hot", "t > 30")
        >>> rules.advertise("cellar", "floor < 0 AND t < 20")
        >>> rules.advertisements.any_source("hot"), rules.advertisements.any_source(where="floor < -1")
        (False, True)
        """
        registered = OverlapQuestions(advertised_segment(self._advertised), arrow_schema(schema))
        return registered.any(self._wanted(rule, where))

    def overlaps(self, *, schema: TableSchema | None = None) -> list[OverlappingPair]:
        """All pairs of an advertisement and a rule that could match its rows, and whether that is certain.

        Nothing that follows from a pruned advertisement is certain; see `prune`.

        >>> from sparkrules import RuleSet
        >>> rules = RuleSet("alerts")
        >>> rules.subscribe_all({"hot": "t > 30", "Rome": "contains(place, 'Rome')"})
        2
        >>> rules.advertise("attic", "floor > 3")
        >>> [tuple(pair) for pair in rules.advertisements.overlaps()]
        [('attic', 'Rome', False), ('attic', 'hot', True)]
        """
        return list(self._questions(schema).pairs(list(self._advertised.values())))

    @overload
    def overlapping_all(self, texts: DataFrame, column: str, *, schema: TableSchema | None = None) -> DataFrame: ...

    @overload
    def overlapping_all(self, texts: pa.Table, column: str, *, schema: TableSchema | None = None) -> pa.Table: ...

    @checked(column=a_text)
    def overlapping_all(self, texts: Any, column: str, *, schema: TableSchema | None = None) -> Any:
        """`overlapping` for each distinct condition in a column of a DataFrame or Arrow table.

        The result is of the same kind: the condition, the ids of the `subscriptions` that could match its rows, and an
        `error` if the condition is invalid.

            rules.advertisements.overlapping_all(spark.table("feeds"), "where").show()
        """
        found = texts_table(self._answers(where_texts(texts, column), self._questions(schema)), column)
        return texts.sparkSession.createDataFrame(found) if is_spark(texts) else found

    @checked(df=a_data_frame)
    def breaking(self, df: DataFrame, advertisement: str | None = None, *, where: str | None = None) -> DataFrame:
        """The rows that break an advertisement, given by its id or as a condition: those for which it is not true.

        If there are none, the data conforms:
        `rules.advertisements.breaking(spark.table("readings"), where="floor < 0").isEmpty()`.
        An advertisement that was pruned is broken by the same rows as before.
        """
        given = self._condition(advertisement, where)
        return nonconforming(df, given.original or given)

    def prune(
        self,
        *,
        keep: float | None = None,
        degradation: float | None = None,
        prunings: float | None = None,
        schema: TableSchema | None = None,
    ) -> Advertisements:
        """The same advertisements with fewer predicates: they may overlap more rules, never fewer.

        Questions about many advertisements are then answered faster, in less memory. Parts are removed in the order in
        which they matter least to the overlaps with these rules (Bittner and Hinze 2006, section 5), until the share
        `keep` of the predicates is left; until the share `prunings` of all possible removals has been made; or up to
        the first that would cost an advertisement more than the share `degradation` of its rank. Every advertisement
        keeps at least one part. The original ones stay as they are, and are what is published.

        >>> from sparkrules import RuleSet
        >>> rules = RuleSet("alerts")
        >>> rules.subscribe_all({"hot": "t > 30", "mild": "t > 15 AND t < 25"})
        2
        >>> rules.advertise("cellar", "floor < 0 AND t < 20")
        >>> pruned = rules.advertisements.prune(degradation=0)
        >>> print(pruned["cellar"]), pruned.overlapping("cellar")
        t < 20
        (None, ['mild'])
        """
        extent = Extent(keep, degradation, prunings)
        index = self._questions(schema).index
        registered = advertised_segment(self._advertised)
        found = advertisement_prunings(registered.forest, index, self._matches(index.segment))
        trees = {registered.rules.id[number]: tree for number, tree in found.trees(extent.count(found))}
        made = Advertised(self._rules.name)
        for own in self._advertised.values():
            made.add(pruned_advertisement(own, trees[own.id]) if own.id in trees else own)
        return Advertisements(made, self._rules, self._matches)

    def _wanted(self, rule: str | None, where: str | None) -> Node:
        if (rule is None) == (where is None):
            raise RuleSetError("give either the id of a rule or a condition, where=...")
        return self._condition(None, where).tree if rule is None else self._rules.content[rule].tree

    def _condition(self, id: str | None, where: str | None) -> Advertisement:
        if (id is None) == (where is None):
            raise RuleSetError("give either the id of an advertisement or a condition, where=...")
        if where is not None:
            return Advertisement.parsed(None, where, self._rules.dialect, self._rules.policy)
        assert id is not None
        return self._advertised[id]

    def _numbers(self, given: Advertisement, schema: TableSchema | None, *, exact: bool) -> NDArray[np.int32]:
        """The numbers, in the index, of the rules that could match such rows."""
        return self._questions(schema).numbers(given.tree, exact=exact)

    def _questions(self, schema: TableSchema | None) -> OverlapQuestions:
        """The last ones, if neither the rules nor the schema have changed: preparing them takes time."""
        types, asked, segment = arrow_schema(schema), self._asked, self._rules.content.segment
        if asked is None or asked.segment is not segment or asked.schema != types:
            asked = self._asked = OverlapQuestions(segment, types)
        return asked

    def _answers(
        self, texts: Iterable[str | None], questions: OverlapQuestions
    ) -> Iterator[tuple[str | None, list[str] | None, str | None]]:
        given: dict[str | None, Advertisement | RuleError] = {}
        for text in texts:
            try:
                given[text] = self._condition(None, text or "")
            except RuleError as error:
                given[text] = error
        questions.prepare(own.tree for own in given.values() if isinstance(own, Advertisement))
        for text, own in given.items():
            if isinstance(own, RuleError):
                yield text, None, f"{own.reason} at line {own.line}, column {own.column}"
            else:
                yield text, questions.ids(own.tree), None
