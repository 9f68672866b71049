"""Checks of the arguments of public functions: an invalid one is an error that says what is expected.

Contract: `@checked(df=a_data_frame)` checks the argument `df` before the function runs. An argument that is omitted, or
that equals its default, is not checked. The error is a `RuleSetError`.

>>> @checked(count=a_whole_number)
... def repeated(text, count=2):
...     return text * count
>>> repeated("ab"), repeated("ab", count=3)
('abab', 'ababab')
>>> repeated("ab", "3")
Traceback (most recent call last):
...
sparkrules.errors.RuleSetError: repeated: count must be an integer, not '3'
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
from sparkrules.store import Store

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
Check = Callable[[Any], "str | None"]
"""What is wrong with a value, to be read after the name of the argument; None if nothing is."""

_WIDEST = 60
_FACADE = tuple(f"sparkrules.catalyst.{name}" for name in ("dataframe", "detection", "following", "session"))


def checked(**checks: Check) -> Callable[[Callable[_Arguments, _Result]], Callable[_Arguments, _Result]]:
    """A function whose arguments of these names are checked."""

    def decorate(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
        parameters = list(signature(function).parameters.values())
        wanted = [
            (number if own.kind is not Parameter.KEYWORD_ONLY else None, own.name, own.default, checks[own.name])
            for number, own in enumerate(parameters)
            if own.name in checks
        ]
        assert len(wanted) == len(checks), f"{function.__qualname__} lacks some of {', '.join(checks)}"
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
                wrong = check(value)
                if wrong is not None:
                    raise RuleSetError(f"{called}: {name} {wrong}")
            return function(*args, **kwargs)

        return checking

    return decorate


def _called(function: Callable[..., Any]) -> str:
    """How users write a function: `RuleSet.publish`, `sparkrules.match`."""
    if function.__module__ in _FACADE:
        return f"sparkrules.{function.__name__}"
    return function.__qualname__.removesuffix(".__init__")


def shown(value: object) -> str:
    """A value in a message: short, or its type where that says more.

    >>> shown("t"), shown(None), shown([1, 2]), shown(RuleSetError)
    ("the string 't'", 'None', 'a list', 'the class RuleSetError')
    """
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    if isinstance(value, str):
        text = repr(value)
        return f"the string {text if len(text) <= _WIDEST else text[: _WIDEST - 3] + '...'}"
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
        return f"{wanted}: swap the two, the DataFrame comes first"
    if is_frame(value):
        return f"{wanted}: convert it with spark.createDataFrame, or match it without Spark: rules.match(table)"
    if isinstance(value, str):
        return f"{wanted}: spark.table({value!r}) is the table with this name"
    if isinstance(value, (list, tuple)):
        return f"{wanted}: make one with spark.createDataFrame"
    return wanted


def some_rules(value: object) -> str | None:
    """A rule set, or the name of a published one."""
    if _is_rule_set(value) or isinstance(value, str):
        return None
    wanted = f"must be a RuleSet, or the name of a published one, not {shown(value)}"
    if is_spark(value):
        return f"{wanted}: swap the two if this is the data, or read rules from it with rules.subscribe_all(df)"
    if is_frame(value) or isinstance(value, (Mapping, list, tuple, os.PathLike)):
        return f"{wanted}: make one with RuleSet(name) and subscribe_all(...)"
    return wanted


def a_table(value: object) -> str | None:
    """What `RuleSet.match` takes."""
    if is_frame(value):
        return None
    wanted = f"must be an Arrow table, or a DataFrame of pandas or polars, not {shown(value)}"
    if is_spark(value):
        return f"{wanted}: sparkrules.match(df, rules) matches a DataFrame of Spark"
    if isinstance(value, (list, tuple)):
        return f"{wanted}: convert a list of dictionaries with pyarrow.Table.from_pylist"
    if isinstance(value, Mapping):
        return f"{wanted}: convert columns with pyarrow.table; rules.explain(row) takes a single row"
    return wanted


def a_session(value: object) -> str | None:
    """A running session of Spark."""
    bases = [(base.__module__, base.__name__) for base in type(value).__mro__]
    if any(module.startswith("pyspark.sql.") and name == "SparkSession" for module, name in bases):
        return _stopped(value)
    builder = ": call its getOrCreate()" if type(value).__name__ == "Builder" else ""
    path = ": name a store with RuleSet(name, store=...)" if isinstance(value, (str, os.PathLike)) else ""
    return f"must be a SparkSession, not {shown(value)}{builder}{path}"


def a_builder(value: object) -> str | None:
    """What `sparkrules.configure` takes."""
    if isinstance(getattr(value, "_options", None), dict) and not isinstance(value, type):
        return None
    session = ": the plugin cannot be added to a running session" if a_session(value) is None else ""
    return f"must be a builder such as SparkSession.builder, not {shown(value)}{session}"


def a_path(value: object) -> str | None:
    """A path, as a string or as a Path."""
    if not isinstance(value, (str, os.PathLike)) or not isinstance(os.fspath(value), str):
        return f"must be a path, not {shown(value)}"
    if not os.fspath(value):
        return "must be a path, but it is empty"
    try:
        os.fsencode(os.fspath(value))
    except UnicodeEncodeError:
        return f"must be a path, but {value!r} is not valid Unicode"
    return "must be a path, but it contains a zero byte" if "\0" in os.fspath(value) else None


def a_store(value: object) -> str | None:
    """A store, or its path."""
    wrong = None if isinstance(value, Store) else a_path(value)
    return None if wrong is None else wrong.replace("must be a path", "must be a Store or a path", 1)


def a_file_to_write(value: object) -> str | None:
    """A path in an existing directory."""
    wrong = a_path(value)
    if wrong is not None:
        return wrong
    file = Path(os.fspath(value))  # type: ignore[call-overload]
    if file.is_dir():
        return f"must be a file to write, but {file} is a directory"
    if not file.absolute().parent.is_dir():
        return f"must be a file to write, but there is no directory {file.absolute().parent}"
    return None


def a_policy(value: object) -> str | None:
    """What limits the texts of rules."""
    return None if isinstance(value, Policy) else f"must be a sparkrules.Policy, not {shown(value)}"


def a_text(value: object) -> str | None:
    """A non-empty string."""
    return None if isinstance(value, str) and value else f"must be a non-empty string, not {shown(value)}"


def a_whole_number(value: object) -> str | None:
    """An integer: a number of versions, rows and the like."""
    return None if is_whole(value) else f"must be an integer, not {value!r:.60}"


def a_span(value: object) -> str | None:
    """A span of time."""
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
    return f"must be a list of ids, not {shown(value)}"


def some_names(value: object) -> str | None:
    """Distinct names: of fields, or of tags."""
    if value is None:
        return None
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, Iterable) or isinstance(names, (bytes, Mapping)) or is_frame(names):
        return f"must be a list of names, not {shown(value)}"
    listed = list(names)
    if not listed or not all(isinstance(name, str) and name for name in listed):
        return f"must be a list of names that are not empty, not {shown(value)}"
    twice = [name for number, name in enumerate(listed) if name in listed[:number]]
    return f"must be a list of distinct names, and {twice[0]!r} is there twice" if twice else None


def one_of(*names: str) -> Check:
    """One of a few words."""

    def check(value: object) -> str | None:
        known = ", ".join(map(repr, names[:-1])) + f" or {names[-1]!r}"
        return None if isinstance(value, str) and value in names else f"must be {known}, not {shown(value)}"

    return check


def _is_rule_set(value: object) -> bool:
    # By name: the module that defines it imports this one.
    names = [(base.__module__, base.__name__) for base in type(value).__mro__]
    return ("sparkrules.ruleset", "RuleSet") in names


def _stopped(spark: Any) -> str | None:
    """An error if the session has been stopped; Spark would only say that something is None."""
    return "belongs to a stopped Spark session: create a new one" if is_stopped(spark) else None


def is_stopped(spark: Any) -> bool:
    """Whether a session, classic or Connect, has been stopped."""
    return bool(spark.is_stopped if hasattr(spark, "is_stopped") else spark.sparkContext._jsc is None)
