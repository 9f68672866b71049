"""Rules from where users keep them: Python objects, a DataFrame, a CSV, JSON lines or YAML file.

Every source is read as a stream of unchecked `RuleRow`s. The rule set checks them, so one invalid row does not stop the
reading.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import pyarrow as pa

from sparkrules.errors import RuleSetError, listed
from sparkrules.rules.frames import as_arrow, is_frame
from sparkrules.sql.rejected import Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FIELDS = ("id", "where", "priority", "metadata", "valid_from", "valid_until", "status", "tags", "exemptions")
_KINDS = ("sequence", "together", "count", "absence")
PATTERN_FIELDS = (
    *_KINDS,
    "by",
    "within",
    "after",
    "at_least",
    "distinct",
    "overlapping",
    "suppress",
    "on_change",
)
_OF_PATTERNS = frozenset(PATTERN_FIELDS)
TESTS = "tests"


class RuleRow(NamedTuple):
    """A rule as it was read, unchecked."""

    id: Any
    where: Any
    priority: Any = None
    metadata: Any = None
    valid_from: Any = None
    valid_until: Any = None
    status: Any = None
    tags: Any = None
    exemptions: Any = None  # () if there is a field for them, but it is empty


class RowWithTests(RuleRow):
    """A rule with tests beside it, unchecked. It equals any other row with these fields: a rule set keeps no tests."""

    tests: Any = None


class FileRow(RowWithTests):
    """A rule of a file, with its place there. It equals any other row with these fields."""

    source: Source


class PatternRow(RowWithTests):
    """A row with fields of a pattern, unchecked: a pattern, or a rule that has one as an option."""

    fields: Mapping[str, Any]
    source: Source | None = None

    @staticmethod
    def of(fields: Mapping[str, Any]) -> PatternRow:
        row = PatternRow(*_cells(fields))
        row.fields = fields
        row.tests = fields.get(TESTS)
        return row

    @staticmethod
    def is_rule(fields: Mapping[str, Any]) -> bool:
        """Whether a row with these fields is a rule."""
        return fields.get("where") is not None and all(fields.get(kind) is None for kind in _KINDS)


class NoRule(NamedTuple):
    """In place of an id where there is no rule: the reason, and the id if there is one."""

    reason: str
    id: str = ""

    def __str__(self) -> str:
        return self.id


def read_rules(source: object) -> Iterator[RuleRow]:
    """The rules of a source, unchecked.

    >>> [row.id for row in read_rules({"hot": "temperature > 30", "cold": "temperature < 0"})]
    ['hot', 'cold']
    >>> list(read_rules([("hot", "temperature > 30", 5)])) == [RuleRow("hot", "temperature > 30", priority=5)]
    True
    >>> list(read_rules([{"id": "hot", "where": "temperature > 30"}])) == [RuleRow("hot", "temperature > 30")]
    True
    """
    if isinstance(source, (str, os.PathLike)):
        return _read_file(_path(source))
    if isinstance(source, Mapping):
        return _read_mapping(source)
    if is_frame(source):
        return table_rows(as_arrow(source))
    if isinstance(source, Iterable) and not isinstance(source, (bytes, bytearray)):
        return map(_row_of, source)
    raise RuleSetError(
        f"rules cannot be read from {type(source).__name__}: give a list of (id, where), a mapping of id to where, a "
        "DataFrame, or the path of a .csv, .jsonl or .yaml file"
    )


def _row_of(rule: Any) -> RuleRow:
    if isinstance(rule, RuleRow):
        return rule
    if isinstance(rule, (tuple, list)):
        if 2 <= len(rule) <= len(FIELDS):
            return RuleRow(*rule)
        reason = f"a rule has 2 to {len(FIELDS)} fields ({', '.join(FIELDS)}), but this has {len(rule)}"
        return RuleRow(NoRule(reason, str(rule[0]) if rule else ""), None)
    if isinstance(rule, Mapping):
        if not _OF_PATTERNS.isdisjoint(rule) and any(rule.get(field) is not None for field in PATTERN_FIELDS):
            return PatternRow.of(rule)
        row = RuleRow(*_cells(rule))
        if rule.get(TESTS) is not None:
            row = RowWithTests(*row)
            row.tests = rule[TESTS]
    else:
        row = RuleRow(*_cells({field: getattr(rule, field) for field in FIELDS if hasattr(rule, field)}))
    return RuleRow(NoRule(_without_fields(rule)), None) if row.id is None and row.where is None else row


def _cells(fields: Mapping[str, Any]) -> tuple[Any, ...]:
    *cells, exemptions = map(fields.get, FIELDS)
    return (*cells, () if exemptions is None and "exemptions" in fields else exemptions)


def with_exemptions(row: RuleRow, exemptions: Any) -> RuleRow:
    """The same row with other exemptions."""
    made = row._replace(exemptions=exemptions)
    if isinstance(row, RowWithTests):
        vars(made).update(vars(row))
    return made


def _file_row(rule: Any, file: Path, unit: str, number: int) -> RuleRow:
    row = rule if isinstance(rule, RuleRow) else _row_of(rule)
    placed = row if isinstance(row, PatternRow) else FileRow(*row)
    if isinstance(row, RowWithTests):
        placed.tests = row.tests
    placed.source = (str(file), unit, number)
    return placed


def _without_fields(rule: Any) -> str:
    if isinstance(rule, Mapping):
        return f"a rule has the fields id and where, but this has {listed(rule, _SHOWN) or 'none'}"
    return f"a rule is a pair (id, where), or has fields with these names, not {rule!r:.60}"


def _read_mapping(source: Mapping[Any, Any]) -> Iterator[RuleRow]:
    if _is_one(source):
        raise RuleSetError("this is one rule, not a mapping of id to where: give a list of such rules, [{...}]")
    return (_row_of({"id": id, **_named(rule)}) for id, rule in source.items())


def _is_one(fields: Mapping[Any, Any]) -> bool:
    """Whether these are the fields of one rule or pattern, not several by id."""
    names = set(fields)
    is_pattern = {"id", "within"} <= names and not names.isdisjoint(_KINDS)
    return ({"id", "where"} <= names or is_pattern) and names <= {*FIELDS, *PATTERN_FIELDS, TESTS}


def _named(rule: Any) -> Mapping[str, Any]:
    return rule if isinstance(rule, Mapping) else {"where": rule}


def _path(source: str | os.PathLike[Any]) -> Path:
    """The path of a file of rules; an error if this looks like the text of a rule."""
    path = os.fspath(source)
    if not isinstance(path, str):
        raise RuleSetError(f"a path is a string, not {path!r:.60}")
    found = Path(path)
    if found.suffix.lower() not in _READERS and isinstance(source, str) and not any(map(path.endswith, "/\\")):
        looks_like_sql = any(mark in path for mark in (" ", "=", "<", ">", "("))
        if looks_like_sql:
            raise RuleSetError(
                f"{path!r:.60} is not the path of a .csv, .jsonl or .yaml file: add a single rule with "
                "subscribe(id, where)"
            )
    return found


def is_spark(source: object) -> TypeGuard[DataFrame]:
    """Whether this is a DataFrame of Spark, classic or Connect."""
    return any(
        base.__module__.startswith("pyspark.sql.") and base.__name__ == "DataFrame" for base in type(source).__mro__
    )


def table_rows(table: pa.Table) -> Iterator[RuleRow]:
    """The rules of an Arrow table."""
    names = check_columns(table.column_names, "the DataFrame")
    fields = [field for field in (*FIELDS, *PATTERN_FIELDS, TESTS) if field in names]
    kept = table.select([names[field] for field in fields]).rename_columns(fields)
    read = _row_of if _OF_PATTERNS.isdisjoint(fields) else table_row
    for batch in kept.to_batches(max_chunksize=10_000):
        yield from map(read, batch.to_pylist())


def table_row(cells: dict[str, Any]) -> RuleRow:
    """A row of a table in which cells of a pattern may be JSON: lists begin with `[`, objects with `{`."""
    for name in PATTERN_FIELDS:
        cell = cells.get(name)
        if isinstance(cell, str) and cell.lstrip()[:1] in ("[", "{"):
            try:
                cells[name] = json.loads(cell)
            except (ValueError, RecursionError) as error:
                id = cells.get("id")
                return RuleRow(NoRule(f"{name} is not JSON: {error}", "" if id is None else str(id)), None)
    return _row_of(cells)


def _read_file(file: Path) -> Iterator[RuleRow]:
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        raise RuleSetError(f"{file}: rules are read from {', '.join(_READERS)} files")
    try:
        yield from reader(file)
    except UnicodeDecodeError:
        raise RuleSetError(_wrong_encoding(file)) from None
    except FileNotFoundError:
        raise RuleSetError(f"{file} cannot be read: there is no such file{_near_file(file)}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RuleSetError(f"{file} cannot be read: {reason}") from error


def _wrong_encoding(file: Path) -> str:
    """Which byte of a file is not UTF-8, and what to do."""
    content = file.read_bytes()
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return f"{file} cannot be read: it is UTF-16. Save it as UTF-8, or run: iconv -f UTF-16 -t UTF-8 {file.name}"
    try:
        content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = content[error.start]
        return (
            f"{file} cannot be read: it is not UTF-8 (byte 0x{byte:02x} on line {line}). Save it as UTF-8, or, if it "
            f"is Latin-1, run: iconv -f LATIN1 -t UTF-8 {file.name}"
        )
    return f"{file} cannot be read: it is not UTF-8. Save it as UTF-8"


def _near_file(file: Path) -> str:
    """A file in the same directory with a similar name."""
    try:
        names = [own.name for own in file.parent.iterdir() if own.suffix.lower() in _READERS]
    except OSError:
        return ""
    near = get_close_matches(file.name, names, 1)
    return f"; did you mean {file.with_name(near[0])}?" if near else ""


def _read_csv(file: Path) -> Iterator[RuleRow]:
    csv.field_size_limit(2**31 - 1)  # a rule may be longer than the 128 KB that the module allows
    with file.open(encoding="utf-8-sig", newline="") as lines:
        rows = csv.reader(lines)
        try:
            header = next(rows, [])
            names = check_columns(header, str(file))
            fields = [field for field in (*FIELDS, *PATTERN_FIELDS, TESTS) if field in names]
            places = [(field, header.index(names[field])) for field in fields]
            read = _row_of if _OF_PATTERNS.isdisjoint(fields) else table_row
            line = rows.line_num + 1
            for row in rows:
                if row:
                    found = {field: row[place] or None for field, place in places if place < len(row)}
                    empty = NoRule(f"id and where are empty: {row!r:.60}")
                    rule = read(found) if any(found.values()) else RuleRow(empty, None)
                    yield _file_row(rule, file, "line", line)
                line = rows.line_num + 1
        except csv.Error as error:
            raise RuleSetError(f"{file}, line {rows.line_num + 1} is not CSV: {error}") from error


def _read_json_lines(file: Path) -> Iterator[RuleRow]:
    with file.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    rule = json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise RuleSetError(f"{file}, line {number} is not JSON (one object per line): {error}") from error
                yield _file_row(rule, file, "line", number)


def _read_json(file: Path) -> Iterator[RuleRow]:
    """One document, a list of rules or a mapping of id to where, or JSON lines."""
    try:
        content = json.loads(file.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise
    except (ValueError, RecursionError):
        return _read_json_lines(file)
    return _document(content, file)


def _read_yaml(file: Path) -> Iterator[RuleRow]:
    try:
        import yaml
    except ImportError as error:
        raise RuleSetError(f'{file}: YAML needs another package: pip install "pyyaml>=6"') from error
    try:
        content = yaml.load(file.read_text(encoding="utf-8-sig"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, RecursionError) as error:
        raise RuleSetError(f"{file} is not YAML: {error}") from error
    return _document(content, file)


def _document(content: Any, file: Path) -> Iterator[RuleRow]:
    if isinstance(content, dict) and not _is_one(content):
        # Many people write `rules:` above the list.
        inner = [value for value in content.values() if isinstance(value, list)]
        if len(content) == 1 and inner:
            content = inner[0]
    if isinstance(content, dict):
        content = [content] if _is_one(content) else list(_read_mapping(content))
    if not isinstance(content, list):
        raise RuleSetError(f"{file}: expected a list of rules (id, where) or a mapping of id to where")
    for number, rule in enumerate(content, start=1):
        yield _file_row(rule, file, "rule", number)


def check_columns(names: Iterable[Any], origin: str) -> dict[str, str]:
    """The columns of a table by the names of the fields, ignoring case."""
    written = [name for name in names if name is not None]
    by_field = {str(name).strip().lower(): name for name in reversed(written)}
    missing = {"id", "where"}.difference(by_field)
    if not missing or (missing == {"where"} and not by_field.keys().isdisjoint(_KINDS)):
        return by_field
    found = f"it has: {listed(written, _SHOWN)}" if written else "it has no columns"
    separators = [mark for mark in ";\t|" if len(written) == 1 and mark in str(written[0])]
    hint = f". Separate the fields with a comma, not {separators[0]!r}" if separators else ""
    raise RuleSetError(f"{origin} has no column {' and no column '.join(sorted(missing))}; {found}{hint}")


_SHOWN = 20
_READERS = {
    ".csv": _read_csv,
    ".jsonl": _read_json_lines,
    ".ndjson": _read_json_lines,
    ".json": _read_json,
    ".yaml": _read_yaml,
    ".yml": _read_yaml,
}
