"""A Kafka broker on loopback: one process that is its own controller (KRaft), of the jars that Maven Central has."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sparkrules.catalyst.java import find_java
from tests.stores.jars import fetched, spark_jars
from tests.stores.s3_server import free_port, wait_for

SERVER = "org.apache.kafka:kafka_2.13:4.1.1"
_CLUSTER = "c3BhcmtydWxlcy10ZXN0cw"  # any 16 bytes, as base64


@contextmanager
def broker(directory: Path) -> Iterator[str]:
    """The address of a new broker, which ends with the block. Raises `Unavailable` if its jars cannot be had."""
    jars = fetched("kafka-server", SERVER, "org.apache.hadoop:*", directory)
    port, controller = free_port(), free_port()
    settings = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": str(directory / "kafka"),
        "num.partitions": "2",
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
    }
    file, log = directory / "server.properties", directory / "kafka.log"
    file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()), encoding="utf-8")
    # Spark's resolver leaves Scala's library to Spark.
    scala = Path(spark_jars()).parent.glob("scala-library-*.jar")
    java = [find_java(), "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp"]
    java.append(os.pathsep.join(map(str, [*jars, *scala])))
    with log.open("wb") as out:
        make = [*java, "kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", str(file)]
        subprocess.run(make, stdout=out, stderr=out, check=True, timeout=120)
        process = subprocess.Popen([*java, "kafka.Kafka", file], stdout=out, stderr=out, cwd=directory)
    try:
        wait_for(port, process)
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()
