"""The values of a reference list, from wherever they are: a file, a DataFrame, or anything that Python can iterate.

| source | a value is |
|---|---|
| text file (`.txt`, `.list`, no suffix) | a line. Empty lines and lines that begin with `#` are left out |
| CSV file, with a header | a cell of the only column, or of `column` |
| JSON lines file (`.jsonl`, `.json`) | a string or number per line, or the field `column` of an object per line |
| DataFrame of Spark, pandas, polars; Arrow table | a row of the only column, or of `column` |
| any other iterable | a string or an integer |

>>> list_values(["10.0.0.0/8", None, "::1", "::1"], "cidr")
ListValues(values=['10.0.0.0/8', '::1'], nulls=1)
>>> list_values(["10.0.0.1/8"], "cidr")
Traceback (most recent call last):
...
sparkrules.errors.RuleSetError: value 1: '10.0.0.1/8' has bits of a host: the network is 10.0.0.0/8
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from sparkrules.errors import RuleSetError
from sparkrules.rules.frames import as_arrow, is_frame
from sparkrules.rules.sources import is_spark
from sparkrules.sql.address import network_range
from sparkrules.sql.glob import glob_parts

Kind = Literal["values", "cidr", "glob"]
_CHECKS: dict[str, Callable[[str], object]] = {"values": str, "cidr": network_range, "glob": glob_parts}
_LONGEST = 65_536  # characters of a value
_MOST_BYTES = 1 << 30  # of all values: the plugin keeps them in one array
_TEXT = (".txt", ".list", "")


class ListValues(NamedTuple):
    """Values, sorted and distinct, and how many NULLs were dropped: nothing equals NULL."""

    values: list[str]
    nulls: int


def list_values(source: object, kind: Kind = "values", column: str | None = None) -> ListValues:
    """The values of a source. `RuleSetError` names the first that is wrong."""
    if kind not in _CHECKS:
        raise RuleSetError(f"kind={kind!r} is none: a list has the kind 'values', 'cidr' or 'glob'")
    check, place, found, nulls, size = _CHECKS[kind], "value", set[str](), 0, 0
    if isinstance(source, (str, os.PathLike)):
        place = f"{os.fspath(source)!s}, line"
    for number, value in _read(source, column):
        if value is None:
            nulls += 1
            continue
        text = _text(value, f"{place} {number}")
        if text in found:
            continue
        try:
            check(text)
        except ValueError as error:
            raise RuleSetError(f"{place} {number}: {error}") from None
        found.add(text)
        size += len(text)
        if size > _MOST_BYTES:
            raise RuleSetError(f"{place} {number}: the values before it have more than {_MOST_BYTES:,} characters")
    return ListValues(sorted(found, key=str.encode), nulls)


def _text(value: object, place: str) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise RuleSetError(f"{place}: a value of a list is a string or an integer, not {value!r:.60}")
    if len(value) > _LONGEST:
        raise RuleSetError(f"{place}: a value has more than {_LONGEST:,} characters")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise RuleSetError(f"{place}: {value!r:.60} has half a character") from None
    return value


def _read(source: object, column: str | None) -> Iterator[tuple[int, object]]:
    if isinstance(source, (str, os.PathLike)):
        yield from _of_file(Path(source), column)
        return
    if is_spark(source):
        source = source.toArrow()
    if is_frame(source):
        table = as_arrow(source)
        name = _column(table.column_names, column, "the table")
        for batch in table.select([name]).to_batches():
            yield from enumerate(batch.column(0).to_pylist(), 1)
        return
    if column is not None:
        raise RuleSetError("column= names a column of a file or a table")
    if isinstance(source, (bytes, dict)) or not isinstance(source, Iterable):
        raise RuleSetError(f"a list is made of a path, a table, or strings and integers, not {source!r:.60}")
    yield from enumerate(source, 1)


def _column(names: list[str], column: str | None, where: str) -> str:
    if column is None and len(names) == 1:
        return names[0]
    if column in names:
        return str(column)
    what = "has several columns" if column is None else f"has no column {column!r}"
    raise RuleSetError(f"{where} {what}: give column=, one of {', '.join(names[:20])}")


def _of_file(file: Path, column: str | None) -> Iterator[tuple[int, object]]:
    suffix = file.suffix.lower()
    if suffix not in (*_TEXT, ".csv", ".jsonl", ".json"):
        raise RuleSetError(f"{file}: lists are read from .txt, .list, .csv and .jsonl files")
    if column is not None and suffix in _TEXT:
        raise RuleSetError(f"{file} is text, one value per line: it has no columns")
    try:
        lines = _lines(file)
        if suffix == ".csv":
            yield from _of_csv(file, lines, column)
        elif suffix in _TEXT:
            yield from ((number, line) for number, line in lines if line and not line.startswith("#"))
        else:
            yield from ((number, _of_json(file, number, line, column)) for number, line in lines if line.strip())
    except OSError as error:
        raise RuleSetError(f"{file} cannot be read: {error}") from error


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """The lines without their ends. A line is read only as far as it may be long."""
    with file.open("rb") as content:
        number, longest = 0, 8 * _LONGEST
        while line := content.readline(longest):
            number += 1
            if len(line) == longest:
                raise RuleSetError(f"{file}, line {number}: more than {longest:,} bytes")
            try:
                yield number, line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise RuleSetError(f"{file}, line {number}: it is not UTF-8 ({error.reason})") from None


def _of_csv(file: Path, lines: Iterator[tuple[int, str]], column: str | None) -> Iterator[tuple[int, object]]:
    at = 0

    def texts() -> Iterator[str]:
        nonlocal at
        for number, line in lines:
            at = number
            yield line + "\n"

    try:
        rows = csv.reader(texts(), strict=True)
        header = next(rows, None)
        if header is None:
            return
        place = header.index(_column(header, column, str(file)))
        for row in rows:
            if row:
                if len(row) != len(header):
                    raise RuleSetError(f"{file}, line {at}: {len(row)} cells under {len(header)} columns")
                yield at, row[place] or None
    except csv.Error as error:
        raise RuleSetError(f"{file}, line {at}: {error}") from None


def _of_json(file: Path, number: int, line: str, column: str | None) -> Any:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RuleSetError(f"{file}, line {number}: it is not JSON ({error})") from None
    if isinstance(value, dict):
        return value.get(_column(list(value), column, f"{file}, line {number}"))
    return value
