"""The API over Spark Connect: a server that PySpark starts by itself, and one that was already running."""

from __future__ import annotations

import sys
from pathlib import Path

import sparkrules
from tests.servers.processes import connect_server, started

API = Path(__file__).resolve().parents[1] / "api"


def test_a_local_server_that_configure_gives_the_jar(tmp_path: Path) -> None:
    # PySpark takes the fixed port 15002 unless it is testing. Spark then also checks plans after every rule.
    run_tests(API / "test_rule_sets.py", "local[2]", tmp_path, SPARK_TESTING="1")


def test_a_server_that_was_started_with_the_jar(tmp_path: Path) -> None:
    with connect_server(tmp_path, "--jars", sparkrules.jar_path()) as remote:
        run_tests(API, remote, tmp_path)


def run_tests(tests: Path, remote: str, directory: Path, **environment: str) -> None:
    """The tests again, in a process of their own: one can have only one Spark, either classic or Connect."""
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "--rootdir"]
    command += [str(API.parents[1]), "-c", str(API.parents[1] / "pyproject.toml"), str(tests)]
    environment["SPARKRULES_TEST_REMOTE"] = remote
    with started("api-over-connect", command, directory, environment) as run:
        run.wait_until_it_ends(seconds=900)
        assert " passed" in run.said()
        assert " skipped" not in run.said()
