"""Suggestions for functions that a rule may not call, and for words from other languages.

>>> print(about_function("lowr", frozenset({"lower", "upper"})))
Did you mean lower?
>>> print(about_function("sum", frozenset()))
sum is an aggregate, and a rule sees one row: compute it beforehand, and compare with the column.
"""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

_AGGREGATE_NAMES = """
    any any_value approx_count_distinct approx_percentile array_agg avg bit_and bit_or bit_xor bool_and bool_or
    collect_list collect_set corr count count_if count_min_sketch covar_pop covar_samp every first first_value grouping
    grouping_id histogram_numeric kurtosis last last_value listagg max max_by mean median min min_by mode percentile
    percentile_approx percentile_cont percentile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope
    regr_sxx regr_sxy regr_syy skewness some std stddev stddev_pop stddev_samp string_agg sum try_avg try_sum var_pop
    var_samp variance
"""
_AGGREGATES = frozenset(_AGGREGATE_NAMES.split())
_WINDOW_NAMES = "cume_dist dense_rank lag lead nth_value ntile percent_rank rank row_number"
_WINDOWS = frozenset(_WINDOW_NAMES.split())
# Functions of other dialects, and what Spark has instead.
_ELSEWHERE = {
    "charindex": ("tsql", "locate('x', name)"),
    "convert": ("tsql", "CAST(value AS type)"),
    "ends_with": ("bigquery", "endswith(name, 'x')"),
    "getdate": ("tsql", "current_timestamp()"),
    "getutcdate": ("tsql", "current_timestamp()"),
    "iff": ("snowflake", "if(condition, a, b)"),
    "iif": ("tsql", "if(condition, a, b)"),
    "regexp_contains": ("bigquery", "name RLIKE 'x'"),
    "safe_cast": ("bigquery", "TRY_CAST(value AS type)"),
    "starts_with": ("postgres", "startswith(name, 'x')"),
    "strpos": ("postgres", "locate('x', name)"),
    "sysdatetime": ("tsql", "current_timestamp()"),
}
_OPERATORS = {
    "CONTAINS": "contains(name, 'x')",
    "ENDS": "endswith(name, 'x')",
    "ENDSWITH": "endswith(name, 'x')",
    "MATCHES": "name RLIKE 'x'",
    "STARTS": "startswith(name, 'x')",
    "STARTSWITH": "startswith(name, 'x')",
}


def about_function(name: str, allowed: Collection[str]) -> str:
    """What to write instead of calling this function."""
    if name in _AGGREGATES:
        return f"{name} is an aggregate, and a rule sees one row: compute it beforehand, and compare with the column."
    if name in _WINDOWS:
        return f"{name} looks at other rows, and a rule sees one: compute it beforehand, and compare with the column."
    if name == "where":
        return "Drop the word WHERE: a rule is what stands behind it."
    if name in _ELSEWHERE:
        dialect, instead = _ELSEWHERE[name]
        return f"It is a function of another dialect: give dialect={dialect!r}, or write {instead}."
    close = get_close_matches(name, allowed, 1, 0.75)
    if close:
        return f"Did you mean {close[0]}?"
    return (
        "Rules may call Spark's deterministic scalar functions, "
        f"and others through Policy(extra_functions={{{name!r}}})."
    )


def about_word(word: str) -> str:
    """What to write instead of a word used like an operator between values; empty if unknown."""
    return f"Write {_OPERATORS[word]}." if word in _OPERATORS else ""
