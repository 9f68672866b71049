"""Columns whose values are the names of directories: `day=2024-05-01/a.csv`."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa

from sparkrules.cli.csv_table import read_csv

_NULL = "__HIVE_DEFAULT_PARTITION__"


def directory_values(root: Path, file: Path) -> dict[str, str]:
    """The values that the directories between the root and the file name.

    >>> directory_values(Path("readings"), Path("readings/day=2024-05-01/place=S%C3%BCd/a.csv"))
    {'day': '2024-05-01', 'place': 'Süd'}
    """
    parts = (part.partition("=") for part in file.relative_to(root).parts[:-1])
    return {unquote(name): unquote(value) for name, equals, value in parts if equals}


def partition_columns(root: Path, files: Sequence[Path]) -> pa.Table:
    """One row per file; types are inferred as for a CSV file.

    >>> partition_columns(Path("."), [Path("n=1/a.csv"), Path("n=__HIVE_DEFAULT_PARTITION__/b.csv")]).to_pydict()
    {'n': [1, None]}
    """
    import pyarrow.csv

    values = [directory_values(root, file) for file in files]
    names = list(dict.fromkeys(name for own in values for name in own))
    text = io.StringIO()
    lines = csv.writer(text, quoting=csv.QUOTE_ALL)
    lines.writerows([names, *([own.get(name, _NULL) for name in names] for own in values)])
    return read_csv(
        io.BytesIO(text.getvalue().encode()),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(null_values=[_NULL], strings_can_be_null=True),
    )


def with_partitions(tables: Sequence[pa.Table], columns: pa.Table) -> list[pa.Table]:
    """The tables of the files, each with its row of the partition columns; these win over columns in the file."""
    whole = []
    for number, table in enumerate(tables):
        own = table.drop_columns([name for name in columns.column_names if name in table.column_names])
        for name in columns.column_names:
            own = own.append_column(name, pa.repeat(columns.column(name)[number], table.num_rows))
        whole.append(own)
    return whole
