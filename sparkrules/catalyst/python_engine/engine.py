"""Matches a DataFrame without the plugin; see `sparkrules.match`."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrules.catalyst.python_engine.analysis import Rejection
from sparkrules.catalyst.python_engine.attributes import Attribute, Attributes
from sparkrules.catalyst.python_engine.bound import Bound, bind
from sparkrules.catalyst.python_engine.names import is_name
from sparkrules.catalyst.python_engine.permitted import check_permitted
from sparkrules.catalyst.python_engine.task import Shape, Task
from sparkrules.catalyst.python_engine.unfit import described, refuse
from sparkrules.catalyst.python_engine.worker_call import check_passed, with_found
from sparkrules.errors import RuleSetError
from sparkrules.index import Segment, build_segment
from sparkrules.index.merge import merge_segments
from sparkrules.index.segment_rules import rule_at
from sparkrules.local.reference_list import Lists
from sparkrules.rules.table_schema import is_char
from sparkrules.sql.between import between_attributes
from sparkrules.sql.errors import RuleError
from sparkrules.sql.tree import Predicate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

_log = logging.getLogger("sparkrules.catalyst.python_engine")


def matched_rows(
    df: DataFrame,
    segment: Segment,
    rule_set: str,
    lists: Lists,
    shape: Shape,
    top: int | None,
    fields: Mapping[str, Any],
) -> DataFrame:
    """The columns of the DataFrame as c0, c1, ..., and `found`: the matches of each row, in the given shape.

    `fields` are names of metadata and their Arrow types.
    """
    spark = df.sparkSession
    if _setting(spark, "strict", "false") == "true":
        raise RuleSetError(
            "engine='python' cannot fail where Spark's WHERE would: it has no spark.sparkrules.strict=true"
        )
    check_passed(df)
    _check_as_written(df, segment)
    check_permitted(spark, segment)
    segment, bound = _fitting(df, _between_padded(df, segment), rule_set, lists)
    read, instant = bound.read, None
    if not (np.isnat(segment.rules.valid_from).all() and np.isnat(segment.rules.valid_until).all()):
        # Spark has one instant per query, and per micro-batch of a stream.
        instant = len(read)
        read = [*read, "unix_micros(current_timestamp())"]
    task = Task.of(segment, bound.predicates, fields, shape=shape, top=top, instant=instant)
    return with_found(bound.computed, len(df.columns), read, task, _found(shape, fields))


def _found(shape: Shape, fields: Mapping[str, Any]) -> DataType:
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import ArrayType, IntegerType, StringType, StructType

    ids = ArrayType(StringType())
    match = StructType().add("subscription_id", StringType())
    if shape == "list":
        match = match.add("priority", IntegerType()).add("overlap", ids)
    for name, kind in fields.items():
        match = match.add(name, from_arrow_type(kind))
    if shape == "list":
        return ArrayType(match)
    found = StructType().add("ids", ids).add("overlaps", ArrayType(ids))
    return found.add("matches", ArrayType(match)) if fields else found


def _fitting(df: DataFrame, segment: Segment, rule_set: str, lists: Lists) -> tuple[Segment, Bound]:
    """The rules that Spark accepts on the DataFrame, bound to it.

    Only Spark decides which rules fit a table. If a part of a rule does not fit alone (a string used as a Boolean,
    which AND casts), Spark analyzes the whole rule, and evaluates the whole rule if it accepts it.
    """
    spark = df.sparkSession
    bound = bind(
        df,
        segment,
        missing_as_null=_setting(spark, "missingColumns", "error") == "null",
        numpy_knows_time=_knows_time(spark),
        lists=lists,
    )
    rejections = _rejected(segment, bound.rejections)
    texts = {
        number: segment.rules.sql[number] or segment.rules.where[number]
        for number, own in rejections.items()
        if not own.missing
    }
    wholes = bound.asked.of(list(texts.values()))
    whole = [number for number, own in zip(texts, wholes, strict=True) if _is_condition(own)]
    if whole:
        return _fitting(df, _with_whole_texts(segment, whole), rule_set, lists)
    if _setting(spark, "invalidRules", "error") != "skip":
        valid = segment.rules.valid_at(datetime.now(timezone.utc))
        refuse(
            rule_set,
            df.columns,
            {segment.rules.id[number]: own for number, own in rejections.items() if valid[number]},
        )
    if not rejections:
        return segment, bound
    named = {segment.rules.id[number]: own for number, own in rejections.items()}
    listed = described(rule_set, df.columns, named)
    _log.warning("%s\nThe query skips them: spark.sparkrules.invalidRules=skip.", listed)
    # Put the others in a segment of their own: a node without a leaf must not count as false or join a group.
    left_out = np.array([*rejections], np.int32)
    return _fitting(df, merge_segments([(segment, left_out)]), rule_set, lists)


def _between_padded(df: DataFrame, segment: Segment) -> Segment:
    """Keep rules with BETWEEN on a CHAR(n) whole: Spark pads two separate comparisons, but not BETWEEN."""
    if not any(map(is_char, df.schema.fields)):
        return segment
    forest = segment.forest
    names = [text for text in forest.attributes.tolist() if is_name(text)]
    found = zip(names, Attributes(df, missing_as_null=False).of(names), strict=True)
    padded = {name for name, own in found if isinstance(own, Attribute) and own.is_char}
    compared = {
        rule
        for number, predicate in enumerate(forest.all_predicates())
        if predicate.attribute in padded and predicate.operator in ("<", "<=", ">", ">=")
        for rule in forest.users.row(int(forest.node_of_predicate[number])).tolist()
    }
    texts = {rule: segment.rules.sql[rule] or segment.rules.where[rule] for rule in sorted(compared)}
    whole = [rule for rule, text in texts.items() if _is_between(text, padded)]
    return _with_whole_texts(segment, whole) if whole else segment


def _is_between(text: str, attributes: set[str]) -> bool:
    try:
        return not attributes.isdisjoint(between_attributes(text))
    except (RuleError, RecursionError):
        return True  # Somebody else wrote it to the store: Spark has to reject it as a whole.


def _rejected(segment: Segment, rejections: dict[int, Rejection]) -> dict[int, Rejection]:
    """The rules with a rejected predicate, each with one of its rejections; a missing column takes precedence."""
    found: dict[int, Rejection] = {}
    for predicate in sorted(rejections, key=lambda number: not rejections[number].missing):
        for subscription in segment.forest.users.row(int(segment.forest.node_of_predicate[predicate])).tolist():
            found.setdefault(subscription, rejections[predicate])
    return found


def _with_whole_texts(segment: Segment, numbers: Sequence[int]) -> Segment:
    rules = [rule_at(segment, number) for number in numbers]
    whole = build_segment([replace(rule, tree=Predicate(rule.sql or rule.where, "is true")) for rule in rules])
    return merge_segments([(segment, np.array(numbers, np.int32)), (whole, np.empty(0, np.int32))])


def _is_condition(found: Attribute | Rejection) -> bool:
    return isinstance(found, Attribute) and found.type.typeName() == "boolean"


def _knows_time(spark: SparkSession) -> bool:
    """Whether Spark compares dates and times as numpy does: two settings change the meaning of constants."""
    kind = spark.conf.get("spark.sql.timestampType", None) or "TIMESTAMP_LTZ"
    as_texts = spark.conf.get("spark.sql.legacy.typeCoercion.datetimeToString.enabled", None) or "false"
    return kind == "TIMESTAMP_LTZ" and as_texts == "false"


def _setting(spark: SparkSession, name: str, default: str) -> str:
    return spark.conf.get(f"spark.sparkrules.{name}", None) or default


def _check_as_written(df: DataFrame, segment: Segment) -> None:
    """Spark substitutes `${env:HOME}` and the like in SQL before parsing. It must not do so in a rule."""
    spark = df.sparkSession
    texts = [
        *segment.forest.attributes.tolist(),
        *segment.forest.constants.text.tolist(),
        *segment.rules.where.tolist(),
    ]
    if not any("${" in text for text in texts):
        return
    if (spark.conf.get("spark.sql.variable.substitute", None) or "true") == "true":
        raise RuleSetError(
            "a rule has ${, and Spark would put a variable there. Turn that off for the session: "
            "spark.conf.set('spark.sql.variable.substitute', 'false')"
        )
