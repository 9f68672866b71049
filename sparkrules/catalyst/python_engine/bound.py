"""A segment bound to the columns of a DataFrame: what Spark computes first, and what its workers then decide.

frame      the DataFrame, and missing columns where they are to be NULL
computed   c0, c1, ...: its columns; a0, a1, ...: attributes; `apart`: those that could fail; `e0`: whether they did
read       what goes to the workers: the values and truths that the predicates are bound to
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrules.catalyst.python_engine.analysis import Rejection, analyzed
from sparkrules.catalyst.python_engine.attributes import Attribute, Attributes
from sparkrules.catalyst.python_engine.bound_predicates import DividedPredicates, SparkPredicate, divide
from sparkrules.catalyst.python_engine.carried_types import held_as_rows
from sparkrules.catalyst.python_engine.guarded import apart
from sparkrules.catalyst.python_engine.trial import failing
from sparkrules.index.segment import Segment
from sparkrules.local.bound_predicates import BoundPredicates, Truths, grouped_comparisons
from sparkrules.local.reference_list import Lists, no_lists
from sparkrules.logic.columns import Column
from sparkrules.logic.comparison import Comparison
from sparkrules.sql.called_functions import functions_in
from sparkrules.sql.functions import SCALAR_FUNCTIONS
from sparkrules.sql.predicate_sql import predicate_sql
from sparkrules.sql.tree import Predicate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TIMES = ("timestamp", "timestamp_ntz")
_IS_TRUE = Comparison("integer", "=", (1,))


@dataclass
class Bound:
    """`predicates` are bound to `read`: SQL over the columns of `computed`. `rejections` is by predicate number."""

    asked: Attributes
    computed: DataFrame
    read: list[str]
    predicates: BoundPredicates
    rejections: dict[int, Rejection]


def bind(
    df: DataFrame, segment: Segment, *, missing_as_null: bool, numpy_knows_time: bool, lists: Lists = no_lists
) -> Bound:
    """Bind every predicate, or record why Spark rejects it."""
    asked = Attributes(df, missing_as_null=missing_as_null)
    found = asked.of(segment.forest.attributes.tolist())
    predicates, attribute_of = list(segment.forest.all_predicates()), segment.forest.predicates.attribute.tolist()
    _keep_whole(asked, found, predicates, attribute_of)
    attributes = {place: own for place, own in enumerate(found) if isinstance(own, Attribute)}
    references = {place: _reference(place, own) for place, own in attributes.items()}
    divided = divide(predicates, attribute_of, found, references, numpy_knows_time=numpy_knows_time, lists=lists)
    computed = _computed(asked, len(df.columns), attributes, divided)
    _refuse(computed, divided)
    read, bound = _read(references, divided, segment, asked.variable, lists)
    return Bound(asked, computed, read, bound, divided.rejections)


def _keep_whole(
    asked: Attributes, found: list[Attribute | Rejection], predicates: list[Predicate], attribute_of: list[int]
) -> None:
    """Turn comparisons that Spark's optimizer must see as a whole into conditions.

    Where a local time is cast to an instant for a comparison, the optimizer compares local times instead, which is not
    the same around a clock change. In a column that is already computed, the optimizer would see no cast.
    """
    cast = []
    for number, (predicate, place) in enumerate(zip(predicates, attribute_of, strict=True)):
        own = found[place]
        if predicate.constants and isinstance(own, Attribute) and own.can_fail and own.type.typeName() in _TIMES:
            cast.append(number)
    texts = [predicate_sql(predicates[number]) for number in cast]
    for number, text, whole in zip(cast, texts, asked.of(texts), strict=True):
        predicates[number] = Predicate(text, "is true")
        attribute_of[number] = len(found)
        found.append(whole)


def _reference(place: int, attribute: Attribute) -> str:
    if attribute.column is not None:
        return f"c{attribute.column}"
    return f"apart.a{place}" if attribute.is_apart else f"a{place}"


def _computed(asked: Attributes, width: int, attributes: dict[int, Attribute], divided: DividedPredicates) -> DataFrame:
    used = {place for _, place, _, _ in divided.by_numpy} | {predicate.attribute for predicate in divided.by_spark}
    flagged = {predicate.attribute for predicate in divided.by_spark if predicate.when_computable}
    plain: dict[str, str] = {}
    fields: dict[str, str] = {}
    for place in sorted(used):
        own = attributes[place]
        if own.column is None:
            (fields if own.is_apart else plain)[f"a{place}"] = own.value
            if place in flagged:
                (fields if own.is_apart else plain)[f"e{place}"] = own.computable
    if fields:
        struct = ", ".join(f"'{name}', {sql}" for name, sql in fields.items())
        plain["apart"] = apart(f"named_struct({struct})", asked.variable)
    names = [f"c{number}" for number in range(width)]
    missing = [f"m{number}" for number in range(len(asked.frame.columns) - width)]
    # Names that no rule would use, because Spark would also resolve names to these columns.
    values = [f"{sql} AS `sparkrules {name}`" for name, sql in plain.items()]
    computed = held_as_rows(asked.frame).selectExpr("*", *values)
    # By position: several columns of a DataFrame may have the same name.
    return computed.toDF(*names, *missing, *plain)


def _refuse(computed: DataFrame, divided: DividedPredicates) -> None:
    """Remove the predicates that Spark rejects, and those that are never true because of their constants."""
    types = analyzed(computed, [f"({predicate.condition}) IS TRUE" for predicate in divided.by_spark])
    accepted = []
    for predicate, own in zip(divided.by_spark, types, strict=True):
        if isinstance(own, Rejection):
            divided.rejections[predicate.number] = own
        else:
            accepted.append(predicate)
    never = failing(
        computed.sparkSession,
        [column for column in computed.schema.fields if any(_names(predicate, column.name) for predicate in accepted)],
        [predicate.trial for predicate in accepted if predicate.trial is not None],
    )
    divided.by_spark = [predicate for predicate in accepted if predicate.trial not in never]


def _names(predicate: SparkPredicate, column: str) -> bool:
    return predicate.trial is not None and (f"({column})" in predicate.trial or f"({column}." in predicate.trial)


def _read(
    references: dict[int, str], divided: DividedPredicates, segment: Segment, variable: str, lists: Lists
) -> tuple[list[str], BoundPredicates]:
    places: dict[str, int] = {}

    def carry(sql: str) -> Column:
        """The column that has a value, added if there is none."""
        return Column((places.setdefault(sql, len(places)),), None)

    comparisons = []
    carried: dict[tuple[int, bool], Column] = {}
    for number, place, is_lowered, comparison in divided.by_numpy:
        if (place, is_lowered) not in carried:
            reference = references[place]
            carried[place, is_lowered] = carry(f"lower({reference})" if is_lowered else reference)
        comparisons.append((number, carried[place, is_lowered], comparison))
    truths = {own.number: own.truth(_flag(references[own.attribute])) for own in divided.by_spark}
    together = [own.number for own in divided.by_spark if _calls_sparks_own(own)]
    comparisons += [(number, carry(truths[number]), _IS_TRUE) for number in truths.keys() - set(together)]
    bound = BoundPredicates(len(segment.forest.predicates.operator))
    if together:
        listed = ", ".join(truths[number] for number in together)
        bound.groups.append(Truths(carry(apart(f"array({listed})", variable)), together))
    bound.groups += grouped_comparisons(comparisons, lists)
    return list(places), bound


def _flag(reference: str) -> str:
    """The column that tells whether an attribute is computable, given the column of its value."""
    head, point, name = reference.rpartition(".")
    return f"{head}{point}e{name[1:]}"


def _calls_sparks_own(predicate: SparkPredicate) -> bool:
    """Whether a condition calls no Python function in a constant. (The attribute is a column here.)"""
    return functions_in(predicate.condition) <= SCALAR_FUNCTIONS
