"""Auctions clustered by their end, as Parquet files, and the same files as tables of Delta Lake and Iceberg."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from sparkrules.demo.auctions import DAY, auction_rows

DAYS = 10  # until the last auction ends
GROUPS = 2  # row groups per file
SAMPLED = 100  # one row of so many, for statistics


def write_clustered(directory: Path, rows: int, files: int) -> None:
    """Auctions, sorted by `ending_within` over all files and in each; and a random sample of them for `analyze`."""
    (directory / "rows").mkdir(parents=True)
    size, samples = rows // files, []
    for number in range(files):
        table = auction_rows(size, seed=number)
        within = pc.divide(pc.add(table["ending_within"], number * DAYS * DAY), files)
        columns = {
            "auction": pc.add(table["auction"], number * size),
            "ending_within": within,
        }
        for name, values in columns.items():
            table = table.set_column(table.column_names.index(name), name, values)
        samples.append(table.slice(0, max(1, size // SAMPLED)))
        table = table.sort_by("ending_within")
        pq.write_table(table, directory / "rows" / f"part-{number:04}.parquet", row_group_size=size // GROUPS)
    pq.write_table(pa.concat_tables(samples), directory / "sample.parquet")


def tables(spark: SparkSession, directory: Path, with_lakes: bool) -> dict[str, str]:
    """What to write after FROM, by format. The tables share the files, so that they differ in nothing else."""
    rows = directory / "rows"
    made = {"Parquet": f"parquet.`{rows}`"}
    if with_lakes:
        delta = directory / "delta"
        if not delta.exists():
            delta.mkdir()
            for file in rows.iterdir():
                os.link(file, delta / file.name)
            spark.sql(f"CONVERT TO DELTA parquet.`{delta}`")
        spark.sql("DROP TABLE IF EXISTS ice.bench.auctions")
        columns = spark.read.parquet(str(rows))
        columns.limit(0).writeTo("ice.bench.auctions").using("iceberg").create()
        spark.sql(f"CALL ice.system.add_files(table => 'bench.auctions', source_table => '`parquet`.`{rows}`')")
        made |= {"Delta": f"delta.`{delta}`", "Iceberg": "ice.bench.auctions"}
    return made


def sample(spark: SparkSession, directory: Path) -> DataFrame:
    return spark.read.parquet(str(directory / "sample.parquet"))
