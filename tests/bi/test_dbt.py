"""The dbt project of docs/bi.md: a model that materializes matches as a table."""

from __future__ import annotations

from pathlib import Path

from tests.bi.conftest import RULES, VENVS
from tests.docs.blocks import blocks_of
from tests.servers.processes import started
from tests.servers.served_page import BI_PAGE, write_file
from tests.servers.thrift import Client, Thrift


def test_a_model_materialises_matches(thrift: Thrift, client: Client, tmp_path: Path) -> None:
    files = [block for block in blocks_of(BI_PAGE.read_text(encoding="utf-8")) if block.file]
    for block in files:
        write_file(block, thrift.port, tmp_path)
    assert {"profiles.yml", "dbt_project.yml", "models/alerts_by_city.sql"} <= {block.file for block in files}

    with started("dbt", [str(VENVS / "dbt" / "bin" / "dbt"), "run"], tmp_path) as dbt:
        dbt.wait_until_it_ends(300)
        assert "PASS=1" in dbt.said()

    expected = {
        (city, id): count
        for id, where in RULES.items()
        for city, count in client.rows(f"SELECT city, count(*) FROM readings WHERE {where} GROUP BY city")
    }
    found = client.rows("SELECT city, subscription_id, alerts FROM alerts_by_city")
    assert {(city, id): alerts for city, id, alerts in found} == expected
    assert ("Provider", "parquet") in [row[:2] for row in client.rows("DESCRIBE EXTENDED alerts_by_city")], "a table"
