"""The arguments of public functions, checked in one place: a wrong one is an error that says what belongs there.

Contract: `@checked(df=a_data_frame)` looks at the argument `df` before the function runs. An argument that is left out,
or that is its default, is not looked at. Whatever is raised is a `RuleSetError`.

>>> @checked(count=a_whole_number)
... def repeated(text, count=2):
...     return text * count
>>> repeated("ab"), repeated("ab", count=3)
('abab', 'ababab')
>>> repeated("ab", "3")
Traceback (most recent call last):
...
sparkrules.errors.RuleSetError: repeated: count must be a whole number, not '3'
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from sparkrules.errors import RuleSetError
from sparkrules.rules.fields import is_whole
from sparkrules.rules.frames import is_frame
from sparkrules.rules.sources import is_spark
from sparkrules.sql.policy import Policy

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
Check = Callable[[Any], "str | None"]
"""What is wrong with a value, to be read behind the name of the argument; None if nothing is."""

_WIDEST = 60


def checked(**checks: Check) -> Callable[[Callable[_Arguments, _Result]], Callable[_Arguments, _Result]]:
    """A function whose arguments of these names are checked."""

    def decorate(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
        parameters = list(signature(function).parameters.values())
        wanted = [
            (number if own.kind is not Parameter.KEYWORD_ONLY else None, own.name, own.default, checks[own.name])
            for number, own in enumerate(parameters)
            if own.name in checks
        ]
        assert len(wanted) == len(checks), f"{function.__qualname__} has not all of {', '.join(checks)}"
        called = _called(function)

        @wraps(function)
        def checking(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
            for number, name, default, check in wanted:
                if number is not None and number < len(args):
                    value = args[number]
                elif name in kwargs:
                    value = kwargs[name]
                else:
                    continue
                if value is default:
                    continue
                problem = check(value)
                if problem is not None:
                    raise RuleSetError(f"{called}: {name} {problem}")
            return function(*args, **kwargs)

        return checking

    return decorate


def _called(function: Callable[..., Any]) -> str:
    """How a function is written: `RuleSet.publish`, `sparkrules.match`."""
    if function.__module__ in ("sparkrules.catalyst.dataframe", "sparkrules.catalyst.session"):
        return f"sparkrules.{function.__name__}"
    first, point, name = function.__qualname__.partition(".")
    if not point:
        return first
    return "RuleSet" if name == "__init__" else f"RuleSet.{name}"


def shown(value: object) -> str:
    """A value in a message: short, and by its type where that says more.

    >>> shown("t"), shown(None), shown([1, 2]), shown(RuleSetError)
    ("the text 't'", 'None', 'a list', 'the class RuleSetError')
    """
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    if isinstance(value, str):
        text = repr(value)
        return f"the text {text if len(text) <= _WIDEST else text[: _WIDEST - 3] + '...'}"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    library = type(value).__module__.partition(".")[0]
    kind = type(value).__name__
    article = "an" if kind[:1] in "AEIOUaeiou" else "a"
    of = f" of {library}" if library in ("pandas", "polars", "pyarrow", "numpy", "pyspark") else ""
    return f"{article} {kind}{of}"


def a_data_frame(value: object) -> str | None:
    """A DataFrame of Spark, whose session runs."""
    if is_spark(value):
        return _stopped(value.sparkSession)
    wanted = f"must be a DataFrame of Spark, not {shown(value)}"
    if _is_rule_set(value):
        return f"{wanted}: exchange the two, the DataFrame comes first"
    if is_frame(value):
        return f"{wanted}: spark.createDataFrame makes one of it, or rules.match(table) matches it without Spark"
    if isinstance(value, str):
        return f"{wanted}: spark.table({value!r}) is the table of this name"
    if isinstance(value, (list, tuple)):
        return f"{wanted}: spark.createDataFrame makes one of rows"
    return wanted


def some_rules(value: object) -> str | None:
    """A rule set, or the name of a published one."""
    if _is_rule_set(value) or isinstance(value, str):
        return None
    wanted = f"must be a RuleSet, or the name of a published one, not {shown(value)}"
    if is_spark(value):
        return f"{wanted}: exchange the two if that is the table, or read it with rules.subscribe_all(df)"
    if is_frame(value) or isinstance(value, (Mapping, list, tuple, os.PathLike)):
        return f"{wanted}: make one with RuleSet(name) and subscribe_all(...)"
    return wanted


def a_table(value: object) -> str | None:
    """What `RuleSet.match` reads."""
    if is_frame(value):
        return None
    wanted = f"must be a table of Arrow, pandas or polars, not {shown(value)}"
    if is_spark(value):
        return f"{wanted}: sparkrules.match(df, rules) matches a DataFrame of Spark"
    if isinstance(value, (list, tuple)):
        return f"{wanted}: pyarrow.Table.from_pylist makes one of a list of dictionaries"
    if isinstance(value, Mapping):
        return f"{wanted}: pyarrow.table makes one of columns, and rules.explain(row) takes a single row"
    return wanted


def a_session(value: object) -> str | None:
    """A session of Spark that runs."""
    bases = [(base.__module__, base.__name__) for base in type(value).__mro__]
    if any(module.startswith("pyspark.sql.") and name == "SparkSession" for module, name in bases):
        return _stopped(value)
    builder = ": call its getOrCreate()" if type(value).__name__ == "Builder" else ""
    path = ": give a path as store=..." if isinstance(value, (str, os.PathLike)) else ""
    return f"must be a SparkSession, not {shown(value)}{builder}{path}"


def a_builder(value: object) -> str | None:
    """What `sparkrules.configure` takes."""
    if isinstance(getattr(value, "_options", None), dict) and not isinstance(value, type):
        return None
    session = ": a session that runs cannot be given the plugin any more" if a_session(value) is None else ""
    return f"must be a builder, SparkSession.builder, not {shown(value)}{session}"


def a_path(value: object) -> str | None:
    """A path, as text or as a Path."""
    if not isinstance(value, (str, os.PathLike)) or not isinstance(os.fspath(value), str):
        return f"must be a path, not {shown(value)}"
    if not os.fspath(value):
        return "must be a path, and this is empty"
    try:
        os.fsencode(os.fspath(value))
    except UnicodeEncodeError:
        return f"must be a path, and {value!r} is not valid Unicode"
    return "must be a path, and has a zero byte in it" if "\0" in os.fspath(value) else None


def a_file_to_write(value: object) -> str | None:
    """A path in a directory that there is."""
    problem = a_path(value)
    if problem is not None:
        return problem
    file = Path(os.fspath(value))  # type: ignore[call-overload]
    if file.is_dir():
        return f"must be a file to be written, and {file} is a directory"
    if not file.absolute().parent.is_dir():
        return f"must be a file to be written, and there is no directory {file.absolute().parent}"
    return None


def a_policy(value: object) -> str | None:
    """What bounds the texts of rules."""
    return None if isinstance(value, Policy) else f"must be a sparkrules.sql.Policy, not {shown(value)}"


def a_text(value: object) -> str | None:
    """Any text but an empty one."""
    return None if isinstance(value, str) and value else f"must be a text that is not empty, not {shown(value)}"


def a_whole_number(value: object) -> str | None:
    """A number of versions, rows and the like."""
    return None if is_whole(value) else f"must be a whole number, not {value!r:.60}"


def a_span(value: object) -> str | None:
    """How long."""
    return (
        None if isinstance(value, timedelta) else f"must be a timedelta, such as timedelta(days=1), not {shown(value)}"
    )


def true_or_false(value: object) -> str | None:
    """A switch."""
    return None if isinstance(value, bool) else f"must be True or False, not {shown(value)}"


def some_ids(value: object) -> str | None:
    """Several ids."""
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)) and not is_frame(value):
        return None
    return f"must be several ids, in a list, not {shown(value)}"


def one_of(*names: str) -> Check:
    """One of a few words."""

    def check(value: object) -> str | None:
        known = ", ".join(map(repr, names[:-1])) + f" or {names[-1]!r}"
        return None if isinstance(value, str) and value in names else f"must be {known}, not {shown(value)}"

    return check


def _is_rule_set(value: object) -> bool:
    # By name: what defines it needs this module.
    return any(base.__module__ == "sparkrules.rules.subscriptions" for base in type(value).__mro__)


def _stopped(spark: Any) -> str | None:
    """Whether a session has been stopped; Spark would only say that something of it is None."""
    ended = spark.is_stopped if hasattr(spark, "is_stopped") else spark.sparkContext._jsc is None
    return "belongs to a Spark session that has been stopped: make another one" if ended else None
