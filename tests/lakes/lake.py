"""A table format: how its tables are made, and what a query read of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Rows are changed without new files of what stays.
DELETES_ASIDE = {
    "delta": {"delta.enableDeletionVectors": "true"},
    "iceberg 2": {
        "format-version": "2",
        "write.delete.mode": "merge-on-read",
        "write.update.mode": "merge-on-read",
        "write.merge.mode": "merge-on-read",
    },
}
DELETES_ASIDE["iceberg 3"] = DELETES_ASIDE["iceberg 2"] | {"format-version": "3"}
DELETES_ASIDE["iceberg 2, by row"] = DELETES_ASIDE["iceberg 2"] | {"read.parquet.vectorization.enabled": "false"}


@dataclass(frozen=True)
class Lake:
    """Delta Lake or Iceberg."""

    format: str
    spark: SparkSession

    def name(self, table: str) -> str:
        """The name of a table in queries."""
        return table if self.format == "delta" else f"ice.lake.{table}"

    def make(self, table: str, rows: DataFrame, *partitions: str, **properties: str) -> str:
        """A table of these rows, with a file for each of their partitions; its name."""
        name = self.name(table)
        self.spark.sql(f"DROP TABLE IF EXISTS {name}")
        rows.limit(0).createOrReplaceTempView("rows_to_write")
        values = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
        self.spark.sql(
            f"CREATE TABLE {name} USING {self.format} "
            + (f"PARTITIONED BY ({', '.join(partitions)}) " if partitions else "")
            + (f"TBLPROPERTIES ({values}) " if values else "")
            + "AS SELECT * FROM rows_to_write"
        )
        self.add(table, rows)
        return name

    def add(self, table: str, rows: DataFrame) -> None:
        """Append rows. Spark's own partitions become files: no shuffle in between."""
        # Iceberg would otherwise distribute rows by the table's partitions.
        rows.writeTo(self.name(table)).option("distribution-mode", "none").option("fanout-enabled", "true").append()

    def versions(self, table: str) -> list[Any]:
        """The versions of a table, for `VERSION AS OF`, the oldest first."""
        if self.format == "delta":
            history = self.spark.sql(f"DESCRIBE HISTORY {self.name(table)}").orderBy("version").collect()
            return [row.version for row in history]
        snapshots = self.spark.sql(f"SELECT snapshot_id FROM {self.name(table)}.snapshots ORDER BY committed_at")
        return [row.snapshot_id for row in snapshots.collect()]

    def files_read(self, df: DataFrame) -> int:
        """How many files of data the scan of a query read, once it has run."""
        df.collect()
        return metrics_of_scan(df)["numFiles" if self.format == "delta" else "resultDataFiles"]

    def deleted_aside(self, table: str) -> int:
        """How many files of data have deleted rows that they still contain."""
        if self.format == "delta":
            history = self.spark.sql(f"DESCRIBE HISTORY {self.name(table)}").collect()
            return sum(int(row.operationMetrics.get("numDeletionVectorsAdded", "0")) for row in history)
        return self.spark.table(f"{self.name(table)}.delete_files").count()


def metrics_of_scan(df: DataFrame) -> dict[str, int]:
    """The metrics of the only scan in a query, after it has run."""
    plan = df._jdf.queryExecution().executedPlan()
    while plan.children().nonEmpty():
        plan = plan.children().head()
    metrics, found = plan.metrics().iterator(), {}
    while metrics.hasNext():
        metric = metrics.next()
        found[metric._1()] = int(metric._2().value())
    return found
