"""Finding patterns in files: by numpy and Python, or by an embedded Spark."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from sparkrules.cli.data_files import DataFiles
from sparkrules.cli.engine import note, refuse_python, shown_reasons
from sparkrules.cli.matching import Engine
from sparkrules.cli.text_table import counted
from sparkrules.errors import SparkRulesError, listed
from sparkrules.local import NeedsSpark, UnknownColumn
from sparkrules.ruleset import RuleSet


@dataclass(frozen=True)
class Detecting:
    """Which patterns are looked for, where, and how. `time` and `id` name columns of the data."""

    rules: RuleSet
    data: DataFiles
    time: str
    id: str | None
    engine: Engine
    settings: Mapping[str, str]

    def table(self) -> pa.Table:
        """One row for each detection, by end."""
        if not self._wants_spark():
            chunks = [chunk.table for chunk in self.data.chunks()]
            whole = pa.concat_tables(chunks) if chunks else self.data.schema.empty_table()
            return self.rules.detect(whole, time=self.time, id=self.id).table
        with tempfile.TemporaryDirectory(prefix="sparkrules-", ignore_cleanup_errors=True) as directory:
            return self._spark_table(Path(directory))

    def _wants_spark(self) -> bool:
        """Decide, and print the reason on stderr."""
        if self.engine == "spark":
            note("detecting with Spark")
            return True
        if not self.data.are_alike:
            if self.engine == "python":
                raise SparkRulesError("files with different columns, and partitioned files, need --engine spark")
            note("detecting with Spark: the files have different columns, or are partitioned")
            return True
        reasons = self._reasons()
        if self.engine == "python" and reasons:
            raise refuse_python(reasons, "patterns")
        if reasons:
            need = "needs it" if len(reasons) == 1 else "need it"
            note(f"detecting with Spark: {counted(len(reasons), 'pattern')} {need}:", listed(reasons, 3))
            return True
        note("detecting without Spark")
        return False

    def _reasons(self) -> Mapping[str, str]:
        """The patterns that only Spark can detect on such columns; an error if a column is missing."""
        try:
            self.rules.detect(self.data.schema.empty_table(), time=self.time, id=self.id)
        except UnknownColumn as error:
            missing = f"columns are missing:\n{shown_reasons(error.reasons)}"
            raise SparkRulesError(f"{missing}\nThe data has: {', '.join(self.data.schema.names)}.") from error
        except NeedsSpark as error:
            return error.reasons
        return {}

    def _spark_table(self, directory: Path) -> pa.Table:
        from pyspark.errors import PySparkException

        import sparkrules
        from sparkrules.catalyst import embedded_spark
        from sparkrules.cli.spark_data import cannot_match, data_frame
        from sparkrules.cli.spark_matching import published

        store, name = published(self.rules, directory)
        try:
            with embedded_spark(directory, store, self.settings) as spark:
                frame = data_frame(spark, self.data, directory)
                found = sparkrules.detect(frame, name, time=self.time, id=self.id)
                return found.orderBy("end", "pattern").toArrow()
        except PySparkException as error:
            raise cannot_match(error, "detect") from error
