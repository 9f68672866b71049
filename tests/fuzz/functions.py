"""Python functions that random rules call: of every kind, and nothing in them can fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from pyspark.sql.functions import pandas_udf, udf

from sparkrules.sql import Policy

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ALLOWED = Policy(
    extra_functions={
        *("udf_mod", "udf_sum", "udf_twice", "udf_size", "udf_joined", "udf_upper", "udf_is_long", "udf_is_odd"),
    }
)


def register(spark: SparkSession) -> None:
    """They are made here so that they reach workers that cannot import this file."""

    def size(text: pd.Series) -> pd.Series:
        return text.str.len()

    def twice(number: pd.Series) -> pd.Series:
        return number * 2 % 9

    add = spark.udf.register
    add("udf_mod", udf(lambda n: None if n is None or n % 7 == 3 else n % 5, "int"))
    add("udf_sum", udf(lambda a, b: None if a is None and b is None else ((a or 0) + (b or 0)) % 1000, "int"))
    add("udf_twice", pandas_udf(twice, "double"))  # type: ignore[call-overload]
    add("udf_size", pandas_udf(size, "double"))  # type: ignore[call-overload]
    add("udf_joined", udf(lambda n, text: f"{n}{text}", "string", useArrow=True))
    add("udf_upper", udf(lambda text: None if text is None else text.upper(), "string", useArrow=False))
    add("udf_is_long", udf(lambda text: None if text is None else len(text) > 1, "boolean"))
    add("udf_is_odd", udf(lambda n: None if n is None else n % 2 == 1, "boolean"))
