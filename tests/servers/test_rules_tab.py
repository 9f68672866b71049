"""What can be seen of rules from outside: the tab of the Spark UI, metrics, and a history server without the plugin."""

from __future__ import annotations

import json
import re
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.servers.processes import run_script, spark_command, started
from tests.servers.watched_driver import HOSTILE

HITS = {HOSTILE: 100, "a-b": 10, "a_b": 5}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("watched")
    (made / "events").mkdir()
    return made


@pytest.fixture(scope="module")
def seen(directory: Path) -> dict[str, Any]:
    arguments = [str(directory / "store"), str(directory / "events")]
    written: dict[str, Any] = run_script("tests.servers.watched_driver", arguments, directory)
    return written


def test_a_task_that_is_repeated_counts_once(seen: dict[str, Any]) -> None:
    assert seen["failed tasks"] >= 4
    assert seen["rows"] == [200, 200]  # the second sorts: Spark computes its rows twice
    assert seen["hits"] == [HITS, HITS]
    assert seen["errors"] == {"failing": 200}


def test_the_tab_shows_rule_sets_and_runs(seen: dict[str, Any]) -> None:
    assert not seen["tab before"], "there is none before anything is matched"
    page = seen["rules"]
    assert "Rule sets" in page
    assert "watched@1" in page
    assert re.search(r'href="[^"]*/SQL/execution/\?id=\d+"', page)
    assert re.search(r'href="[^"]*/rules/\?run=1"', page)
    assert "failing" in seen["run"]
    assert "2 matched nothing" in seen["run"]
    assert "no longer remembered" in seen["no run"]
    assert "Match watched@1" in seen["execution"]


def test_ids_are_never_markup(seen: dict[str, Any]) -> None:
    for page in (seen["rules"], seen["run"]):
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
        assert "&amp;amp;" in page
    assert "<script>'" not in seen["no run"]


def test_metrics_have_safe_and_different_names(seen: dict[str, Any]) -> None:
    lines = [line for line in seen["prometheus"].splitlines() if "_driver_sparkrules_" in line]
    found = {}
    for line in lines:
        matched = re.fullmatch(r'metrics_\w+?_driver_sparkrules_(\w+)_Value\{type="gauges"\} (\d+)', line)
        if matched:
            assert matched[1] not in found, f"{matched[1]} is there twice"
            found[matched[1]] = int(matched[2])
    assert (found["watched_rows"], found["watched_matches"], found["watched_errors"]) == (400, 230, 400)
    assert (found["watched_rules"], found["watched_rulesHit"], found["watched_queries"]) == (5, 3, 2)
    assert found["watched_rule_a_2d_b_hits"] == 20
    assert found["watched_rule_a_5f_b_hits"] == 10
    assert found["watched_rule_failing_errors"] == 400
    assert [found[name] for name in found if name.startswith("watched_rule__3c_script") and name.endswith("hits")] == [
        200
    ]
    assert all(re.fullmatch(r"[a-zA-Z_]\w*(\{[^{}]*\})? \S+", line) for line in lines)


def test_a_history_server_without_the_plugin_reads_the_event_log(seen: dict[str, Any], directory: Path) -> None:
    options = f"-Dspark.history.fs.logDirectory={(directory / 'events').as_uri()} -Dspark.history.ui.port=0"
    environment = {"SPARK_HISTORY_OPTS": options, "SPARK_DAEMON_MEMORY": "512m"}
    command = [spark_command("spark-class"), "org.apache.spark.deploy.history.HistoryServer"]
    with started("history", command, directory, environment) as server:
        port = server.wait_until_it_says(r"HistoryServerUI' on port (\d+)").group(1)
        base = f"http://127.0.0.1:{port}"

        def page(path: str) -> str:
            with urllib.request.urlopen(f"{base}{path}", timeout=120) as answer:
                text: str = answer.read().decode()
                return text

        until = time.monotonic() + 120
        while seen["application"] not in page("/api/v1/applications"):
            assert time.monotonic() < until, server.said()[-3000:]
            time.sleep(0.5)
        queries = json.loads(page(f"/api/v1/applications/{seen['application']}/sql?details=true"))
        names = [node["nodeName"] for query in queries for node in query["nodes"]]
        assert "Match watched@1" in names
        assert {query["status"] for query in queries} == {"COMPLETED"}
        shown = page(f"/history/{seen['application']}/SQL/")
        assert f"/history/{seen['application']}/jobs" in shown
        assert "/rules/" not in shown
        assert "ClassNotFoundException" not in server.said()
