"""The connectors of Delta Lake, Iceberg, Kafka and PostgreSQL, by minor of Spark, and whether they can be had."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyspark

from tests.stores.jars import Unavailable, fetched

# As in the table of docs/operating.md: Delta Lake, Iceberg, Kafka. No other minor has all of them.
_VERSIONS = {"4.0": ("4.4.0", "1.11.0", "4.0.4"), "4.1": ("4.4.0", "1.12.0", "4.1.3")}
CONNECTORS = {
    minor: f"io.delta:delta-spark_{minor}_2.13:{delta},org.apache.iceberg:iceberg-spark-runtime-{minor}_2.13:{iceberg},"
    "org.postgresql:postgresql:42.7.8"
    for minor, (delta, iceberg, _) in _VERSIONS.items()
}
# Of what they depend on, Spark has these itself.
EXCLUDED = ",".join(
    f"{group}:*"
    for group in (
        *("com.*", "commons-*", "io.airlift", "javax.*", "org.apache.hadoop", "org.apache.logging.log4j"),
        *("org.apache.parquet", "org.checkerframework", "org.locationtech.jts", "org.lz4", "org.roaringbitmap"),
        *("org.slf4j", "org.xerial.snappy"),
    )
)
MINOR = ".".join(pyspark.__version__.split(".")[:2])


def unavailable(directory: Path) -> str | None:
    """Why the connectors cannot be had for the installed Spark; None if they can. Any other failure is raised."""
    if MINOR not in CONNECTORS:
        return f"there is no Delta Lake or no Iceberg for Spark {MINOR}: run `make test-lakes`"
    script = directory / "nothing.py"
    script.write_text("", encoding="utf-8")
    submit = Path(pyspark.__path__[0]) / "bin" / "spark-submit"
    resolved = subprocess.run(
        [submit, "--packages", CONNECTORS[MINOR], "--exclude-packages", EXCLUDED, script],
        env=os.environ | {"PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=600,
    )
    if resolved.returncode == 0:
        return None
    if "unresolved dependency" in resolved.stderr or "download failed" in resolved.stderr:
        return f"Spark cannot download {CONNECTORS[MINOR]}"
    raise AssertionError(resolved.stderr)


def kafka_jars(directory: Path) -> list[Path]:
    """Spark's connector of Kafka. Raises `Unavailable`."""
    _, _, version = _VERSIONS[MINOR]
    source = "org.apache.spark:spark-sql-kafka-0-10_2.13"
    tokens = "org.apache.spark:spark-token-provider-kafka-0-10_2.13"
    try:
        return fetched(f"kafka-{version}", f"{source}:{version}", "org.apache.hadoop:*", directory)
    except Unavailable:
        # Not every mirror has each release of what looks up tokens, for which a broker without a log-in does not ask.
        found = fetched(f"kafka-{version}-source", f"{source}:{version}", f"org.apache.hadoop:*,{tokens}", directory)
        return found + fetched("kafka-tokens", f"{tokens}:4.0.0", "org.apache.kafka:*,org.apache.hadoop:*", directory)


def settings(warehouse: Path) -> dict[str, str]:
    """What a session with both needs: Delta's tables in the session's own catalog, Iceberg's in the catalog `ice`."""
    return {
        "spark.jars.packages": CONNECTORS[MINOR],
        "spark.jars.excludes": EXCLUDED,
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,"
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": str(warehouse / "ice"),
        "spark.sql.warehouse.dir": str(warehouse / "delta"),
        "spark.databricks.delta.snapshotPartitions": "2",
    }
