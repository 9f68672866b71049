"""Matching files: in batches by numpy, or by an embedded Spark."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc
from tqdm import tqdm

from sparkrules.catalyst import find_java
from sparkrules.cli.data_files import Chunk, DataFiles
from sparkrules.cli.engine import note, reasons_for_spark, refuse_python
from sparkrules.cli.matched import Matched, numbered
from sparkrules.cli.text_table import counted
from sparkrules.errors import SetupError, SparkRulesError, listed
from sparkrules.ruleset import RuleSet

Engine = Literal["auto", "spark", "python"]

# numpy evaluates every part of every rule for every row: this many while an embedded Spark starts.
_QUICK = 2_000_000_000


@dataclass(frozen=True)
class Matching:
    """What is matched, and how. `columns` of the data are kept; with `all`, rows that match nothing are kept too."""

    rules: RuleSet
    data: DataFiles
    columns: list[str]
    all: bool
    engine: Engine
    settings: Mapping[str, str]

    def rows(self) -> Iterator[Matched]:
        """The rows that match, in order of the files, in at least one piece."""
        if self._wants_spark():
            from sparkrules.cli.spark_matching import spark_matched

            with tempfile.TemporaryDirectory(prefix="sparkrules-", ignore_cleanup_errors=True) as directory:
                yield from spark_matched(self, Path(directory))
        else:
            yield from self._python_matched()

    def _wants_spark(self) -> bool:
        """Decide, and print the reason on stderr."""
        if self.engine == "spark":
            note("matching with Spark")
            return True
        if not self.data.are_alike:
            if self.engine == "python":
                raise SparkRulesError("files with different columns, and partitioned files, need --engine spark")
            note("matching with Spark: the files have different columns, or are partitioned")
            return True
        reasons = reasons_for_spark(self.rules, self.data.schema)
        if self.engine == "python" and reasons:
            raise refuse_python(reasons)
        if reasons:
            need = "needs it" if len(reasons) == 1 else "need it"
            note(f"matching with Spark: {counted(len(reasons), 'rule')} {need}:", listed(reasons, 3))
            return True
        if self.engine == "auto" and self._is_long() and _has_java():
            note("matching with Spark: there is much to match")
            return True
        note("matching without Spark")
        return False

    def _is_long(self) -> bool:
        return len(self.rules._live.forest.nodes.operator) * self.data.rows > _QUICK

    def _python_matched(self) -> Iterator[Matched]:
        now = datetime.now(timezone.utc)
        chunks = self.data.chunks() if self.data.rows else [Chunk(0, 0, self.data.schema.empty_table())]
        bar = tqdm(
            total=self.data.rows, desc="matching", unit=" rows", unit_scale=True, delay=1, disable=None, leave=False
        )
        with bar:
            for number, start, table in chunks:
                ids = self.rules.match(table, at=now).ids
                files = pa.repeat(pa.scalar(number, pa.int32()), table.num_rows)
                found = Matched(files, numbered(start, table.num_rows), table.select(self.columns), ids)
                yield found if self.all else _matching_only(found)
                bar.update(table.num_rows)


def _matching_only(rows: Matched) -> Matched:
    keep = pc.greater(pc.list_value_length(rows.ids), 0)
    return Matched(rows.file.filter(keep), rows.row.filter(keep), rows.data.filter(keep), rows.ids.filter(keep))


def _has_java() -> bool:
    try:
        find_java()
    except SetupError:
        return False
    return True
