"""Finds the patterns of a rule set in the rows of a DataFrame: by SQL, so it works in classic and Connect sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrules.catalyst.dataframe import Rules, published_name
from sparkrules.rules.arguments import a_data_frame, a_text, checked, some_rules

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@checked(df=a_data_frame, rules=some_rules, time=a_text, id=a_text)
def detect(df: DataFrame, rules: Rules | str, *, time: str, id: str | None = None) -> DataFrame:
    """One row per detection: `pattern`, `kind`, `key`, `start`, `end`, `count` and `rows`.

    `time` names the column with the time of a row, a timestamp; `id` one with an id, by which `rows` names the rows of
    a detection. `rules` as in `match`. The end of time is the greatest time of the rows. In a stream it is the
    watermark, so the DataFrame needs one: `df.withWatermark("at", "10 minutes")`. Needs the plugin.

        sparkrules.detect(df, rules, time="at", id="event_id").select("pattern", "key", "start", "end")
    """
    options = f"time => {_literal(time)}" + ("" if id is None else f", id => {_literal(id)}")
    query = f"SELECT * FROM detect_patterns('{published_name(df, rules)}', TABLE({{df}}), {options})"
    return df.sparkSession.sql(query, df=df)


def _literal(text: str) -> str:
    """A string in SQL that is formatted: braces are doubled.

    >>> print(_literal("it's {odd}"))
    'it\\'s {{odd}}'
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("{", "{{").replace("}", "}}")
    return f"'{escaped}'"
