"""Rules from where users keep them: Python objects, a DataFrame, a CSV, JSON lines or YAML file.

Every source is read as a stream of `RuleRow`, as it stands there: whether a row is a good rule is for the rule set to
say, so that one bad row does not end the reading.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import pyarrow as pa

from sparkrules.errors import RuleSetError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FIELDS = ("id", "where", "priority", "metadata", "valid_from", "valid_until")


class RuleRow(NamedTuple):
    """A rule as it was read; nothing is checked yet."""

    id: Any
    where: Any
    priority: Any = None
    metadata: Any = None
    valid_from: Any = None
    valid_until: Any = None


def read_rules(source: object) -> Iterator[RuleRow]:
    """The rules of a source, as they stand there.

    >>> [row.id for row in read_rules({"hot": "temperature > 30", "cold": "temperature < 0"})]
    ['hot', 'cold']
    >>> list(read_rules([("hot", "temperature > 30", 5)])) == [RuleRow("hot", "temperature > 30", priority=5)]
    True
    >>> list(read_rules([{"id": "hot", "where": "temperature > 30"}])) == [RuleRow("hot", "temperature > 30")]
    True
    """
    if isinstance(source, (str, os.PathLike)):
        return _read_file(Path(source))
    if isinstance(source, Mapping):
        return (_row_of({"id": id, **_named(rule)}) for id, rule in source.items())
    if isinstance(source, pa.Table):
        return table_rows(source)
    if isinstance(source, Iterable):
        return map(_row_of, source)
    raise RuleSetError(
        f"rules cannot be read from {type(source).__name__}: give a list of (id, where), a mapping of id to where, a "
        "DataFrame, or the path of a .csv, .jsonl or .yaml file"
    )


def _row_of(rule: Any) -> RuleRow:
    if isinstance(rule, (tuple, list)):
        return RuleRow(*rule) if 2 <= len(rule) <= len(FIELDS) else RuleRow(rule[0] if rule else None, None)
    if isinstance(rule, Mapping):
        return RuleRow(*(rule.get(field) for field in FIELDS))
    return RuleRow(*(getattr(rule, field, None) for field in FIELDS))


def _named(rule: Any) -> Mapping[str, Any]:
    return rule if isinstance(rule, Mapping) else {"where": rule}


def is_spark(source: object) -> TypeGuard[DataFrame]:
    """Whether this is a DataFrame of Spark, classic or Connect."""
    return any(
        base.__module__.startswith("pyspark.sql.") and base.__name__ == "DataFrame" for base in type(source).__mro__
    )


def table_rows(table: pa.Table) -> Iterator[RuleRow]:
    """The rules of an Arrow table."""
    names = {name.lower(): name for name in table.column_names}
    _check_columns(names, "the DataFrame")
    kept = table.select([names[field] for field in FIELDS if field in names])
    kept = kept.rename_columns([name.lower() for name in kept.column_names])
    for batch in kept.to_batches(max_chunksize=10_000):
        yield from map(_row_of, batch.to_pylist())


def _read_file(file: Path) -> Iterator[RuleRow]:
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        raise RuleSetError(f"{file}: rules are read from {', '.join(_READERS)} files")
    try:
        yield from reader(file)
    except (OSError, UnicodeDecodeError) as error:
        raise RuleSetError(f"{file} cannot be read: {error}") from error


def _read_csv(file: Path) -> Iterator[RuleRow]:
    csv.field_size_limit(2**31 - 1)  # a rule's text may be longer than the module's 128 KB
    with file.open(encoding="utf-8-sig", newline="") as lines:
        rows = csv.DictReader(lines)
        _check_columns(rows.fieldnames or (), str(file))
        for row in rows:
            yield _row_of({field: row.get(field) or None for field in FIELDS})


def _read_json_lines(file: Path) -> Iterator[RuleRow]:
    with file.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    rule = json.loads(line)
                except ValueError as error:
                    raise RuleSetError(f"{file}, line {number} is not JSON (one object per line): {error}") from error
                yield _row_of(rule)


def _read_yaml(file: Path) -> Iterator[RuleRow]:
    try:
        import yaml
    except ImportError as error:
        raise RuleSetError(f'{file}: YAML needs another package: pip install "sparkrules[yaml]"') from error
    try:
        content = yaml.load(file.read_text(encoding="utf-8-sig"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise RuleSetError(f"{file} is not YAML: {error}") from error
    if not isinstance(content, (list, dict)):
        raise RuleSetError(f"{file}: a list of rules (id, where) or a mapping of id to where is expected")
    yield from read_rules(content)


def _check_columns(names: Iterable[str], origin: str) -> None:
    missing = {"id", "where"}.difference(names)
    if missing:
        raise RuleSetError(
            f"{origin} has no column {' and no column '.join(sorted(missing))}; it has: {', '.join(names)}"
        )


_READERS = {
    ".csv": _read_csv,
    ".jsonl": _read_json_lines,
    ".ndjson": _read_json_lines,
    ".json": _read_json_lines,
    ".yaml": _read_yaml,
    ".yml": _read_yaml,
}
