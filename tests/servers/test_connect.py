"""The API over Spark Connect: a server that PySpark starts by itself, and one that was already running."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import sparkrules
from tests.servers.processes import connect_server, started

API = Path(__file__).resolve().parents[1] / "api"


def test_a_local_server_that_configure_gives_the_jar(tmp_path: Path) -> None:
    # PySpark takes the fixed port 15002 unless it is testing. Spark then also checks plans after every rule.
    run_tests(API / "test_rule_sets.py", "local[2]", tmp_path, SPARK_TESTING="1")


def test_a_server_that_was_started_with_the_jar(tmp_path: Path) -> None:
    settings = {"spark.sparkrules.admins": "alice", "spark.pyspark.driver.python": sys.executable}
    words = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    with connect_server(tmp_path, "--jars", sparkrules.jar_path(), *words) as remote:
        assert "user 'mallory' may not change rules here" in said_to("mallory", remote)
        run_tests(API, f"{remote}/;user_id=alice", tmp_path)


def said_to(user: str, remote: str) -> str:
    """What a user is told who wants to change rules."""
    program = f"""
from pyspark.sql import SparkSession
try:
    spark = SparkSession.builder.remote("{remote}/;user_id={user}").getOrCreate()
    spark.sql("CALL sparkrules.advertise('a', 'b', 'x')")
except Exception as error:
    print(error)
"""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def run_tests(tests: Path, remote: str, directory: Path, **environment: str) -> None:
    """The tests again, in a process of their own: one can have only one Spark, either classic or Connect."""
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "--rootdir"]
    command += [str(API.parents[1]), "-c", str(API.parents[1] / "pyproject.toml"), str(tests)]
    environment["SPARKRULES_TEST_REMOTE"] = remote
    with started("api-over-connect", command, directory, environment) as run:
        run.wait_until_it_ends(seconds=900)
        assert " passed" in run.said()
        assert " skipped" not in run.said()
