"""One Spark per test worker, started when a test first needs it, with its own store and warehouse.

With SPARKRULES_TEST_REMOTE it is a Spark Connect session: the tests of `tests/api` run with both kinds.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from tests.java import set_for_spark
from tests.order import seconds

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Room for compiled code (the default for the first-tier compiler alone is soon full) and for what queries soon drop.
_JAVA_OPTIONS = "-XX:ReservedCodeCacheSize=256m -Xmn600m"

# Deadlines and health checks measure seconds, which say nothing on a busy machine.
hypothesis.settings.register_profile("tests", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("tests")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--group-seconds", action="store_true", help="how long the tests of each group took")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if terminalreporter.config.getoption("--group-seconds"):
        terminalreporter.section("seconds by worker and group")
        reports = [report for reports in terminalreporter.stats.values() for report in reports]
        for worker, group, spent in seconds([report for report in reports if isinstance(report, pytest.TestReport)]):
            terminalreporter.write_line(f"{spent:8.1f} {worker} {group}")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """The examples of the room that needs pySigma, which Python 3.10 cannot have."""
    return True if collection_path.parts[-2:] == ("sparkrules", "sigma") and find_spec("sigma") is None else None


def pytest_configure(config: pytest.Config) -> None:
    set_for_spark()
    if hasattr(config, "workerinput") or getattr(config.option, "numprocesses", None):
        config.pluginmanager.register(import_module("tests.workers"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
        if item.path.parent.name in ("bi", "servers"):
            item.add_marker(pytest.mark.programs)
            item.add_marker(pytest.mark.timeout(1800))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    import sparkrules

    remote = os.environ.get("SPARKRULES_TEST_REMOTE")
    if remote is not None:
        connected = SparkSession.builder.remote(remote).config("spark.sql.shuffle.partitions", "2")
        if remote.startswith("local"):
            connected = connected.config("spark.driver.memory", "1g").config("spark.ui.enabled", "false")
        session = sparkrules.configure(connected, store=tmp_path_factory.mktemp("store")).getOrCreate()
        yield session
        session.stop()
        return
    # Python functions run in this environment, not in whatever python3 is first on the path.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = (
        SparkSession.builder.master("local[2]")
        .appName("sparkrules tests")
        .config("spark.driver.memory", "3g")
        .config("spark.driver.extraJavaOptions", _JAVA_OPTIONS)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.codegen.cache.maxEntries", "1000")  # the same queries again, in other tests
        # `make test-push-down`: whatever returns matches returns the same.
        .config("spark.sparkrules.pushDown", os.environ.get("SPARKRULES_TEST_PUSH_DOWN", "auto"))
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
    )
    session = sparkrules.configure(builder, store=tmp_path_factory.mktemp("store")).getOrCreate()
    yield session
    session.stop()
