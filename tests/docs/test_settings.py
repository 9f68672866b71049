"""The table of settings agrees with the plugin."""

from __future__ import annotations

import runpy
from pathlib import Path

SITE = Path(__file__).resolve().parents[2] / "docs" / "site"


def test_the_table_of_settings_is_the_plugins() -> None:
    made = runpy.run_path(str(SITE / "settings_table.py"))
    table = made["table_of_page"](made["PAGE"].read_text(encoding="utf-8"))
    assert table.count("`spark.sparkrules.") > 10
    assert table == made["table_of_plugin"](), "python docs/site/settings_table.py writes the table anew"
