"""A Thrift server with a table of readings and rules, for BI tools. Runs only on request: `make test-bi`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sparkrules.catalyst.thrift_server import free_port
from tests.servers.processes import logs_shown_on_failure
from tests.servers.thrift import SETTINGS, Client, Thrift, publish, running
from tests.servers.thrift import connected as connected

VENVS = Path(__file__).resolve().parents[2] / ".venvs"
RULES = {
    "hot": "temperature > 30",
    "hot outside": "temperature > 30 AND NOT indoors",
    "frost": "temperature < 0",
    "dry": "humidity < 20 OR (temperature > 25 AND humidity < 30)",
    "damp in the north": "humidity > 80 AND city IN ('Oslo', 'Turku')",
    "faulty": "status LIKE 'err%' OR temperature IS NULL",
}
READINGS = """
    SELECT id, element_at(array('Rome', 'Oslo', 'Bern', 'Turku'), 1 + CAST(id % 4 AS INT)) AS city,
      IF(id % 50 = 0, NULL, CAST((id * 37) % 55 - 12 AS DOUBLE)) AS temperature, (id * 53) % 100 AS humidity,
      id % 3 = 0 AS indoors, IF(id % 41 = 0, 'error 7', 'ok') AS status
    FROM range(5000)"""


@pytest.fixture(scope="package", autouse=True)
def _asked_for() -> None:
    if "SPARKRULES_TEST_BI" not in os.environ:
        pytest.skip("dbt, Apache Superset, Chromium and a minute of load: run `make test-bi`")


@pytest.fixture(autouse=True)
def _server_logs() -> Iterator[None]:
    with logs_shown_on_failure():
        yield


@pytest.fixture(scope="package")
def metrics_port() -> int:
    return free_port("127.0.0.1")


@pytest.fixture(scope="package")
def thrift(_asked_for: None, metrics_port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Thrift]:
    """With a table `readings`, the rule set `alerts` and a view `alerts_raised`, one row per match."""
    store = tmp_path_factory.mktemp("bi-store")
    publish(store, "alerts", RULES)
    settings = SETTINGS | {
        # The heap is read from the page of Spark's metrics; what the UI remembers of queries is bounded.
        "spark.ui.enabled": "true",
        "spark.ui.port": str(metrics_port),
        "spark.metrics.conf.driver.source.jvm.class": "org.apache.spark.metrics.source.JvmSource",
        "spark.ui.retainedJobs": "50",
        "spark.ui.retainedStages": "50",
        "spark.ui.retainedTasks": "500",
        "spark.sql.ui.retainedExecutions": "50",
        "spark.sql.thriftserver.ui.retainedSessions": "20",
        "spark.sql.thriftserver.ui.retainedStatements": "50",
    }
    # All compilers: under a minute of load, the first tier alone fills its code cache.
    java = {"JAVA_TOOL_OPTIONS": "-XX:+UseSerialGC"}
    with running(store, tmp_path_factory.mktemp("bi"), "alerts", settings, java) as server:
        client = server.connect()
        client.rows(f"CREATE TABLE readings USING parquet AS {READINGS}")
        client.rows("CREATE VIEW alerts_raised AS SELECT * FROM match_subscriptions('alerts', TABLE(readings))")
        client.close()
        yield server


@pytest.fixture
def expected(client: Client) -> dict[str, int]:
    """How many readings each rule matches, as Spark's WHERE counts them."""
    return {id: client.rows(f"SELECT count(*) FROM readings WHERE {where}")[0][0] for id, where in RULES.items()}
