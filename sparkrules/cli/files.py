"""The files that commands read: rules and data. What cannot be read is an error that names the file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sparkrules.errors import SparkRulesError
from sparkrules.ruleset import RuleSet

if TYPE_CHECKING:
    import pyarrow as pa


def read_rules(file: Path, name: str, dialect: str) -> RuleSet:
    """The rules of a file; those that are set aside are named on stderr."""
    rules = RuleSet(name, dialect)
    rules.subscribe_all(file)
    for rejected in rules.rejected:
        where = "" if rejected.line is None else f" (line {rejected.line}, column {rejected.column})"
        print(f"set aside: {rejected.id!r}{where}: {rejected.reason}", file=sys.stderr)
    return rules


def load_rules(name: str, store: str | None) -> RuleSet:
    """A published rule set: `alerts`, or `alerts@12` for a version."""
    known, _, version = name.partition("@")
    if version and not version.isdecimal():
        raise SparkRulesError(f"{name!r} is not a version of a rule set: write {known}@12 with a number")
    return RuleSet.load(known, store, int(version) if version else None)


def read_data(file: Path) -> pa.Table:
    """The table in a Parquet, CSV or JSON lines file."""
    import pyarrow.csv
    import pyarrow.json
    import pyarrow.parquet

    readers = {
        ".parquet": pyarrow.parquet.read_table,
        ".csv": pyarrow.csv.read_csv,
        ".jsonl": pyarrow.json.read_json,
        ".ndjson": pyarrow.json.read_json,
        ".json": pyarrow.json.read_json,
    }
    reader = readers.get(file.suffix.lower())
    if reader is None:
        raise SparkRulesError(f"{file}: data is read from {', '.join(readers)} files")
    try:
        return reader(file)
    except (OSError, pyarrow.ArrowException) as error:
        raise SparkRulesError(f"{file} cannot be read: {error}") from error


def read_schema(file: Path) -> pa.Schema:
    """The columns of such a file; of Parquet, rows are not read."""
    import pyarrow.parquet

    if file.suffix.lower() != ".parquet" or file.is_dir():
        return read_data(file).schema
    try:
        return pyarrow.parquet.read_schema(file)
    except (OSError, pyarrow.ArrowException) as error:
        raise SparkRulesError(f"{file} cannot be read: {error}") from error
