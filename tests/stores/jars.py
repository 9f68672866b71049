"""Jars of Hadoop that Spark does not contain, fetched by Spark's own resolver."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyspark

_CACHE = Path(__file__).parents[2] / "build" / "ivy"
_SPARK = Path(pyspark.__path__[0])
(_CLIENT,) = (_SPARK / "jars").glob("hadoop-client-api-*.jar")
HADOOP = _CLIENT.stem.rpartition("-")[2]

S3A = f"org.apache.hadoop:hadoop-aws:{HADOOP}"
# An alternative to Java's own encryption; it is not needed, and not everywhere to be had.
S3A_EXCLUDED = "org.wildfly.openssl:wildfly-openssl"
MINI_CLUSTER = (
    f"org.apache.hadoop:hadoop-client-minicluster:{HADOOP},"
    "org.junit.jupiter:junit-jupiter-api:5.13.4,org.mockito:mockito-core:4.11.0"
)
MINI_CLUSTER_EXCLUDED = "org.apache.hadoop:hadoop-client-api,org.apache.hadoop:hadoop-client-runtime"


class Unavailable(Exception):
    """The jars cannot be downloaded."""


def fetched(name: str, packages: str, excluded: str, directory: Path) -> list[Path]:
    """The jars of some packages, in a cache called `name`. Raises `Unavailable`, or whatever else is wrong."""
    script = directory / "nothing.py"
    script.write_text("", encoding="utf-8")
    cache = _CACHE / name
    resolved = subprocess.run(
        [
            *(_SPARK / "bin" / "spark-submit", "--conf", f"spark.jars.ivy={cache}"),
            *("--packages", packages, "--exclude-packages", excluded, script),
        ],
        env=os.environ | {"PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=900,
    )
    if resolved.returncode == 0:
        return sorted((cache / "jars").glob("*.jar"))
    if "unresolved dependency" in resolved.stderr or "download failed" in resolved.stderr:
        raise Unavailable(f"Spark cannot download {packages}")
    raise AssertionError(resolved.stderr)


def spark_jars() -> str:
    """The class path of Spark itself."""
    return str(_SPARK / "jars" / "*")
