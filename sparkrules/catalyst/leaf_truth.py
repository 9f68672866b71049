"""What each predicate is for one row, said by Spark itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sparkrules.catalyst.predicate_sql import predicate_sql, quoted
from sparkrules.sql.tree import Predicate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# More columns than this in one SELECT and Spark takes seconds to plan it.
_AT_ONCE = 500


def leaf_truth(spark: SparkSession, row: Mapping[str, Any], predicates: Sequence[Predicate]) -> list[bool]:
    """Whether each predicate is true for the row. One that Spark refuses or fails on is not true, as in matching."""
    one_row = _one_row(spark, row)
    truths: list[bool] = []
    for start in range(0, len(predicates), _AT_ONCE):
        truths += _evaluate(one_row, [predicate_sql(p) for p in predicates[start : start + _AT_ONCE]])
    return truths


def _evaluate(one_row: DataFrame, tests: list[str]) -> list[bool]:
    from pyspark.errors import PySparkException

    try:
        found = one_row.selectExpr(*(f"({test}) IS TRUE" for test in tests)).head()
    except PySparkException:
        if len(tests) == 1:
            return [False]
        middle = len(tests) // 2
        return _evaluate(one_row, tests[:middle]) + _evaluate(one_row, tests[middle:])
    return [bool(value) for value in found or ()]


def _one_row(spark: SparkSession, row: Mapping[str, Any]) -> DataFrame:
    known = {name: value for name, value in row.items() if value is not None}
    # Spark cannot infer a type from None: such columns are added as NULLs without one, which compare with everything.
    nulls = [f"NULL AS {quoted(name)}" for name in row if name not in known]
    frame = spark.createDataFrame([tuple(known.values())], list(known)) if known else spark.range(1).select()
    return frame.selectExpr("*", *nulls)
