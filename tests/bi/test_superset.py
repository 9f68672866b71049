"""Apache Superset: its own connection to the server, a dataset on a view, a chart, and the picture in docs/bi.md.

`make test-bi PICTURES=docs/images` updates that picture.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from tests.bi import superset
from tests.servers.thrift import Thrift

CHROMIUM = (
    "chromium",
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
)


def test_a_chart_on_a_view(thrift: Thrift, expected: dict[str, int], tmp_path: Path) -> None:
    with superset.running(tmp_path) as bi:
        uri = f"hive://localhost:{thrift.port}/default"
        database = bi.post("/api/v1/database/", {"database_name": "Spark with rules", "sqlalchemy_uri": uri})["id"]
        view = {"database": database, "schema": "default", "table_name": "alerts_raised"}
        dataset = bi.post("/api/v1/dataset/", view)["id"]
        chart = bi.post("/api/v1/chart/", _bar_chart(dataset))["id"]

        (result,) = bi.get(f"/api/v1/chart/{chart}/data/")["result"]
        assert {row["subscription_id"]: row["count"] for row in result["data"]} == expected
        assert "`alerts_raised`" in result["query"]

        page = f"{bi.url}/explore/?slice_id={chart}"
        shown = _chromium("--dump-dom", page, tmp_path)
        assert "default.alerts_raised" in shown
        assert f"{len(expected)} rows" in shown

        picture = Path(os.environ.get("SPARKRULES_PICTURES") or tmp_path, "superset.png")
        _chromium(f"--screenshot={picture.absolute()}", page, tmp_path)
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert picture.stat().st_size < 200_000, "small enough for the documentation"


def _bar_chart(dataset: int) -> dict[str, object]:
    """Matches by rule, as Superset's own editor would store it."""
    form = {
        "datasource": f"{dataset}__table",
        "viz_type": "echarts_timeseries_bar",
        "x_axis": "subscription_id",
        "x_axis_sort": "count",
        "x_axis_sort_asc": True,
        "metrics": ["count"],
        "groupby": [],
        "adhoc_filters": [],
        "orientation": "horizontal",
        "row_limit": 100,
        "show_value": True,
    }
    query = {
        "columns": ["subscription_id"],
        "metrics": ["count"],
        "orderby": [["count", False]],
        "filters": [],
        "row_limit": 100,
    }
    source = {"id": dataset, "type": "table"}
    context = {"datasource": source, "queries": [query], "result_format": "json", "result_type": "full"}
    return {
        "slice_name": "Alerts by rule",
        "viz_type": form["viz_type"],
        "datasource_id": dataset,
        "datasource_type": "table",
        "params": json.dumps(form),
        "query_context": json.dumps(context | {"form_data": form}),
    }


def _chromium(option: str, url: str, directory: Path) -> str:
    # Virtual time: until the page has been idle for so many of its own milliseconds, however slow the machine is.
    window = ("--window-size=1200,700", "--virtual-time-budget=60000", f"--user-data-dir={directory / 'chromium'}")
    ran = subprocess.run([*CHROMIUM, *window, option, url], check=True, capture_output=True, text=True, timeout=300)
    return ran.stdout
