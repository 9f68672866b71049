"""A segment bound to the columns of a DataFrame: what Spark computes first, and what its workers then decide.

frame      the DataFrame, and missing columns where they are to be NULL
computed   c0, c1, ...: its columns; a0, a1, ...: attributes; `apart`: those that could fail; `e0`: whether they did
carried    what goes to the workers: c0, c1, ..., then the values and truths that the leaves are bound to
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrules.catalyst.python_engine.analysis import Problem, analyzed
from sparkrules.catalyst.python_engine.attributes import Attribute, Attributes
from sparkrules.catalyst.python_engine.guarded import apart
from sparkrules.catalyst.python_engine.leaves import Leaves, SparkLeaf, divided
from sparkrules.catalyst.python_engine.trial import failing
from sparkrules.index.segment import Segment
from sparkrules.local.leaves import BoundLeaves, Truths, grouped_tests
from sparkrules.logic.columns import Column
from sparkrules.logic.comparison import Test
from sparkrules.sql.called import functions_in
from sparkrules.sql.functions import SCALAR_FUNCTIONS
from sparkrules.sql.predicate_sql import predicate_sql
from sparkrules.sql.tree import Predicate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TIMES = ("timestamp", "timestamp_ntz")
_IS_TRUE = Test("integer", "=", (1,))


@dataclass
class Bound:
    """`carried` has the DataFrame's columns and then those that `leaves` read; `problems` are of predicates."""

    asked: Attributes
    carried: DataFrame
    leaves: BoundLeaves
    problems: dict[int, Problem]


def bind(df: DataFrame, segment: Segment, *, missing_as_null: bool, numpy_knows_time: bool) -> Bound:
    """Bind every predicate, or say why Spark does not accept it."""
    asked = Attributes(df, missing_as_null=missing_as_null)
    found = asked.of(segment.attributes.tolist())
    predicates, attribute_of = list(segment.predicates()), segment.predicate_attribute.tolist()
    _keep_whole(asked, found, predicates, attribute_of)
    attributes = {place: own for place, own in enumerate(found) if isinstance(own, Attribute)}
    references = {place: _reference(place, own) for place, own in attributes.items()}
    leaves = divided(predicates, attribute_of, found, references, numpy_knows_time=numpy_knows_time)
    computed = _computed(asked, len(df.columns), attributes, leaves)
    _refuse(computed, leaves)
    carried, bound = _carried(computed, len(df.columns), references, leaves, segment, asked.variable)
    return Bound(asked, carried, bound, leaves.problems)


def _keep_whole(
    asked: Attributes, found: list[Attribute | Problem], predicates: list[Predicate], attribute_of: list[int]
) -> None:
    """Make conditions of the comparisons that Spark's optimizer has to see as a whole.

    Where a local time is cast to an instant to be compared, it compares local times instead, which is not the same
    while clocks are changed. A column that has been computed shows it no cast.
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


def _computed(asked: Attributes, width: int, attributes: dict[int, Attribute], leaves: Leaves) -> DataFrame:
    used = {place for _, place, _, _ in leaves.by_numpy} | {leaf.attribute for leaf in leaves.by_spark}
    flagged = {leaf.attribute for leaf in leaves.by_spark if leaf.when_computable}
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
    # Names that no rule would write, which Spark would look for here, too.
    computed = asked.frame.selectExpr("*", *(f"{sql} AS `sparkrules {name}`" for name, sql in plain.items()))
    # By position: several columns of a DataFrame may have one name.
    return computed.toDF(*names, *missing, *plain)


def _refuse(computed: DataFrame, leaves: Leaves) -> None:
    """Take out the leaves that Spark does not accept, and those that are never true, by their constants."""
    types = analyzed(computed, [f"({leaf.condition}) IS TRUE" for leaf in leaves.by_spark])
    accepted = []
    for leaf, own in zip(leaves.by_spark, types, strict=True):
        if isinstance(own, Problem):
            leaves.problems[leaf.number] = own
        else:
            accepted.append(leaf)
    never = failing(
        computed.sparkSession,
        [column for column in computed.schema.fields if any(_names(leaf, column.name) for leaf in accepted)],
        [leaf.trial for leaf in accepted if leaf.trial is not None],
    )
    leaves.by_spark = [leaf for leaf in accepted if leaf.trial not in never]


def _names(leaf: SparkLeaf, column: str) -> bool:
    return leaf.trial is not None and (f"({column})" in leaf.trial or f"({column}." in leaf.trial)


def _carried(
    computed: DataFrame,
    width: int,
    references: dict[int, str],
    leaves: Leaves,
    segment: Segment,
    variable: str,
) -> tuple[DataFrame, BoundLeaves]:
    columns = {f"c{number}": f"c{number}" for number in range(width)}

    def carry(sql: str) -> Column:
        """The column that has a value, added if there is none."""
        place = next((number for number, known in enumerate(columns.values()) if known == sql), None)
        if place is None:
            place = len(columns)
            columns[f"v{place}"] = sql
        return Column((place,), None)

    tests = []
    carried: dict[tuple[int, bool], Column] = {}
    for number, place, is_lowered, test in leaves.by_numpy:
        if (place, is_lowered) not in carried:
            reference = references[place]
            carried[place, is_lowered] = carry(f"lower({reference})" if is_lowered else reference)
        tests.append((number, carried[place, is_lowered], test))
    truths = {leaf.number: leaf.truth(_flag(references[leaf.attribute])) for leaf in leaves.by_spark}
    together = [leaf for leaf in leaves.by_spark if _calls_sparks_own(leaf)]
    tests += [(n, carry(truths[n]), _IS_TRUE) for n in truths.keys() - {leaf.number for leaf in together}]
    bound = BoundLeaves(len(segment.predicate_operator))
    if together:
        listed = ", ".join(truths[leaf.number] for leaf in together)
        bound.groups.append(Truths(carry(apart(f"array({listed})", variable)), [leaf.number for leaf in together]))
    bound.groups += grouped_tests(tests)
    return computed.selectExpr(*(f"{sql} AS {name}" for name, sql in columns.items())), bound


def _flag(reference: str) -> str:
    """The column that says whether an attribute is computable, from the one that has its value."""
    head, point, name = reference.rpartition(".")
    return f"{head}{point}e{name[1:]}"


def _calls_sparks_own(leaf: SparkLeaf) -> bool:
    """Whether a condition calls no function of Python, in a constant: the attribute is a column here."""
    return functions_in(leaf.condition) <= SCALAR_FUNCTIONS
