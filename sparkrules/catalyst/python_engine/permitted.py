"""Checks that a rule set calls only permitted functions. A store can contain anything that its writers put there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrules.errors import RuleSetError
from sparkrules.index.forest import KINDS
from sparkrules.index.segment import Segment
from sparkrules.sql import RuleError
from sparkrules.sql.called_functions import functions_of
from sparkrules.sql.functions import SCALAR_FUNCTIONS
from sparkrules.sql.tree import Constant

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BUILT_IN = "org.apache.spark.sql.catalyst."


def check_permitted(spark: SparkSession, segment: Segment) -> None:
    """Raise `RuleSetError` for text that is not an expression, and for Spark functions that no rule may call."""
    constants = zip(segment.forest.constants.kind.tolist(), segment.forest.constants.text.tolist(), strict=True)
    try:
        called = functions_of(
            segment.forest.attributes.tolist(),
            (Constant(KINDS[kind], text) for kind, text in constants if KINDS[kind] == "sql"),
        )
    except RuleError as error:
        raise RuleSetError(f"the rule set contains something that is not a rule: {error}") from error
    for name in sorted(called - SCALAR_FUNCTIONS):
        if _is_built_in(spark, name):
            raise RuleSetError(f"a rule calls {name}, which no rule may call")


def _is_built_in(spark: SparkSession, name: str) -> bool:
    from pyspark.errors import PySparkException

    try:
        return (spark.catalog.getFunction(name).className or "").startswith(_BUILT_IN)
    except PySparkException:
        return False  # not a function: Spark reports this when it analyzes the rule
