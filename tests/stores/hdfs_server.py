"""HDFS on this machine: a name node and a data node of Hadoop's mini cluster."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sparkrules.catalyst.java import find_java
from tests.stores.jars import MINI_CLUSTER, MINI_CLUSTER_EXCLUDED, fetched, spark_jars
from tests.stores.s3_server import free_port


@contextmanager
def hdfs(directory: Path) -> Iterator[str]:
    """The URL of a file system, which is gone at the end."""
    jars = fetched("hdfs", MINI_CLUSTER, MINI_CLUSTER_EXCLUDED, directory)
    port, details, log = free_port(), directory / "details.json", directory / "log.txt"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [
                *(find_java(), "-Xmx512m", "-XX:TieredStopAtLevel=1", f"-Dtest.build.data={directory / 'data'}"),
                *(
                    "-cp",
                    os.pathsep.join([*map(str, jars), spark_jars()]),
                    "org.apache.hadoop.test.MiniDFSClusterManager",
                ),
                *("-format", "-datanodes", "1", "-nnport", str(port), "-httpport", str(free_port())),
                *("-writeDetails", details),
            ],
            stdout=out,
            stderr=out,
            cwd=directory,
        )
    try:
        end = time.monotonic() + 180
        while not details.exists():
            assert process.poll() is None, log.read_text(errors="replace")[-2000:]
            assert time.monotonic() < end, "the mini cluster does not start"
            time.sleep(0.2)
        yield f"hdfs://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()
