"""SQL that is NULL where its computation fails: in plain Spark, for any expression and any error.

This relies on `try_to_binary`: Spark evaluates its argument, whatever it is, and returns NULL on any error in it. So it
tells whether something can be computed, and the truth of a condition. Two optimizations would evaluate the argument
outside of it, and fail: Spark folds constants while planning, and computes common subexpressions of several columns
first. It does neither in a branch that may not be taken: hence `apart`.

>>> guarded_truth("a > 5")
"try_to_binary(CAST((a > 5) AS STRING), 'utf-8') = X'74727565'"
>>> guarded_value("6 / a", "hash(6 / a)")
"IF(try_to_binary(CAST((hash(6 / a)) AS STRING), 'utf-8') IS NOT NULL, 6 / a, NULL)"
>>> apart("array(1)", "z")
'get(transform(array(0), z -> IF(z = 0, array(1), NULL)), 0)'
"""

from __future__ import annotations

_TRUE = "X'" + b"true".hex() + "'"


def guarded_truth(condition: str) -> str:
    """True or false like the condition, NULL where the condition is unknown or cannot be computed."""
    return f"{_tried(condition)} = {_TRUE}"


def computable(fingerprint: str) -> str:
    """Whether something can be computed, given SQL that has to compute all of it, such as its hash."""
    return f"{_tried(fingerprint)} IS NOT NULL"


def guarded_value(sql: str, fingerprint: str) -> str:
    """The value of an expression, NULL where it cannot be computed."""
    return f"IF({computable(fingerprint)}, {sql}, NULL)"


def apart(sql: str, variable: str) -> str:
    """Put an expression in a branch that Spark cannot know is taken; `variable` is a name that it does not use."""
    return f"get(transform(array(0), {variable} -> IF({variable} = 0, {sql}, NULL)), 0)"


def _tried(sql: str) -> str:
    return f"try_to_binary(CAST(({sql}) AS STRING), 'utf-8')"
