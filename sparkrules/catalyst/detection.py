"""Detects patterns in a DataFrame. Uses SQL, so it works in classic and Connect sessions, for batches and streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrules.catalyst.dataframe import Rules, published_name
from sparkrules.rules.arguments import a_data_frame, a_text, checked, some_rules

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
_STATE_STORES = "org.apache.spark.sql.execution.streaming.state"


@checked(df=a_data_frame, rules=some_rules, time=a_text, id=a_text)
def detect(df: DataFrame, rules: Rules | str, *, time: str, id: str | None = None) -> DataFrame:
    """One row per detection of a pattern of the rule set in the rows of the DataFrame, by the times in column `time`.

    The columns are `pattern`, `kind`, `key` (the values of the pattern's columns), `start` and `end`, `count`, and
    `rows`, the rows that made it: `step`, `time` and `id`, the value of the column that is named here as `id`.

        sparkrules.detect(spark.table("logins"), rules, time="at", id="event_id").show()

    A stream needs a watermark, `df.withWatermark("at", "10 minutes")`, and detections come when it has passed them.
    Its state is kept in RocksDB: if the session keeps the state of streams in memory, as Spark does by default, this
    sets `spark.sql.streaming.stateStore.providerClass`.

    `rules` as in `sparkrules.match`: a rule set that has changed is published first. See `docs/patterns.md`.
    """
    name = published_name(df, rules)
    conf = df.sparkSession.conf
    if df.isStreaming and conf.get(_STATE_STORE) == f"{_STATE_STORES}.HDFSBackedStateStoreProvider":
        conf.set(_STATE_STORE, f"{_STATE_STORES}.RocksDBStateStoreProvider")
    arguments = f"time => {_literal(time)}" + ("" if id is None else f", id => {_literal(id)}")
    return df.sparkSession.sql(f"SELECT * FROM detect_patterns('{name}', TABLE({{rows}}), {arguments})", rows=df)


def _literal(text: str) -> str:
    """A string in SQL that is formatted: braces are doubled.

    >>> print(_literal("it's {odd}"))
    'it\\'s {{odd}}'
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("{", "{{").replace("}", "}}")
    return f"'{escaped}'"
