"""Rules on a cluster, a standalone master and two workers: they reach processes without the driver's classes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.servers.processes import run_script, spark_command, started
from tests.spark.logins import DETECTED

SERIALIZERS = ["JavaSerializer", "KryoSerializer"]
MEMORY = {"SPARK_DAEMON_MEMORY": "512m"}


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory = tmp_path_factory.mktemp("cluster")
    daemon = [spark_command("spark-class"), "org.apache.spark.deploy.{0}.{1}", "--host", "127.0.0.1", "--port", "0"]
    own_ports = ["--webui-port", "0"]
    with ExitStack() as stack:
        no_rest = MEMORY | {"SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false"}
        command = [word.format("master", "Master") for word in daemon] + own_ports
        master = stack.enter_context(started("master", command, directory, no_rest))
        address = master.wait_until_it_says(r"Starting Spark master at (spark://\S+)").group(1)
        workers = []
        for name in ("worker-1", "worker-2"):
            size = ["--cores", "1", "--memory", "1g", "--work-dir", str(directory / name)]
            command = [word.format("worker", "Worker") for word in daemon] + own_ports + size + [address]
            workers.append(stack.enter_context(started(name, command, directory, MEMORY)))
        for worker in workers:
            worker.wait_until_it_says("Successfully registered with master")
        yield address


@pytest.fixture(scope="module")
def seen(master: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """By serializer."""
    directory = tmp_path_factory.mktemp("driver")
    return run_script("tests.servers.cluster_driver", [master, str(directory / "store"), *SERIALIZERS], directory)


@pytest.mark.parametrize("serializer", SERIALIZERS)
def test_matches_equal_where_on_every_executor(seen: dict[str, Any], serializer: str) -> None:
    found = seen[serializer]
    assert found["serializer"].endswith(serializer)
    assert found["rows"] == 3_000
    assert found["wrongly matched"] == []
    assert found["not matched"] == []
    assert found["pairs"] > 40_000, "rules that match nothing prove nothing"
    assert sorted(found["tasks of executors"]) == ["0", "1"]
    assert min(found["tasks of executors"].values()) > 0
    assert found["overlaps"] == [[["cheap", "new"]], []]


@pytest.mark.parametrize("serializer", SERIALIZERS)
def test_python_functions_are_called_on_every_executor(seen: dict[str, Any], serializer: str) -> None:
    found = seen[serializer]["with Python functions"]
    assert found["differ"] == []
    assert found["differ after a lost worker"] == []
    assert found["pairs"] > 30
    assert found["calls"] == 30, "one for each row that a rule needs it for"
    assert 0 < found["limited"] <= 20
    assert found["are among them"]
    assert sorted(found["tasks of executors"]) == ["0", "1"]


@pytest.mark.parametrize("serializer", SERIALIZERS)
def test_patterns_are_detected_by_executors(seen: dict[str, Any], serializer: str) -> None:
    expected = [list(row) for row in DETECTED]
    assert seen[serializer]["detected"] == expected
    assert seen[serializer]["detected in a stream"] == expected
