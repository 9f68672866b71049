"""engine="python" where no jar can be added: a classic session and a Connect server without the plugin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.servers.processes import connect_server, run_script

CLIENT = "tests.servers.plain_client"


def test_a_classic_session(tmp_path: Path) -> None:
    check(run_script(CLIENT, ["classic"], tmp_path), "pyspark.sql.session")


def test_a_connect_server(tmp_path: Path) -> None:
    with connect_server(tmp_path) as remote:
        check(run_script(CLIENT, [remote], tmp_path), "pyspark.sql.connect.session")


def check(seen: dict[str, Any], session: str) -> None:
    assert seen["session"] == session
    assert seen["plugin"].startswith("This Spark session has no sparkrules plugin")
    assert 'engine="python"' in seen["plugin"]
    assert seen["differences"] == []
    matches, flat = seen["matches"]
    assert matches == flat > 500
