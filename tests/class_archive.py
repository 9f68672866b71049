"""Archives the classes of Spark that tests use, so that a Java that is started maps them into memory ready for use.

    python -m tests.class_archive

Reading, verifying and linking ten thousand classes is half of the work of a Spark that runs for a few seconds. Java
archives those that were loaded when it ends: here, once a bit of everything has been done.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

import sparkrules
from tests.java import ARCHIVE, QUICK, QUIET


def main() -> None:
    ARCHIVE.parent.mkdir(exist_ok=True)
    made = ARCHIVE.with_suffix(".new")
    made.unlink(missing_ok=True)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["SPARK_SUBMIT_OPTS"] = f"{QUICK} {QUIET} {shlex.quote(f'-XX:ArchiveClassesAtExit={made}')}"
    with tempfile.TemporaryDirectory() as directory:
        work(Path(directory))
    made.replace(ARCHIVE)


def work(directory: Path) -> None:
    """A session in which a bit of everything is done, up to the end of its Java."""
    os.chdir(directory)  # where Hive's metastore leaves its files
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "1g")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "OFF")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", str(directory / "warehouse"))
        .config("spark.plugins", "org.apache.spark.sql.connect.SparkConnectPlugin")
        .config("spark.connect.grpc.binding.port", "0")
        .config("spark.hadoop.hive.server2.thrift.port", "0")
        .enableHiveSupport()
    )
    spark = sparkrules.configure(builder, store=directory / "store").getOrCreate()
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    try:
        queries(spark, directory)
        serve(spark)
        spark.stop()
    finally:
        gateway.shutdown()
        gateway.proc.stdin.close()  # which ends it
        gateway.proc.wait()


def queries(spark: SparkSession, directory: Path) -> None:
    rules = sparkrules.RuleSet("classes")
    rules.subscribe_all({"a": "id > 3 AND name LIKE '%1%'", "b": "at < DATE'2024-01-01' OR price IN (1.5, 2)"})
    rows = spark.range(40).selectExpr(
        "id", "'n' || id AS name", "DATE'2024-01-01' + CAST(id AS INT) AS at", "CAST(id / 2 AS DECIMAL(10, 2)) AS price"
    )
    for source in ("parquet", "csv", "json"):
        rows.write.format(source).save(str(directory / source))
        sparkrules.match(spark.read.format(source).schema(rows.schema).load(str(directory / source)), rules).collect()
    rows.write.saveAsTable("rows")
    spark.sql("SELECT l.name, count(*), max(r.at) FROM rows l JOIN rows r USING (id) GROUP BY 1 ORDER BY 2").collect()
    spark.sql("SELECT explode(array(id)), row_number() OVER (ORDER BY id) FROM rows").collect()
    spark.createDataFrame([(1, "x", [1.5])], "a INT, b STRING, c ARRAY<DOUBLE>").localCheckpoint().collect()
    spark.udf.register("plus_one", lambda x: x + 1, "long")
    spark.sql("SELECT plus_one(id) FROM rows").toPandas()
    stream = spark.readStream.schema(rows.schema).parquet(str(directory / "parquet"))
    matched = sparkrules.match(stream, rules).writeStream.format("memory").queryName("matched")
    matched.trigger(availableNow=True).start().awaitTermination()


def serve(spark: SparkSession) -> None:
    """Start what serves SQL to other programs, for its classes."""
    java = spark.sparkContext._jvm
    assert java is not None
    java.org.apache.spark.sql.hive.thriftserver.HiveThriftServer2.startWithContext(spark._jsparkSession.sqlContext())


if __name__ == "__main__":
    main()
