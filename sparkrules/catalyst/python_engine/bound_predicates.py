"""Decides which engine evaluates each predicate: numpy, on a column that Spark computes, or Spark itself.

Contract: numpy evaluates what it can evaluate exactly (`comparison`). Spark evaluates the rest: implicit casts, regular
expressions, collations, local time. A predicate that cannot be computed for a row is not true for it, as in the plugin.
So a predicate that is true for NULL must distinguish an attribute that failed from one that is NULL; Spark evaluates
these too. ILIKE becomes LIKE on Spark's `lower(...)`, if the pattern is ASCII.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sparkrules.catalyst.python_engine.analysis import Rejection
from sparkrules.catalyst.python_engine.attributes import Attribute
from sparkrules.catalyst.python_engine.carried_types import is_carried
from sparkrules.catalyst.python_engine.guarded import guarded_truth
from sparkrules.local.bound_predicates import answerable_comparison
from sparkrules.local.reference_list import Lists, no_lists
from sparkrules.logic.columns import Unsupported
from sparkrules.logic.comparison import ALWAYS, NEVER, ColumnType, Comparison, column_type
from sparkrules.rules.table_schema import arrow_type
from sparkrules.sql.predicate_sql import constant_sql, predicate_sql
from sparkrules.sql.tree import Constant, Predicate

_NULL_TESTS = ("is null", "is not null")
_TRUTH_TESTS = ("is true", "is false", "is not true", "is not false")
_PATTERNS = ("like", "ilike", "rlike")


@dataclass(frozen=True)
class SparkPredicate:
    """A predicate that Spark evaluates, as SQL. `trial` is SQL that fails if one of its constants does."""

    number: int
    attribute: int
    condition: str
    when_computable: bool = False
    trial: str | None = None

    def truth(self, computable: str) -> str:
        """SQL that is true where the condition is true; `computable` is true where the attribute can be computed."""
        guarded = guarded_truth(self.condition)
        return f"IF({computable}, {guarded}, NULL)" if self.when_computable else guarded


@dataclass
class DividedPredicates:
    """The predicates by engine. Those for numpy use an attribute, or an attribute in lower case."""

    by_numpy: list[tuple[int, int, bool, Comparison]] = field(default_factory=list)
    by_spark: list[SparkPredicate] = field(default_factory=list)
    rejections: dict[int, Rejection] = field(default_factory=dict)


def divide(
    predicates: Iterable[Predicate],
    attribute_of: Sequence[int],
    attributes: Sequence[Attribute | Rejection],
    references: Mapping[int, str],
    *,
    numpy_knows_time: bool,
    lists: Lists = no_lists,
) -> DividedPredicates:
    """Divide the predicates; `references` has the column of each accepted attribute."""
    divided = DividedPredicates()
    types: dict[int, ColumnType] = {}
    for number, (predicate, place) in enumerate(zip(predicates, attribute_of, strict=True)):
        attribute = attributes[place]
        if isinstance(attribute, Rejection):
            divided.rejections[number] = attribute
            continue
        if predicate.operator in _TRUTH_TESTS and attribute.type.typeName() not in ("boolean", "void"):
            found = attribute.type.simpleString().upper()
            divided.rejections[number] = Rejection(f"a condition of type {found} is not BOOLEAN")
            continue
        if predicate.operator in ("in list", "not in list"):
            try:
                comparison = answerable_comparison(predicate, _column_type(attribute, numpy_knows_time))
                if comparison.domain == "list":
                    lists(comparison.values[0])
                divided.by_numpy.append((number, place, False, comparison))
            except Unsupported as reason:
                divided.rejections[number] = Rejection(str(reason))
            continue
        if predicate.operator in _NULL_TESTS and not attribute.nullable:
            # Then Spark does not compute it, even if that would fail.
            always = predicate.operator == "is not null"
            if is_carried(attribute.type):
                divided.by_numpy.append((number, place, False, ALWAYS if always else NEVER))
            else:
                divided.by_spark.append(SparkPredicate(number, place, str(always)))
            continue
        if not is_carried(attribute.type):
            divided.by_spark.append(
                _spark_predicate(number, place, predicate, references[place], when_computable=attribute.can_fail)
            )
            continue
        if place not in types:
            types[place] = _column_type(attribute, numpy_knows_time)
        is_lowered = predicate.operator in ("ilike", "not ilike")
        try:
            comparison = answerable_comparison(_as_like(predicate) if is_lowered else predicate, types[place])
        except Unsupported:
            divided.by_spark.append(_spark_predicate(number, place, predicate, references[place]))
            continue
        if comparison.on_null and attribute.can_fail and comparison is not ALWAYS:
            divided.by_spark.append(_spark_predicate(number, place, predicate, references[place], when_computable=True))
        else:
            divided.by_numpy.append((number, place, is_lowered, comparison))
    return divided


def _as_like(predicate: Predicate) -> Predicate:
    """`x ILIKE 'Ab%' -> x LIKE 'ab%'`, where x is in lower case."""
    (pattern,) = predicate.constants
    if pattern.kind != "string" or not pattern.text.isascii():
        raise Unsupported("Python does not know what Spark has for lower case")
    like = predicate.operator.replace("ilike", "like")
    return Predicate(predicate.attribute, like, (Constant("string", pattern.text.lower()),))


def _spark_predicate(
    number: int, place: int, predicate: Predicate, reference: str, *, when_computable: bool = False
) -> SparkPredicate:
    own = Predicate(reference, predicate.operator, predicate.constants)
    operator = predicate.operator.removeprefix("not ")
    trial = None
    # A constant that fails makes the predicate fail for every row. But Spark's IN does not evaluate all of its
    # constants, and an invalid pattern would fail the query before the first row.
    if operator == "in" and len(predicate.constants) > 1:
        trial = predicate_sql(own)
    elif operator in _PATTERNS:
        trial = f"'' {operator.upper()} {constant_sql(predicate.constants[0])}"
    return SparkPredicate(number, place, predicate_sql(own), when_computable, trial)


def _column_type(attribute: Attribute, numpy_knows_time: bool) -> ColumnType:
    found = column_type(arrow_type(attribute.type))
    if attribute.is_char and attribute.column is not None:
        return ColumnType("other", found.arrow)
    return found if numpy_knows_time or found.family not in ("date", "timestamp") else ColumnType("other", found.arrow)
