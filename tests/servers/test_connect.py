"""Rules in Spark Connect: a server that PySpark starts by itself, and one that was there before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sparkrules
from tests.servers.connect_client import RULES
from tests.servers.processes import run_script, spark_command, started

CLIENT = "tests.servers.connect_client"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    command = [
        *(spark_command("spark-submit"), "--master", "local[2]", "--jars", sparkrules.jar_path()),
        *("--conf", "spark.driver.memory=1g", "--conf", "spark.ui.enabled=false"),
        *("--conf", "spark.connect.grpc.binding.port=0"),
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"),
    ]
    with started("connect-server", command, tmp_path_factory.mktemp("connect-server")) as server:
        said = server.wait_until_it_says(r"Spark Connect server started at: \S*:(\d+)")
        yield f"sc://127.0.0.1:{said.group(1)}"


def test_a_local_server_that_configure_gives_the_jar(tmp_path: Path) -> None:
    # PySpark takes the fixed port 15002 unless it is testing. Spark then also checks plans after every rule.
    arguments = ["local[2]", str(tmp_path / "store")]
    check(run_script(CLIENT, arguments, tmp_path, SPARK_TESTING="1"))


def test_a_server_that_was_started_with_the_jar(server: str, tmp_path: Path) -> None:
    check(run_script(CLIENT, [server, str(tmp_path / "store")], tmp_path))


def check(seen: dict[str, Any]) -> None:
    assert seen["session"] == "pyspark.sql.connect.session"
    assert seen["plugin"] == seen["where"]
    assert len(seen["where"]) == 8
    assert seen["matches"] == [
        ["cheap", ["cheap-and-new"]],
        ["cheap-and-new", ["cheap"]],
        ["derived", []],
        ["opaque", []],
        ["text", []],
    ]
    first = ["cheap", "cheap-and-new", "derived", "opaque", "text"]
    second = ["second", *first[1:]]
    assert seen["sql"] == seen["table function"] == first
    assert seen["analyzed"] == [4, 0.5, 0.25]
    assert seen["report"]
    assert seen["version"] == 2
    assert seen["same DataFrame"] == seen["default rule set"] == second
    assert seen["pinned"] == first

    assert seen["catalog"] == sorted([id, where] for id, where in RULES.items())
    assert "sparkrules" in seen["catalogs"]
    assert seen["called"] == [["books", 3, 6], ["books", 3, 6], 1]
    assert seen["unsubscribed"] == ["books", 4, 4, 2]
    # What Python says of the parents of its own versions is not this test's business.
    assert [[version, action, count] for version, action, _, count in seen["versions"]] == [
        [1, "publish", 6],
        [2, "publish", 6],
        [3, "rollback to 1", 6],
        [4, "unsubscribe", 4],
    ]
    assert [parent for _, _, parent, _ in seen["versions"]][2:] == [2, 3]
    assert seen["no such version"][0] == "AnalysisException"
    assert "There is no version 99 of rule set 'books'" in seen["no such version"][1]

    kind, message = seen["no such column"]
    assert kind == "AnalysisException"
    assert message.startswith("[SPARKRULES] 1 rule of unfit@1 cannot be used on the input")
    assert "'typo': there is no column prise" in message
    assert "There is no rule set 'none'" in seen["no such rule set"][1]
    assert seen["after errors"] == 4
